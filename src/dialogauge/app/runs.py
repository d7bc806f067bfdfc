"""Reading a run back: what its manifest says, and its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from dialogauge.app.privacy import OPEN, Privacy, mask_for_reading, mask_row
from dialogauge.core.conversation import Conversation
from dialogauge.core.protocols import PlainDimension
from dialogauge.core.scores import Scale
from dialogauge.data import Mask
from dialogauge.runs import RunDatabase, RunDirectory, StoredUnit
from dialogauge.runs.store import PLANNED


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run directory opened for reading."""

    directory: RunDirectory
    database: RunDatabase
    manifest: Mapping[str, Any]
    mask: Mask | None = None
    """Hides what the run itself holds openly."""
    _open_ids: dict[str, str] = field(default_factory=dict)
    """Masked id -> the id in the run file, of the rows handed out so far."""

    @property
    def judge_digest(self) -> str:
        """The judge whose judgements the files of the run show."""
        return str(self.manifest["judge"]["digest"])

    @property
    def dimensions(self) -> tuple[PlainDimension, ...]:
        """The dimensions that were judged."""
        return tuple(
            PlainDimension(d["name"], d["level"], Scale(**d["scale"])) for d in self.manifest["dimensions"]
        )

    def units(self) -> Iterator[StoredUnit]:
        """Yield the units of that judge that belong to the last input, in its order."""
        yield from self.database.units(self.judge_digest, self._planned())

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield the rows in the order of the input, masked if they are to be."""
        for unit in self.units():
            yield from self._shown(unit)

    def judged(self) -> Iterator[tuple[Conversation, list[Mapping[str, Any]]]]:
        """Yield each conversation with its rows, all repeats together."""
        for target, units in groupby(self.units(), key=lambda unit: unit.target):
            conversation = self.database.conversation(target)
            if conversation is not None:
                shown = conversation if self.mask is None else self.mask.conversation(conversation)
                yield shown, [row for unit in units for row in self._shown(unit)]

    def conversations(self, ids: Collection[str]) -> list[Conversation]:
        """Return the conversations of ids that stood in rows, masked if they are to be."""
        stored = [self._open_ids.get(name, name) for name in sorted(ids)]
        found = self.database.conversations_of(stored)
        return found if self.mask is None else [self.mask.conversation(c) for c in found]

    def _shown(self, unit: StoredUnit) -> Iterator[Mapping[str, Any]]:
        for row in unit.rows:
            if self.mask is None:
                yield row
                continue
            masked = mask_row(self.mask, row)
            self._open_ids[masked["conversation_id"]] = row["conversation_id"]
            yield masked

    def _planned(self) -> dict[bytes, int] | None:
        blob = self.database.get_meta(PLANNED)
        return None if blob is None else {bytes.fromhex(key): 0 for key in blob}


@contextmanager
def open_run(path: str, privacy: Privacy = OPEN) -> Iterator[FinishedRun]:
    """Open a run directory for reading; StoreError when there is no finished run in it.

    With `privacy` rows and conversations come masked.
    """
    directory = RunDirectory(Path(path))
    database = directory.open_for_reading()
    try:
        mask = mask_for_reading(database, privacy)
        yield FinishedRun(directory, database, directory.read_json("manifest"), mask)
    finally:
        database.close()
