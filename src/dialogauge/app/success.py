"""`dialogauge success`: whether the tasks of dialogues came about, without a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dialogauge.agents import tau_bench_environment
from dialogauge.app.functions import load_environment
from dialogauge.app.judge import spare_the_input
from dialogauge.app.outcome import StudyOutcome
from dialogauge.app.outputs import run_named_after
from dialogauge.app.settings import SuccessOptions
from dialogauge.app.sources import InputData, input_data, may_wait, shown_notes
from dialogauge.core.errors import UsageError
from dialogauge.core.protocols import Environment
from dialogauge.core.settings import recorded
from dialogauge.data import unknown_ids
from dialogauge.judges.success.goals import NO_GOALS, read_goals
from dialogauge.judges.success.multiwoz import MultiwozSuccess
from dialogauge.judges.success.tau import TauSuccess
from dialogauge.judges.success.venues import read_venues
from dialogauge.rubrics import NO_RUBRIC
from dialogauge.runs import Observer, RunDirectory, RunSettings, StopSignal, run_study
from dialogauge.studies.judging.gate import read_gates
from dialogauge.studies.judging.study import JudgingResult
from dialogauge.studies.success.study import SuccessJudge, SuccessStudy


@dataclass(frozen=True)
class SuccessOutcome(StudyOutcome[JudgingResult]):
    """What comes of a run."""

    @property
    def exit_code(self) -> int:
        """130 or 1 before 100: interrupted, error or faults, a gate not met."""
        return super().exit_code or (0 if all(self.run.result.gates) else 100)


async def check_success(
    options: SuccessOptions, observer: Observer, data: InputData | None = None, stop: StopSignal | None = None
) -> SuccessOutcome:
    """Check whether tasks came about, and write the run directory.

    Args:
        options: What is asked for.
        observer: Who is told.
        data: Checked in place of what `inputs` and `ratings_file` of the options name.
        stop: Ends the run early when it is requested.

    Raises UsageError before anything is done, InputError where goals or data base cannot be read.
    """
    directory = RunDirectory(
        Path(options.out) if options.out else run_named_after(options.inputs, "-success")
    )
    gates = read_gates(options.gates, NO_RUBRIC)
    spare_the_input(options, directory)
    judge = success_judge(options)
    for gate in gates:
        gate.expect([d.name for d in judge.dimensions])
    data = data or input_data(options)
    study = SuccessStudy(
        judge,
        data.source,
        may_wait=may_wait(options.inputs),
        ratings=data.ratings,
        strict=options.strict,
        gates=options.gates,
        rubric=NO_RUBRIC,
    )
    settings = {**recorded(options), "rubric": NO_RUBRIC, "mode": "hindsight", "repeats": 1}
    run_settings = RunSettings(
        directory=directory, fresh=options.fresh, settings=settings, command=options.command
    )
    run = await run_study(study, run_settings, observer, stop=stop)
    faults = [*study.faults]
    if data.ratings is not None:
        faults += [*data.ratings.faults, *study.seen_ratings.faults(data.ratings.ratings)]
        if run.ending.outcome.ended == "finished":
            faults += unknown_ids(data.ratings.ids - study.rated_ids, str(options.ratings_file))
    notes = (*shown_notes(data.notes, run.mask), *study.seen_ratings.remarks())
    return SuccessOutcome(run, tuple(faults), notes)


def success_judge(options: SuccessOptions) -> SuccessJudge:
    """Return the judge of a kind of data, with what it reads beside the dialogues."""
    beside = options.goals is not None or options.database is not None
    if options.kind == "tau" or (options.kind is None and not beside):
        for name, value in (("--goals", options.goals), ("--database", options.database)):
            if value is not None:
                msg = f"{name} belongs to --kind multiwoz"
                raise UsageError(msg, hint="what a tau task asks for stands in its record")
        return TauSuccess(None if options.environment is None else _environment(options.environment))
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


def _environment(reference: str) -> Environment:
    name, _, domain = reference.partition(":")
    return tau_bench_environment(domain or None) if name == "tau_bench" else load_environment(reference)
