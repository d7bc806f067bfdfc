"""One command: how a study is prepared, planned and run, and what is made of it afterwards.

An entry says what is particular to a study: how it is made of options and inputs, what is to be said of the
input, its view for a terminal, and how a run of it is shown again. What all studies share is here, once, for
the command line, the library and tests: the directory and what must not be written over, the settings of the
run, `--dry-run`, clients that are closed whatever happens, notes, faults, and the exit code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from dialogauge.app.clients import Clients
from dialogauge.app.columns import ExportColumns, judgement_columns
from dialogauge.app.entries import ListedStudy, study_of_kind
from dialogauge.app.option_groups import LimitOptions, Options, ReplaceOptions
from dialogauge.app.outcome import CommandOutcome, Plan, UnitsPlanJson
from dialogauge.app.outputs import output_file, run_files, run_named_after, spare
from dialogauge.app.shown import Overview, dimensions_overview, judged_conversation
from dialogauge.app.sources import (
    InputData,
    PythonInput,
    expect_own_input,
    is_run,
    shown_notes,
)
from dialogauge.core import Conversation, InputError, UsageError, WorkUnit
from dialogauge.core.json_keys import as_json
from dialogauge.core.settings import narrowed, recorded
from dialogauge.data import left_out_of
from dialogauge.report import Block, Page, html_bytes
from dialogauge.runs import (
    Observer,
    Row,
    RunDirectory,
    RunSettings,
    StopSignal,
    StoredRun,
    StudyRun,
    run_study,
    units_left,
)
from dialogauge.runs.directory import write_whole
from dialogauge.runs.records import json_document
from dialogauge.runs.study import Study, StudyResult
from dialogauge.studies.judging.gate import GateResult
from dialogauge.studies.judging.summary import Summary
from dialogauge.text import counted

R = TypeVar("R")
S = TypeVar("S", bound=Options)
T = TypeVar("T", bound="ReadyStudy[Any, Any]")
V = TypeVar("V", bound=Study[Any])
W = TypeVar("W", bound=StudyResult)

NO_INPUT = PythonInput()


@dataclass(frozen=True, kw_only=True, eq=False)
class Command(Generic[S, R]):
    """A command that computes something of its options; what has a default is what most of them say."""

    name: str
    prints: Any
    """The shape of what `--json` prints; None where there is no such option."""
    plans: Any = None
    """The shape of what `--dry-run --json` prints; None where there is no such option."""
    view: Callable[[CommandOutcome[R]], Iterable[Block]]
    """Lays out what a terminal is shown."""
    printed: Callable[[R], object] = as_json
    """Returns what `--json` prints."""
    plan_words: Callable[[Plan, S], str] | None = None
    """Says what would be done, in a sentence."""
    unit: str = "unit"
    """What a unit of work is called."""
    notes_last: bool = False
    """Whether a terminal is shown the notes behind the view, and not ahead of it."""

    async def run(
        self, options: S, observer: Observer, python: PythonInput = NO_INPUT, stop: StopSignal | None = None
    ) -> CommandOutcome[R]:
        """Do it.

        Args:
            options: What is asked for.
            observer: Who is told.
            python: What stands in memory, in place of what the options name.
            stop: Ends it early when it is requested.

        Raises UsageError before anything is done, StoreError when a run directory is of no use. What goes
        wrong in between ends up in the outcome, and everything finished by then is stored.
        """
        raise NotImplementedError

    def carry_out(self, options: S, observer: Observer) -> CommandOutcome[R]:
        """Do it where no event loop is running."""
        return asyncio.run(self.run(options, observer))

    def plan(self, options: S) -> Plan:
        """Say what would be done, without a model call and without writing anything."""
        raise NotImplementedError

    def expect_result(self, outcome: CommandOutcome[R]) -> None:
        """Raise what a call from Python raises where nothing came of it; a command prints what there is."""
        del outcome

    def words(self, plan: Plan, options: S) -> str:
        """Say what would be done, in a sentence."""
        return "" if self.plan_words is None else self.plan_words(plan, options)


class WithPage(Protocol):
    """What a page shows."""

    @property
    def page(self) -> Page:
        """The page, as of today."""


M = TypeVar("M", bound=WithPage)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement(Command[S, M]):
    """A command that reads, computes and makes no run; `-o` names a folder for its JSON and its page."""

    measure: Callable[[S, PythonInput], CommandOutcome[M]]
    planned: Callable[[S], Plan] | None = None
    """Answers `--dry-run`, where there is anything to be done by somebody else."""

    async def run(
        self, options: S, observer: Observer, python: PythonInput = NO_INPUT, stop: StopSignal | None = None
    ) -> CommandOutcome[M]:
        """Compute it, and write the files where a folder is named."""
        del observer, stop
        return self.measured(options, python)

    def carry_out(self, options: S, observer: Observer) -> CommandOutcome[M]:
        """Do it outside of a loop: a Ctrl-C ends it at once."""
        del observer
        return self.measured(options, NO_INPUT)

    def plan(self, options: S) -> Plan:
        """Say what would be judged."""
        return Plan(None, "", {}, 0, (), ()) if self.planned is None else self.planned(options)

    def measured(self, options: Any, python: PythonInput) -> CommandOutcome[M]:  # noqa: ANN401 - `out` is common
        """Compute it, and write the files where a folder is named."""
        if options.out is None:
            return self.measure(options, python)
        files = [Path(options.out) / f"{self.name}.{ending}" for ending in ("json", "html")]
        spare(files, options)
        outcome = self.measure(options, python)
        write_whole(files[0], [json_document(self.printed(outcome.result))])
        write_whole(files[1], html_bytes(outcome.result.page))
        return replace(outcome, files={"written": files[0], "page": files[1]})


@dataclass(kw_only=True)
class ReadyStudy(Generic[S, V]):
    """A study that is ready to run."""

    options: S
    study: V
    clients: Clients = field(default_factory=lambda: Clients(LimitOptions()))
    """Those that it asks; none by default."""
    judge: str = ""
    """What a plan calls who judges."""
    data: InputData | None = None
    """Of which notes are made."""
    workers: int = 1
    """Units in flight. Who never waits for an endpoint would only hold more conversations in memory."""
    recorded: Mapping[str, Any] = field(default_factory=dict)
    """What the manifest holds beside the options."""


SC = TypeVar("SC", contravariant=True)
TC = TypeVar("TC", covariant=True)


class Preparation(Protocol[SC, TC]):
    """How a study is made of its options and inputs."""

    def __call__(self, options: SC, python: PythonInput, *, dry: bool) -> Coroutine[Any, Any, TC]:
        """Read inputs, build the judge, and put the study together; a dry one asks nothing and counts.

        Raises UsageError for what cannot be done.
        """


def chosen_directory(options: Any, ending: str = "") -> RunDirectory:  # noqa: ANN401 - all have inputs and `out`
    """Return the run directory: the one that was asked for, else one named after the first input."""
    return RunDirectory(Path(options.out) if options.out else run_named_after(options.inputs, ending))


def expect_free(study: str, options: Any, directory: RunDirectory) -> None:  # noqa: ANN401 - all have inputs
    """Raise UsageError where an input would be written over, or another finished run be replaced."""
    path = directory.path
    spare(run_files(directory), options)
    if (junit := getattr(options, "junit", None)) is not None:
        spare([output_file(junit)], options, making=path)
    if options.fresh and any(is_run(i) and Path(i).resolve() == path.resolve() for i in options.inputs):
        msg = f"--fresh would delete {path}, and it is an input"
        raise UsageError(msg, hint="choose another directory with -o, or leave --fresh out")
    replaces = isinstance(options, ReplaceOptions)
    if replaces and not (options.replace or options.fresh):
        expect_own_input(options, directory, study)


@dataclass(frozen=True, kw_only=True, eq=False)
class RunCommand(Command[S, R]):
    """A command that makes runs of a kind, and how a finished one is shown again."""

    page: Callable[[StoredRun], Page] | None = None
    shown: Callable[[StoredRun, str, int | None], tuple[Block, ...]] = judged_conversation
    """Returns a conversation with what is said of it; UsageError where there is no such turn."""
    conversations: Callable[[StoredRun], Iterable[Conversation]] = lambda run: {
        (c.id, c.candidate): c for c, _ in run.judged()
    }.values()
    """Returns what a run is about, in the order of the input."""
    rows: Callable[[StoredRun], Iterator[Row]] = StoredRun.rows
    columns: Callable[[StoredRun], ExportColumns] = judgement_columns
    """Returns the columns of the rows as a table."""
    scores: Callable[[StoredRun], Summary] | None = None
    """Computes the summary of the rows anew, for gates and plots; None for a study without them."""
    overview: Callable[[str, Mapping[str, Any]], Overview] = dimensions_overview
    """Returns what a notebook shows of a judge and a summary: each figure with its counts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyEntry(RunCommand[S, W], Generic[S, T, W]):
    """A study as command, call and kind of run: options `S`, prepared as `T`, coming to `W`."""

    plans: Any = UnitsPlanJson
    printed: Callable[[W], object] = lambda result: result.to_json()

    # How it is made
    prepare: Preparation[S, T]
    directory: Callable[[S], RunDirectory] = chosen_directory
    expect_free: Callable[[str, S, RunDirectory], None] = expect_free
    begin: Callable[[T, Observer | None], Coroutine[Any, Any, None]] | None = None
    """Does what comes before the units. Of a plan there is no observer."""

    after: Callable[[T, CommandOutcome[W]], None] | None = None
    """Writes what there is to write beside the run."""

    # What is said of it
    faults: Callable[[T, StudyRun[W] | None], Iterable[InputError]] = lambda ready, run: (
        ready.study.unreadable
    )
    """Returns what could not be used; without a run, as far as a plan tells."""
    notes: Callable[[T, StudyRun[W] | None], Iterable[str]] = lambda prepared, run: ()
    """Returns what is to be said beside the notes on the input; without a run, of a plan."""
    failed_share: Callable[[W], float | None] = lambda result: None
    """Returns the share of what was asked for that failed."""
    gates: Callable[[W], Sequence[GateResult]] = lambda result: ()
    counts: Callable[[T, int], Mapping[str, int]] = lambda prepared, units: {"units": units}
    """Returns what a plan says there is to do."""
    left: Callable[[T, int, int], int] = lambda prepared, units, left: left
    """Returns how much of what there is a plan calls left, of units and those that are not stored."""
    measured: int | None = None
    """Units of which a plan measures the prompts, to reckon the others by; None for all."""

    # What all studies share

    async def run(
        self, options: S, observer: Observer, python: PythonInput = NO_INPUT, stop: StopSignal | None = None
    ) -> CommandOutcome[W]:
        """Prepare the study, run it, and say what came of it."""
        directory = self.directory(options)
        self.expect_free(self.name, options, directory)
        prepared = await self.prepare(options, python, dry=False)
        clients = prepared.clients
        try:
            if self.begin is not None:
                await self.begin(prepared, observer)
            settings = _run_settings(directory, prepared)
            run = await run_study(prepared.study, settings, observer, clients.limits, stop)
        finally:
            await clients.close()
        return self.outcome(prepared, run)

    def outcome(self, prepared: T, run: StudyRun[W]) -> CommandOutcome[W]:
        """Say what came of a run."""
        notes = () if prepared.data is None else shown_notes(prepared.data.notes, run.mask)
        outcome = CommandOutcome(
            options=prepared.options,
            result=run.result,
            faults=tuple(self.faults(prepared, run)),
            notes=(*notes, *prepared.clients.notices(run.progress.usage.calls), *self.notes(prepared, run)),
            ending=run.ending.outcome,
            files={"report": run.directory.file("report")},
            failed_share=self.failed_share(run.result) or 0.0,
            max_failed=getattr(prepared.options, "max_failed", 1.0),
            gates=self.gates(run.result),
            run=run,
        )
        if self.after is not None:
            self.after(prepared, outcome)
        return outcome

    def plan(self, options: S) -> Plan:
        """Say what would be done, without a model call and without writing anything.

        Of dry clients the units that are left are done, which asks nothing and counts.
        """
        directory = self.directory(options)
        self.expect_free(self.name, options, directory)
        with asyncio.Runner() as runner:
            prepared = runner.run(self.prepare(options, NO_INPUT, dry=True))
            clients, study = prepared.clients, prepared.study
            waiting: list[WorkUnit] = []

            def see(unit: WorkUnit) -> None:
                if clients.counted() is None:
                    return
                if self.measured is None:
                    runner.run(study.run(unit))
                else:
                    waiting.append(unit)

            try:
                if self.begin is not None:
                    runner.run(self.begin(prepared, None))
                settings = _run_settings(directory, prepared)
                units, left, mask = units_left(study, settings, see)
                left = self.left(prepared, units, left)
                sample = waiting[:: -(-len(waiting) // self.measured)] if self.measured and waiting else []
                for unit in sample:
                    runner.run(study.run(unit))
                notes = () if prepared.data is None else shown_notes(prepared.data.notes, mask)
                return Plan(
                    directory.path,
                    prepared.judge,
                    self.counts(prepared, units),
                    left,
                    tuple(self.faults(prepared, None)),
                    (*notes, *self.notes(prepared, None)),
                    clients.counted(left / len(sample) if sample else 1.0),
                )
            finally:
                runner.run(clients.close())

    def words(self, plan: Plan, options: S) -> str:
        """Say how much would be done, and by whom."""
        if self.plan_words is not None:
            return self.plan_words(plan, options)
        every = list(plan.counts.values())[-1]
        by = f" by {plan.judge}" if plan.judge else ""
        done = f"{every - plan.left:,} done already"
        return f"would judge {plan.left:,} of {counted(every, self.unit)} ({done}){by}"


def _run_settings(directory: RunDirectory, prepared: ReadyStudy[Any, Any]) -> RunSettings:
    options = prepared.options
    settings = {**recorded(options), **prepared.recorded}
    return narrowed(
        RunSettings,
        options,
        directory=directory,
        workers=prepared.workers,
        settings=settings,
        left_out=lambda: {} if prepared.data is None else left_out_of(prepared.data.notes),
    )


def load(study: ListedStudy) -> Command[Any, Any]:
    """Return the entry of a study."""
    entry: Any = study.entry
    if isinstance(study.entry, str):
        module, _, name = study.entry.partition(":")
        entry = getattr(import_module(module), name or "ENTRY")
    return entry  # type: ignore[no-any-return]


def entry_of(kind: str) -> RunCommand[Any, Any]:
    """Return the entry of the study that made a run of a kind."""
    entry: Any = load(study_of_kind(kind))
    return entry  # type: ignore[no-any-return]
