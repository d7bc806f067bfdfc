"""Retries of one item, and the health of its endpoint."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Final

from dialogauge.core.errors import EndpointError
from dialogauge.core.judgement import Usage
from dialogauge.core.values import Value
from dialogauge.llm.problems import Problem

_LEAST_PART: Final = 0.05
"""Of a deadline: with less time left no further attempt is sent, for its silence would say nothing."""


class Timing(Value):
    """Clocks and randomness, as arguments."""

    clock: Callable[[], float] = time.monotonic
    """Seconds, monotonic."""
    wall: Callable[[], float] = time.time
    """Seconds since 1970, for dates from endpoints."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    rng: random.Random = field(default_factory=random.Random)


class RetrySettings(Value):
    """Deadlines in seconds, and the number and the timing of retries."""

    attempt_deadline: float = 120.0
    item_deadline: float = 600.0
    """For all attempts on one request; runs from the first attempt."""
    connect_deadline: float = 30.0
    max_retries: int = 5
    """After faults; "too many requests" is retried until the item's deadline."""
    backoff_base: float = 0.5
    backoff_cap: float = 30.0
    retry_after_cap: float = 120.0
    """The longest wait that an endpoint may impose."""


class RetryState:
    """The attempts on one item, and the wait before the next."""

    def __init__(self, settings: RetrySettings, timing: Timing) -> None:
        self._settings = settings
        self._timing = timing
        self._left = settings.max_retries
        self._started: float | None = None
        self._waits = 0
        self._endpoint_left = 2
        self.attempts = 0
        self.shortened = False
        """Whether the item's deadline shortened the last attempt."""
        self.lost = Usage()
        """What was sent and had no answer."""
        self._problems: list[tuple[float, bool]] = []
        """When each attempt ended, and whether it did not reach the endpoint."""

    def start(self) -> None:
        """Count an attempt that is about to be sent; the first one starts the item's deadline."""
        self.attempts += 1
        if self._started is None:
            self._started = self._timing.clock()
        self.shortened = self.attempt_limit < self._settings.attempt_deadline

    def forgive(self) -> None:
        """Take back the last attempt, which was not the item's fault: the deadline starts with the next."""
        self._started = None

    def renew(self, retries: int) -> None:
        """Begin anew with so many retries and a whole deadline: what was tried found nobody there."""
        self._left, self._started, self._waits = retries, None, 0
        self._problems.clear()

    def note_problem(self, problem: Problem) -> None:
        """Record the problem of an attempt."""
        self._problems.append((self._timing.clock(), problem.unreached))

    @property
    def silent_since(self) -> float | None:
        """When the last attempt but one ended, or the only one; None before any."""
        return self._problems[-2:][0][0] if self._problems else None

    @property
    def unreached_since(self) -> float | None:
        """When the last attempt but one ended, if it and the last did not reach the endpoint; else None."""
        last = self._problems[-2:]
        return last[0][0] if len(last) > 1 and all(unreached for _, unreached in last) else None

    @property
    def started(self) -> float | None:
        """When the first attempt was sent; None before it."""
        return self._started

    @property
    def elapsed(self) -> float:
        """Seconds since the first attempt was sent."""
        return 0.0 if self._started is None else self._timing.clock() - self._started

    @property
    def remaining(self) -> float | None:
        """Seconds until the item's deadline; None before the first attempt."""
        return None if self._started is None else self._settings.item_deadline - self.elapsed

    @property
    def attempt_limit(self) -> float:
        """Seconds that the next attempt may take."""
        remaining = self.remaining
        limit = self._settings.attempt_deadline
        return limit if remaining is None else min(limit, max(remaining, 0.001))

    def delay(self, problem: Problem) -> float | None:
        """Return the seconds before the next attempt; None for no further attempt.

        Full jitter over an exponentially growing interval, never less than the endpoint's Retry-After.
        """
        if problem.remedy == "give_up" or not self._may_go_on(problem):
            return None
        settings = self._settings
        width = min(settings.backoff_cap, settings.backoff_base * 2.0 ** min(self._waits, 20))
        self._waits += 1
        delay = self._timing.rng.uniform(0.0, width)
        if problem.retry_after is not None:
            delay = min(problem.retry_after, settings.retry_after_cap) + min(delay, settings.backoff_base)
        remaining = self.remaining
        least = _LEAST_PART * min(settings.attempt_deadline, settings.item_deadline)
        return delay if remaining is None or delay + least < remaining else None

    def _may_go_on(self, problem: Problem) -> bool:
        if problem.remedy == "wait":
            return True
        if problem.remedy == "endpoint":
            self._endpoint_left -= 1
            return self._endpoint_left >= 0
        self._left -= 1
        return self._left >= 0


class EndpointHealth:
    """Distinguishes problems of the endpoint from problems of one item."""

    def __init__(self) -> None:
        self.has_answered = False
        """Whether it ever returned a completion."""
        self.failure: EndpointError | None = None
        """The latest error of the endpoint that ended an item."""
        self.last_answer = float("-inf")
        """When it returned the last completion."""
        self._last_response = float("-inf")

    def note_response(self, now: float) -> None:
        """Record that it sent a response of any kind."""
        self._last_response = now

    def raise_if_failed(self, earlier: EndpointError | None) -> None:
        """Raise the `EndpointError` of another item, unless it is `earlier`.

        Otherwise every item in flight would find the failure itself, and items that wait for the probe of
        schema support one after the other.
        """
        if self.failure is not None and self.failure is not earlier:
            raise EndpointError(self.failure.message, hint=self.failure.hint)

    def is_at_fault(self, problem: Problem, retries: RetryState, *, probing: bool) -> bool:
        """Say whether the endpoint, not the item, causes a problem that remains after all retries."""
        if problem.remedy == "endpoint":
            return problem.status != 403
        if problem.unreached:
            # The endpoint went away during the run. Its items must not fail, so that the next run does them.
            # An endpoint that shuts down properly still answers accepted requests, so only silence counts.
            since = retries.unreached_since
            return not self.has_answered or (since is not None and self._last_response < since)
        if problem.kind == "rate_limited" and problem.overload:
            # Nobody was answered as long as this item waited: the limit is no matter of seconds.
            return retries.started is not None and self.last_answer < retries.started
        if self.has_answered:
            return False
        if problem.kind == "connection" and problem.status is None:
            # A port that closes at once, or speaks another protocol, has not sent a single response.
            return self._last_response == float("-inf")
        # A probe is tiny: a server that never answers it answers no other request.
        silent = probing and problem.kind == "timeout" and self._last_response == float("-inf")
        return silent or (problem.status == 200 and problem.kind != "empty_reply")
