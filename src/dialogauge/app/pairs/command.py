"""Training rows from runs and from what people chose and wrote: which rows, and what was left out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NotRequired, TypedDict

from dialogauge.app.annotate.folder import PlanFiles
from dialogauge.app.command import NO_INPUT, Command
from dialogauge.app.entries import SHOWN
from dialogauge.app.merging import references
from dialogauge.app.outcome import FINISHED, CommandOutcome, Plan
from dialogauge.app.outputs import output_file, spare
from dialogauge.app.pairs.asked import PairQuestions
from dialogauge.app.pairs.comparisons import arena_pairs, replay_pairs
from dialogauge.app.pairs.judged import RESTS_ON, UNCHECKED_WHY, RatedRun, RowsOfJudged, why_unchecked
from dialogauge.app.pairs.people import people_rows
from dialogauge.app.pairs.sessions import context_rows, search_rows
from dialogauge.app.pairs.settings import PairOptions
from dialogauge.app.progress import ProgressObserver
from dialogauge.app.sources import PythonInput
from dialogauge.core.errors import UsageError
from dialogauge.llm import Expected
from dialogauge.report import Block, Callout
from dialogauge.runs import Observer, Outcome, StopSignal, StoredRun, open_run
from dialogauge.runs.directory import expect_writable, write_whole
from dialogauge.runs.records import json_line
from dialogauge.studies.arena.study import ARENA
from dialogauge.studies.evidence import UNCHECKED_FIRST
from dialogauge.studies.replay.answers import ANSWER
from dialogauge.studies.sessions.study import SIMULATE
from dialogauge.text import counted
from dialogauge.training import (
    SEARCH,
    Rewarded,
    TrainingRow,
    apart,
    capped,
    expect_target,
    parted,
    rewarded_by,
    without_duplicates,
    write_target,
)

_PAIRS: Final = ("dpo", "segment")
_GIVES: Final[Mapping[str, tuple[str, ...]]] = {
    ANSWER: ("dpo",),
    ARENA: _PAIRS,
    SEARCH: ("sft", "segment", "rl"),
    SIMULATE: ("rl",),
}
"""By kind of run the rows that it gives; any other is a judged run."""
_JUDGED_GIVE: Final = ("dpo", "kto", "sft", "active")
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
        rows of the kind, and where no pair has a winner.
        """
        del python
        made = await _made(options, observer, stop, dry=False)
        return CommandOutcome(
            options=options,
            result=made.result,
            notes=tuple(made.result.lines),
            ending=made.ending,
            files=made.written,
            failed_share=made.result.failed_share,
            max_failed=_MAX_FAILED,
        )

    def plan(self, options: PairOptions) -> Plan:
        """Count the rows, and what a model would be asked."""
        made = asyncio.run(_made(options, ProgressObserver(quiet=True), None, dry=True))
        result, asking = made.result, made.questions.clients.counted()
        if asking is not None:
            asking = replace(asking, assumed=0)  # the replies go into rows, and into no prompt
        lines = tuple(result.lines)
        if result.first_line:
            lines = (result.first_line.replace("Such scores made", "Such scores would make"), *lines)
        return Plan(None, "", {"rows": result.written}, result.written, (), lines, asking)


@dataclass(slots=True)
class _Making:
    """Rows in the making."""

    options: PairOptions
    left_out: Counter[str]
    questions: PairQuestions
    """What models are asked."""
    files: dict[Path, list[TrainingRow]]
    """Rows by the file that they go to."""
    result: PairResult = PairResult(0, {})
    unwritten: int = 0
    """Rows that the target has no place for."""
    written: dict[str, Path] = field(default_factory=dict)
    """What was written, by what it is."""

    @property
    def ending(self) -> Outcome:
        """How asking ended."""
        return self.questions.ending or FINISHED


