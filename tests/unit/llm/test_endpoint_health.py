from __future__ import annotations

import random

import pytest

from dialogauge.core.errors import EndpointError
from dialogauge.llm.problems import Problem
from dialogauge.llm.retry import EndpointHealth, RetrySettings, RetryState, Timing

REFUSED = Problem("connection", "refused", "retry", unreached=True)
TIMEOUT = Problem("timeout", "no answer", "retry")
HTML = Problem("server_error", "no chat completion", "retry", 200)
EMPTY = Problem("empty_reply", "no choices", "retry", 200)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def item(clock: Clock, *problems: tuple[float, Problem]) -> RetryState:
    """An item whose attempts ended at those times with those problems."""
    retries = RetryState(RetrySettings(), Timing(clock=clock, rng=random.Random(1)))
    for now, problem in problems:
        clock.now = now
        retries.start()
        retries.note_problem(problem)
    return retries


@pytest.mark.parametrize(
    ("problems", "answered_at", "at_fault"),
    [
        (((1, REFUSED), (2, REFUSED)), 0.5, True),
        (((1, TIMEOUT), (2, REFUSED), (3, REFUSED)), 0.5, True),
        (((1, REFUSED),), 0.5, False),  # one refusal says nothing
        (((1, REFUSED), (2, REFUSED)), 1.5, False),  # others were answered in between
        (((1, REFUSED), (2, REFUSED), (3, REFUSED)), 1.5, True),  # ... but not since
        (((1, REFUSED), (2, TIMEOUT), (3, REFUSED)), 0.5, False),
    ],
)
def test_an_endpoint_that_used_to_answer_is_at_fault_when_it_refuses_twice_in_silence(
    problems, answered_at, at_fault
):
    health = EndpointHealth()
    health.has_answered = True
    health.note_response(answered_at)
    assert health.is_at_fault(REFUSED, item(Clock(), *problems), probing=False) is at_fault


@pytest.mark.parametrize(
    ("problem", "has_answered", "probing", "at_fault"),
    [
        (REFUSED, False, False, True),
        (HTML, False, False, True),  # a web page and never anything else: a wrong URL
        (HTML, True, False, False),
        (EMPTY, False, False, False),
        (TIMEOUT, False, False, False),  # a long question may take too long
        (TIMEOUT, False, True, True),  # a probe may not
        (TIMEOUT, True, True, False),
        (Problem("rejected", "HTTP 401", "endpoint", 401), True, False, True),
        (Problem("rejected", "HTTP 403", "endpoint", 403), True, False, False),
        (Problem("server_error", "HTTP 500", "retry", 500), False, False, False),
    ],
)
def test_problems_of_the_endpoint_are_told_from_those_of_an_item(problem, has_answered, probing, at_fault):
    health = EndpointHealth()
    health.has_answered = has_answered
    assert health.is_at_fault(problem, item(Clock()), probing=probing) is at_fault


def test_an_error_ends_those_that_began_before_it_and_no_other():
    health = EndpointHealth()
    health.raise_if_failed(None)
    error = health.failure = EndpointError("HTTP 401", hint="check the key")
    with pytest.raises(EndpointError, match=r"HTTP 401 \(check the key\)"):
        health.raise_if_failed(None)
    health.raise_if_failed(error)
