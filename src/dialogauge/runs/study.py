"""Running a study: the one way in which units are judged, stored, continued, interrupted, hidden and shown.

A study says which units its data plans, how one of them is done, what the rows come to, and what its page
shows. `run_study` does the rest, in this order: open and lock the directory; put on the mask; ask the study
for its units and leave out what the run file holds; do what is left on a bounded number of workers; store
each unit as it ends; read the rows once, from which come `judgements.jsonl` and the study's result; write
`summary.json`, `manifest.json` and the page. The same call again goes on where the last one stopped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import IO, Any, Final, Generic, Protocol, TypeVar

from dialogauge.core import (
    DialogaugeError,
    DimensionSpec,
    InputError,
    Record,
    StoreError,
    WorkUnit,
    digest,
    digest_text,
)
from dialogauge.core.protocols import NO_NOTES, Notes
from dialogauge.core.values import Value
from dialogauge.data import Mask
from dialogauge.llm import LimiterState
from dialogauge.report import Page, html_bytes
from dialogauge.runs.directory import RunDirectory, writing_whole
from dialogauge.runs.execute import Outcome, Progress, StopSignal, run_work, stop_on_interrupt
from dialogauge.runs.manifest import FAULTS_KEPT, Manifest, versions
from dialogauge.runs.privacy import (
    OPEN,
    Privacy,
    mask_for_writing,
    mask_of,
    mask_produced,
    mask_written,
)
from dialogauge.runs.records import json_line
from dialogauge.runs.run import Row, StoredRun, stored_manifest
from dialogauge.runs.store import NOTES, PRODUCER, NotesToRead, RunDatabase, RunNotes, StoredUnit
from dialogauge.text import counted

_PATIENCE_S: Final = 1.0
"""Longer reading is worth a line."""


class Observer(Protocol):
    """Who watches a run: a terminal, a page, a test."""

    def say(self, text: str) -> None:
        """Take a line that the user should read."""

    def watching(
        self, progress: Progress, limits: Callable[[], LimiterState | None]
    ) -> AbstractContextManager[None]:
        """Show the progress while the context lasts."""

    def interrupted(self, first: bool) -> None:  # noqa: FBT001 - the one thing there is to tell
        """Take note of a Ctrl-C."""


class StudyFacts(Value, kw_only=True):
    """What the manifest says of a study."""

    judge: Mapping[str, Any]
    """`name`, `digest` and what the judge says of itself, without secrets."""
    dimensions: tuple[DimensionSpec, ...]
    data: str | None = None
    """The digest of the data; that of the planned units where None."""
    conversations: int | None = None
    """Conversations that were asked for; units by repeats where None."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What the study adds beside the common fields."""


class Ending(Value):
    """How far a run came."""

    outcome: Outcome
    planned: int
    """Units that were asked for, those included that stand unread behind the end of a run that broke off."""
    pending: int
    """Of these, units that are not done."""
    unreadable: Sequence[InputError] = ()
    """Records of the input that are no conversations."""


class StudyResult(Protocol):
    """What a study comes to."""

    def to_json(self) -> dict[str, Any]:
        """Return `summary.json`; what is undefined is null."""


R = TypeVar("R", bound=StudyResult)


