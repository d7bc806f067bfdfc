"""Training rows from runs and from what people chose and wrote: which rows, and what was left out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NotRequired, TypedDict

from dialogauge.app.annotate.folder import PlanFiles
from dialogauge.app.command import NO_INPUT, Command
from dialogauge.app.entries import SHOWN
from dialogauge.app.merging import references
from dialogauge.app.outcome import CommandOutcome, Plan
from dialogauge.app.outputs import output_file, spare
from dialogauge.app.pairs.asked import PairQuestions
from dialogauge.app.pairs.comparisons import arena_pairs, replay_pairs
from dialogauge.app.pairs.judged import RESTS_ON, UNCHECKED_WHY, RatedRun, RowsOfJudged, why_unchecked
from dialogauge.app.pairs.people import people_rows
from dialogauge.app.pairs.sessions import committed_rows, context_rows, reward_of, segment_pairs
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.app.progress import ProgressObserver
from dialogauge.app.sources import PythonInput
from dialogauge.core.errors import UsageError
from dialogauge.llm import Expected
from dialogauge.report import Block, Callout
from dialogauge.runs import Observer, StopSignal, StoredRun, open_run
from dialogauge.runs.directory import expect_writable, write_whole
from dialogauge.runs.records import json_line
from dialogauge.studies.arena.study import ARENA
from dialogauge.studies.evidence import NOT_COMPARED, NOT_RATED, UNCHECKED_FIRST
from dialogauge.studies.replay.answers import ANSWER
from dialogauge.studies.sessions.study import SIMULATE
from dialogauge.text import counted
from dialogauge.training import (
    SEARCH,
    Rewarded,
    SessionReward,
    TrainingRow,
    Why,
    apart,
    capped,
    expect_target,
    parted,
    rewarded_by,
    without_duplicates,
    write_held_out,
    write_target,
)

_PAIRS: Final = ("dpo", "segment")
_JUDGED_GIVE: Final = ("dpo", "kto", "sft", "active")
_JUDGED_NEEDS: Final = "sft needs verdicts, and dpo weakest turns or ratings"
_MAKERS: Final[
    Mapping[str, Mapping[str, Callable[[StoredRun, str, PairOptions, Why], Iterator[TrainingRow]]]]
] = {
    ANSWER: {"dpo": replay_pairs},
    ARENA: {"dpo": arena_pairs, "segment": arena_pairs},
    SEARCH: {"sft": committed_rows, "segment": segment_pairs, "rl": context_rows},
    SIMULATE: {"rl": context_rows},
}
"""By kind of run, and of rows, what makes them; any other is a judged run."""
_HELD_OUT: Final = 0.1
_MAX_FAILED: Final = 0.05
"""Share of missing answers of models above which the exit code is 3."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """What was written."""

    written: int
    left_out: Mapping[str, int]
    """Reason to number."""
    held_out: int = 0
    """How many of the rows are of users, or personas, that are held out."""
    unchecked: int = 0
    """How many rows rest on the word of a judge that nobody showed to agree with people or outcomes."""
    repaired: int = 0
    """How many of the better replies a model wrote."""
    rechecked: int = 0
    """How many pairs were judged anew, and stayed."""
    balance: Mapping[str, int] = field(default_factory=dict)
    """What the rows are, and whose word that is, to number: `desirable by people's ratings`."""
    notes: tuple[str, ...] = ()
    """What to know of the rows."""
    rewarded: Rewarded | None = None
    """What the pairs reward; None for rows that are no pairs."""
    failed_share: float = 0.0
    """Share of the answers that a model was asked for and did not give."""

    @property
    def first_line(self) -> str:
        """What is to be said before all else; empty where nothing is."""
        notice = f"{UNCHECKED_FIRST} Such scores made {counted(self.unchecked, 'row')}."
        warning = "" if self.rewarded is None else self.rewarded.first_line
        return " ".join(filter(None, (notice if self.unchecked else "", warning)))

    @property
    def lines(self) -> Iterator[str]:
        """Yield what is to be said of the rows."""
        yield from (f"{number:,} {what}" for what, number in self.balance.items())
        yield from self.notes
        if self.rechecked:
            yield f"{counted(self.rechecked, 'pair')} judged anew: chosen is better again"
        yield from (f"{number:,} left out: {reason}" for reason, number in self.left_out.items())


class PairsPlanJson(TypedDict):
    """What `pairs` would do."""

    rows: int
    asking: NotRequired[Expected]


class PairsEntry(Command[PairOptions, PairResult]):
    """`pairs`: rows for training, and beside them `NAME.provenance.jsonl`, one line for each row."""

    async def run(
        self,
        options: PairOptions,
        observer: Observer,
        python: PythonInput = NO_INPUT,
        stop: StopSignal | None = None,
    ) -> CommandOutcome[PairResult]:
        """Write the rows; what a model wrote before a Ctrl-C or an error is among them.

        Raises UsageError where all rows would rest on a judge that is not checked, where an input gives no
        rows of the kind, where no pair has a winner, and where all is left out.
        """
        del python
        result, questions, files = await _made(options, observer, stop, dry=False)
        return CommandOutcome(
            options=options,
            result=result,
            notes=tuple(result.lines),
            ending=questions.ending,
            files=files,
            failed_share=result.failed_share,
            max_failed=_MAX_FAILED,
        )

    def plan(self, options: PairOptions) -> Plan:
        """Count the rows, and what a model would be asked."""
        result, questions, _ = asyncio.run(_made(options, ProgressObserver(quiet=True), None, dry=True))
        asking = questions.clients.counted()
        if asking is not None:
            asking = replace(asking, assumed=0)  # the replies go into rows, and into no prompt
        first = result.first_line.replace("Such scores made", "Such scores would make")
        lines = (*filter(None, (first,)), *result.lines)
        return Plan(None, "", {"rows": result.written}, result.written, (), lines, asking)


async def _made(
    options: PairOptions, observer: Observer, stop: StopSignal | None, *, dry: bool
) -> tuple[PairResult, PairQuestions, dict[str, Path]]:
    """Make the rows, and write them unless it is dry; return what was written, by what it is."""
    expect_target(options.target, options.kind, options.model_folder)
    targets = _targets(options)
    questions = PairQuestions(options, Counter(), observer, stop, dry=dry)
    left_out = questions.left_out
    with ExitStack() as stack:
        runs: dict[str, StoredRun] = {}
        for path in options.inputs:
            if PlanFiles.behind(path) is None:
                runs[path] = stack.enter_context(open_run(path, options.privacy, studies=SHOWN))
                spare(targets, runs[path].manifest.settings)
        _expect_kind(options, runs)
        for file in targets if references(options) and not dry else ():
            expect_writable(file)
        own = {path: run for path, run in runs.items() if run.manifest.study not in _MAKERS}
        rated = [RatedRun.of(path, run, unchecked=options.unchecked) for path, run in own.items()]
        judged = RowsOfJudged(options, rated, left_out)
        try:
            rows = _admitted(await _gathered(questions, runs, judged), questions, judged, runs)
            rows = await questions.rechecked(_chosen(rows, options, left_out), runs)
        finally:
            await questions.clients.close()
        if questions.ending.ended == "finished":
            _expect_rows(questions, rows, runs, judged)
        reward = reward_of(runs) if options.kind == "rl" else None
        notes = tuple(f"{r.name}: {n}" if len(runs) > 1 else n for r in rated for n in r.notes())
    parts = [rows]
    if options.splits:
        parts = list(parted(rows, options.held_out or _HELD_OUT, options.grouped_by, seed=options.seed))
    rewarded = rewarded_by(rows, options.grouped_by, seed=options.seed) if options.kind in _PAIRS else None
    unwritten, files = (0, {}) if dry else _written(options, targets, parts, left_out, reward)
    result = PairResult(
        len(rows) - unwritten,
        {why: n for why, n in left_out.items() if n},
        len(parts[-1]) if options.splits else 0,
        sum(row.provenance.unchecked for row in rows),
        questions.repaired,
        questions.confirmed,
        _balance(options.kind, rows),
        notes,
        rewarded,
        questions.failed_share,
    )
    return result, questions, files


def _targets(options: PairOptions) -> list[Path]:
    """Return the files of rows, each followed by that of their provenance; none of them is an input."""
    target = output_file(options.out)
    names = [target, *([target.with_suffix(".held_out.jsonl")] if options.splits else [])]
    both = ((name, name.with_suffix(".provenance.jsonl")) for name in names)
    targets = [output_file(str(file)) for pair in both for file in pair]
    spare(targets, options)
    return targets


def _written(
    options: PairOptions,
    targets: Sequence[Path],
    parts: Sequence[Sequence[TrainingRow]],
    left_out: Why,
    reward: SessionReward | None,
) -> tuple[int, dict[str, Path]]:
    """Write rows and what they rest on; return how many the target has no place for, and the files."""
    unwritten, files = 0, dict[str, Path]()
    for target, beside, rows, part in zip(
        targets[::2], targets[1::2], parts, ("", " held out"), strict=False
    ):
        data = (row.marked().data for row in rows)
        to, model = (options.target, options.kind, data, target), options.model_folder
        written = write_held_out(*to, model=model) if part else write_target(*to, model=model, reward=reward)
        missing = written.left_out
        kept = (row for number, row in enumerate(rows) if number not in missing)
        write_whole(beside, (json_line(row.provenance.to_json()) for row in kept))
        unwritten += len(missing)
        left_out.update(dict(written.lines))
        number = counted(len(rows) - len(missing), "row") + part
        for what, file in written.files.items():
            files.setdefault(number if what == "data" else what, file)
    return unwritten, files


def _expect_kind(options: PairOptions, runs: Mapping[str, StoredRun]) -> None:
    """Raise UsageError where an input gives no rows of the kind that is asked for."""
    for path, run in runs.items():
        study = run.manifest.study
        gives = _MAKERS.get(study, _JUDGED_GIVE)
        if options.kind not in gives:
            msg = f"{path} is a run of {study}, which gives no rows of the kind {options.kind}"
            hint = (
                f"it gives {', '.join(gives)}; a judged run gives {', '.join(_JUDGED_GIVE)}: {_JUDGED_NEEDS}"
            )
            raise UsageError(msg, hint=hint)
        if study in _MAKERS and (options.chosen_field is not None or "repair" in references(options)):
            msg = f"{path} is a run of {study}, which gives pairs of its own replies alone"
            raise UsageError(msg, hint="leave --model, --role repair= and --chosen-field out")
    if len(options.inputs) > 1 and options.kind == "active":
        msg = f"what to label next is chosen from one input alone, and there are {len(options.inputs)}"
        raise UsageError(msg, hint="give one run")


async def _gathered(
    questions: PairQuestions, runs: Mapping[str, StoredRun], judged: RowsOfJudged
) -> list[TrainingRow]:
    """Return the rows of all inputs: of folders, of runs that make their own, of judged runs together."""
    options, left_out, rows = questions.options, questions.left_out, list[TrainingRow]()
    for path in options.inputs:
        if path not in runs and (folder := PlanFiles.behind(path)) is not None:
            rows += people_rows(folder, options, left_out)
    for path, run in runs.items():
        if (makers := _MAKERS.get(run.manifest.study)) is not None:
            rows += makers[options.kind](run, path, options, left_out)
    if judged.runs:
        own = list(judged.rows())
        if options.kind == "dpo":
            judged.expect_pairs([*rows, *own])
            own += await questions.bettered(judged, own)
        rows += own
    return rows


def _admitted(
    rows: list[TrainingRow], questions: PairQuestions, judged: RowsOfJudged, runs: Mapping[str, StoredRun]
) -> list[TrainingRow]:
    """Return the rows without those of an unchecked judge; with `--unchecked` all.

    Raises UsageError where no other rows are left.
    """
    left_out = questions.left_out
    if questions.options.unchecked:
        return rows
    checked = [row for row in rows if not row.provenance.unchecked]
    left_out[UNCHECKED_WHY] += len(rows) - len(checked)
    if (number := left_out[UNCHECKED_WHY]) and not checked:
        reasons = [e.why for one in judged.runs for e in one.evidence.dimensions.values()]
        reasons += [why_unchecked(run) for run in runs.values() if run.manifest.study in _MAKERS]
        why = next(filter(None, reasons), "").replace(NOT_COMPARED, NOT_RATED)  # no option of this command
        msg = f"all {counted(number, 'row')} would rest on a judge that is not checked"
        hint = (
            "what makes rows: people's ratings (`annotate make`, `judge LOG --ratings FOLDER`), their "
            "choices and better replies (`pairs FOLDER`), or, all the same, --unchecked"
        )
        raise UsageError(f"{msg}: {why}" if why else msg, hint=hint)
    return checked


def _chosen(rows: list[TrainingRow], options: PairOptions, left_out: Counter[str]) -> list[TrainingRow]:
    """Return the rows without repetitions, far enough apart, and no more than are wanted."""
    if options.kind != "active":
        rows = without_duplicates(rows, left_out)
    if options.min_margin is not None:
        rows = apart(rows, options.min_margin, left_out)
    if options.per_user is not None:
        rows = capped(rows, options.per_user, options.grouped_by, left_out, seed=options.seed)
    if options.limit is not None:
        left_out["over --limit"] += max(0, len(rows) - options.limit)
        rows = rows[: options.limit]
    return rows


def _expect_rows(
    questions: PairQuestions, rows: Sequence[TrainingRow], runs: Mapping[str, StoredRun], judged: RowsOfJudged
) -> None:
    """Raise UsageError where nothing is left to be written, and no model failed to write it."""
    if rows:
        return
    options, left_out = questions.options, questions.left_out
    if judged.runs and all(one.failed == one.targets > 0 for one in judged.judged()):
        msg = f"every judgement of {judged.runs[0].name} failed: there is nothing to make rows of"
        raise UsageError(
            msg, hint=f"dialogauge show {judged.runs[0].name} says why; judge with --retry-failed"
        )
    compared = any(run.manifest.study in _MAKERS for run in runs.values())
    if compared or options.recheck:
        reasons = "; ".join(f"{n:,} {why}" for why, n in left_out.items() if n) or "the input holds none"
        what = "no pair has a winner" if options.kind in _PAIRS else f"no row of the kind {options.kind}"
        msg, hint = f"{what}: {reasons}", "a lower --min-margin, or more of what is compared, gives rows"
        raise UsageError(msg, hint=hint)
    if not questions.failed_share:
        reasons = "; ".join(f"{n:,} left out: {why}" for why, n in left_out.items() if n)
        msg = f"no row of the kind {options.kind} can be written: {reasons or 'the input holds none'}"
        hint = f"of a judged run, {_JUDGED_NEEDS}" if judged.runs else "more answers of raters give rows"
        raise UsageError(msg, hint=hint)


def _balance(kind: str, rows: Iterable[TrainingRow]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in rows if kind not in ("active", "rl") else ():
        label = "desirable" if row.data.get("label") else "undesirable"
        what = {"dpo": "rejected", "segment": "rejected", "sft": "good"}.get(kind, label)
        by = "people" if "item" in row.provenance.details else RESTS_ON[row.provenance.source or "judge"]
        counts[f"{what} by {by}"] += 1
    return dict(sorted(counts.items()))


def _view(outcome: CommandOutcome[PairResult]) -> Iterable[Block]:
    """Say first whether rows rest on what is not checked, and what they reward; the rest is in the notes."""
    result = outcome.result
    first = (Callout((result.first_line,)),) if result.first_line else ()
    table = () if result.rewarded is None or not result.rewarded.pairs else result.rewarded.to_blocks()
    return (*first, *table)


ENTRY: Final = PairsEntry(
    name="pairs",
    prints=PairResult,
    plans=PairsPlanJson,
    plan_words=lambda plan, options: f"would write {counted(plan.left, 'row')}: {options.out}",
    view=_view,
    notes_last=True,
)
