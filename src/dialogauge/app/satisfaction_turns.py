"""Judging a study turn by turn on the engine: what is stored is not asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from typing import Any

from dialogauge.app.judging import Observer
from dialogauge.app.satisfaction_models import Models
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.bench.satisfaction import Study
from dialogauge.core.conversation import Conversation
from dialogauge.core.digests import conversation_digest, digest
from dialogauge.core.errors import StoreError
from dialogauge.core.judgement import Judged
from dialogauge.core.work import UnitResult, WorkUnit
from dialogauge.engine import Outcome, Progress, StopSignal, run_work, stop_on_interrupt
from dialogauge.judge.personal import BlockView, Population, RatedReply, Reads, Reply, TurnJudge
from dialogauge.store import RunDatabase, judged_of

__all__ = ["KEPT", "JudgedTurns", "TurnPlan", "judge_turns", "others_of", "plan_turns"]

KEPT = "kept:"
"""What stands before the keys under which a judge keeps values in the run's file."""

_STUDY = "satisfaction, turn by turn"


@dataclass(frozen=True, slots=True)
class _Task:
    view: BlockView
    reply: Reply
    others: Population
    position: int
    """Of the conversation among those that are judged, from 1."""


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """Every turn of a study as a unit of work."""

    units: Mapping[str, WorkUnit]
    """By the unit's key, block by block."""
    tasks: Mapping[str, _Task]
    finished: frozenset[str]
    """Units that the store holds, those that failed left out where they are to be judged again."""

    @property
    def left(self) -> int:
        """Turns that are still to be judged."""
        return len(self.units) - len(self.finished)

    def waiting(self, side_by_side: int) -> Iterator[WorkUnit]:
        """Yield what is left: so many blocks at a time, one turn of each in turn.

        What a judge makes once for a block (a memory) is then made for many blocks together, and the turns
        of a block still come close enough to one another for an endpoint's prefix cache.
        """
        blocks: dict[str, list[WorkUnit]] = {}
        for key, unit in self.units.items():
            if key not in self.finished:
                blocks.setdefault(self.tasks[key].view.id, []).append(unit)
        waiting = list(blocks.values())
        for start in range(0, len(waiting), side_by_side):
            for rank in zip_longest(*waiting[start : start + side_by_side]):
                yield from (unit for unit in rank if unit is not None)


@dataclass(frozen=True, slots=True)
class JudgedTurns:
    """What came of the turns."""

    rows: tuple[tuple[Judged | None, ...], ...]
    """By block, one for each target; None for one that is not judged yet."""
    ended: Outcome
    progress: Progress


def others_of(study: Study) -> Callable[[str], Population]:
    """Return what gives the population for a user: a training user is judged by what is known of the rest."""

    @cache
    def without(user: str) -> Population:
        return study.population.without(user)

    return lambda user: without(user) if user in study.split.train else study.population


def plan_turns(
    judge: TurnJudge,
    study: Study,
    conversations: Mapping[str, Conversation],
    database: RunDatabase | None,
    *,
    retry_failed: bool,
) -> TurnPlan:
    """Make a unit of every target, and find those that are stored."""
    keys = _Keys(judge.reads)
    others = others_of(study)
    places: dict[str, int] = {}
    units: dict[str, WorkUnit] = {}
    tasks: dict[str, _Task] = {}
    for block in study.blocks:
        view = block.view
        known = others(view.user)
        circumstances = keys.circumstances(view, known)
        for reply in view.targets:
            conversation = conversations[reply.conversation.id]
            part = digest([reply.id, view.sight, circumstances])
            target = keys.digest_of(conversation)
            unit = WorkUnit(_STUDY, conversation, target, judge.digest, part=part)
            units[unit.key] = unit
            place = places.setdefault(conversation.id, len(places) + 1)
            tasks[unit.key] = _Task(view, reply, known, place)
    stored = {} if database is None else database.finished(judge.digest)
    held = {key.hex() for key, failed in stored.items() if not (failed and retry_failed)}
    return TurnPlan(units, tasks, frozenset(held & units.keys()))