class Study(Protocol[R]):
    """A study: its own logic, and nothing of how a run is kept.

    A study inherits from it: what has a body here is what most studies say.
    """

    @property
    def name(self) -> str:
        """The kind of run, as the manifest holds it: `judge`, `satisfaction` ..."""

    @property
    def works_on(self) -> Collection[str]:
        """The kinds of run that it adds to; none for a study that makes a run of its own.

        It then works in the directory of a finished run. Its units are kept in the run's file beside those
        of the run, under a `judge_digest` of their own, so that no reader of the run meets them. The manifest
        stays as it is, and so do rows and privacy; `summary.json` and page are written anew.
        """
        return ()

    @property
    def row_file(self) -> str | None:
        """The one of `FILES` that holds the rows; None where they are kept in the run file alone."""
        return None if self.works_on or self.part_of_run else "judgements"

    @property
    def judge_digest(self) -> str:
        """The digest under which its units are stored, and found again."""

    @property
    def expected(self) -> int | None:
        """How many units the data plans at most, where that can be known ahead at little cost."""
        return None

    @property
    def repeats(self) -> int:
        """Units of each conversation."""
        return 1

    @property
    def unreadable(self) -> Sequence[InputError]:
        """Records that are no conversations, as far as the data has been read."""
        return ()

    @property
    def passed_over(self) -> int:
        """Records that were expected and plan no unit, the unreadable ones included."""
        return 0

    @property
    def may_wait(self) -> bool:
        """Whether whoever writes the input may be slow: what a run that broke off left is then not read."""
        return False

    @property
    def recomputes(self) -> bool:
        """Whether every unit is done anew each time, since that costs less than to look for it."""
        return False

    @property
    def part_of_run(self) -> bool:
        """Whether other studies of its name share the run file, each with units under its own `judge_digest`.

        What they come to together is shown by whoever compares them: such a study writes the manifest, and
        neither `summary.json` nor a page.
        """
        return False

    @property
    def produces(self) -> bool:
        """Whether its units bring conversations: the run is a log of these, which any command reads."""
        return False

    def stays(self, unit: StoredUnit) -> bool:
        """Say whether a unit of an earlier call, which this one does not plan, still belongs to the run.

        A run to which agents are added keeps what the others said.
        """
        del unit
        return False

    def still_holds(self, unit: WorkUnit, database: RunDatabase) -> bool:
        """Say whether a stored unit still holds; else it is done anew.

        Asked where nothing is done anew that the unit waits for. Mostly its key says all that it stands on.
        """
        del unit, database
        return True

    def opened(self, database: RunDatabase) -> None:
        """Take the run file, before all else: for what others have stored there that the study stands on."""
        del database

    def prepare(self, mask: Mask | None, notes: Notes | None) -> None:
        """Take what the run puts on and keeps, before anything else is asked of the study.

        Args:
            mask: Put on each conversation before anything is made of it; None in an open run.
            notes: What a judge keeps beside its rows, and finds again when the run goes on; None where
                nothing will be judged.
        """
        del mask, notes

    def plan(self) -> Iterable[WorkUnit]:
        """Return every unit that the data plans, finished or not, in the order of the work.

        A sequence is planned whole at once; of anything else, units are taken as workers become free.
        """

    async def run(self, unit: WorkUnit) -> Sequence[Record]:
        """Do one unit: one record for each target.

        What goes wrong with a target is a failure in its record. `EndpointError` and `BudgetSpent` end the
        run.
        """

    def settle(self, units: Iterable[StoredUnit], ending: Ending) -> Mapping[bytes, Sequence[Row]]:
        """Return what changes in rows once all are judged: calibrated scores. Mostly nothing.

        Args:
            units: With their rows as they were judged.
            ending: How far the run came.

        Returns:
            By key of the unit, for each row the fields that change; of `details` the keys that change. They
            are kept beside the rows, which stay as they were judged.
        """
        del units, ending
        return {}

    def summarise(self, rows: Iterator[Row], run: StoredRun, ending: Ending) -> R:
        """Return what the rows come to.

        Args:
            rows: All rows of the study, in its order; each can be read once.
            run: To look up conversations and single rows; for a study that adds to a run, that run.
            ending: How far the run came.
        """

    def facts(self) -> StudyFacts:
        """Return what the manifest says of it; asked for once the units are done."""
        return StudyFacts(judge={"name": self.name, "digest": self.judge_digest}, dimensions=())

    def page(self, result: R, run: StoredRun) -> Page:
        """Return the page of the run; `summary.json` is written by then. A part of a run has none."""
        del result, run
        raise NotImplementedError

    def files(self, result: R) -> Mapping[str, Iterable[bytes] | None]:
        """Return the further files of the run by their name in `FILES`; None for one that is to be gone."""
        del result
        return {}


