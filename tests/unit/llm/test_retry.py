from __future__ import annotations

import random

from dialogauge.llm import RetrySettings
from dialogauge.llm.problems import Problem
from dialogauge.llm.retry import RetryState, Timing


class Widest(random.Random):
    def uniform(self, a, b):
        return b


def make(now=None, **settings):
    now = now if now is not None else [0.0]
    return RetryState(RetrySettings(**settings), Timing(clock=lambda: now[0], rng=Widest())), now


RETRY = Problem("server_error", "x", "retry")
WAIT = Problem("rate_limited", "x", "wait")


def test_the_interval_doubles_up_to_its_cap():
    retries, _ = make(backoff_base=1.0, backoff_cap=6.0)
    retries.start()
    assert [retries.delay(RETRY) for _ in range(6)] == [1.0, 2.0, 4.0, 6.0, 6.0, None]


def test_jitter_is_full():
    retries = RetryState(RetrySettings(backoff_base=1.0), Timing(rng=random.Random(3)))
    assert retries.delay(RETRY) == random.Random(3).uniform(0, 1.0)


def test_waiting_is_bounded_by_the_deadline_only():
    retries, now = make(item_deadline=100.0, max_retries=0, backoff_cap=10.0)
    retries.start()
    assert all(retries.delay(WAIT) is not None for _ in range(50))
    now[0] = 95.0
    assert retries.delay(WAIT) is None
    assert retries.remaining == 5.0
    assert retries.attempt_limit == 5.0


def test_an_attempt_that_would_have_no_time_is_not_made():
    retries, now = make(attempt_deadline=20.0, item_deadline=100.0, max_retries=9, backoff_base=0.0)
    retries.start()
    now[0] = 98.9
    assert retries.delay(WAIT) == 0.0
    now[0] = 99.1
    assert retries.delay(WAIT) is None


def test_never_less_than_asked_and_never_more_than_the_cap():
    retries, _ = make(backoff_base=0.5, retry_after_cap=60.0)
    asked = Problem("rate_limited", "x", "wait", retry_after=7.0)
    assert retries.delay(asked) == 7.5
    assert retries.delay(Problem("rate_limited", "x", "wait", retry_after=3600.0)) == 60.5


def test_the_deadline_runs_from_the_first_attempt():
    retries, now = make(item_deadline=10.0)
    now[0] = 1000.0
    assert retries.remaining is None
    retries.start()
    now[0] = 1004.0
    retries.start()
    assert (retries.remaining, retries.elapsed, retries.attempts) == (6.0, 4.0, 2)


def test_a_problem_to_give_up_on_is_not_retried():
    assert make()[0].delay(Problem("rejected", "x", "give_up")) is None


def test_an_attempt_is_shortened_where_the_item_has_less_time_left_than_an_attempt():
    retries, now = make(attempt_deadline=60.0, item_deadline=100.0)
    shortened = []
    for now[0] in (0.0, 40.0, 41.0):  # 100, 60 and 59 seconds are left
        retries.start()
        shortened.append(retries.shortened)
    assert shortened == [False, False, True]
