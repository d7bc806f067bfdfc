"""A limit on concurrent requests that adapts to the endpoint."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable

from dialogauge.core.values import Value

_START = 20
_CUT = 0.8
_GROWTH = 1.05
_COOLDOWN = 15.0
_MEMORY = 20
"""Window, in answers, of the smoothed share of "unavailable"."""
_ENOUGH = 6
"""Replies from which the number of slots is told."""
_ROUNDING = 0.3
"""Slots by which their estimate may be too high."""
_STRAY = 0.2
"""Up to this share, "unavailable" is independent of the number of requests in flight."""


class LimiterState(Value):
    """The limiter's state, for a progress line."""

    limit: int
    """Requests allowed at once."""
    maximum: int
    in_flight: int
    waiting: int
    paused_for: float
    """Seconds until the next request may be sent; 0 for now."""
    cuts: int
    """Number of reductions of the limit."""


class AdaptiveLimiter:
    """A semaphore whose size follows the endpoint's answers.

    The limit starts at 20, or at a smaller maximum. Until the first strain, every success while others wait
    raises it by one, so it doubles with each round of replies. Each episode of "too many requests" reduces
    it to 0.8; the first one reduces it to half, but not below 0.8 of the start. An episode lasts 15
    seconds, or as long as the endpoint asks to wait if that is longer, and changes the limit only once.
    After it, a full window of successes at the limit raises it by 5 %. While the endpoint asks to wait, no
    request is admitted. Waiters are served in order.

    Within an episode, where replies come between many refusals, the endpoint has so many slots: what replies
    took, summed, over the time in which they came (Little's law) is how many it served at once, and becomes
    the limit if that is lower.

    A bare "unavailable" (503) may be independent of the number of requests: servers behind a gateway restart,
    and one answer in a hundred is lost. It counts as "too many" from one answer in five on. So does silence:
    a request that met its deadline may have stood in a queue that we made. Then the limit falls to half, and
    again as soon as a request meets its deadline that was sent after that.
    """

    def __init__(
        self,
        maximum: int = 64,
        *,
        start: int = _START,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.maximum = max(1, maximum)
        self._limit = self._start = float(min(max(1, start), self.maximum))
        self._doubling = True
        self._clock = clock
        self._sleep = sleep
        self._in_flight = 0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._successes = 0
        self._crowded = False
        self._calm_after = float("-inf")
        self._paused_until = float("-inf")
        self._alarm: asyncio.Task[None] | None = None
        self._cuts = 0
        self._unavailable = 0.0
        self._last_success = self._last_silence = float("-inf")
        self._pace = 0.0
        self._paced = 0
        self._replies = self._refusals = 0
        """Since the last cut, as the next two."""
        self._served = 0.0
        """Seconds that replies took, summed."""
        self._counted_since = float("-inf")
        self._behind_since = self._behind_until = float("-inf")
        """From when until when the server may be busy with what was given up."""

    def state(self) -> LimiterState:
        """Return the current state."""
        paused = max(0.0, self._paused_until - self._clock())
        waiting = len(self._waiters)
        return LimiterState(int(self._limit), self.maximum, self._in_flight, waiting, paused, self._cuts)

    def take(self) -> bool:
        """Take a slot that nobody waits for; False where there is none."""
        free = not self._waiters and self._has_room()
        self._in_flight += free
        return free

    async def acquire(self, *, again: bool = False) -> None:
        """Wait for a slot; return it with `release`. Who asks `again` has been waiting longest."""
        if self.take():
            return
        self._crowded = True
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self._waiters.appendleft(waiter)
        else:
            self._waiters.append(waiter)
        self._admit_waiters()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.release()  # the slot came together with the cancellation
            elif waiter in self._waiters:
                self._waiters.remove(waiter)
            raise

    def release(self) -> None:
        """Return a slot."""
        self._in_flight -= 1
        self._admit_waiters()

    def succeeded(self, took: float = 0.0) -> None:
        """Record a proper answer, which `took` that many seconds."""
        self._unavailable -= self._unavailable / _MEMORY
        self._replies, self._served = self._replies + 1, self._served + took
        now = self._clock()
        self._paced = min(self._paced + 1, _MEMORY)
        self._pace += (min(took, now - self._last_success) - self._pace) / self._paced
        self._last_success = now
        if self._limit >= self.maximum:
            return
        if self._doubling:
            if self._waiters:
                self._limit = min(self.maximum, self._limit + 1.0)
                self._admit_waiters()
            return
        self._successes += 1
        if self._successes >= self._limit:
            if self._crowded and self._clock() >= self._calm_after:
                self._limit = min(self.maximum, max(self._limit * _GROWTH, self._limit + 0.5))
            self._successes = 0
            self._crowded = bool(self._waiters)

    def strained(self) -> None:
        """Record an error or a broken connection: from now on the limit grows slowly."""
        self._doubling = False

    def unavailable(self) -> None:
        """Record a bare "unavailable"; it counts as overload if it is frequent."""
        self._unavailable += (1.0 - self._unavailable) / _MEMORY
        if self._unavailable > _STRAY:
            self.overloaded()
        else:
            self.strained()

    def timed_out(self, sent: float) -> bool:
        """Record that a request had no answer before its deadline; it was `sent` at this time of the clock.

        True if that is no fault of its own: others were answered in the meantime, and fewer at once may help;
        or the server may have been busy with requests given up before. Requests sent alone add nothing to
        those, so that one without an answer is not sent for ever.
        """
        now = self._clock()
        waited = self._behind_since <= sent < self._behind_until
        if self._limit >= 2:
            if now >= self._behind_until:
                self._behind_since = self._behind_until = now
            self._behind_until += self._pace
        self._unavailable += (1.0 - self._unavailable) / _MEMORY
        queued = self._unavailable > _STRAY and (self._limit >= 2 or sent < self._last_silence)
        if queued and sent >= self._last_silence:
            self._last_silence = now
            self._limit = max(1.0, self._limit / 2)
            self._calm_after = max(self._calm_after, now + _COOLDOWN)
            self._successes = 0
            self._cuts += 1
        self._doubling = False
        return waited or (queued and self._last_success > sent)

    def overloaded(self, wait: float | None = None) -> None:
        """Record "too many requests", or a request to `wait` that many seconds."""
        now = self._clock()
        self._successes = 0
        self._refusals += 1
        if now >= self._calm_after:
            # Doubling may have exceeded the endpoint's capacity by a factor of two.
            lowered = max(self._limit / 2, self._start * _CUT) if self._doubling else self._limit * _CUT
            self._limit = max(1.0, lowered)
            self._doubling = False
            self._calm_after = now + max(_COOLDOWN, wait or 0.0)
            self._cuts += 1
            self._count_from(now)
        elif self._replies >= _ENOUGH and 2 * self._refusals > self._replies and now > self._counted_since:
            slots = math.ceil(self._served / (now - self._counted_since) - _ROUNDING)
            self._limit = min(self._limit, max(1.0, slots))
            self._count_from(now)
        if wait:
            self._count_from(now + wait)
            self._paused_until = max(self._paused_until, now + wait)

    def _count_from(self, start: float) -> None:
        """Begin a count of replies and refusals."""
        self._counted_since, self._replies, self._refusals, self._served = start, 0, 0, 0.0

    def close(self) -> None:
        """Stop the alarm that ends a pause."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _has_room(self) -> bool:
        return self._in_flight < int(self._limit) and self._clock() >= self._paused_until

    def _admit_waiters(self) -> None:
        while self._waiters and self._has_room():
            waiter = self._waiters.popleft()
            if not waiter.done():
                self._in_flight += 1
                waiter.set_result(None)
        if self._waiters and self._alarm is None and self._clock() < self._paused_until:
            self._alarm = asyncio.get_running_loop().create_task(self._wake_after_pause())

    async def _wake_after_pause(self) -> None:
        while (left := self._paused_until - self._clock()) > 0:
            await self._sleep(left)
        self._alarm = None
        self._admit_waiters()