class RunSettings(Value, kw_only=True):
    """How a study is run, whatever the study."""

    directory: RunDirectory
    workers: int = 1
    """Units in flight at most."""
    fresh: bool = False
    """Whether what an earlier run left is deleted first; never for a study that adds to a run."""
    retry_failed: bool = False
    """Whether units with a failure are done anew."""
    privacy: Privacy = OPEN
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What was asked for, by flat name, without secrets: for the manifest."""
    command: str = ""
    seed: int = 0
    left_out: Callable[[], Mapping[str, Any]] = dict
    """Returns what of the input was left out, once it is read."""


class StudyRun(Value, Generic[R]):
    """A study that was run."""

    directory: RunDirectory
    manifest: Manifest
    result: R
    ending: Ending
    progress: Progress
    mask: Mask | None


async def run_study(
    study: Study[R],
    settings: RunSettings,
    observer: Observer,
    limits: Callable[[], LimiterState | None] = lambda: None,
    stop: StopSignal | None = None,
) -> StudyRun[R]:
    """Run a study, or go on with it, and write its directory.

    Args:
        study: What is done.
        settings: Where, and how.
        observer: Who is told.
        limits: What the adaptive limiter of the endpoint does just now.
        stop: Ends the run early when it is requested; a Ctrl-C requests it where there is a terminal.

    What ends a run early (Ctrl-C, a spent budget, an endpoint of no use) is in the ending; what was done by
    then is stored and summarised.

    Raises:
        StoreError: The directory is of no use, is being written, or holds a run of another study.
        UsageError: The run was made under other settings of privacy.
    """
    directory = settings.directory
    database = directory.open_for_writing(study.name, hosts=study.works_on, fresh=settings.fresh)
    try:
        if study.produces:
            database.put_meta(PRODUCER, study.judge_digest)
        study.opened(database)
        mask = None if study.works_on else mask_for_writing(database, settings.privacy)
        study.prepare(mask, _masked_notes(database))
        if not (settings.fresh or study.works_on or study.part_of_run):
            _name_other_judges(study, database, observer)
        progress = Progress(expected=study.expected)
        queue = UnitQueue(study, database, progress, retry_failed=settings.retry_failed)
        units, stop = iter(queue), stop or StopSignal()
        with stop_on_interrupt(stop, observer.interrupted):
            with observer.watching(progress, limits):
                outcome = await run_work(
                    units, study.run, database, workers=settings.workers, progress=progress, stop=stop
                )
            if outcome.ended != "finished" and not study.may_wait:
                await _read_on(units, stop, observer)
        if not isinstance(outcome.error, StoreError):  # else that error is the one to report
            database.flush()
        elif database.lost:
            raise outcome.error
        if outcome.ended == "finished":
            _count_others(study, database, queue, observer)
        return _finish(study, settings, database, queue, outcome, mask)
    finally:
        try:
            database.close()
        finally:
            directory.release()


def _masked_notes(database: RunDatabase) -> RunNotes:
    """Put the mask of a run on what models write into its rows and notes."""
    if (mask := mask_of(database)) is not None:
        database.hides, database.hides_produced = partial(mask_written, mask), partial(mask_produced, mask)
    return RunNotes(database, mask)


async def _read_on(units: Iterator[WorkUnit], stop: StopSignal, observer: Observer) -> None:
    """Plan what a run that broke off has not come to: what is stored of it counts, the rest is pending.

    Reading costs no call. A Ctrl-C leaves the rest unread.
    """
    asked, began, announced = stop.asked, time.monotonic(), False
    try:
        while stop.asked == asked and next(units, None) is not None:
            if not announced and time.monotonic() - began > _PATIENCE_S:
                observer.say("reading the rest of the input, to know what is left; Ctrl-C skips that")
                announced = True
            await asyncio.sleep(0)
    except DialogaugeError:
        return  # the input ends there


def units_left(
    study: Study[R], settings: RunSettings, see: Callable[[WorkUnit], None] = lambda unit: None
) -> tuple[int, int, Mask | None]:
    """Return how many units a run would plan, how many of them are left to do, and the mask it would put on.

    Nothing is written. `see` is shown each unit that is left.
    """
    directory = settings.directory
    database = directory.open_for_reading() if directory.exists and not settings.fresh else None
    try:
        mask = mask_for_writing(database, settings.privacy)
        study.prepare(mask, NotesToRead(database) if database else NO_NOTES)
        progress = Progress()
        queue = UnitQueue(study, database, progress, retry_failed=settings.retry_failed)
        left = 0
        for unit in queue:
            see(unit)
            left += 1
        return progress.planned, left, mask
    finally:
        if database is not None:
            database.close()


def _name_other_judges(study: Study[R], database: RunDatabase, observer: Observer) -> None:
    others = [digest for digest in database.judges() if digest != study.judge_digest]
    if others and not database.finished(study.judge_digest):
        observer.say(
            "this run holds judgements by another judge or prompt; they stay in run.db, and the files "
            "beside it will show the new ones"
        )


def _count_others(study: Study[R], database: RunDatabase, queue: UnitQueue, observer: Observer) -> None:
    """Say how much of a run is not of its input, so that nobody takes the new figures for those of both."""
    if study.works_on or study.part_of_run:
        return
    unplanned = database.finished(study.judge_digest).keys() - queue.planned.keys()
    if unplanned and (others := len(unplanned - _staying(study, database, queue).keys())):
        observer.say(
            f"{counted(others, 'stored result')} of an earlier input {'is' if others == 1 else 'are'} not of "
            "this one: kept in run.db, and left out of the files beside it"
        )


class UnitQueue:
    """The units that are left; remembers all that were planned."""

    def __init__(
        self,
        study: Study[R],
        database: RunDatabase | None,
        progress: Progress,
        *,
        retry_failed: bool,
    ) -> None:
        """Look up what the run file holds; without one, everything is left."""
        self._study = study
        self._database = database
        self._retry_failed = retry_failed
        self._finished = {} if database is None else database.finished(study.judge_digest)
        self._held = database is None or database.readonly or bool(study.works_on)
        self.shown_before = database.planned(_part(study)) if database and study.produces else None
        """What the run showed before this call; None for all that it held."""
        self.progress = progress
        self.planned: dict[bytes, int] = {}
        """Key of every unit that was planned so far, with its place."""
        self._repeated: set[bytes] = set()
        """Keys of stored units that are done anew."""

    def __iter__(self) -> Iterator[WorkUnit]:
        """Yield what is left."""
        units = self._study.plan()
        left = (unit for unit in map(self._left, units) if unit is not None)
        yield from list(left) if isinstance(units, Sequence) else left
        self.progress.total = self.progress.planned
        self._finished = {}  # large, and not asked again

    def _left(self, unit: WorkUnit) -> WorkUnit | None:
        """Count a unit, and return what is to be done of it; None where it is done."""
        key = bytes.fromhex(unit.key)
        self.planned[key] = unit.position
        self.progress.planned += 1
        failed = self._finished.get(key)
        if failed is None or self._study.recomputes:
            return self._begun(unit)
        if self._database is not None:
            if any(map(self._is_done_anew, unit.after)) or not self._study.still_holds(unit, self._database):
                self._repeated.add(key)
                return self._begun(unit)
            self._database.keep_conversation(unit)
            if failed and self._retry_failed and (stored := self._database.unit(key)):
                self._repeated.add(key)
                return self._begun(replace(unit, earlier=stored.rows))
        self.progress.resumed += 1
        return None

    def _is_done_anew(self, key: str) -> bool:
        name = bytes.fromhex(key)
        return name in self._repeated or name not in self._finished

    def _begun(self, unit: WorkUnit) -> WorkUnit:
        """Return a unit that is to be done; before the first, hold on to what is shown."""
        if not self._held and self._database is not None:
            self._database.hold_shown(self._finished, _part(self._study))
            self._held = True
        return unit


def _finish(
    study: Study[R],
    settings: RunSettings,
    database: RunDatabase,
    queue: UnitQueue,
    outcome: Outcome,
    mask: Mask | None,
) -> StudyRun[R]:
    """Write the files of the run from what is stored."""
    directory, own = settings.directory, not study.works_on
    done = database.finished(study.judge_digest)
    if queue.progress.resumed:
        database.place_units(study.judge_digest, queue.planned)
    shown = queue.planned | _staying(study, database, queue)
    if own:
        database.show(shown, done, _part(study))
    unread = unread_units(study, queue.progress, len(shown))
    pending = unread + sum(1 for key in shown if key not in done)
    ending = Ending(outcome, len(shown) + unread, pending, study.unreadable)
    if own:
        database.settle(study.settle(database.units(study.judge_digest, shown, settled=False), ending))
    manifest = _manifest(study, settings, queue, ending) if own else stored_manifest(directory)
    run = StoredRun(directory, database, manifest)
    alone = own and not study.part_of_run
    added = (row for unit in database.units(study.judge_digest, shown) for row in unit.rows)
    rows = run.rows() if alone else added
    with writing_whole(directory.file(study.row_file)) if study.row_file else nullcontext(None) as out:
        result = study.summarise(rows if out is None else _written(rows, out), run, ending)
    if own:
        directory.write_json("manifest", manifest.to_json())
    if not study.part_of_run:
        write_result(directory, result, lambda: study.page(result, run), study.files(result))
    if notes := database.all_meta(NOTES):
        lines = ({"key": key.removeprefix(NOTES), "value": value} for key, value in notes.items())
        directory.write_lines("kept", (json_line(line) for line in lines))
    return StudyRun(directory, manifest, result, ending, queue.progress, mask)


def _staying(study: Study[R], database: RunDatabase, queue: UnitQueue) -> dict[bytes, int]:
    """Return the units of earlier calls that still belong to a run that produces conversations."""
    if not study.produces:
        return {}
    units = database.units(study.judge_digest, queue.shown_before)
    return {u.key: 0 for u in units if u.key not in queue.planned and study.stays(u)}


def write_result(
    directory: RunDirectory,
    result: StudyResult,
    page: Callable[[], Page],
    files: Mapping[str, Iterable[bytes] | None],
) -> None:
    """Write what a study came to: `summary.json`, the page, and further files by their name in `FILES`."""
    directory.write_json("summary", result.to_json())
    directory.write_lines("report", html_bytes(page()))
    for name, chunks in files.items():
        directory.remove(name) if chunks is None else directory.write_lines(name, chunks)


def _written(rows: Iterator[Row], out: IO[bytes]) -> Iterator[Row]:
    """Pass rows on, and write each on its way."""
    for row in rows:
        out.write(json_line(row))
        yield row


def _part(study: Study[R]) -> str:
    """Return the name under which the run file keeps what the study shows."""
    return study.judge_digest if study.part_of_run else ""


def unread_units(study: Study[R], progress: Progress, shown: int) -> int:
    """Return how many units stand behind the place up to which a run that broke off has read its input.

    They are known where the input was counted ahead, and pending like those that were read.
    """
    if progress.total is not None or progress.expected is None:
        return 0
    return max(0, progress.expected - study.repeats * study.passed_over - shown)


def _manifest(study: Study[R], settings: RunSettings, queue: UnitQueue, ending: Ending) -> Manifest:
    facts = study.facts()
    # What was planned, in its order: the same data, judge and seed give the same digest.
    data = facts.data or digest([digest_text(key.hex()) for key in queue.planned] or None)
    error = ending.outcome.error
    return Manifest(
        study=study.name,
        settings=settings.settings,
        command=settings.command,
        seed=settings.seed,
        judge=facts.judge,
        dimensions=facts.dimensions,
        digests={"prompts": facts.judge.get("prompts"), "data": data},
        privacy=asdict(settings.privacy),
        conversations=ending.planned // study.repeats if facts.conversations is None else facts.conversations,
        pending_units=ending.pending,
        ended=ending.outcome.ended,
        error=None if error is None else str(error),
        unreadable=len(ending.unreadable),
        unreadable_records=[str(fault) for fault in ending.unreadable[:FAULTS_KEPT]],
        written=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions(),
        facts={**facts.more, **({"left_out": left_out} if (left_out := settings.left_out()) else {})},
    )
