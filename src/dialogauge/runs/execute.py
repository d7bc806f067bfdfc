"""The loop: a bounded number of workers take units from one lazy queue and hand results to a sink.

Memory is bounded by the number of workers: a unit is read from the input when a worker is free for it. A unit
that waits for another one is put aside, and holds no worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import BudgetSpent, DialogaugeError
from dialogauge.core.judgement import NO_USAGE, Judged, JudgeFailure, Target, Usage, row_json
from dialogauge.core.protocols import Record
from dialogauge.core.unit import WorkUnit
from dialogauge.core.values import Value


@dataclass
class Progress:
    """Counts of one run."""

    total: int | None = None
    """Units that the input plans, once it has been read to its end."""
    expected: int | None = None
    """Units in the input, when it was counted ahead."""
    planned: int = 0
    """Units seen in the input so far."""
    resumed: int = 0
    """Units that an earlier run had finished."""
    done: int = 0
    """Units finished by this run, failed ones included."""
    failed: int = 0
    """Units of this run with at least one failed target."""
    in_flight: int = 0
    usage: Usage = field(default_factory=Usage)
    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def took(self, rows: Sequence[Record]) -> None:
        """Count a finished unit by its rows."""
        self.done += 1
        self.failed += any(row.failed for row in rows)
        for row in rows:
            if row.usage is not NO_USAGE:
                self.usage = self.usage + row.usage

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self.started

    @property
    def rate(self) -> float:
        """Units a second, of this run."""
        return self.done / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def remaining_s(self) -> float | None:
        """Seconds left at the present rate; None while the total is unknown."""
        total = self.total if self.total is not None else self.expected
        if total is None or self.rate == 0:
            return None
        return max(0, total - self.resumed - self.done) / self.rate


class StopSignal:
    """Tells the workers of a run to take no further units, or to drop what they do."""

    def __init__(self) -> None:
        """Begin unset."""
        self.requested = False
        self.asked = 0
        """How often someone asked; a run that ends by itself sets `requested` alone."""
        self._tasks: set[asyncio.Task[Any]] = set()

    def watch(self, task: asyncio.Task[Any]) -> None:
        """Register a worker that a second request cancels."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def request(self) -> None:
        """Ask to stop; asked a second time, cancel the workers."""
        self.asked += 1
        if self.requested:
            for task in tuple(self._tasks):
                task.cancel()
        self.requested = True


@contextlib.contextmanager
def stop_on_interrupt(stop: StopSignal, notify: Callable[[bool], None]) -> Iterator[None]:
    """Turn Ctrl-C into `stop.request()` while the context lasts.

    Args:
        stop: What to set.
        notify: Called at each Ctrl-C, with whether it was the first.
    """

    def on_interrupt() -> None:
        notify(not stop.requested)
        stop.request()

    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
    except (NotImplementedError, RuntimeError, ValueError):
        # No signal handlers on this platform or outside the main thread: Ctrl-C then ends the process,
        # and what was stored is kept.
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


Work = Callable[[WorkUnit], Awaitable[Sequence[Record]]]
"""Does one unit: its typed errors end the run, its failures are results."""

# How often a sink in which nothing waits is asked again.
_FLUSH_SECONDS = 0.05


class Sink(Protocol):
    """Takes what the workers finish."""

    def add(self, unit: WorkUnit, rows: Sequence[Record]) -> None:
        """Take a finished unit with its rows."""

    def has_unit(self, key: str) -> bool:
        """Say whether it has a finished unit, failed or not."""

    def flush_if_due(self) -> float | None:
        """Make durable what has waited long enough; say in how many seconds the rest will have."""


class Outcome(Value):
    """How a run of the engine ended."""

    ended: Literal["finished", "interrupted", "budget", "error"]
    error: DialogaugeError | None = None
    """What ended it, when it was not finished or interrupted."""

    def exit_code(self, faults: Collection[object] = ()) -> int:
        """Return the exit code of a command: 130 interrupted, 1 after an error or with faults, else 0."""
        if self.ended == "interrupted":
            return 130
        return 1 if self.error is not None or faults else 0


@dataclass(frozen=True, slots=True)
class Unmet:
    """The failure of a unit that waits for one that nothing finishes; of any study of judged rows."""

    why: str = "what had to be done before is not planned"
    failed: bool = True
    usage: Usage = NO_USAGE

    def to_row(self, unit: WorkUnit) -> dict[str, Any]:
        """Write it as the row of a conversation that was not judged."""
        about = unit.subject or Conversation(unit.part or unit.key, ())
        failure = Judged(Target(about.id, "conversation"), JudgeFailure("unmet", self.why))
        return row_json(about, failure, repeat=unit.repeat, judge=unit.judge)


