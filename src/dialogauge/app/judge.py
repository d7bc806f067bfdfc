"""The main job: conversations in, a run directory with judgements, summary and report out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dialogauge.app.build import BuiltJudge, build_judge
from dialogauge.app.planning import Planner, sampled
from dialogauge.app.privacy import Privacy, mask_for_writing
from dialogauge.app.settings import JudgeOptions
from dialogauge.app.sources import Source, default_run_directory, is_run, open_source
from dialogauge.core.errors import InputError, StoreError, UsageError
from dialogauge.core.protocols import Judge
from dialogauge.core.unit import UnitResult, WorkUnit
from dialogauge.data import (
    Mask,
    Note,
    RatingTable,
    off_scale,
    read_field_map,
    read_ratings,
    unknown_ids,
    unknown_turns,
)
from dialogauge.llm import LimiterState
from dialogauge.runs import (
    Outcome,
    Progress,
    RunDatabase,
    RunDirectory,
    StopSignal,
    run_units,
    stop_on_interrupt,
)
from dialogauge.studies.judging import parse_gate

if TYPE_CHECKING:
    from dialogauge.app.results import RunResult


class Observer(Protocol):
    """Who watches a run: a terminal, a page, a test."""

    def say(self, text: str) -> None:
        """Take a line that the user should read."""

    def watching(
        self, progress: Progress, limits: Callable[[], LimiterState | None]
    ) -> AbstractContextManager[None]:
        """Show the progress while the context lasts."""

    def interrupted(self, first: bool) -> None:  # noqa: FBT001 - the one thing there is to tell
        """Take note of a Ctrl-C."""


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    """What came of a judging run."""

    ended: Outcome
    result: RunResult
    faults: tuple[InputError, ...]
    """Records, files and ratings that could not be used."""
    notes: tuple[str, ...]
    """What was recognised and assumed of the input."""
    progress: Progress


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do: the answer to `--dry-run`."""

    directory: Path
    conversations: int
    units: int
    left: int
    """Units that the store does not hold yet."""
    faults: tuple[InputError, ...]
    notes: tuple[str, ...]
    judge: str


def judge_log(options: JudgeOptions, observer: Observer) -> JudgeOutcome:
    """Judge what the options name, and write the run directory.

    Raises UsageError before anything is done, StoreError when the run directory is of no use. What
    goes wrong in between ends up in the outcome, and everything finished by then is stored.
    """
    for gate in options.gates:
        parse_gate(gate)
    if options.fresh:
        _spare_the_input(options)
    return asyncio.run(_judge_log(options, observer))


def _spare_the_input(options: JudgeOptions) -> None:
    path = _directory(options).path
    if any(Path(i).resolve() == path.resolve() for i in options.inputs if is_run(i)):
        msg = f"--fresh would delete {path}, and it is the run that is to be judged"
        raise UsageError(msg, hint="choose another directory with -o, or leave --fresh out")


async def _judge_log(options: JudgeOptions, observer: Observer) -> JudgeOutcome:
    source = _open(options)
    ratings = _ratings(options)
    built = build_judge(options)
    directory = _directory(options)
    try:
        database = directory.open_for_writing(fresh=options.fresh)
        try:
            return await _run(options, observer, source, ratings, built, directory, database)
        finally:
            database.close()
    finally:
        directory.release()
        await built.close()


async def _run(  # noqa: PLR0913 - the parts of a run, put together here once
    options: JudgeOptions,
    observer: Observer,
    source: Source,
    ratings: RatingTable | None,
    built: BuiltJudge,
    directory: RunDirectory,
    database: RunDatabase,
) -> JudgeOutcome:
    _greet(options, observer, built, database)
    mask = mask_for_writing(database, Privacy(options.redact, options.hash_ids))
    progress = Progress(expected=_count_ahead(options, source))
    planner = _planner(options, source, ratings, built, database, progress, mask)
    stop = StopSignal()
    sink = _Sink(database, planner, built.judge.name)
    with stop_on_interrupt(stop, observer.interrupted), observer.watching(progress, built.limits):
        ended = await run_units(
            iter(planner), built.judge, sink, workers=_workers(options), progress=progress, stop=stop
        )
    _store_quietly(database, ended)
    from dialogauge.app.results import finish_run

    result = finish_run(options, directory, database, built.judge, planner, ended, ratings)
    rating_faults = _rating_faults(options, ratings, planner, built.judge, ended)
    faults = [*planner.faults, *(f if mask is None else mask.fault(f) for f in rating_faults)]
    notes = _told([*source.notes, *(ratings.notes if ratings else ())], mask)
    if planner.left_out:
        notes = (*notes, f"{planner.left_out} not judged: the rubric shows them as worked examples")
    return JudgeOutcome(ended, result, tuple(faults), notes, progress)


