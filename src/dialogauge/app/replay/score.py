"""Scoring a run's replies: the original replies of the touched blocks first, then every candidate's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dialogauge.app.build import BuiltJudge
from dialogauge.app.personal_judges import (
    build_satisfaction_judge,
)
from dialogauge.app.replay.run import item_set_of, open_for_writing, read_run
from dialogauge.app.replay.stage import open_stage
from dialogauge.app.settings import ScoreOptions
from dialogauge.core.errors import DialogaugeError, InputError, UsageError
from dialogauge.core.judgement import Usage
from dialogauge.core.protocols import Judge, RatedBlock, RatedReply
from dialogauge.core.unit import WorkUnit
from dialogauge.runs import (
    REFERENCE,
    Observer,
    Progress,
    ReplayDatabase,
    StopSignal,
    UnitResult,
    run_work,
    stop_on_interrupt,
)
from dialogauge.runs.store import RunNotes
from dialogauge.studies.replay.items import Stage, replaced
from dialogauge.studies.replay.scoring import BlockScoring, block_unit, evaluator_digest
from dialogauge.studies.satisfaction.answers import histories_of
from dialogauge.studies.satisfaction.blocks import StudyData
from dialogauge.text import counted

_BLOCKS_AT_ONCE = 8
"""A judge with a model waits for many replies at once; one without a model judges block after block."""


@dataclass
class Scored:
    """What came of the scoring."""

    judge: str
    evaluator: str
    """The digest that the scores stand under."""
    reference: int = 0
    """Original replies that have been scored."""
    candidates: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By candidate: replies scored, and replies that the evaluator failed on."""
    faults: tuple[InputError, ...] = ()
    usage: Usage = field(default_factory=Usage)
    ended: str = "finished"
    error: DialogaugeError | None = None

    @property
    def failed_share(self) -> float:
        """Share of the replies that the evaluator failed on."""
        scored = sum(n for n, _ in self.candidates.values())
        failed = sum(n for _, n in self.candidates.values())
        return failed / (scored + failed) if scored + failed else 0.0


def score(options: ScoreOptions, observer: Observer) -> Scored:
    """Score what is missing under this evaluator, and make it the one that comparisons take.

    Raises UsageError for a judge or a reference that does not fit, StoreError when the run is of no use.
    """
    o = options
    built = build_satisfaction_judge(o)
    judge = built.judge
    items = item_set_of(options.run)
    opened = open_stage(items, options.data, o.history)
    study, stage = opened.study, opened.stage
    with open_for_writing(options.run) as (_, database):
        evaluator = evaluator_digest(judge, study.population, tuple(stage.blocks.values()))
        out = Scored(judge.name, evaluator, faults=opened.faults)
        if options.reference is not None:
            _take_reference(options.reference, database, judge, evaluator)
        _note_evaluator(database, judge, evaluator, options, study, stage)
        work = _Work(options, observer, study, stage, database, built, evaluator)
        asyncio.run(work.run(out))
        _note_fitted(database, judge, evaluator)
        held = database.scored(evaluator, REFERENCE)
        out.reference = sum(not failed for failed in held.values())
        for name in database.candidates():
            found = database.scored(evaluator, name)
            failed = sum(found.values())
            out.candidates[name] = (len(found) - failed, failed)
    return out


