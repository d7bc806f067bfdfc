"""The satisfaction study: rated conversations in, a run with judgements, figures and controls out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialogauge.app.judge import Observer
from dialogauge.app.merging import refuse_settings_of_others
from dialogauge.app.personal_judges import (
    MODEL_JUDGES,
    BuiltTurnJudge,
    build_personal_judge,
    build_turn_judge,
)
from dialogauge.app.satisfaction_data import (
    chosen_split,
    join_signals,
    mask_of_study,
    masked_study,
    masked_words,
    read_rated,
    read_reference,
    read_signals,
    signals_of,
)
from dialogauge.app.satisfaction_run import (
    JudgedTurns,
    RunWriter,
    judge_turns,
    others_of,
    plan_turns,
    run_directory,
    summary_json,
)
from dialogauge.app.settings import SatisfactionOptions
from dialogauge.app.sources import is_run
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError, UsageError
from dialogauge.core.judgement import Judged, JudgeFailure, Judgement
from dialogauge.core.protocols import PersonalJudge, RatedBlock, TurnJudge
from dialogauge.judges.local_user import LocalUserJudge
from dialogauge.runs import Outcome, Progress, RunDatabase, RunDirectory
from dialogauge.stats import Calibrated
from dialogauge.studies.judging import Summary
from dialogauge.studies.satisfaction import (
    Answer,
    Evaluation,
    EvaluationSettings,
    JoinedScores,
    StoredScores,
    Study,
    answers_of,
    check_rationales,
    evaluate,
    histories_of,
    plan_study,
    unnamed_together,
)
from dialogauge.text import counted


@dataclass(frozen=True, slots=True, repr=False)  # asyncio writes a task's result out, and this one is large
class SatisfactionOutcome:
    """What came of the study."""

    study: Study
    judge: str
    evaluation: Evaluation
    summary: Summary
    directory: RunDirectory
    unreadable: tuple[InputError, ...]
    """Records that are no conversations: each counts as a failed one."""
    rating_faults: tuple[InputError, ...]
    """Ratings that cannot be used: what they rate counts as unrated."""
    notes: tuple[str, ...]

    ended: Outcome
    progress: Progress
    pending: int
    """Turns that are not judged yet, where the study ended early."""
    max_failed: float
    failures: Mapping[str, int]
    """How many turns failed, by what was said of them; the most frequent first."""
    signals: Sequence[Mapping[str, Any]]
    """What was there of each signal, and its weight, as `summary.json` holds it."""

    @property
    def faults(self) -> tuple[InputError, ...]:
        """Everything that is wrong with the data."""
        return (*self.unreadable, *self.rating_faults)

    @property
    def mostly_failed(self) -> bool:
        """Whether more turns failed than may (`--max-failed`, one in twenty)."""
        return (self.summary.failed_share or 0.0) > self.max_failed

    def to_json(self) -> dict[str, Any]:
        """Write the summary as `summary.json` holds it."""
        return summary_json(self.summary, self.study, self.evaluation, self.rating_faults, self.signals)


@dataclass(frozen=True, slots=True)
class SatisfactionPlan:
    """What a study would do: the answer to `--dry-run`."""

    directory: Path
    judge: str
    turns: int
    left: int
    """Turns that the run does not hold yet."""
    faults: tuple[InputError, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Input:
    """What was read, and what of it is judged."""

    conversations: dict[str, Conversation]
    study: Study
    unreadable: tuple[InputError, ...]
    """Records that are no conversations."""
    rating_faults: tuple[InputError, ...]
    notes: tuple[object, ...]
    reference: tuple[Answer, ...] | None = None
    """The original replies, as another run judged them."""
    stored: tuple[StoredScores, ...] = ()
    """What the runs hold that were named as signals."""
    signals: tuple[JoinedScores, ...] = ()
    """What of it is about the turns of the study."""


def judge_satisfaction(options: SatisfactionOptions, observer: Observer) -> SatisfactionOutcome:
    """Judge every target of the part that was asked for, and write the run directory.

    Raises UsageError before anything is judged, StoreError when the run directory is of no use. What ends
    a judge with a model early ends up in the outcome, and every turn judged by then is stored: the same
    command again goes on from there.
    """
    return asyncio.run(_judge_satisfaction(options, observer))


def plan_satisfaction(options: SatisfactionOptions) -> SatisfactionPlan:
    """Say what a study would do, without a model call and without writing anything."""
    built = _built(options)
    read = _plan(options)
    read = replace(read, stored=read_signals(options, read.study))
    directory = run_directory(options)
    database = directory.open_for_reading() if directory.exists and not options.fresh else None
    read = _heard(_masked(read, options, database))
    left = read.study.targets
    if isinstance(built, BuiltTurnJudge):
        again = options.retry_failed
        left = plan_turns(built.judge, read.study, read.conversations, database, retry_failed=again).left
        asyncio.run(built.models.close())
    if database is not None:
        database.close()
    name = _judge(built).name
    return SatisfactionPlan(directory.path, name, read.study.targets, left, _faults(read), _notes(read))


def _built(options: SatisfactionOptions) -> PersonalJudge | BuiltTurnJudge:
    refuse_settings_of_others(options)
    if options.judge in MODEL_JUDGES:
        return build_turn_judge(options)
    return build_personal_judge(
        options.judge,
        mode=options.mode,
        strategy=options.strategy,
        k=options.k,
        encoder=options.encoder,
    )


def _judge(built: PersonalJudge | BuiltTurnJudge) -> PersonalJudge | TurnJudge:
    return built.judge if isinstance(built, BuiltTurnJudge) else built


def _faults(read: _Input) -> tuple[InputError, ...]:
    return (*read.unreadable, *read.rating_faults, *read.study.faults)


def _notes(read: _Input) -> tuple[str, ...]:
    notes = tuple(str(note) for note in read.notes)
    split = read.study.split
    if strangers := sorted(
        (split.train | split.test) - {c.user_id or "" for c in read.conversations.values()}
    ):
        names = ", ".join(strangers[:5]) + (" ..." if len(strangers) > 5 else "")
        return (*notes, f"warning: not in the data: {counted(len(strangers), 'user')} of the split: {names}")
    return notes


def _masked(read: _Input, options: SatisfactionOptions, database: RunDatabase | None) -> _Input:
    """Hide what is to be hidden, before anything is judged, stored or shown."""
    mask = mask_of_study(options, database)
    if mask is None:
        return read
    conversations, study = masked_study(read.conversations, read.study, options, mask)
    unreadable, notes = masked_words(read.unreadable, read.notes, mask)
    ratings, _ = masked_words(read.rating_faults, (), mask)
    return _Input(conversations, study, unreadable, ratings, notes, read.reference, read.stored)


def _heard(read: _Input) -> _Input:
    """Join the signals with what is judged: a score holds for the words that it was given for."""
    return replace(read, signals=join_signals(read.stored, read.study, read.conversations))


def _plan(options: SatisfactionOptions) -> _Input:
    split = chosen_split(options)
    data = read_rated(options)
    notes = list(data.notes)
    if together := unnamed_together(data.conversations.values(), options.dimension):
        notes.append(
            f"several ratings without a rater, read as several people's mean: {counted(together, 'turn')}"
        )
    study = plan_study(
        data.conversations.values(),
        part=options.part,
        split=split,
        dimension=options.dimension,
        sight=options.mode,
        history=options.history,
    )
    return _Input(data.conversations, study, data.unreadable, data.rating_faults, tuple(notes))


async def _judge_satisfaction(options: SatisfactionOptions, observer: Observer) -> SatisfactionOutcome:
    built = _built(options)
    try:
        read = _plan(options)
        stored = read_signals(options, read.study)
        read = replace(read, reference=read_reference(options, read.study), stored=stored)
        directory = run_directory(options)
        _spare_the_input(options, directory)
        try:
            database = directory.open_for_writing(fresh=options.fresh)
            try:
                read = _heard(_masked(read, options, database))
                if isinstance(built, LocalUserJudge):
                    built = replace(built, signals=signals_of(read.signals))
                judged = await _judged(built, read, database, options, observer)
                return _finished(options, _judge(built), read, directory, database, judged)
            finally:
                database.close()
        finally:
            directory.release()
    finally:
        if isinstance(built, BuiltTurnJudge):
            await built.models.close()


def _spare_the_input(options: SatisfactionOptions, directory: RunDirectory) -> None:
    same = directory.path.resolve()
    if options.fresh and any(is_run(i) and Path(i).resolve() == same for i in options.inputs):
        msg = f"--fresh would delete {directory.path}, and it is the run that is to be judged"
        raise UsageError(msg, hint="choose another directory with -o, or leave --fresh out")


async def _judged(
    built: PersonalJudge | BuiltTurnJudge,
    read: _Input,
    database: RunDatabase,
    options: SatisfactionOptions,
    observer: Observer,
) -> JudgedTurns:
    """Judge turn by turn on the engine where a model is asked, else block by block, which takes no time."""
    study = read.study
    if isinstance(built, BuiltTurnJudge):
        return await judge_turns(
            built.judge, built.models, study, read.conversations, database, options, observer
        )
    others = others_of(study)
    rows = [await built.judge_block(block.view, others(block.view.user)) for block in study.blocks]
    total = study.targets
    return JudgedTurns(tuple(rows), Outcome("finished"), Progress(total=total, planned=total))


def _finished(
    options: SatisfactionOptions,
    judge: PersonalJudge | TurnJudge,
    read: _Input,
    directory: RunDirectory,
    database: RunDatabase,
    judged: JudgedTurns,
) -> SatisfactionOutcome:
    study = read.study
    done = [_done(block, rows) for block, rows in zip(study.blocks, judged.rows, strict=True)]
    answers = [a for block, rows in done for a in answers_of(block, rows)]
    evaluation = evaluate(
        answers,
        histories_of(study.blocks, study.history_turns),
        study.population.scores,
        EvaluationSettings(
            options.calibrate,
            options.ties,
            options.draws,
            options.seed,
            boundary_only=getattr(judge, "boundary_only", False),
            reference=read.reference,
        ),
    )
    evaluation = replace(
        evaluation,
        rationale=check_rationales(
            [block for block, _ in done],
            [rows for _, rows in done],
            study.population,
            draws=options.draws,
            seed=options.seed,
        ),
    )
    results = _results([rows for _, rows in done], evaluation, answers)
    pending = study.targets - len(answers)
    wrong = (*read.rating_faults, *study.faults)
    weights = judge.weights if isinstance(judge, LocalUserJudge) else {}
    signals = [joined.to_json(weights.get(joined.run)) for joined in read.signals]
    work = RunWriter(
        options, judge, study, evaluation, read.unreadable, wrong, judged.ended, pending, signals
    )
    summary = work.write(directory, database, read.conversations, results)
    return SatisfactionOutcome(
        study,
        judge.name,
        evaluation,
        summary,
        directory,
        read.unreadable,
        wrong,
        _notes(read),
        judged.ended,
        judged.progress,
        pending,
        options.max_failed,
        _failures(judged),
        signals,
    )


def _failures(judged: JudgedTurns) -> Mapping[str, int]:
    outcomes = (row.outcome for rows in judged.rows for row in rows if row is not None)
    return dict(Counter(o.message for o in outcomes if isinstance(o, JudgeFailure)).most_common())


def _done(block: RatedBlock, rows: Sequence[Judged | None]) -> tuple[RatedBlock, list[Judged]]:
    """Leave the targets out that are not judged yet."""
    found = [(rated, row) for rated, row in zip(block.ratings, rows, strict=True) if row is not None]
    return replace(block, ratings=tuple(rated for rated, _ in found)), [row for _, row in found]


def _results(
    rows: Sequence[Sequence[Judged]], evaluation: Evaluation, answers: Sequence[Answer]
) -> dict[str, list[Judged]]:
    """Gather the rows of each conversation, with the calibrated scores and the user's own beside them."""
    out: dict[str, list[Judged]] = {}
    told = iter(answers)
    for judged in rows:
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
