"""The satisfaction study: rated conversations in, a run with judgements, figures and controls out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dialogauge.app.command import ReadyStudy, StudyEntry
from dialogauge.app.config import shown_role
from dialogauge.app.option_groups import RatedDataOptions
from dialogauge.app.outcome import CommandOutcome, PlanJson
from dialogauge.app.outputs import run_named_after
from dialogauge.app.personal_judges import MODEL_JUDGES, build_satisfaction_judge
from dialogauge.app.satisfaction_data import chosen_split, read_rated, read_reference, read_signals
from dialogauge.app.settings import SatisfactionOptions
from dialogauge.app.shown import agreement_overview
from dialogauge.app.sources import PythonInput, input_data, is_run
from dialogauge.core import InputError
from dialogauge.core.settings import narrowed
from dialogauge.report import Block
from dialogauge.runs import RunDirectory, StudyRun
from dialogauge.studies.satisfaction.blocks import study_data, unnamed_together
from dialogauge.studies.satisfaction.page import brief, stored_page
from dialogauge.studies.satisfaction.study import (
    SatisfactionResult,
    SatisfactionSettings,
    SatisfactionStudy,
    SatisfactionSummary,
)
from dialogauge.text import counted


class SatisfactionPlanJson(PlanJson):
    """What `satisfaction` would do."""

    turns: int


@dataclass(kw_only=True)
class RatedStudy(ReadyStudy[SatisfactionOptions, SatisfactionStudy]):
    """Rated replies that are ready to be judged."""

    together: int
    """Turns with several ratings without a rater."""


async def _prepare(options: SatisfactionOptions, python: PythonInput, *, dry: bool) -> RatedStudy:
    """Read the data, the runs that are named beside it, and say what is judged by whom."""
    # First, so that a judge that cannot be built costs no reading; its clients open when they are asked.
    built = build_satisfaction_judge(options, mode=options.mode, dry=dry)
    split = chosen_split(options)
    data = input_data(options, python)
    rated = read_rated(options, data)
    conversations = rated.conversations.values()
    studied = study_data(
        conversations,
        part=options.part,
        split=split,
        dimension=options.dimension,
        sight=options.mode,
        history=options.history,
    )
    signals = read_signals(options, studied, _directory(options))
    reference = read_reference(options, studied)
    study = SatisfactionStudy(
        built.judge,
        rated.conversations,
        studied,
        replace(study_settings(options), side_by_side=options.max_concurrency),
        unreadable=rated.unreadable,
        rating_faults=rated.rating_faults,
        stored_signals=signals,
    )
    study.reference = reference
    roles = {role: shown_role(of_role) for role, of_role in options.roles.items()}
    return RatedStudy(
        options=options,
        study=study,
        clients=built.clients,
        judge=built.judge.name,
        data=data,
        workers=options.max_concurrency if options.judge in MODEL_JUDGES else 1,
        recorded={"rubric": "satisfaction", "repeats": 1, "roles": roles},
        together=unnamed_together(conversations, options.dimension),
    )


def _directory(options: SatisfactionOptions) -> RunDirectory:
    """Name a run after its input and the judge."""
    if options.out is not None:
        return RunDirectory(Path(options.out))
    judge = f"{options.judge}-guarded" if options.guard else options.judge
    if is_run(options.inputs[0]):
        first = Path(options.inputs[0])
        return RunDirectory(first.parent / f"{first.resolve().name}-{judge}")
    return RunDirectory(run_named_after(options.inputs, f"-{judge}"))


def _faults(prepared: RatedStudy, run: StudyRun[SatisfactionResult] | None) -> Iterable[InputError]:
    """Return the unreadable records, and the ratings that cannot be used."""
    study = prepared.study
    ratings = (*study.rating_faults, *study.data.faults) if run is None else run.result.rating_faults
    return (*study.unreadable, *ratings)


def _notes(prepared: RatedStudy, run: StudyRun[SatisfactionResult] | None) -> Iterator[str]:
    """Say how ratings without a rater are read, and warn of users of the split who are not there."""
    del run
    if together := prepared.together:
        turns = counted(together, "turn")
        yield f"several ratings without a rater, read as several people's mean: {turns}"
    split = prepared.study.data.split
    users = {c.user_id or "" for c in prepared.study.conversations.values()}
    if absent := sorted((split.train | split.test) - users):
        names = ", ".join(absent[:5]) + (" ..." if len(absent) > 5 else "")
        yield f"warning: not in the data: {counted(len(absent), 'user')} of the split: {names}"


def _view(outcome: CommandOutcome[SatisfactionResult]) -> Iterable[Block]:
    result, run = outcome.result, outcome.run
    if run is None:
        return ()
    return brief(result.figures, result.summary, run.manifest, run.ending, result.failures)


def study_settings(options: RatedDataOptions) -> SatisfactionSettings:
    """Return what of the options the study itself needs."""
    return narrowed(SatisfactionSettings, options, split_given=options.split_file is not None)


ENTRY: Final = StudyEntry(
    name="satisfaction",
    prints=SatisfactionSummary,
    plans=SatisfactionPlanJson,
    unit="turn",
    prepare=_prepare,
    directory=_directory,
    faults=_faults,
    notes=_notes,
    failed_share=lambda result: result.summary.failed_share,
    counts=lambda prepared, units: {"turns": units},
    view=_view,
    page=stored_page,
    overview=lambda judge, summary: agreement_overview(("pearson", "qwk", "mae", "auc"), judge, summary),
)
