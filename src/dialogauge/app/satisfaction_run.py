"""The run directory of a satisfaction study: the same files as of any run, with figures and controls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from dialogauge.app.judge import Observer
from dialogauge.app.personal_judges import Models
from dialogauge.app.report import write_report
from dialogauge.app.results import shown_role
from dialogauge.app.runs import FinishedRun
from dialogauge.app.settings import SatisfactionOptions
from dialogauge.app.sources import is_run
from dialogauge.app.versions import versions
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, StoreError
from dialogauge.core.judgement import Judged
from dialogauge.core.protocols import (
    BlockView,
    PersonalJudge,
    Population,
    RatedReply,
    Reads,
    Reply,
    TurnJudge,
)
from dialogauge.core.unit import UnitResult, WorkUnit, conversation_digest, digest
from dialogauge.judges.personal import TurnDimension
from dialogauge.runs import (
    Outcome,
    Progress,
    RunDatabase,
    RunDirectory,
    StopSignal,
    judged_of,
    run_work,
    stop_on_interrupt,
)
from dialogauge.runs.records import json_line
from dialogauge.runs.store import PLANNED
from dialogauge.studies.judging import Summary, summarise
from dialogauge.studies.satisfaction import Evaluation, Study, drift_of

KEPT = "kept:"
"""What stands before the keys under which a judge keeps values in the run's file."""

_TURN_BY_TURN = "satisfaction, turn by turn"


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
            unit = WorkUnit(_TURN_BY_TURN, conversation, target, judge.digest, part=part)
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


_STUDY = "satisfaction"
_FAULTS_KEPT = 1000


def run_directory(options: SatisfactionOptions) -> RunDirectory:
    """Return the directory that was asked for; else one that is named after the input and the judge."""
    if options.out is not None:
        return RunDirectory(Path(options.out))
    first = Path(options.inputs[0])
    name = "stdin" if str(first) == "-" else first.resolve().name.split(".")[0] or "run"
    beside = first.parent if is_run(str(first)) else Path("runs")
    return RunDirectory(beside / f"{name}-{options.judge}")


