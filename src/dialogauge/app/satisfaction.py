"""The satisfaction study: rated conversations in, a run with judgements, figures and controls out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dialogauge.app.build import BuiltJudge
from dialogauge.app.config import shown_role
from dialogauge.app.judge import spare_the_input
from dialogauge.app.option_groups import RatedDataOptions
from dialogauge.app.outcome import Plan, StudyOutcome, units_to_do
from dialogauge.app.personal_judges import MODEL_JUDGES, build_satisfaction_judge
from dialogauge.app.satisfaction_data import (
    chosen_split,
    read_rated,
    read_reference,
    read_signals,
    run_directory,
)
from dialogauge.app.settings import SatisfactionOptions
from dialogauge.app.sources import InputData, shown_notes
from dialogauge.core.settings import narrowed, recorded
from dialogauge.runs import Observer, Privacy, RunSettings, StopSignal, run_study
from dialogauge.studies.satisfaction.blocks import study_data, unnamed_together
from dialogauge.studies.satisfaction.study import SatisfactionResult, SatisfactionSettings, SatisfactionStudy
from dialogauge.text import counted


@dataclass(frozen=True, repr=False)  # asyncio writes a task's result out, and this one is large
class SatisfactionOutcome(StudyOutcome[SatisfactionResult]):
    """What comes of the study; `faults` are the unreadable records and the ratings that cannot be used."""

    max_failed: float = 1.0

    @property
    def exit_code(self) -> int:
        """130 or 1 before 3: interrupted, error or faults, more failed turns than `--max-failed`."""
        mostly_failed = (self.run.result.summary.failed_share or 0.0) > self.max_failed
        return super().exit_code or (3 if mostly_failed else 0)


def judge_satisfaction(options: SatisfactionOptions, observer: Observer) -> SatisfactionOutcome:
    """Judge every target of the part that was asked for, and write the run directory.

    Raises UsageError before anything is judged, StoreError when the run directory is of no use. What ends
    a judge with a model early ends up in the outcome, and every turn judged by then is stored: the same
    command again goes on from there.
    """
    return asyncio.run(judge_satisfaction_data(options, observer))


async def judge_satisfaction_data(
    options: SatisfactionOptions,
    observer: Observer,
    data: InputData | None = None,
    stop: StopSignal | None = None,
) -> SatisfactionOutcome:
    """Judge what the options name, or data that was read elsewhere; see `judge_satisfaction`.

    Args:
        options: What is asked for.
        observer: Who is told.
        data: Judged in place of what `inputs` and `ratings_file` of the options name.
        stop: Ends the run early when it is requested.
    """
    spare_the_input(options, run_directory(options))
    built = build_satisfaction_judge(options, mode=options.mode)
    try:
        study, notes = _study(options, built, data)
        study.reference = read_reference(options, study.data)
        run = await run_study(study, _run_settings(options), observer, built.limits, stop)
    finally:
        await built.close()
    notes = (*notes, *built.notices(run.progress.usage.calls))
    shown = (*shown_notes(notes, run.mask), *_absent_users(study))
    faults = (*study.unreadable, *run.result.rating_faults)
    return SatisfactionOutcome(run, faults, shown, options.max_failed)


def plan_satisfaction(options: SatisfactionOptions) -> Plan:
    """Say what a study would do, without a model call and without writing anything."""
    built = build_satisfaction_judge(options, mode=options.mode, dry=True)
    study, notes = _study(options, built)
    turns, left, mask = units_to_do(study, _run_settings(options), built)
    return Plan(
        run_directory(options).path,
        study.judge.name,
        {"turns": turns},
        left,
        (*study.unreadable, *study.rating_faults, *study.data.faults),
        (*shown_notes(notes, mask), *_absent_users(study)),
        built.counted(),
    )


def _study(
    options: SatisfactionOptions, built: BuiltJudge, data: InputData | None = None
) -> tuple[SatisfactionStudy, Sequence[object]]:
    """Read the data and plan what is judged; return with it the notes on what was read."""
    split = chosen_split(options)
    rated = read_rated(options, data)
    notes = list(rated.notes)
    if together := unnamed_together(rated.conversations.values(), options.dimension):
        notes.append(
            f"several ratings without a rater, read as several people's mean: {counted(together, 'turn')}"
        )
    studied = study_data(
        rated.conversations.values(),
        part=options.part,
        split=split,
        dimension=options.dimension,
        sight=options.mode,
        history=options.history,
    )
    study = SatisfactionStudy(
        built.judge,
        rated.conversations,
        studied,
        replace(study_settings(options), side_by_side=options.max_concurrency),
        unreadable=rated.unreadable,
        rating_faults=rated.rating_faults,
        stored_signals=read_signals(options, studied),
    )
    return study, notes


def study_settings(options: RatedDataOptions) -> SatisfactionSettings:
    """Return what of the options the study itself needs."""
    return narrowed(SatisfactionSettings, options, split_given=options.split_file is not None)


def _run_settings(options: SatisfactionOptions) -> RunSettings:
    settings = {**recorded(options), "rubric": "satisfaction", "repeats": 1}
    settings["roles"] = {role: shown_role(of_role) for role, of_role in options.roles.items()}
    return RunSettings(
        directory=run_directory(options),
        workers=options.max_concurrency if options.judge in MODEL_JUDGES else 1,
        fresh=options.fresh,
        retry_failed=options.retry_failed,
        privacy=Privacy(options.redact, options.hash_ids),
        settings=settings,
        command=options.command,
        seed=options.seed,
    )


def _absent_users(study: SatisfactionStudy) -> tuple[str, ...]:
    """Warn of users of the split who are not in the data."""
    split = study.data.split
    users = {c.user_id or "" for c in study.conversations.values()}
    if not (absent := sorted((split.train | split.test) - users)):
        return ()
    names = ", ".join(absent[:5]) + (" ..." if len(absent) > 5 else "")
    return (f"warning: not in the data: {counted(len(absent), 'user')} of the split: {names}",)
