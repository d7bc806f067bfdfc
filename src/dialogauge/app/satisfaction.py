"""The satisfaction study: rated conversations in, a run with judgements, figures and controls out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialogauge.app.satisfaction_judges import build_personal_judge
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.app.satisfaction_run import RunWriter, summary_json
from dialogauge.app.sources import open_source
from dialogauge.bench.judging import Summary
from dialogauge.bench.satisfaction import (
    Answer,
    Evaluation,
    EvaluationSettings,
    Study,
    answers_of,
    check_rationales,
    evaluate,
    histories_of,
    plan_study,
)
from dialogauge.calibrate import Calibrated
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError
from dialogauge.core.judgement import Judged, Judgement
from dialogauge.data import RatingTable, read_field_map, read_ratings, read_split
from dialogauge.judge.personal import PersonalJudge
from dialogauge.store import RunDirectory

__all__ = ["SatisfactionOutcome", "judge_satisfaction"]

_MAX_FAILED = 0.05


@dataclass(frozen=True, slots=True)
class SatisfactionOutcome:
    """What came of the study."""

    study: Study
    judge: str
    evaluation: Evaluation
    summary: Summary
    directory: RunDirectory
    faults: tuple[InputError, ...]
    notes: tuple[str, ...]

    @property
    def mostly_failed(self) -> bool:
        """Whether more than one in twenty turns failed."""
        return (self.summary.failed_share or 0.0) > _MAX_FAILED

    def to_json(self) -> dict[str, Any]:
        """Write the summary as `summary.json` holds it."""
        return summary_json(self.summary, self.study, self.evaluation)


def judge_satisfaction(options: SatisfactionOptions) -> SatisfactionOutcome:
    """Judge every target of the part that was asked for, and write the run directory.

    Raises UsageError before anything is judged, StoreError when the run directory is of no use.
    """
    judge = build_personal_judge(
        options.judge,
        mode=options.mode,
        strategy=options.strategy,
        k=options.k,
        encoder=options.encoder,
    )
    split = None if options.split_file is None else read_split(options.split_file)
    conversations, faults, notes = _read(options)
    study = plan_study(
        conversations.values(),
        part=options.part,
        split=split,
        dimension=options.dimension,
        sight=options.mode,
        history=options.history,
    )
    rows = asyncio.run(_judged(judge, study))
    answers = [a for block, judged in zip(study.blocks, rows, strict=True) for a in answers_of(block, judged)]
    evaluation = evaluate(
        answers,
        histories_of(study.blocks, study.history_turns),
        study.population.scores,
        EvaluationSettings(options.calibrate, options.ties, options.draws, options.seed),
    )
    rationale = check_rationales(study.blocks, rows, study.population, draws=options.draws, seed=options.seed)
    evaluation = replace(evaluation, rationale=rationale)
    results = _results(study, rows, evaluation, answers)
    work = RunWriter(options, judge, study, evaluation, (*faults, *study.faults))
    directory, summary = work.write(conversations, results)
    return SatisfactionOutcome(study, judge.name, evaluation, summary, directory, work.faults, notes)


def _read(
    options: SatisfactionOptions,
) -> tuple[dict[str, Conversation], list[InputError], tuple[str, ...]]:
    source = open_source(options.inputs, format=options.format, map_file=options.map_file, strict=False)
    ratings = _ratings(options)
    found: dict[str, Conversation] = {}
    faults: list[InputError] = list(ratings.faults)
    for item in source:
        if isinstance(item, Conversation):
            found[item.id] = replace(item, ratings=(*item.ratings, *ratings.for_conversation(item.id)))
        else:
            faults.append(item)
    faults += [
        InputError(f"{options.ratings_file} rates the conversation {name!r}, which the data does not hold")
        for name in sorted(ratings.ids - found.keys())
    ]
    return found, faults, tuple(str(n) for n in (*source.notes, *ratings.notes))


def _ratings(options: SatisfactionOptions) -> RatingTable:
    if options.ratings_file is None:
        return RatingTable()
    mapping = None if options.map_file is None else read_field_map(options.map_file)
    return read_ratings(options.ratings_file, mapping=mapping)


async def _judged(judge: PersonalJudge, study: Study) -> list[tuple[Judged, ...]]:
    """Judge block by block; a training user is judged by what is known of the others."""
    out = []
    for block in study.blocks:
        user = block.view.user
        others = study.population.without(user) if user in study.split.train else study.population
        out.append(await judge.judge_block(block.view, others))
    return out


def _results(
    study: Study, rows: Sequence[tuple[Judged, ...]], evaluation: Evaluation, answers: Sequence[Answer]
) -> dict[str, list[Judged]]:
    """Gather the rows of each conversation, with the calibrated scores and the user's own beside them."""
    out: dict[str, list[Judged]] = {}
    told = iter(answers)
    for _, judged in zip(study.blocks, rows, strict=True):
        for row in judged:
            answer = next(told)
            shown = _with_calibrated(row, answer, evaluation.calibrated.get(answer.id))
            out.setdefault(row.target.conversation_id, []).append(shown)
    return out


def _with_calibrated(row: Judged, answer: Answer, calibrated: Calibrated | None) -> Judged:
    if not isinstance(row.outcome, Judgement) or calibrated is None:
        return row
    details = {**row.outcome.details, "satisfaction": calibrated.value, "raw": answer.value}
    if not answer.history:
        details["without_history"] = True
    return replace(
        row, outcome=replace(row.outcome, scores={"satisfaction": calibrated.rounded}, details=details)
    )
