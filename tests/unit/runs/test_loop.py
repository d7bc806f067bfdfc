from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import pytest

from dialogauge.core import (
    BudgetSpent,
    EndpointError,
    FileFault,
    Judged,
    Rating,
    Request,
    StoreError,
    WorkUnit,
)
from dialogauge.core.protocols import Record
from dialogauge.runs import Outcome, Progress, StopSignal, run_work
from talks import FakeJudge, judged_rows, talk, unit_of, work_of


@dataclass
class Sink:
    results: list[tuple[WorkUnit, Sequence[Record]]] = field(default_factory=list)
    ticks: int = 0
    fails_at: int | None = None
    on_tick: Callable[[], None] = lambda: None
    due_in: float | None = None

    def add(self, unit: WorkUnit, rows: Sequence[Record]) -> None:
        if self.fails_at == len(self.results):
            raise StoreError("the disk is full")
        self.results.append((unit, rows))

    def flush_if_due(self) -> float | None:
        self.ticks += 1
        self.on_tick()
        return self.due_in

    @property
    def ids(self) -> list[str]:
        return [unit.conversation.id for unit, _ in self.results]


@dataclass
class Units:
    """A lazy source that counts what was taken from it."""

    total: int
    taken: int = 0
    fault: Exception | None = None

    def __iter__(self) -> Iterator[WorkUnit]:
        for number in range(self.total):
            self.taken += 1
            yield unit_of(talk("u: a", "a: b", id=f"c{number}"))
        if self.fault is not None:
            raise self.fault


