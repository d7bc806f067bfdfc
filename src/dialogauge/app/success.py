"""`dialogauge success`: whether the tasks of dialogues came about, without a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dialogauge.agents import tau_bench_environment
from dialogauge.app.command import ReadyStudy, StudyEntry, chosen_directory
from dialogauge.app.functions import load_environment
from dialogauge.app.outcome import CommandOutcome
from dialogauge.app.settings import SuccessOptions
from dialogauge.app.sources import PythonInput, input_data, may_wait
from dialogauge.core.errors import InputError, UsageError
from dialogauge.data import unknown_ids
from dialogauge.judges.success.multiwoz import MultiwozSuccess
from dialogauge.judges.success.multiwoz_data import NO_GOALS, read_goals, read_venues
from dialogauge.judges.success.tau import TauSuccess
from dialogauge.report import Block
from dialogauge.rubrics import NO_RUBRIC
from dialogauge.runs import StudyRun
from dialogauge.studies.judging.gate import read_gates
from dialogauge.studies.judging.report import summary_of
from dialogauge.studies.judging.study import JudgingResult
from dialogauge.studies.success.page import stored_page, success_brief
from dialogauge.studies.success.study import SuccessJudge, SuccessResult, SuccessStudy

Checking = ReadyStudy[SuccessOptions, SuccessStudy]
"""Dialogues that are ready to be checked."""


async def _prepare(options: SuccessOptions, python: PythonInput, *, dry: bool) -> Checking:
    """Read goals and tables, and open the dialogues."""
    del dry
    gates = read_gates(options.gates, NO_RUBRIC)
    judge = success_judge(options)
    for gate in gates:
        gate.expect([d.name for d in judge.dimensions])
    data = input_data(options, python)
    study = SuccessStudy(
        judge,
        data.source,
        may_wait=may_wait(options.inputs),
        ratings=data.ratings,
        strict=options.strict,
        gates=options.gates,
        rubric=NO_RUBRIC,
    )
    recorded = {"rubric": NO_RUBRIC, "mode": "hindsight", "repeats": 1}
    return ReadyStudy(options=options, study=study, judge=judge.name, data=data, recorded=recorded)


def _faults(prepared: Checking, run: StudyRun[JudgingResult] | None) -> Iterable[InputError]:
    """Return the records that cannot be checked, and after a run the ratings that join nothing."""
    study, ratings = prepared.study, prepared.study.ratings
    faults = [*study.faults]
    if run is not None and ratings is not None:
        faults += [*ratings.faults, *study.seen_ratings.faults(ratings.ratings)]
        if run.ending.outcome.ended == "finished":
            missing = ratings.ids - study.rated_ids
            faults += unknown_ids(missing, str(prepared.options.ratings_file))
    return faults


def _view(outcome: CommandOutcome[JudgingResult]) -> Iterable[Block]:
    result = outcome.result
    if not isinstance(result, SuccessResult) or result.success is None:
        return ()
    return success_brief(result.summary, result.success)


ENTRY: Final = StudyEntry(
    name="success",
    prints=SuccessResult,
    unit="conversation",
    directory=lambda options: chosen_directory(options, "-success"),
    prepare=_prepare,
    faults=_faults,
    notes=lambda prepared, run: () if run is None else prepared.study.seen_ratings.remarks(),
    gates=lambda result: result.gates,
    view=_view,
    page=stored_page,
    scores=summary_of,
)


def success_judge(options: SuccessOptions) -> SuccessJudge:
    """Return the judge of a kind of data, with what it reads beside the dialogues."""
    beside = options.goals is not None or options.database is not None
    if options.kind == "tau" or (options.kind is None and not beside):
        for name, value in (("--goals", options.goals), ("--database", options.database)):
            if value is not None:
                msg = f"{name} belongs to --kind multiwoz"
                raise UsageError(msg, hint="what a tau task asks for stands in its record")
        name, _, domain = (options.environment or "").partition(":")
        if name == "tau_bench":
            return TauSuccess(tau_bench_environment(domain or None))
        return TauSuccess(None if options.environment is None else load_environment(options.environment))
    if options.environment is not None:
        msg = "--environment belongs to --kind tau"
        raise UsageError(msg, hint="--kind multiwoz takes --database")
    if options.database is None:
        msg = "--kind multiwoz needs --database"
        raise UsageError(
            msg, hint="the folder with restaurant_db.json, hotel_db.json, attraction_db.json, train_db.json"
        )
    goals = NO_GOALS if options.goals is None else read_goals(options.goals)
    return MultiwozSuccess(read_venues(options.database), goals)