@dataclass(frozen=True, slots=True)
class _Work:
    options: ScoreOptions
    observer: Observer
    study: StudyData
    stage: Stage
    database: ReplayDatabase
    built: BuiltJudge
    evaluator: str

    async def run(self, out: Scored) -> None:
        try:
            await self._run(out)
        finally:
            await self.built.close()

    async def _run(self, out: Scored) -> None:
        names = list(self.database.candidates())
        asked = sum(len(b.ratings) for b in self.stage.blocks.values()) + len(names) * len(self.stage.items)
        self.observer.say(
            f"{self.built.judge.name}: the original replies of {counted(len(self.stage.blocks), 'block')} "
            f"first, then {counted(len(names), 'candidate')}: {counted(asked, 'reply', 'replies')} at most"
        )
        blocks = len(self.stage.blocks)
        progress, stop = Progress(expected=blocks * (len(names) + 1)), StopSignal()
        scoring = BlockScoring(
            self.built.judge,
            self.stage.blocks,
            self.study.population,
            self.study.split.train,
            self._replies,
            RunNotes(self.database),
            partial(self.database.add_score, self.evaluator),
        )
        sink = _Sink(self.database)
        with (
            stop_on_interrupt(stop, self.observer.interrupted),
            self.observer.watching(progress, self.built.limits),
        ):
            # The reference comes first and whole: nothing is compared against half of it.
            for part in ((REFERENCE,), names):
                units = self._units(part, progress)
                ended = await run_work(
                    units, scoring.score, sink, workers=_BLOCKS_AT_ONCE, progress=progress, stop=stop
                )
                self.database.flush()
                out.ended, out.error = ended.ended, ended.error
                if ended.ended != "finished":
                    break
        out.usage = progress.usage

    def _units(self, names: Sequence[str], progress: Progress) -> Iterator[WorkUnit]:
        """Yield what is missing block by block: what was read of a history serves all candidates."""
        for block in self.stage.blocks.values():
            for name in names:
                progress.planned += 1
                if all(self._stands(name, item) for item in self._wanted(block, name)):
                    progress.resumed += 1
                else:
                    yield block_unit(block, name, self.evaluator)

    def _wanted(self, block: RatedBlock, name: str) -> Iterator[str]:
        """Yield what there is to score: the original replies, or what a candidate did not fail on."""
        if name == REFERENCE:
            yield from (r.reply.id for r in block.ratings)
            return
        for item in self.stage.by_block[block.view.id]:
            if self.database.reply_failed(name, item.id) is False:
                yield item.id

    def _stands(self, name: str, item: str) -> bool:
        failed = self.database.score_failed(self.evaluator, name, item)
        return failed is False or (failed is True and not self.options.retry_failed)

    def _replies(self, candidate: str, block: str) -> Sequence[RatedReply]:
        """Return what is to be judged; a judge that asks a model is not asked again for what stands."""
        found = self.stage.blocks[block].ratings if candidate == REFERENCE else self._said(candidate, block)
        if self.built.models is None:
            return found
        return [rated for rated in found if not self._stands(candidate, rated.reply.id)]

    def _said(self, candidate: str, block: str) -> Sequence[RatedReply]:
        out = []
        for item in self.stage.by_block[block]:
            said = self.database.reply(candidate, item.id)
            original = self.stage.originals[item.id]
            if said is not None and said.text is not None:
                out.append(replace(original, reply=replaced(original.reply, said.text)))
        return out


@dataclass(frozen=True, slots=True)
class _Sink:
    """Writes in time what the scorer has handed over already."""

    database: ReplayDatabase

    def add(self, unit: WorkUnit, result: UnitResult) -> None:
        pass

    def flush_if_due(self) -> float | None:
        return self.database.flush_if_due()


def _note_evaluator(
    database: ReplayDatabase,
    judge: Judge,
    evaluator: str,
    options: ScoreOptions,
    study: StudyData,
    stage: Stage,
) -> None:
    """Keep who scores, and what a comparison needs to know of histories and of items that are gone."""
    known: dict[str, Any] = database.get_meta("evaluators", {})
    before = known.pop(evaluator, None)
    known[evaluator] = {
        "name": judge.name,
        "asked_for": options.judge,
        "settings": {k: getattr(options, k) for k in ("strategy", "k", "history", "language")},
        "judge": dict(judge.describe()) if before is None else before["judge"],
        "population": {
            "users": len({b.view.user for b in study.population.blocks}),
            "turns": len(study.population.scores),
        },
    }
    histories = histories_of(stage.blocks.values(), study.history_turns)
    told: Mapping[str, Any] = {
        name: {"counts": list(h.counts), "mean": h.mean, "turns": h.turns} for name, h in histories.items()
    }
    database.put_meta("evaluators", known)
    database.put_meta(f"histories:{evaluator}", told)
    database.put_meta("present", [i.id for i in stage.items])


def _note_fitted(database: ReplayDatabase, judge: Judge, evaluator: str) -> None:
    """Keep what the evaluator says of itself once it is fitted; a run without anything to score fits none."""
    told = dict(judge.describe())
    if "fitted_on" in told:
        known: dict[str, Any] = database.get_meta("evaluators", {})
        known[evaluator]["judge"] = told
        database.put_meta("evaluators", known)


def _take_reference(path: str, database: ReplayDatabase, judge: Judge, evaluator: str) -> None:
    with read_run(path) as other:
        known = other.get_meta("evaluators", {})
        if evaluator not in known:
            names = ", ".join(sorted({str(e["name"]) for e in known.values()})) or "nobody"
            msg = f"the original replies of {path} were not scored by this evaluator, but by {names}"
            hint = (
                f"a reference counts only from the very judge ({judge.name}), with the same settings, "
                "histories and training users: leave --reference out, and they are scored here"
            )
            raise UsageError(msg, hint=hint)
        for found in other.scores(evaluator, REFERENCE):
            database.add_score(evaluator, found)
    database.flush()
