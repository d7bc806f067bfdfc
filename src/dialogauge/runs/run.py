"""Reading a run back: what its manifest says, its rows, and its conversations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from dialogauge.core import Conversation, DimensionSpec, StoreError
from dialogauge.core.values import Value
from dialogauge.data import Mask
from dialogauge.runs.directory import RunDirectory, command_of, refuse_older_kind
from dialogauge.runs.manifest import Manifest
from dialogauge.runs.privacy import OPEN, Privacy, key_of, mask_for_reading, mask_row
from dialogauge.runs.records import ROW_SCHEMA
from dialogauge.runs.store import PRODUCER, STUDY, RunDatabase, StoredUnit

T = TypeVar("T")
Row = Mapping[str, Any]
"""One line of `judgements.jsonl`."""


class StoredRun(Value):
    """A run directory opened for reading."""

    directory: RunDirectory
    database: RunDatabase
    manifest: Manifest
    mask: Mask | None = None
    """Hides what the run itself holds openly."""
    _open_ids: dict[str, str] = field(default_factory=dict)
    """Masked id -> the id in the run file, of the rows handed out so far."""

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """The dimensions that were judged."""
        return self.manifest.dimensions

    @property
    def summary(self) -> Mapping[str, Any]:
        """What `summary.json` holds; nothing where the run has none yet."""
        produces = self.database.get_meta(PRODUCER) is not None
        if produces and not self.directory.file("summary").is_file():
            return {}
        return self.directory.read_json("summary")

    def part(self, name: str, read: Callable[[Any], T]) -> T | None:
        """Return what the summary holds under a name, as `read` reads it; None where it holds nothing.

        Raises:
            StoreError: `read` refuses it: another version of dialogauge wrote it.
        """
        value = self.summary.get(name)
        try:
            return None if value is None else read(value)
        except (ValueError, KeyError, TypeError) as error:
            msg = f"{self.directory.file('summary')}: another version of dialogauge wrote `{name}` ({error})"
            raise StoreError(msg, hint="give the command that wrote it once more") from error

    @property
    def _planned(self) -> dict[bytes, int] | None:
        return self.database.planned_of(self.manifest.judge_digest)

    def units(self) -> Iterator[StoredUnit]:
        """Yield the units of the run's judge that belong to the last input, in its order."""
        yield from self.database.units(self.manifest.judge_digest, self._planned)

    def rows(self) -> Iterator[Row]:
        """Yield the rows in the order of the input, masked if they are to be."""
        for unit in self.units():
            yield from self._shown(unit)

    def judged(self, ids: Collection[str] | None = None) -> Iterator[tuple[Conversation, list[Row]]]:
        """Yield each conversation with its rows, all repeats together; only those of `ids` as stored."""
        planned = self._planned
        chosen = self.database.units(self.manifest.judge_digest, planned, ids=ids)
        for target, units in groupby(chosen, key=lambda unit: unit.target):
            conversation = self.database.conversation(target)
            if conversation is not None:
                shown = conversation if self.mask is None else self.mask.conversation(conversation)
                yield shown, [row for unit in units for row in self._shown(unit)]

    def rows_of(self, ids: Collection[str]) -> Iterator[Row]:
        """Yield the rows of the conversations of these ids, masked if they are to be."""
        stored = {self._open_ids.get(name, name) for name in ids}
        for unit in self.database.units(self.manifest.judge_digest, self._planned, ids=stored):
            yield from self._shown(unit)

    def conversations(self, ids: Collection[str]) -> list[Conversation]:
        """Return the conversations of ids that stood in rows, masked if they are to be."""
        stored = [self._open_ids.get(name, name) for name in sorted(ids)]
        conversations = self.database.conversations_of(stored, self.manifest.judge_digest)
        return conversations if self.mask is None else [self.mask.conversation(c) for c in conversations]

    def shown_id(self, stored: str) -> str:
        """Return the id of a conversation as it is shown: masked if it is to be."""
        if self.mask is None:
            return stored
        masked: str = self.mask.id("conversation", stored)
        self._open_ids[masked] = stored
        return masked

    def _shown(self, unit: StoredUnit) -> Iterator[Row]:
        for row in unit.rows:
            if self.mask is None:
                yield row
                continue
            masked = mask_row(self.mask, row)
            if row["conversation_id"] is not None:
                self._open_ids[masked["conversation_id"]] = row["conversation_id"]
            yield masked