async def _made(options: PairOptions, observer: Observer, stop: StopSignal | None, *, dry: bool) -> _Making:
    """Make the rows, and write them unless it is dry."""
    left_out: Counter[str] = Counter()
    expect_target(options.target, options.kind, _trained(options))
    targets = _targets(options)
    folders = {path: one for path in options.inputs if (one := PlanFiles.behind(path)) is not None}
    questions = PairQuestions(options, left_out, observer, stop, dry=dry)
    made = _Making(options, left_out, questions, {target: [] for target, _ in targets})
    with ExitStack() as stack:
        runs: dict[str, StoredRun] = {}
        for path in options.inputs:
            if path not in folders:
                runs[path] = stack.enter_context(open_run(path, options.privacy, studies=SHOWN))
                spare([file for both in targets for file in both], runs[path].manifest.settings)
        _expect_kind(options, runs)
        for files in targets if references(options) and not dry else ():
            for file in files:
                expect_writable(file)
        try:
            rows, judged = await _gathered(made, folders, runs)
            rows = await questions.rechecked(_chosen(rows, options, left_out), runs)
        finally:
            await questions.clients.close()
        if made.ending.ended == "finished":
            _expect_rows(options, rows, left_out, runs, judged)
        notes = tuple(f"{r.name}: {n}" if len(runs) > 1 else n for r in judged.runs for n in r.notes())
    parts = [rows]
    if options.splits:
        parts = list(parted(rows, options.held_out or _HELD_OUT, options.grouped_by, seed=options.seed))
    made.files = {target: part for (target, _), part in zip(targets, parts, strict=True)}
    rewarded = rewarded_by(rows, options.grouped_by, seed=options.seed) if options.kind in _PAIRS else None
    made.result = PairResult(
        len(rows),
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
    if not dry:
        if rewarded is not None and rewarded.first_line:
            observer.say(rewarded.first_line)
        for (target, beside), part in zip(targets, parts, strict=True):
            _write(made, target, beside, part)
        left = {why: n for why, n in left_out.items() if n}
        made.result = replace(made.result, written=len(rows) - made.unwritten, left_out=left)
    return made


def _trained(options: PairOptions) -> Path | None:
    return None if options.trained is None else Path(options.trained)


def _targets(options: PairOptions) -> list[tuple[Path, Path]]:
    """Return the files of rows, each with that of their provenance; none of them is an input."""
    target = output_file(options.out)
    names = [target, *([target.with_suffix(".held_out.jsonl")] if options.splits else [])]
    targets = [(output_file(str(n)), output_file(str(n.with_suffix(".provenance.jsonl")))) for n in names]
    spare([file for both in targets for file in both], options)
    return targets


def _write(made: _Making, target: Path, beside: Path, rows: Sequence[TrainingRow]) -> None:
    """Write rows and what they rest on: the one place where rows leave."""
    options = made.options
    data = (row.marked().data for row in rows)
    written = write_target(options.target, options.kind, data, target, model=_trained(options))
    missing = written.left_out
    kept = (row for number, row in enumerate(rows) if number not in missing)
    write_whole(beside, (json_line(row.provenance.to_json()) for row in kept))
    made.unwritten += len(missing)
    made.left_out.update(dict(written.lines))
    for what, file in written.files.items():
        named = counted(len(rows) - len(missing), "row") if what == "data" else what
        made.written.setdefault(named, file)


def _expect_kind(options: PairOptions, runs: Mapping[str, StoredRun]) -> None:
    """Raise UsageError where an input gives no rows of the kind that is asked for."""
    for path, run in runs.items():
        gives = _GIVES.get(run.manifest.study, _JUDGED_GIVE)
        if options.kind not in gives:
            msg = f"{path} is a run of {run.manifest.study}, which gives no rows of the kind {options.kind}"
            hint = f"it gives {', '.join(gives)}; a judged run gives {', '.join(_JUDGED_GIVE)}"
            raise UsageError(msg, hint=hint)
        own = run.manifest.study in _GIVES
        if own and (options.chosen_field is not None or "repair" in references(options)):
            msg = f"{path} is a run of {run.manifest.study}, which gives pairs of its own replies alone"
            raise UsageError(msg, hint="leave --model, --role repair= and --chosen-field out")
    if len(options.inputs) > 1 and options.kind == "active":
        msg = f"what to label next is chosen from one input alone, and there are {len(options.inputs)}"
        raise UsageError(msg, hint="give one run")


async def _gathered(
    made: _Making, folders: Mapping[str, PlanFiles], runs: Mapping[str, StoredRun]
) -> tuple[list[TrainingRow], RowsOfJudged]:
    """Return the rows of all inputs that are admitted, and the judged runs among them."""
    options, left_out = made.options, made.left_out
    judged, rows = [], list[TrainingRow]()
    for one in folders.values():
        rows += people_rows(one, options, left_out)
    for path, run in runs.items():
        study = run.manifest.study
        if study not in _GIVES:
            judged.append(RatedRun.of(path, run, unchecked=options.unchecked))
        elif options.kind == "rl":
            rows += context_rows(run, path, options, searched=study == SEARCH)
        elif study == SEARCH:
            rows += search_rows(run, path, options, left_out)
        elif study == ARENA:
            rows += arena_pairs(run, path, options, left_out)
        else:
            rows += replay_pairs(run, path, left_out)
    of_judged = RowsOfJudged(options, judged, left_out)
    if judged:
        own = list(of_judged.rows())
        if options.kind == "dpo":
            of_judged.expect_pairs([*rows, *own])
            own += await made.questions.bettered(of_judged, own)
        rows += own
    return _admitted(rows, made, judged, runs), of_judged


def _admitted(
    rows: list[TrainingRow], made: _Making, judged: Sequence[RatedRun], runs: Mapping[str, StoredRun]
) -> list[TrainingRow]:
    """Return the rows without those of an unchecked judge; with `--unchecked` all.

    Raises UsageError where no other rows are left.
    """
    if made.options.unchecked:
        return rows
    checked = [row for row in rows if not row.provenance.unchecked]
    made.left_out[UNCHECKED_WHY] += len(rows) - len(checked)
    if (number := made.left_out[UNCHECKED_WHY]) and not checked:
        reasons = [e.why for one in judged for e in one.evidence.dimensions.values()]
        reasons += [why_unchecked(run) for run in runs.values() if run.manifest.study in _GIVES]
        why = next(filter(None, reasons), "")
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
    options: PairOptions,
    rows: Sequence[TrainingRow],
    left_out: Counter[str],
    runs: Mapping[str, StoredRun],
    judged: RowsOfJudged,
) -> None:
    """Raise UsageError where nothing is left to be written, and no model wrote or failed to."""
    if rows:
        return
    if judged.runs and all(one.failed == one.targets > 0 for one in judged.judged()):
        msg = f"every judgement of {judged.runs[0].name} failed: there is nothing to make rows of"
        raise UsageError(
            msg, hint=f"dialogauge show {judged.runs[0].name} says why; judge with --retry-failed"
        )
    compared = any(run.manifest.study in _GIVES for run in runs.values())
    if compared or options.recheck:
        reasons = "; ".join(f"{n:,} {why}" for why, n in left_out.items() if n) or "the input holds none"
        what = "no pair has a winner" if options.kind in _PAIRS else f"no row of the kind {options.kind}"
        msg, hint = f"{what}: {reasons}", "a lower --min-margin, or more of what is compared, gives rows"
        raise UsageError(msg, hint=hint)


def _balance(kind: str, rows: Iterable[TrainingRow]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in rows if kind not in ("active", "rl") else ():
        what = {"dpo": "rejected", "segment": "rejected", "sft": "good"}.get(kind) or (
            "desirable" if row.data["label"] else "undesirable"
        )
        source = row.provenance.source or "judge"
        by = "people" if "item" in row.provenance.details else RESTS_ON[source]
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
