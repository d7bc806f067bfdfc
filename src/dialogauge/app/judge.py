"""The main job: conversations in, a run directory with judgements, summary and report out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from dialogauge.app.build import BuiltJudge, build_judge
from dialogauge.app.config import shown_role
from dialogauge.app.outcome import Plan, StudyOutcome, units_to_do
from dialogauge.app.outputs import output_file, run_files, spare
from dialogauge.app.settings import JudgeOptions, SatisfactionOptions, SuccessOptions
from dialogauge.app.sources import (
    InputData,
    Source,
    default_run_directory,
    expect_own_input,
    input_data,
    is_run,
    may_wait,
    shown_notes,
)
from dialogauge.core import Judge
from dialogauge.core.errors import InputError, StoreError, UsageError
from dialogauge.core.settings import narrowed, recorded
from dialogauge.core.shape import read_as
from dialogauge.data import (
    RatingTable,
    other_words,
    thumb_of,
    unknown_ids,
    unknown_turns,
)
from dialogauge.runs import (
    Observer,
    RunDirectory,
    RunSettings,
    StopSignal,
    StudyRun,
    open_run,
    run_study,
)
from dialogauge.runs.directory import write_whole
from dialogauge.stats import DissatisfiedRule, parse_rule
from dialogauge.studies.evidence import NOTHING_CHECKED, RunEvidence, evidence_of
from dialogauge.studies.judging.gate import read_gates
from dialogauge.studies.judging.junit import junit_chunks
from dialogauge.studies.judging.people import People
from dialogauge.studies.judging.study import JudgingResult, JudgingStudy, sampled
from dialogauge.text import counted


@dataclass(frozen=True)
class JudgeOutcome(StudyOutcome[JudgingResult]):
    """What comes of a judging run."""

    max_failed: float = 1.0

    @property
    def exit_code(self) -> int:
        """130 or 1, 3, 2, 100: interrupted, error or faults; too many failures; a gate refused; not met."""
        result = self.run.result
        if code := super().exit_code:
            return code
        if (result.summary.failed_share or 0.0) > self.max_failed:
            return 3
        if any(gate.refused for gate in result.gates):
            return 2
        return 0 if all(result.gates) else 100


def spare_the_input(
    options: JudgeOptions | SatisfactionOptions | SuccessOptions, directory: RunDirectory
) -> None:
    """Raise UsageError where the run would be written over an input, or another finished run be replaced."""
    path = directory.path
    spare(run_files(directory), options)
    if options.fresh and any(is_run(i) and Path(i).resolve() == path.resolve() for i in options.inputs):
        msg = f"--fresh would delete {path}, and it is the run that is to be judged"
        raise UsageError(msg, hint="choose another directory with -o, or leave --fresh out")
    if not (options.replace or options.fresh):
        satisfaction = "satisfaction" if isinstance(options, SatisfactionOptions) else "success"
        study = "judge" if isinstance(options, JudgeOptions) else satisfaction
        expect_own_input(options, directory, study)


async def judge_data(
    options: JudgeOptions,
    observer: Observer,
    data: InputData | None = None,
    stop: StopSignal | None = None,
) -> JudgeOutcome:
    """Judge conversations, and write the run directory.

    Args:
        options: What is asked for.
        observer: Who is told.
        data: Judged in place of what `inputs` and `ratings_file` of the options name.
        stop: Ends the run early when it is requested.

    Raises UsageError before anything is done, StoreError when the run directory is of no use. What
    goes wrong in between ends up in the outcome, and everything finished by then is stored.
    """
    gates = read_gates(options.gates, options.rubric)
    spare_the_input(options, _directory(options))
    junit = None if options.junit is None else _junit_file(options.junit, options)
    data = data or input_data(options)
    built = build_judge(options)
    try:
        for gate in gates:
            gate.expect([d.name for d in built.judge.dimensions])
        study = _study(options, data, built, _count_ahead(options, data.source))
        run = await run_study(study, _run_settings(options), observer, built.limits, stop)
    finally:
        await built.close()
    rating_faults = _rating_faults(options, data.ratings, study, run)
    faults = [*study.faults, *(f if run.mask is None else run.mask.fault(f) for f in rating_faults)]
    if junit is not None:
        _write_junit(junit, options, run, faults)
    notes = (*shown_notes(data.notes, run.mask), *built.notices(run.progress.usage.calls))
    notes = (*notes, *_rating_notes(study), *_rule_notes(options, study.dissatisfied, run.result.people))
    if study.left_out:
        notes = (*notes, f"{study.left_out} not judged: the rubric shows them as worked examples")
    return JudgeOutcome(run, tuple(faults), notes, options.max_failed)


def _junit_file(name: str, options: JudgeOptions) -> Path:
    """Return where JUnit XML goes; UsageError where something would be lost there."""
    file = output_file(name)
    spare([file], options, making=_directory(options).path)
    return file


def _write_junit(
    file: Path, options: JudgeOptions, run: StudyRun[JudgingResult], faults: Sequence[InputError]
) -> None:
    ended = run.ending.outcome
    stopped = None if ended.ended == "finished" else str(ended.error or f"the run was {ended.ended}")
    gates = dict(zip(options.gates, run.result.gates, strict=True))
    with open_run(str(run.directory.path)) as stored:
        write_whole(file, junit_chunks(run.directory.path.name, stored.rows(), gates, stopped, faults))


def plan_log(options: JudgeOptions) -> Plan:
    """Say what a run would do, without a model call and without writing anything."""
    data, built = input_data(options), build_judge(options, dry=True)
    study = _study(options, data, built, None)
    settings = _run_settings(options)
    units, left, mask = units_to_do(study, settings, built)
    return Plan(
        settings.directory.path,
        built.judge.name,
        {"conversations": units // options.repeats, "units": units},
        left,
        tuple(study.faults),
        shown_notes(data.source.notes, mask),
        built.counted(),
    )


def _study(options: JudgeOptions, data: InputData, built: BuiltJudge, expected: int | None) -> JudgingStudy:
    return JudgingStudy(
        built.judge,
        sampled(data.source, limit=options.limit, sample=options.sample, seed=options.seed),
        may_wait=may_wait(options.inputs),
        expected=expected,
        repeats=options.repeats,
        seed=options.seed,
        ratings=data.ratings,
        strict=options.strict,
        worked_examples=built.worked_examples,
        gates=options.gates,
        rubric=options.rubric,
        dissatisfied=None if options.dissatisfied is None else parse_rule(options.dissatisfied),
        thresholds=options.trust,
        unchecked=options.unchecked,
        checked_by=_stored_checks(options, built.judge),
    )


def _stored_checks(options: JudgeOptions, judge: Judge) -> tuple[tuple[str, RunEvidence], ...]:
    """Read what rated runs say of a judge.

    Raises StoreError where there is no run, UsageError for one of another judge or rubric, or in which
    nothing is checked.
    """
    checks = []
    for path in options.checked_by:
        known = _stored_evidence(path)
        reasons = [
            "nothing is checked there"
            if not one.checked
            else one.covers(replace(one, judge=judge.digest, rubric=options.rubric))
            for one in known
        ]
        if all(reasons):
            msg = f"--checked-by {path} cannot show that this judge agrees with people: {reasons[0]}"
            raise UsageError(msg, hint="name a rated run of this judge and rubric in which it is checked")
        checks += [(path, one) for one, reason in zip(known, reasons, strict=True) if not reason]
    return tuple(checks)


def _stored_evidence(path: str) -> list[RunEvidence]:
    """Read what a rated run, or what `agreement -o` wrote, says of its judges; at least one."""
    stored = Path(path) / "agreement.json"
    if is_run(path) or not stored.is_file():
        with open_run(path, studies=("judge",)) as run:
            return [evidence_of(run)]
    try:
        written = read_as(orjson.loads(stored.read_bytes()).get("evidence"), dict[str, RunEvidence])
    except (ValueError, AttributeError) as error:
        msg = f"{stored} cannot be read: {error}"
        raise StoreError(msg, hint="write it anew: dialogauge agreement RUN -o DIR") from error
    return list(written.values()) or [NOTHING_CHECKED]


def _run_settings(options: JudgeOptions) -> RunSettings:
    settings = recorded(options)
    if options.role is not None:
        settings["role"] = shown_role(options.role)
    return narrowed(
        RunSettings,
        options,
        directory=_directory(options),
        # A judge without an endpoint never waits: more workers would only hold more conversations in memory.
        workers=options.max_concurrency if options.judge == "llm" else 1,
        settings=settings,
    )


def _count_ahead(options: JudgeOptions, source: Source) -> int | None:
    """Count the units at most, so that the time left can be said; None where that is not to be had.

    What comes through a pipe is not waited for, and a file that breaks off is reported where it is read.
    """
    if options.judge != "llm" or may_wait(options.inputs):
        return None
    try:
        conversations = source.count()
    except InputError:
        return None
    return options.repeats * min(n for n in (conversations, options.limit, options.sample) if n is not None)


def _directory(options: JudgeOptions) -> RunDirectory:
    if options.out is not None:
        return RunDirectory(Path(options.out))
    return RunDirectory(default_run_directory(options.inputs, rubric=options.rubric, judge=options.judge))


def _rating_notes(study: JudgingStudy) -> Iterator[str]:
    """Say what of people's ratings is not used, and why."""
    if study.clashes:
        theirs, ours = study.clashes[0]
        where = "" if theirs.turn is None else f", turn {theirs.turn}"
        example = (
            f" (e.g. {theirs.conversation_id!r}{where}: {theirs.dimension} {theirs.score} in the data, "
            f"{ours.score} in the file)"
        )
        clashing = counted(len(study.clashes), "rating")
        example = example if study.mask is None else ""
        yield f"{clashing} in the data and in --ratings differ, and the file's count{example}"
    yield from study.seen_ratings.remarks()


def _rule_notes(
    options: JudgeOptions, asked: DissatisfiedRule | None, people: People | None
) -> Iterator[str]:
    """Say where what was asked for as dissatisfied fits none of the ratings."""
    if asked is None or people is None or not people.figures:
        return
    cuts = {str(asked), f"={thumb_of(asked.category or '')}"}
    if not any(figure.cut in cuts for figure in people.figures):
        taken = people.figures[0].rule
        instead = f", so what counts is: {taken}" if taken else ""
        yield f"--dissatisfied {options.dissatisfied} fits none of these ratings{instead}"


def _rating_faults(
    options: JudgeOptions, ratings: RatingTable | None, study: JudgingStudy, run: StudyRun[JudgingResult]
) -> list[InputError]:
    if ratings is None:
        return []
    faults: list[InputError] = [*ratings.faults, *study.seen_ratings.faults(ratings.ratings)]
    faults += unknown_turns(study.absent_turns, str(options.ratings_file))
    faults += other_words(study.other_words, str(options.ratings_file))
    if run.ending.outcome.ended == "finished" and options.limit is None and options.sample is None:
        faults += unknown_ids(ratings.ids - study.rated_ids, str(options.ratings_file))
    return faults