@dataclass
class GatedJudge(FakeJudge):
    """Holds every judgement until it is told to let go."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        self.seen.append((request.conversation, request.repeat, request.seed))
        await self.gate.wait()
        return judged_rows(request.conversation)


@dataclass
class FaultyJudge(FakeJudge):
    """Raises at some conversations."""

    faults: dict[str, BaseException] = field(default_factory=dict)

    async def judge(self, request: Request) -> tuple[Judged, ...]:
        await asyncio.sleep(0)
        if request.conversation.id in self.faults:
            raise self.faults[request.conversation.id]
        return await super().judge(request)


async def run(
    units: Units, judge: FakeJudge, sink: Sink, *, workers: int = 3, stop: StopSignal | None = None
) -> tuple[Outcome, Progress]:
    progress = Progress()
    outcome = await run_work(
        iter(units), work_of(judge), sink, workers=workers, progress=progress, stop=stop or StopSignal()
    )
    return outcome, progress


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - any condition
            await asyncio.sleep(0)


async def test_every_unit_is_judged_once_and_handed_on() -> None:
    units, judge, sink = Units(20), FakeJudge(waits=True), Sink()
    outcome, progress = await run(units, judge, sink)
    assert outcome == Outcome("finished")
    assert sorted(sink.ids) == sorted(f"c{n}" for n in range(20))
    assert (progress.done, progress.failed, progress.in_flight) == (20, 0, 0)
    assert progress.usage.calls == 20
    for unit, rows in sink.results:
        assert rows == judged_rows(unit.conversation)


@pytest.mark.parametrize("fault", [None, RuntimeError("a bug")])
async def test_while_units_are_done_the_loop_waits_little_for_other_threads(fault: Exception | None) -> None:
    during: list[tuple[float, bool]] = []

    async def work(_: WorkUnit) -> Sequence[Record]:
        during.append((sys.getswitchinterval(), gc.get_freeze_count() > 0))
        if fault is not None:
            raise fault
        return []

    before = (sys.getswitchinterval(), gc.get_freeze_count() > 0)
    with nullcontext() if fault is None else pytest.raises(RuntimeError):
        await run_work(iter(Units(3)), work, Sink(), workers=1, progress=Progress(), stop=StopSignal())
    assert max(during) == (pytest.approx(0.0005), True)
    assert (sys.getswitchinterval(), gc.get_freeze_count() > 0) == before


async def test_no_units_at_all() -> None:
    outcome, progress = await run(Units(0), FakeJudge(), Sink())
    assert outcome == Outcome("finished")
    assert progress.done == 0


async def test_a_judge_gets_repeat_seed_and_a_blinded_conversation() -> None:
    conversation = talk("u: a", "a: b", ratings=(Rating("c1", "s", 5),), metadata={"fault": "loop"})
    judge = FakeJudge()
    units = iter([unit_of(conversation, repeat=2, seed=9)])
    sink = Sink()
    await run_work(units, work_of(judge), sink, workers=1, progress=Progress(), stop=StopSignal())
    assert judge.seen == [(conversation.blinded(), 2, 9)]
    assert sink.results[0][0].conversation is conversation
    assert sink.results[0][0].repeat == 2


@pytest.mark.parametrize("workers", [1, 4])
async def test_no_more_units_are_taken_than_there_are_workers(workers: int) -> None:
    units, judge, sink = Units(1000), GatedJudge(), Sink()
    task = asyncio.create_task(run(units, judge, sink, workers=workers))
    await until(lambda: len(judge.seen) == workers)
    for _ in range(10):
        await asyncio.sleep(0)
    assert units.taken == workers
    judge.gate.set()
    await until(lambda: len(sink.results) >= 50)
    assert units.taken <= len(sink.results) + workers
    await task
    assert units.taken == 1000


async def test_failures_of_a_judge_are_results() -> None:
    judge = FakeJudge(lambda c, _: judged_rows(c, failed=c.id in {"c1", "c3"}))
    outcome, progress = await run(Units(5), judge, Sink())
    assert outcome == Outcome("finished")
    assert (progress.done, progress.failed) == (5, 2)


# -- stopping -------------------------------------------------------------------------------------


async def test_a_first_request_finishes_what_is_in_flight_and_takes_no_more() -> None:
    units, judge, sink, stop = Units(100), GatedJudge(), Sink(), StopSignal()
    task = asyncio.create_task(run(units, judge, sink, stop=stop))
    await until(lambda: len(judge.seen) == 3)
    stop.request()
    await asyncio.sleep(0)
    assert not task.done()
    judge.gate.set()
    outcome, progress = await task
    assert outcome == Outcome("interrupted")
    assert len(sink.results) == units.taken == progress.done == 3


async def test_a_second_request_drops_what_is_in_flight() -> None:
    units, judge, sink, stop = Units(100), GatedJudge(), Sink(), StopSignal()
    task = asyncio.create_task(run(units, judge, sink, stop=stop))
    await until(lambda: len(judge.seen) == 3)
    stop.request()
    stop.request()
    outcome, progress = await task
    assert outcome == Outcome("interrupted")
    assert sink.results == []
    assert progress.in_flight == 0


async def test_what_finished_before_a_second_request_is_kept() -> None:
    class SlowFirst(FakeJudge):
        async def judge(self, request: Request) -> tuple[Judged, ...]:
            if request.conversation.id == "c0":
                await asyncio.Event().wait()
            return await super().judge(request)

    sink, stop = Sink(), StopSignal()
    task = asyncio.create_task(run(Units(10**6), SlowFirst(waits=True), sink, workers=2, stop=stop))
    await until(lambda: len(sink.results) >= 10)
    stop.request()
    stop.request()
    outcome, progress = await task
    assert outcome.ended == "interrupted"
    assert progress.done == len(sink.results) >= 10


async def test_a_stop_before_the_start_takes_nothing() -> None:
    units, stop = Units(5), StopSignal()
    stop.request()
    outcome, _ = await run(units, FakeJudge(), Sink(), stop=stop)
    assert outcome == Outcome("interrupted")
    assert units.taken == 0


async def test_a_judge_that_never_waits_lets_others_have_their_turn() -> None:
    units, stop = Units(10**9), StopSignal()
    task = asyncio.create_task(run(units, FakeJudge(), Sink(), workers=1, stop=stop))
    async with asyncio.timeout(5):
        for _ in range(20):
            await asyncio.sleep(0)
        stop.request()
        outcome, _ = await task
    assert outcome == Outcome("interrupted")
    assert units.taken < 100


# -- errors ---------------------------------------------------------------------------------------


async def test_an_endpoint_that_is_of_no_use_ends_the_run() -> None:
    error = EndpointError("refused")
    units, sink = Units(1000), Sink()
    outcome, _ = await run(units, FaultyJudge(faults={"c5": error}), sink)
    assert outcome == Outcome("error", error)
    assert units.taken <= 5 + 1 + 2 * 3
    assert "c5" not in sink.ids
    assert set(sink.ids) >= {f"c{n}" for n in range(5)}


async def test_a_spent_budget_is_told_apart() -> None:
    error = BudgetSpent("the cap is reached")
    outcome, _ = await run(Units(9), FaultyJudge(faults={"c2": error}), Sink())
    assert outcome == Outcome("budget", error)


async def test_the_first_error_is_the_one_that_is_reported() -> None:
    errors: dict[str, BaseException] = {f"c{n}": EndpointError(str(n)) for n in range(50)}
    outcome, _ = await run(Units(50), FaultyJudge(faults=errors), Sink(), workers=8)
    assert outcome.error is errors["c0"]


async def test_what_is_in_flight_is_finished_when_an_error_ends_the_run() -> None:
    class Mixed(FakeJudge):
        async def judge(self, request: Request) -> tuple[Judged, ...]:
            await asyncio.sleep(0)
            if request.conversation.id == "c0":
                raise EndpointError("refused")
            for _ in range(5):
                await asyncio.sleep(0)
            return await super().judge(request)

    sink = Sink()
    outcome, _ = await run(Units(100), Mixed(), sink)
    assert outcome.ended == "error"
    assert sorted(sink.ids) == ["c1", "c2"]


async def test_an_error_of_the_input_ends_the_run() -> None:
    fault = FileFault("truncated")
    sink = Sink()
    outcome, _ = await run(Units(4, fault=fault), FakeJudge(waits=True), sink)
    assert outcome == Outcome("error", fault)
    assert len(sink.results) == 4


async def test_an_error_of_the_store_ends_the_run() -> None:
    units, sink = Units(1000), Sink(fails_at=10)
    outcome, progress = await run(units, FakeJudge(waits=True), sink)
    assert isinstance(outcome.error, StoreError)
    assert len(sink.results) == progress.done == 10
    assert units.taken <= 10 + 3


@pytest.mark.parametrize("workers", [1, 3])
async def test_a_fault_of_the_program_is_raised_and_ends_the_run(workers: int) -> None:
    units, sink = Units(1000), Sink()
    with pytest.raises(ZeroDivisionError):
        await run(units, FaultyJudge(faults={"c5": ZeroDivisionError()}), sink, workers=workers)
    assert units.taken < 20, "the run goes on although the program is at fault"
    assert set(sink.ids) >= {f"c{n}" for n in range(5)}


async def test_a_fault_of_the_program_in_the_input_is_raised() -> None:
    with pytest.raises(KeyError):
        await run(Units(4, fault=KeyError("x")), FakeJudge(), Sink())


async def test_cancelling_the_run_itself_cancels_its_workers() -> None:
    judge = GatedJudge()
    task = asyncio.create_task(run(Units(10), judge, Sink()))
    await until(lambda: len(judge.seen) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


# -- the ticker -----------------------------------------------------------------------------------


async def test_results_are_flushed_although_no_unit_finishes() -> None:
    judge, sink = GatedJudge(), Sink()
    sink.on_tick = judge.gate.set
    async with asyncio.timeout(5):
        outcome, _ = await run(Units(1), judge, sink)
    assert outcome == Outcome("finished")
    assert sink.ticks >= 1


async def test_a_batch_that_is_due_soon_is_asked_about_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first question on the usual interval is an hour: who waits for it never comes back."""
    judge, sink = GatedJudge(), Sink(due_in=0.0)

    def tick() -> None:
        monkeypatch.setattr("dialogauge.runs.execute._FLUSH_SECONDS", 3600.0)
        if sink.ticks == 50:
            judge.gate.set()

    sink.on_tick = tick
    async with asyncio.timeout(20):
        await run(Units(1), judge, sink)
    assert sink.ticks >= 50