@dataclass
class _Keys:
    """Digests of what a judgement stands on: each history and each population is read once."""

    reads: frozenset[Reads]
    _conversations: dict[str, str] = field(default_factory=dict)
    _populations: dict[int, str] = field(default_factory=dict)

    def digest_of(self, conversation: Conversation) -> str:
        if conversation.id not in self._conversations:
            self._conversations[conversation.id] = conversation_digest(conversation)
        return self._conversations[conversation.id]

    def circumstances(self, view: BlockView, others: Population) -> str:
        known: dict[str, Any] = {}
        if "profile" in self.reads:
            known["profile"] = None if view.profile is None else dict(view.profile)
        if "history" in self.reads:
            known["history"] = self._rated(view.history)
        if "others" in self.reads or ("history" in self.reads and not view.history):
            known["others"] = self._population(others)
        return digest(known)

    def _rated(self, rated: Iterable[RatedReply]) -> list[Any]:
        return [[r.reply.id, r.score, r.reason, self.digest_of(r.reply.conversation)] for r in rated]

    def _population(self, others: Population) -> str:
        if id(others) not in self._populations:
            rated = [r for block in others.blocks for r in block.ratings]
            self._populations[id(others)] = digest(self._rated(rated))
        return self._populations[id(others)]


@dataclass
class _Sink:
    """Writes what the engine finishes."""

    database: RunDatabase
    plan: TurnPlan
    judge: str
    rows: dict[str, Judged] = field(default_factory=dict)

    def add(self, unit: WorkUnit, result: UnitResult) -> None:
        self.database.add(unit, self.plan.tasks[unit.key].position, result, self.judge)
        (self.rows[unit.key],) = result.rows

    def flush_if_due(self) -> float | None:
        return self.database.flush_if_due()


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a judge keeps, in the run's own file."""

    database: RunDatabase

    def get(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        return self.database.get_meta(KEPT + key)

    def put(self, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        self.database.put_meta(KEPT + key, value)


async def judge_turns(  # noqa: PLR0913 - the parts of a run, put together here once
    judge: TurnJudge,
    models: Models,
    study: Study,
    conversations: Mapping[str, Conversation],
    database: RunDatabase,
    options: SatisfactionOptions,
    observer: Observer,
) -> JudgedTurns:
    """Judge every turn that the run does not hold yet.

    What ends the run early (Ctrl-C, a spent budget, an endpoint of no use) is in the outcome; what was
    judged by then is stored.
    """
    plan = plan_turns(judge, study, conversations, database, retry_failed=options.retry_failed)
    sink = _Sink(database, plan, judge.name)
    kept = _Kept(database)

    async def do(unit: WorkUnit) -> tuple[Judged, ...]:
        task = plan.tasks[unit.key]
        return (await judge.judge_turn(task.view, task.reply, task.others, kept),)

    total = len(plan.units)
    progress = Progress(total=total, planned=total, resumed=len(plan.finished))
    stop = StopSignal()
    workers = options.max_concurrency
    with stop_on_interrupt(stop, observer.interrupted), observer.watching(progress, models.limits):
        ended = await run_work(plan.waiting(workers), do, sink, workers=workers, progress=progress, stop=stop)
    if not isinstance(ended.error, StoreError):  # else that error is the one to report
        database.flush()
    return JudgedTurns(_rows(study, plan, database, judge, sink.rows), ended, progress)


def _rows(
    study: Study, plan: TurnPlan, database: RunDatabase, judge: TurnJudge, fresh: Mapping[str, Judged]
) -> tuple[tuple[Judged | None, ...], ...]:
    """Lay the rows out by block: those of this run, and those that earlier runs left."""
    wanted = {bytes.fromhex(key): 0 for key in plan.units if key not in fresh}
    stored = database.units(judge.digest, wanted) if wanted else ()
    found = {unit.key.hex(): judged_of(unit.rows[0]) for unit in stored} | dict(fresh)
    rows = iter([found.get(key) for key in plan.units])
    return tuple(tuple(next(rows) for _ in block.view.targets) for block in study.blocks)
