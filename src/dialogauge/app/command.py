"""One command: how a study is prepared, planned and run, and what is made of it afterwards.

An entry says what is particular to a study: how it is made of options and inputs, what is to be said of the
input, its view for a terminal, and how a run of it is shown again. What all studies share is here, once, for
the command line, the library and tests: the directory and what must not be written over, the settings of the
run, `--dry-run`, clients that are closed whatever happens, notes, faults, and the exit code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from dialogauge.app.build import Clients
from dialogauge.app.entries import ListedStudy, study_of_kind
from dialogauge.app.option_groups import LimitOptions, Options, ReplaceOptions
from dialogauge.app.outcome import CommandOutcome, Plan, UnitsPlanJson
from dialogauge.app.outputs import run_files, run_named_after, spare
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
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.columns import ExportColumns
    from dialogauge.app.shown import Overview
    from dialogauge.studies.judging.gate import GateResult
    from dialogauge.studies.judging.summary import Summary

R = TypeVar("R")
S = TypeVar("S", bound=Options)
T = TypeVar("T", bound="ReadyStudy[Any, Any]")
V = TypeVar("V", bound=Study[Any])
W = TypeVar("W", bound=StudyResult)

NO_INPUT = PythonInput()


class Command(Generic[S, R]):
    """A command that computes something of its options; what has a body is what most of them say."""

    name: ClassVar[str]
    prints: ClassVar[Any]
    """The shape of what `--json` prints."""
    plans: ClassVar[Any] = None
    """The shape of what `--dry-run --json` prints; None where there is no such option."""
    unit: ClassVar[str] = "unit"
    """What a unit of work is called."""
    notes_last: ClassVar[bool] = False
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

    def plan_words(self, plan: Plan, options: S) -> str:
        """Say what would be done, in a sentence."""
        raise NotImplementedError

    def printed(self, outcome: CommandOutcome[R]) -> object:
        """Return what `--json` prints."""
        return as_json(outcome.result)

    def view(self, outcome: CommandOutcome[R], options: S) -> Iterable[Block]:
        """Lay out what a terminal is shown."""
        raise NotImplementedError


class WithPage(Protocol):
    """What a page shows."""

    @property
    def page(self) -> Page:
        """The page, as of today."""


M = TypeVar("M", bound=WithPage)


class Measurement(Command[S, M]):
    """A command that reads, computes and makes no run; `-o` names a folder for its JSON and its page."""

    def measure(self, options: S, python: PythonInput = NO_INPUT) -> CommandOutcome[M]:
        """Compute it; see `run`."""
        raise NotImplementedError

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

    def measured(self, options: Any, python: PythonInput) -> CommandOutcome[M]:  # noqa: ANN401 - `out` is common
        """Compute it, and write the files where a folder is named."""
        files = [Path(options.out or "") / f"{self.name}.{ending}" for ending in ("json", "html")]
        if options.out is None:
            return self.measure(options, python)
        spare(files, options)
        outcome = self.measure(options, python)
        write_whole(files[0], [json_document(self.printed(outcome))])
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


class StudyEntry(Command[S, W], Generic[S, T, W]):
    """A study as command, call and kind of run: options `S`, prepared as `T`, coming to `W`."""

    plans: ClassVar[Any] = UnitsPlanJson
    ending: ClassVar[str] = ""
    """Of the name of a run directory that nobody chose."""
    measured: ClassVar[int | None] = None
    """Units of which a plan measures the prompts, to reckon the others by; None for all."""

    # How it is made

    async def prepare(self, options: S, python: PythonInput, *, dry: bool) -> T:
        """Read inputs, build the judge, and put the study together; a dry one asks nothing and counts.

        Raises UsageError for what cannot be done.
        """
        raise NotImplementedError

    def directory(self, options: Any) -> RunDirectory:  # noqa: ANN401 - all studies have inputs and `out`
        """Return the run directory: the one that was asked for, else one named after the first input."""
        return RunDirectory(
            Path(options.out) if options.out else run_named_after(options.inputs, self.ending)
        )

    def expect_free(self, options: Any, directory: RunDirectory) -> None:  # noqa: ANN401 - all studies
        """Raise UsageError where an input would be written over, or another finished run be replaced."""
        path = directory.path
        spare(run_files(directory), options)
        if options.fresh and any(is_run(i) and Path(i).resolve() == path.resolve() for i in options.inputs):
            msg = f"--fresh would delete {path}, and it is an input"
            raise UsageError(msg, hint="choose another directory with -o, or leave --fresh out")
        replaces = isinstance(options, ReplaceOptions)
        if replaces and not (options.replace or options.fresh):
            expect_own_input(options, directory, self.name)

    async def begin(self, prepared: T, observer: Observer | None) -> None:
        """Do what comes before the units: mostly nothing. Of a plan there is no observer."""

    # What is said of it

    def faults(self, prepared: T, run: StudyRun[W] | None) -> Iterable[InputError]:
        """Return what could not be used; without a run, as far as a plan tells."""
        del run
        unreadable: Sequence[InputError] = prepared.study.unreadable
        return unreadable

    def notes(self, prepared: T, run: StudyRun[W] | None) -> Iterable[str]:
        """Yield what is to be said beside the notes on the input; without a run, of a plan."""
        del prepared, run
        return ()

    def failed_share(self, result: W) -> float | None:
        """Return the share of what was asked for that failed."""
        del result
        return None

    def gates(self, result: W) -> Sequence[GateResult]:
        """Return how the gates ended."""
        del result
        return ()

    def counts(self, prepared: T, units: int) -> Mapping[str, int]:
        """Return what a plan says there is to do."""
        del prepared
        return {"units": units}

    def left(self, prepared: T, units: int, left: int) -> int:
        """Return how much of what there is a plan calls left, of units and those that are not stored."""
        del prepared, units
        return left

    def plan_words(self, plan: Plan, options: S) -> str:
        """Say how much of it would be done, and by whom."""
        del options
        every = list(plan.counts.values())[-1]
        by = f" by {plan.judge}" if plan.judge else ""
        done = f"{every - plan.left:,} done already"
        return f"would judge {plan.left:,} of {counted(every, self.unit)} ({done}){by}"

    # How a finished run is shown again

    def page(self, run: StoredRun) -> Page:
        """Return the page of a finished run."""
        raise NotImplementedError

    def shown(self, run: StoredRun, id: str, turn: int | None) -> tuple[Block, ...]:
        """Return a conversation with what is said of it; UsageError where there is no such turn."""
        from dialogauge.app.shown import judged_conversation

        return judged_conversation(run, id, turn)

    def conversations(self, run: StoredRun) -> Iterable[Conversation]:
        """Return the conversations of a run, in the order of the input."""
        return {(c.id, c.candidate): c for c, _ in run.judged()}.values()

    def rows(self, run: StoredRun) -> Iterator[Row]:
        """Yield the rows of a run."""
        return run.rows()

    def columns(self, run: StoredRun) -> ExportColumns:
        """Return the columns of the rows as a table."""
        from dialogauge.app.columns import judgement_columns

        return judgement_columns(run)

    def scores(self, run: StoredRun) -> Summary:
        """Compute the summary of the rows anew; UsageError for a study that has none."""
        msg = f"a run of {self.name} has no gates and no plots"
        raise UsageError(msg, hint="they are for runs of judge and success; look at its summary instead")

    def overview(self, judge: str, summary: Mapping[str, Any]) -> Overview:
        """Return the columns and rows that a notebook shows: each figure with its counts."""
        from dialogauge.app.shown import dimensions_overview

        del judge
        return dimensions_overview(summary)

    # What all studies share

    async def run(
        self, options: S, observer: Observer, python: PythonInput = NO_INPUT, stop: StopSignal | None = None
    ) -> CommandOutcome[W]:
        """Prepare the study, run it, and say what came of it."""
        directory = self.directory(options)
        self.expect_free(options, directory)
        prepared = await self.prepare(options, python, dry=False)
        clients = prepared.clients
        try:
            await self.begin(prepared, observer)
            settings = _run_settings(directory, prepared)
            run = await run_study(prepared.study, settings, observer, clients.limits, stop)
        finally:
            await clients.close()
        return self.outcome(prepared, run)

    def outcome(self, prepared: T, run: StudyRun[W]) -> CommandOutcome[W]:
        """Say what came of a run."""
        notes = () if prepared.data is None else shown_notes(prepared.data.notes, run.mask)
        return CommandOutcome(
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

    def plan(self, options: S) -> Plan:
        """Say what would be done, without a model call and without writing anything.

        Of dry clients the units that are left are done, which asks nothing and counts.
        """
        directory = self.directory(options)
        self.expect_free(options, directory)
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

    def printed(self, outcome: CommandOutcome[W]) -> object:
        """Return `summary.json`."""
        return outcome.result.to_json()


def _run_settings(directory: RunDirectory, prepared: ReadyStudy[Any, Any]) -> RunSettings:
    options = prepared.options
    settings = {**recorded(options), **prepared.recorded}
    return narrowed(RunSettings, options, directory=directory, workers=prepared.workers, settings=settings)


def load(study: ListedStudy) -> Command[Any, Any]:
    """Return the entry of a study."""
    entry: Any = import_module(study.entry).ENTRY if isinstance(study.entry, str) else study.entry
    return entry  # type: ignore[no-any-return]


def entry_of(kind: str) -> StudyEntry[Any, Any, Any]:
    """Return the entry of the study that made a run of a kind."""
    entry: Any = load(study_of_kind(kind))
    return entry  # type: ignore[no-any-return]
