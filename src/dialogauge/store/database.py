"""One SQLite file a run: what was judged, and what came of it.

The file is the only truth: what is left to do is computed from what is missing in it. Rows are written
in transactions of at most 50 ms; a killed process loses no more than the batch not yet
written. Conversations are kept beside their rows, so that a run directory is enough to report, export,
fork and judge again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialogauge.core.conversation import Conversation
from dialogauge.core.work import UnitResult, WorkUnit
from dialogauge.store.codec import decode_conversation, encode_conversation, pack, unpack
from dialogauge.store.rows import row_json
from dialogauge.store.run_file import RunFile, store_errors

__all__ = ["PLANNED", "RunDatabase", "StoredUnit"]

# Under this name stand the keys of the units that the latest input plans, if it leaves others out.
PLANNED = "planned"

_VERSION = 1
"""Raised when the tables or what is packed in them change."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS conversations (
    target BLOB PRIMARY KEY, id TEXT NOT NULL, body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS conversation_ids ON conversations (id);
CREATE TABLE IF NOT EXISTS units (
    key BLOB PRIMARY KEY, judge BLOB NOT NULL, target BLOB NOT NULL, position INTEGER NOT NULL,
    repeat INTEGER NOT NULL, failed INTEGER NOT NULL, rows BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS unit_order ON units (judge, position, repeat, failed, key);
"""


@dataclass(frozen=True, slots=True)
class StoredUnit:
    """One finished unit as it stands in the file."""

    key: bytes
    target: bytes
    rows: tuple[Mapping[str, Any], ...]


class RunDatabase(RunFile[tuple[Any, ...]]):
    """The SQLite file of one run. Not for use from several threads."""

    _schema = _SCHEMA
    _version = _VERSION
    _instead = "judge its input again into another directory, or use --fresh"

    def __init__(
        self, path: Path, *, readonly: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Open the file, and create it unless `readonly`; StoreError when that cannot be done."""
        super().__init__(path, readonly=readonly, clock=clock)
        self._bodies: dict[bytes, tuple[str, bytes]] = {}

    # -- writing ---------------------------------------------------------------------------------

    def add(self, unit: WorkUnit, position: int, result: UnitResult, judge: str) -> None:
        """Take a finished unit; it is durable after the next `flush`, at most `BATCH_SECONDS` later."""
        target = bytes.fromhex(unit.target_digest)
        rows = [row_json(unit.conversation, j, repeat=result.repeat, judge=judge) for j in result.rows]
        if target not in self._bodies:
            self._bodies[target] = (unit.conversation.id, encode_conversation(unit.conversation))
        self._take(
            (
                bytes.fromhex(unit.key),
                bytes.fromhex(unit.judge_digest),
                target,
                position,
                result.repeat,
                int(result.failed),
                pack(rows),
            )
        )

    def flush(self) -> None:
        """Write all that is pending in one transaction; on an error it stays pending."""
        if not self._pending:
            return
        bodies = [(target, *body) for target, body in self._bodies.items()]
        with store_errors(self.path), self._db:
            self._db.executemany("INSERT OR IGNORE INTO conversations VALUES (?, ?, ?)", bodies)
            self._db.executemany("INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?, ?, ?, ?)", self._pending)
        self._pending.clear()
        self._bodies.clear()

    def place_units(self, positions: Mapping[bytes, int]) -> None:
        """Set the units' places in the input: what was stored earlier may stand elsewhere in it by now."""
        moved = ((position, key, position) for key, position in positions.items())
        with store_errors(self.path), self._db:
            self._db.executemany("UPDATE units SET position = ? WHERE key = ? AND position <> ?", moved)

    # -- reading ---------------------------------------------------------------------------------

    def finished(self, judge_digest: str) -> dict[bytes, bool]:
        """Return the keys of the finished units of that judge, each with whether it failed."""
        judge = bytes.fromhex(judge_digest)
        with store_errors(self.path):
            found = self._db.execute("SELECT key, failed FROM units WHERE judge = ?", (judge,))
            return {key: bool(failed) for key, failed in found}

    def units(self, judge_digest: str, keys: Mapping[bytes, int] | None = None) -> Iterator[StoredUnit]:
        """Yield the units of that judge in the order of the input, the repeats of a conversation together.

        Args:
            judge_digest: Whose judgements.
            keys: Yield only these, when given: what the present input plans.
        """
        judge = bytes.fromhex(judge_digest)
        query = "SELECT key, target, rows FROM units WHERE judge = ? ORDER BY position, target, repeat"
        with store_errors(self.path):
            for key, target, rows in self._db.execute(query, (judge,)):
                if keys is None or key in keys:
                    yield StoredUnit(key, target, tuple(unpack(rows)))

    def judges(self) -> list[str]:
        """Return the digests of the judges that have units in the file."""
        with store_errors(self.path):
            return [row[0].hex() for row in self._db.execute("SELECT DISTINCT judge FROM units")]

    def conversations(self) -> Iterator[Conversation]:
        """Yield the conversations of the latest input, in its order."""
        blob = self.get_meta(PLANNED)
        planned = None if blob is None else {bytes.fromhex(key) for key in blob}
        with store_errors(self.path):
            units = self._db.execute("SELECT key, target FROM units ORDER BY position, target")
            targets = dict.fromkeys(target for key, target in units if planned is None or key in planned)
        for target in targets:
            if (conversation := self.conversation(target)) is not None:
                yield conversation

    def conversation(self, target: bytes) -> Conversation | None:
        """Return the conversation of that digest."""
        with store_errors(self.path):
            query = "SELECT body FROM conversations WHERE target = ?"
            row = self._db.execute(query, (target,)).fetchone()
            return None if row is None else decode_conversation(row[0])

    def conversations_named(self, ids: Sequence[str]) -> dict[str, Conversation]:
        """Return the conversations of those ids; the one stored last where an id has several."""
        out: dict[str, Conversation] = {}
        query = "SELECT body FROM conversations WHERE id = ? ORDER BY rowid DESC LIMIT 1"
        with store_errors(self.path):
            for name in ids:
                row = self._db.execute(query, (name,)).fetchone()
                if row is not None:
                    out[name] = decode_conversation(row[0])
        return out

    def conversations_of(self, ids: Collection[str]) -> list[Conversation]:
        """Return the conversations of those ids, in the order of the ids; unknown ids are left out."""
        return list(self.conversations_named(sorted(ids)).values())