@dataclass(frozen=True, slots=True)
class RunWriter:
    """Writing the run directory."""

    options: SatisfactionOptions
    judge: PersonalJudge | TurnJudge
    study: Study
    evaluation: Evaluation
    unreadable: tuple[InputError, ...]
    """Records that are no conversations."""
    rating_faults: tuple[InputError, ...]
    """Ratings that cannot be used."""
    ended: Outcome
    pending: int
    """Turns that are not judged yet."""
    signals: Sequence[Mapping[str, Any]]
    """What was there of each signal, and its weight."""

    def write(
        self,
        directory: RunDirectory,
        database: RunDatabase,
        conversations: Mapping[str, Conversation],
        results: Mapping[str, list[Judged]],
    ) -> Summary:
        """Store the rows, and write every file of the run.

        Args:
            directory: Of the run, held for writing.
            database: Its file.
            conversations: By id, as they were read, with their ratings.
            results: By conversation, its rows in order.

        Raises:
            StoreError: A file cannot be written.
        """
        name, judge_digest = self.judge.name, self._digest()
        shown: list[str] = []
        for position, (id, rows) in enumerate(results.items(), 1):
            conversation = conversations[id]
            target = conversation_digest(conversation)
            unit = WorkUnit(_STUDY, conversation, target, judge_digest, 1, self.options.seed)
            database.add(unit, position, UnitResult(unit.key, 1, tuple(rows)), name)
            shown.append(unit.key)
        database.flush()
        database.put_meta(PLANNED, shown)  # what a conversation was before it changed stays stored, unseen
        manifest = self._manifest(judge_digest, len(results))
        run = FinishedRun(directory, database, manifest)
        directory.write_lines("judgements", _lines(run))
        summary = summarise(
            run.rows(),
            dimensions=run.dimensions,
            unreadable=[str(f) for f in self.unreadable],
            pending=self._unfinished(results),
            repeats=1,
        )
        told = summary_json(summary, self.study, self.evaluation, self.rating_faults, self.signals)
        directory.write_json("summary", told)
        directory.write_json("manifest", manifest)
        kept = database.all_meta(KEPT)
        if kept:
            lines = ({"key": key.removeprefix(KEPT), "value": value} for key, value in kept.items())
            directory.write_lines("kept", (json_line(line) for line in lines))
        write_report(run, summary, None)
        return summary

    def _unfinished(self, results: Mapping[str, list[Judged]]) -> int:
        """Count the conversations of which no turn is judged yet."""
        asked = {reply.conversation.id for block in self.study.blocks for reply in block.view.targets}
        return len(asked - results.keys())

    def _digest(self) -> str:
        """Changes with the judge, the calibration, and everything that is known of any user."""
        o, study = self.options, self.study
        known = [[r.reply.id, r.score] for b in study.population.blocks for r in b.ratings]
        past = [[b.view.id, [[r.reply.id, r.score] for r in b.view.history]] for b in study.blocks]
        reference = [[a.id, a.value] for a in self.evaluation.settings.reference or ()]
        how = [o.calibrate, o.ties, o.history, o.mode, reference]
        return digest([self.judge.digest, *how, known, past])

    def _manifest(self, judge_digest: str, conversations: int) -> dict[str, Any]:
        """Write what the run was made from, with the keys of every run's manifest."""
        settings = {k: v for k, v in asdict(self.options).items() if k != "command"}
        settings |= {"rubric": _STUDY, "repeats": 1}
        settings["roles"] = {role: shown_role(found) for role, found in self.options.roles.items()}
        description = dict(self.judge.describe())
        dimension = TurnDimension()
        return {
            "versions": versions(),
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "settings": settings,
            "command": self.options.command,
            "seed": self.options.seed,
            "judge": {
                **description,
                "name": self.judge.name,
                "digest": judge_digest,
                "reads": sorted(self.judge.reads),
            },
            "dimensions": [
                {"name": dimension.name, "level": dimension.level, "scale": asdict(dimension.scale)}
            ],
            "shows_scenario": False,
            "scenario_rules": [],
            "digests": {"prompts": description.get("prompts"), "data": judge_digest},
            "conversations": conversations,
            "pending_units": self.pending,
            "ended": self.ended.ended,
            "error": None if self.ended.error is None else str(self.ended.error),
            "unreadable": len(self.unreadable),
            "unreadable_records": [str(f) for f in self.unreadable[:_FAULTS_KEPT]],
            "rating_faults": [str(f) for f in self.rating_faults[:_FAULTS_KEPT]],
            "split": {name: sorted(getattr(self.study.split, name)) for name in ("train", "test")},
        }


def _lines(run: FinishedRun) -> Iterator[bytes]:
    return (json_line(row) for row in run.rows())


def summary_json(
    summary: Summary,
    study: Study,
    evaluation: Evaluation,
    rating_faults: Sequence[InputError],
    signals: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Write the summary of the rows, what the study was made of, and its figures and controls."""
    known = [b for b in study.blocks if b.view.history]
    lonely = [b for b in study.blocks if not b.view.history]
    told = {
        "users": len({b.view.user for b in known}),
        "blocks": len(known),
        "turns": sum(len(b.view.targets) for b in known),
        "population": {
            "users": len({b.view.user for b in study.others.blocks}),
            "turns": len(study.others.scores),
        },
        "without_history": {
            "users": len({b.view.user for b in lonely}),
            "turns": sum(len(b.view.targets) for b in lonely),
        },
        "left_out": dict(study.left_out),
        "rating_faults": len(rating_faults),
    }
    s = evaluation.settings
    drift = drift_of(study.blocks, study.population, draws=s.draws, seed=s.seed)
    figures = {**evaluation.to_json(), "drift": drift.to_json()}
    return {**summary.to_json(), "study": told, "signals": list(signals), **figures, "gates": []}
