"""The main job: conversations in, a run directory with judgements, summary and report out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import orjson

from dialogauge.app.build import build_judge
from dialogauge.app.command import ReadyStudy, StudyEntry
from dialogauge.app.config import shown_role
from dialogauge.app.outcome import CommandOutcome, Plan, PlanJson
from dialogauge.app.outputs import output_file, run_named_after
from dialogauge.app.settings import JudgeOptions
from dialogauge.app.sources import PythonInput, Source, input_data, is_run, may_wait
from dialogauge.core import Judge
from dialogauge.core.errors import InputError, StoreError, UsageError
from dialogauge.core.shape import read_as
from dialogauge.data import other_words, thumb_of, unknown_ids, unknown_turns
from dialogauge.report import Block
from dialogauge.runs import RunDirectory, StudyRun, open_run
from dialogauge.runs.directory import write_whole
from dialogauge.stats import parse_rule
from dialogauge.studies.evidence import NOTHING_CHECKED, RunEvidence, evidence_of
from dialogauge.studies.judging.brief import brief
from dialogauge.studies.judging.gate import read_gates
from dialogauge.studies.judging.report import stored_page, summary_of
from dialogauge.studies.judging.study import JudgingResult, JudgingStudy, sampled
from dialogauge.text import counted


class JudgePlanJson(PlanJson):
    """What `judge` would do."""

    conversations: int
    units: int
    """Conversations times repeats."""


Judging = ReadyStudy[JudgeOptions, JudgingStudy]
"""A log that is ready to be judged."""


async def _prepare(options: JudgeOptions, python: PythonInput, *, dry: bool) -> Judging:
    """Open the log, and build the judge."""
    gates = read_gates(options.gates, options.rubric)
    data, waits = input_data(options, python), may_wait(options.inputs)
    built = build_judge(options, dry=dry)
    judge = built.judge
    try:
        for gate in gates:
            gate.expect([d.name for d in judge.dimensions])
        checks = stored_checks(options, judge)
    except BaseException:
        await built.clients.close()
        raise
    source = sampled(data.source, limit=options.limit, sample=options.sample, seed=options.seed)
    study = JudgingStudy(
        judge,
        source,
        may_wait=waits,
        expected=None if dry or waits or options.judge != "llm" else _count_ahead(options, data.source),
        repeats=options.repeats,
        seed=options.seed,
        first_turns=options.first_turns,
        ratings=data.ratings,
        strict=options.strict,
        worked_examples=built.worked_examples,
        gates=options.gates,
        rubric=options.rubric,
        dissatisfied=None if options.dissatisfied is None else parse_rule(options.dissatisfied),
        thresholds=options.trust,
        unchecked=options.unchecked,
        checked_by=checks,
        seconds=None if options.junit is None else defaultdict(float),
    )
    return ReadyStudy(
        options=options,
        study=study,
        clients=built.clients,
        judge=judge.name,
        data=data,
        workers=options.max_concurrency if options.judge == "llm" else 1,
        recorded={} if options.role is None else {"role": shown_role(options.role)},
    )


def _directory(options: JudgeOptions) -> RunDirectory:
    """Name a run after its first input; a run judged again gets rubric and judge added to its name."""
    if options.out is not None:
        return RunDirectory(Path(options.out))
    first = Path(options.inputs[0])
    if is_run(options.inputs[0]):
        again = f"{first.name}-{Path(options.rubric).stem}-{options.judge}"
        return RunDirectory(first.parent / again)
    return RunDirectory(run_named_after(options.inputs))


def _faults(prepared: Judging, run: StudyRun[JudgingResult] | None) -> Iterable[InputError]:
    """Return the records that are no conversations, and after a run the ratings that join nothing."""
    study, options, ratings = prepared.study, prepared.options, prepared.study.ratings
    if run is None or ratings is None:
        return study.faults
    file = str(options.ratings_file)
    faults: list[InputError] = [*ratings.faults, *study.seen_ratings.faults(ratings.ratings)]
    faults += unknown_turns(study.absent_turns, file)
    faults += other_words(study.other_words, file)
    if run.ending.outcome.ended == "finished" and options.limit is None and options.sample is None:
        faults += unknown_ids(ratings.ids - study.rated_ids, file)
    return [*study.faults, *(f if run.mask is None else run.mask.fault(f) for f in faults)]


def _notes(prepared: Judging, run: StudyRun[JudgingResult] | None) -> Iterator[str]:
    """Say what of people's ratings is not used, and why, and what is not judged."""
    study = prepared.study
    if run is not None:
        if study.clashes:
            theirs, ours = study.clashes[0]
            where = "" if theirs.turn is None else f", turn {theirs.turn}"
            example = (
                f" (e.g. {theirs.conversation_id!r}{where}: {theirs.dimension} {theirs.score} in the "
                f"data, {ours.score} in the file)"
            )
            clashing = counted(len(study.clashes), "rating")
            example = example if study.mask is None else ""
            yield f"{clashing} in the data and in --ratings differ, and the file's count{example}"
        yield from study.seen_ratings.remarks()
        rule, people, asked = study.dissatisfied, run.result.people, prepared.options.dissatisfied
        if rule is not None and people is not None and people.figures:
            cuts = {str(rule), f"={thumb_of(rule.category or '')}"}
            if not any(figure.cut in cuts for figure in people.figures):
                taken = people.figures[0].rule
                instead = f", so what counts is: {taken}" if taken else ""
                yield f"--dissatisfied {asked} fits none of these ratings{instead}"
    if study.left_out:
        yield f"{study.left_out} not judged: the rubric shows them as worked examples"