def plan_log(options: JudgeOptions) -> Plan:
    """Say what a run would do, without a model call and without writing anything."""
    source, built, directory = _open(options), build_judge(options), _directory(options)
    database = directory.open_for_reading() if directory.exists and not options.fresh else None
    progress = Progress()
    ratings = _ratings(options)
    mask = mask_for_writing(database, Privacy(options.redact, options.hash_ids))
    planner = _planner(options, source, ratings, built, database, progress, mask)
    left = sum(1 for _ in planner)
    if database is not None:
        database.close()
    asyncio.run(built.close())
    return Plan(
        directory.path,
        progress.planned // options.repeats,
        progress.planned,
        left,
        tuple(planner.faults),
        _told(source.notes, mask),
        built.judge.name,
    )


def _told(notes: Sequence[object], mask: Mask | None) -> tuple[str, ...]:
    return tuple(str(mask.note(n) if mask is not None and isinstance(n, Note) else n) for n in notes)


def _count_ahead(options: JudgeOptions, source: Source) -> int | None:
    """Count the units at most, so that the time left can be told; None where that is not to be had.

    Standard input can be read but once, and a file that breaks off is told of where it is read.
    """
    if options.judge != "llm" or "-" in options.inputs:
        return None
    try:
        found = source.count()
    except InputError:
        return None
    return options.repeats * min(n for n in (found, options.limit, options.sample) if n is not None)


class _Sink:
    """Writes what the engine finishes."""

    def __init__(self, database: RunDatabase, planner: Planner, judge: str) -> None:
        self._database = database
        self._planner = planner
        self._judge = judge

    def add(self, unit: WorkUnit, result: UnitResult) -> None:
        position = self._planner.planned[bytes.fromhex(unit.key)]
        self._database.add(unit, position, result, self._judge)

    def flush_if_due(self) -> float | None:
        return self._database.flush_if_due()


def _open(options: JudgeOptions) -> Source:
    return open_source(
        options.inputs, format=options.format, map_file=options.map_file, strict=options.strict
    )


def _ratings(options: JudgeOptions) -> RatingTable | None:
    if options.ratings_file is None:
        return None
    mapping = None if options.map_file is None else read_field_map(options.map_file)
    return read_ratings(options.ratings_file, mapping=mapping)


def _directory(options: JudgeOptions) -> RunDirectory:
    if options.out is not None:
        return RunDirectory(Path(options.out))
    return RunDirectory(default_run_directory(options.inputs, rubric=options.rubric, judge=options.judge))


def _workers(options: JudgeOptions) -> int:
    # A judge without an endpoint never waits: more workers would only hold more conversations in memory.
    return options.max_concurrency if options.judge == "llm" else 1


def _planner(  # noqa: PLR0913 - the parts of a run, as above
    options: JudgeOptions,
    source: Source,
    ratings: RatingTable | None,
    built: BuiltJudge,
    database: RunDatabase | None,
    progress: Progress,
    mask: Mask | None,
) -> Planner:
    digest = built.judge.digest
    return Planner(
        source=sampled(source, limit=options.limit, sample=options.sample, seed=options.seed),
        judge_digest=digest,
        repeats=options.repeats,
        seed=options.seed,
        finished={} if database is None else database.finished(digest),
        retry_failed=options.retry_failed,
        progress=progress,
        ratings=None if ratings is None else ratings.for_conversation,
        strict=options.strict,
        mask=mask,
        excluded=built.worked_examples,
    )


def _greet(options: JudgeOptions, observer: Observer, built: BuiltJudge, database: RunDatabase) -> None:
    if options.fresh:
        return
    others = [j for j in database.judges() if j != built.judge.digest]
    if others and not database.finished(built.judge.digest):
        observer.say(
            "this run holds judgements by another judge or prompt; they stay in run.db, and the files "
            "beside it will show the new ones"
        )


def _rating_faults(
    options: JudgeOptions, ratings: RatingTable | None, planner: Planner, judge: Judge, ended: Outcome
) -> list[InputError]:
    if ratings is None:
        return []
    scales = {d.name: d.scale for d in judge.dimensions}
    faults: list[InputError] = [*ratings.faults, *off_scale(ratings.ratings, scales)]
    faults += unknown_turns(planner.absent_turns, str(options.ratings_file))
    if ended.ended == "finished" and options.limit is None and options.sample is None:
        unknown = {i for i in ratings.ids if not planner.knows(i)}
        faults += unknown_ids(unknown, str(options.ratings_file))
    return faults


def _store_quietly(database: RunDatabase, ended: Outcome) -> None:
    # After a store error the batch cannot be written; that error is the one to report.
    if not isinstance(ended.error, StoreError):
        database.flush()