async def test_a_store_that_fails_while_flushing_ends_the_run() -> None:
    judge, sink = GatedJudge(), Sink()

    def full() -> None:
        judge.gate.set()
        raise StoreError("the disk is full")

    sink.on_tick = full
    units = Units(1000)
    async with asyncio.timeout(5):
        outcome, _ = await run(units, judge, sink)
    assert str(outcome.error) == "the disk is full"
    assert units.taken == 3


async def test_the_ticker_ends_with_the_run() -> None:
    sink = Sink()
    await run(Units(3), FakeJudge(), sink)
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


# -- progress -------------------------------------------------------------------------------------


def test_progress_counts_and_foresees() -> None:
    now = [10.0]
    progress = Progress(clock=lambda: now[0])
    assert (progress.elapsed_s, progress.rate, progress.remaining_s) == (0.0, 0.0, None)
    progress.total, progress.resumed = 10, 4
    now[0] = 14.0
    assert progress.remaining_s is None, "nothing is done yet, so there is no rate"
    conversation = talk("u: a", "a: b")
    progress.took(judged_rows(conversation))
    progress.took(judged_rows(conversation, failed=True))
    assert (progress.done, progress.failed, progress.usage.calls) == (2, 1, 2)
    assert progress.rate == 0.5
    assert progress.remaining_s == 8.0
    progress.total = None
    assert progress.remaining_s is None


async def test_any_work_on_units_runs_alike() -> None:
    sink, done = Sink(), []

    async def work(unit: WorkUnit) -> tuple[Judged, ...]:
        done.append(unit.part)
        return judged_rows(unit.conversation)

    whole = next(iter(Units(1)))
    units = [replace(whole, part=part) for part in (None, "a", "b")]
    assert len({unit.key for unit in units}) == 3  # the part names the unit
    outcome = await run_work(iter(units), work, sink, workers=2, progress=Progress(), stop=StopSignal())
    assert outcome == Outcome("finished")
    assert sorted(map(str, done)) == ["None", "a", "b"]