def _plan_words(plan: Plan, options: JudgeOptions) -> str:
    """Say how many units would be judged, and by whom."""
    units = plan.counts["units"]
    return f"would judge {plan.left} of {units} ({units - plan.left} done already) with {plan.judge}"


def _write_junit(prepared: Judging, outcome: CommandOutcome[JudgingResult]) -> None:
    """Write JUnit XML where it is asked for."""
    options, run = prepared.options, outcome.run
    if options.junit is None or run is None:
        return
    from dialogauge.studies.judging.junit import junit_chunks

    ended = outcome.ending
    stopped = None if ended.ended == "finished" else str(ended.error or f"the run was {ended.ended}")
    gates = dict(zip(options.gates, outcome.result.gates, strict=True))
    name, faults = run.directory.path.name, outcome.faults
    with open_run(str(run.directory.path)) as stored:
        took = (prepared.study.seconds or {}).items()
        seconds = {(stored.shown_id(id), candidate): number for (id, candidate), number in took}
        chunks = junit_chunks(name, stored.rows(), gates, stopped, faults, seconds)
        write_whole(output_file(options.junit), chunks)


def _view(outcome: CommandOutcome[JudgingResult]) -> Iterable[Block]:
    result, run = outcome.result, outcome.run
    return () if run is None else brief(result.summary, result.sample, result.known, run.manifest)


ENTRY: Final = StudyEntry(
    name="judge",
    prints=JudgingResult,
    plans=JudgePlanJson,
    prepare=_prepare,
    directory=_directory,
    faults=_faults,
    notes=_notes,
    failed_share=lambda result: result.summary.failed_share,
    gates=lambda result: result.gates,
    counts=lambda prepared, units: {"conversations": units // prepared.study.repeats, "units": units},
    plan_words=_plan_words,
    after=_write_junit,
    view=_view,
    page=stored_page,
    scores=summary_of,
)


def stored_checks(options: JudgeOptions, judge: Judge) -> tuple[tuple[str, RunEvidence], ...]:
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


def _count_ahead(options: JudgeOptions, source: Source) -> int | None:
    """Count the units at most, so that the time left can be said; None for a file that breaks off.

    That is reported where it is read.
    """
    try:
        conversations = source.count()
    except InputError:
        return None
    return options.repeats * min(n for n in (conversations, options.limit, options.sample) if n is not None)
