from __future__ import annotations

import random

import pytest

from dialogauge.core.errors import EndpointError
from dialogauge.llm import Timing
from dialogauge.llm.refusals import Problem
from dialogauge.llm.retry import Patience, PatienceSettings, Standing

REFUSED = Problem("connection", "refused", "retry", unreached=True)
TIMEOUT = Problem("timeout", "no answer", "retry")
HTML = Problem("server_error", "no chat completion", "retry", 200)
EMPTY = Problem("empty_reply", "no choices", "retry", 200)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def item(clock: Clock, *met: tuple[float, Problem]) -> Patience:
    """An item whose attempts ended at those times with those problems."""
    patience = Patience(PatienceSettings(), Timing(clock=clock, rng=random.Random(1)))
    for now, problem in met:
        clock.now = now
        patience.start()
        patience.met(problem)
    return patience


@pytest.mark.parametrize(
    ("met", "heard", "lost"),
    [
        (((1, REFUSED), (2, REFUSED)), 0.5, True),
        (((1, TIMEOUT), (2, REFUSED), (3, REFUSED)), 0.5, True),
        (((1, REFUSED),), 0.5, False),  # one refusal says nothing
        (((1, REFUSED), (2, REFUSED)), 1.5, False),  # others were answered in between
        (((1, REFUSED), (2, REFUSED), (3, REFUSED)), 1.5, True),  # ... but not since
        (((1, REFUSED), (2, TIMEOUT), (3, REFUSED)), 0.5, False),
    ],
)
def test_what_used_to_answer_is_lost_when_it_refuses_twice_in_silence(met, heard, lost):
    standing = Standing()
    standing.proven = True
    standing.heard(heard)
    assert standing.is_lost(REFUSED, item(Clock(), *met), probing=False) is lost


@pytest.mark.parametrize(
    ("problem", "proven", "probing", "lost"),
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
def test_problems_of_the_endpoint_are_told_from_those_of_an_item(problem, proven, probing, lost):
    standing = Standing()
    standing.proven = proven
    assert standing.is_lost(problem, item(Clock()), probing=probing) is lost


def test_an_error_ends_those_that_began_before_it_and_no_other():
    standing = Standing()
    standing.end_with_others(None)
    error = standing.of_no_use = EndpointError("HTTP 401", hint="check the key")
    with pytest.raises(EndpointError, match=r"HTTP 401 \(check the key\)"):
        standing.end_with_others(None)
    standing.end_with_others(error)