def under_one_key(a: StoredRun, b: StoredRun, *, hash_ids: bool = False) -> tuple[StoredRun, StoredRun]:
    """Return two runs with their ids hidden alike, where one hides its own or it is asked for.

    The digests are those of the run that hides its ids, else of the first; two that do keep their own.
    """
    hiding = [bool(run.manifest.privacy.get("hash_ids")) for run in (a, b)]
    if all(hiding) or not (hash_ids or any(hiding)):
        return a, b
    key = key_of((b if hiding[1] else a).database)
    masks = [run.mask or Mask(redact=False, hash_ids=False, salt=key) for run in (a, b)]
    hidden = [replace(mask, hash_ids=True, salt=key) for mask in masks]
    of_a, of_b = (
        run if hides else replace(run, mask=mask)
        for run, hides, mask in zip((a, b), hiding, hidden, strict=True)
    )
    return of_a, of_b


@contextmanager
def open_run(
    path: str, privacy: Privacy = OPEN, *, studies: Collection[str] | None = None
) -> Iterator[StoredRun]:
    """Open a run directory for reading.

    Args:
        path: The directory.
        privacy: With it rows and conversations come masked.
        studies: The kinds of run that will do; any when None.

    Raises:
        StoreError: There is no finished run in it, it is of another study, or of an older dialogauge.
    """
    directory = RunDirectory(Path(path))
    database = directory.open_for_reading()
    try:
        if studies is not None:
            _expect_study(database, studies)
        manifest = stored_manifest(directory)
        yield StoredRun(directory, database, manifest, mask_for_reading(database, privacy))
    finally:
        database.close()


def expect_study(directory: RunDirectory, studies: Collection[str]) -> None:
    """Raise StoreError where a run is of another study than these, or of another dialogauge."""
    database = directory.open_for_reading()
    try:
        _expect_study(database, studies)
    finally:
        database.close()


def _expect_study(database: RunDatabase, studies: Collection[str]) -> None:
    study = database.get_meta(STUDY)
    refuse_older_kind(study, database.path.parent)
    if study is not None and study not in studies:
        kind = command_of(study) if isinstance(study, str) else "no known command"
        msg = f"{database.path.parent} is a run of {kind}"
        *others, last = map(command_of, studies)
        wanted = f"{', '.join(others)} or {last}" if others else last
        wanted = wanted.replace("`, `dialogauge ", "`, `")  # it is long
        raise StoreError(msg, hint=f"give a run of {wanted}")


def stored_manifest(directory: RunDirectory) -> Manifest:
    """Return the manifest of a run; StoreError where there is none that can be read."""
    manifest = read_manifest(directory)
    if manifest is None:
        directory.read_json("manifest")  # says that there is none
        msg = f"the manifest of the run {directory.path} cannot be read"
        raise StoreError(msg, hint="run the command that wrote it once more to finish it")
    return manifest


def read_manifest(directory: RunDirectory) -> Manifest | None:
    """Return the manifest of a run; None where there is none, or none that can be read.

    Raises:
        StoreError: An older dialogauge wrote it.
    """
    if not directory.file("manifest").is_file():
        return None
    value = directory.read_json("manifest")
    schema = value.get("schema", 1)
    if schema != ROW_SCHEMA:
        msg = f"another dialogauge wrote the run {directory.path}: it has schema {schema}, not {ROW_SCHEMA}"
        raise StoreError(msg, hint="judge its input again, into another directory or with --fresh")
    try:
        return Manifest.from_json(value)
    except ValueError:
        return None