@dataclass
class _Workers:
    """The state that the workers of one run share."""

    units: Iterator[WorkUnit]
    do: Work
    sink: Sink
    progress: Progress
    stop: StopSignal
    error: DialogaugeError | None = None
    ready: deque[WorkUnit] = field(default_factory=deque)
    """Units that have waited, and may begin."""
    waiting: dict[str, list[WorkUnit]] = field(default_factory=dict)
    """By key of what they wait for: units that hold no worker meanwhile."""
    open: set[str] = field(default_factory=set)
    """Keys of units that were taken, and have not ended: what they did in an earlier run counts no more."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever a unit has ended, for workers that have nothing else to do."""

    async def work(self) -> None:
        ended = False
        try:
            while not self.stop.requested:
                unit = self._next()
                if unit is not None:
                    self.progress.in_flight += 1
                    try:
                        rows = await self.do(unit)
                    finally:
                        self.progress.in_flight -= 1
                    self._take(unit, rows)
                    # A judge that never waits would keep signals and the progress line from their turn.
                    await asyncio.sleep(0)
                elif not self.waiting:
                    break
                elif self.progress.in_flight:
                    self.ended.clear()
                    await self.ended.wait()
                else:
                    self._give_up()
            ended = True
        except DialogaugeError as error:
            self._end(error)
        finally:
            # A fault of the program ends the run too: it must not wait until all else has been paid for.
            self.stop.requested = self.stop.requested or not ended
            self.ended.set()

    async def tick(self) -> None:
        """Keep results from waiting for company when few finish."""
        try:
            wait: float | None = None
            while True:
                await asyncio.sleep(_FLUSH_SECONDS if wait is None else wait)
                wait = self.sink.flush_if_due()
        except DialogaugeError as error:
            self._end(error)

    def _next(self) -> WorkUnit | None:
        """Return a unit that may begin; None where all that are left wait, or none is."""
        if self.ready:
            return self.ready.popleft()
        for unit in self.units:
            self.open.add(unit.key)
            if self._may_begin(unit):
                return unit
        return None

    def _may_begin(self, unit: WorkUnit) -> bool:
        """Say whether all has ended that a unit waits for; else let it wait for the first that has not."""
        for key in unit.after:
            if key in self.open or not self.sink.has_unit(key):
                self.waiting.setdefault(key, []).append(unit)
                return False
        return True

    def _take(self, unit: WorkUnit, rows: Sequence[Record]) -> None:
        """Store a unit, and let go those that waited for it."""
        self.sink.add(unit, rows)
        self.open.discard(unit.key)
        self.progress.took(rows)
        self.ended.set()
        self.ready += [waited for waited in self.waiting.pop(unit.key, ()) if self._may_begin(waited)]

    def _give_up(self) -> None:
        """Fail what waits for a unit that nothing will finish any more; in a circle, any."""
        own = {unit.key for units in self.waiting.values() for unit in units}
        key = next((key for key in self.waiting if key not in own), next(iter(self.waiting)))
        for unit in self.waiting.pop(key):
            self._take(unit, (Unmet(),))

    def _end(self, error: DialogaugeError) -> None:
        # The first error that ends the run is the one to report; the rest are its echoes.
        self.error = self.error or error
        self.stop.requested = True


_TURN_S = 0.0005
"""How long a thread keeps the interpreter while another one waits for it; Python's default is ten times this.
The loop gives it up at every system call, and large replies are read in other threads: each result that is
stored would wait that long several times over, and with it every other conversation."""


@contextlib.contextmanager
def _responsive() -> Iterator[None]:
    """Let the loop wait little for other threads while the context lasts.

    They hand on the interpreter sooner, and whatever exists already is spared by the garbage collector, which
    stops all threads: a large reply makes it go through every object several times over.
    """
    before, freezes = sys.getswitchinterval(), gc.get_freeze_count() == 0
    sys.setswitchinterval(min(before, _TURN_S))
    if freezes:
        gc.freeze()
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        if freezes:
            gc.unfreeze()


async def run_work(
    units: Iterator[WorkUnit],
    do: Work,
    sink: Sink,
    *,
    workers: int,
    progress: Progress,
    stop: StopSignal,
) -> Outcome:
    """Do every unit.

    Args:
        units: Taken lazily, one for each free worker.
        do: Does one unit; its typed errors end the run, its failures are results.
        sink: Takes each finished unit, in the order in which they finish.
        workers: How many units are in flight at most.
        progress: Updated as units finish.
        stop: Once requested, no further unit is taken.

    Any error that is not ours is a fault of the program: no further unit is taken, and it is raised once
    what is in flight has ended.
    """
    shared = _Workers(units, do, sink, progress, stop)
    tasks = [asyncio.create_task(shared.work()) for _ in range(workers)]
    for task in tasks:
        stop.watch(task)
    ticker = asyncio.create_task(shared.tick())
    try:
        with _responsive():
            results = await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        ticker.cancel()
    faults = [r for r in results if isinstance(r, BaseException)]
    for fault in faults:
        if not isinstance(fault, asyncio.CancelledError):
            raise fault
    if shared.error is not None:
        return Outcome("budget" if isinstance(shared.error, BudgetSpent) else "error", shared.error)
    return Outcome("interrupted" if faults or stop.requested else "finished")
