"""One SQLite file a run: what was judged, and what came of it.

The file is the only truth: what is left to do is computed from what is missing in it. Rows are written
in transactions of at most 50 ms; a killed process loses no more than the batch not yet
written. Conversations are kept beside their rows, so that a run directory is enough to report, export,
fork and judge again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import StoreError
from dialogauge.core.packing import squeeze, unsqueeze
from dialogauge.core.protocols import Record, produced_by
from dialogauge.core.shape import read_as, reader_of
from dialogauge.core.unit import WorkUnit, conversation_digest
from dialogauge.data import Mask
from dialogauge.runs.records import (
    ROW_SCHEMA,
    beside_digest,
    decode_conversation,
    encode_conversation,
    is_failure,
    pack,
    packable,
    unpack,
    with_earlier,
)
from dialogauge.runs.shapes import ROWS

# A batch of 100 rows is near the best rate of SQLite; 50 ms is what a kill may cost.
BATCH_SECONDS = 0.05
BATCH_UNITS = 200

NOTES: Final = "kept:"
"""What stands before the keys of a judge's notes in the run's file."""


@dataclass(frozen=True, slots=True)
class RunNotes:
    """What a judge keeps between its calls, in the run's own file; implements `core.protocols.Notes`."""

    database: RunDatabase
    mask: Mask | None = None

    def get(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return what stands under a key; None where nothing does."""
        return self.database.get_meta(NOTES + key)

    def put(self, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Keep a JSON value under a key, durably."""
        self.database.put_meta(NOTES + key, value if self.mask is None else self.mask.value(value))


@dataclass(frozen=True, slots=True)
class NotesToRead(RunNotes):
    """The same where nothing may be written."""

    def put(self, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Keep nothing."""


class store_errors:
    """Turns what SQLite says of a file into a StoreError."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise the error that it is to a user."""
        if isinstance(error, sqlite3.Error | zlib.error | OverflowError | ValueError):
            msg = f"the run file {self._path} cannot be used: {error}"
            raise StoreError(msg, hint=_hint(str(error))) from error


def _hint(text: str) -> str:
    if "readonly" in text or "unable to open" in text:
        return "check that the directory exists and can be written, or choose another with -o"
    if "full" in text or "I/O" in text:
        return "free some space and run the same command again; what was stored is kept"
    if "locked" in text:
        return "another process is using this run; wait for it, or choose another directory with -o"
    return "if the file is damaged, start again with --fresh or another -o"


STUDY: Final = "study"
"""Under this name stands the kind of run."""

PRODUCER: Final = "producer"
"""Under this name stands the digest of the units whose conversations a run is a log of; else it is one of
the conversations that were judged."""

# Under this name stand the keys of the units that the latest input plans, if it leaves others out.
PLANNED = "planned"

_DICTIONARY_BYTES = 1024
"""Rows of one judge are much alike. As the dictionary of all others, its first ones halve their size."""

_INSTEAD = (
    "judge its input again, into another directory or with --fresh, or read it with the dialogauge that "
    "wrote it"
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS conversations (
    target BLOB PRIMARY KEY, id TEXT NOT NULL, body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS conversation_ids ON conversations (id);
CREATE TABLE IF NOT EXISTS judges (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, dictionary BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS units (
    judge INTEGER NOT NULL, key BLOB NOT NULL, target BLOB NOT NULL, position INTEGER NOT NULL,
    repeat INTEGER NOT NULL, failed INTEGER NOT NULL, rows BLOB NOT NULL, PRIMARY KEY (judge, key)
);
CREATE TABLE IF NOT EXISTS beside (target BLOB PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS settled (key BLOB PRIMARY KEY, changes BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS unit_order ON units (judge, position);
CREATE INDEX IF NOT EXISTS failed_units ON units (judge, key) WHERE failed;
"""

_PUT_CONVERSATION = (
    "INSERT INTO conversations VALUES (?, ?, ?) ON CONFLICT (target) DO UPDATE SET body = excluded.body"
)


def _file_at(path: str) -> tuple[tuple[int, int] | None, int]:
    """Return what names the file at a path, None where there is none, and its size."""
    try:
        stat = os.stat(path)  # noqa: PTH116 - once a unit
    except OSError:
        return None, 0
    return (stat.st_dev, stat.st_ino), stat.st_size


@dataclass(frozen=True, slots=True)
class StoredUnit:
    """One finished unit as it stands in the file."""

    key: bytes
    target: bytes
    rows: tuple[Mapping[str, Any], ...]


_Pending = tuple[str, tuple[Any, ...], bytes]
"""A unit that waits: the judge's digest, the unit's key, target, position, repeat and failure, its rows."""


class _StoredJudge(NamedTuple):
    """A judge as the file knows it."""

    id: int
    dictionary: bytes
    """What its rows are compressed with."""


class RunDatabase:
    """The SQLite file of one run. Not for use from several threads."""

    def __init__(
        self, path: Path, *, readonly: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Open the file, and create it unless `readonly`; StoreError when that cannot be done."""
        self.path = path
        self.readonly = readonly
        self._clock = clock
        self._pending: list[_Pending] = []
        self._oldest = 0.0
        self.hides: Callable[[dict[str, Any]], dict[str, Any]] = lambda row: row
        """Masks what a model has written into a row."""
        self.hides_produced: Callable[[Conversation], Conversation] = lambda conversation: conversation
        """Masks what was said in a conversation that a unit has produced."""
        self._bodies: dict[bytes, tuple[str, bytes, bytes]] = {}
        """By target: id, body and the digest of what stands beside a conversation that waits."""
        self._latest: bytes | None = None
        """The conversation of the unit before: written already, or waiting among the bodies."""
        where = f"{path.absolute().as_uri()}?mode=ro" if readonly else path
        with store_errors(path), contextlib.ExitStack() as unless_opened:
            self._db = sqlite3.connect(where, uri=readonly)
            unless_opened.callback(self._db.close)
            if not readonly:
                # Nothing is written into the database of another program.
                query = "SELECT name FROM sqlite_master WHERE type = 'table'"
                tables = {name for (name,) in self._db.execute(query)}
                if tables and "units" not in tables and "meta" not in tables:
                    msg = f"{self.path} is the database of another program"
                    raise StoreError(msg, hint="choose another directory with -o, or move it away")
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(_SCHEMA)
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0 and not self.readonly:
                self._db.execute(f"PRAGMA user_version = {ROW_SCHEMA}")
            elif version != ROW_SCHEMA:
                older = version < ROW_SCHEMA
                by = "an older" if older else "a newer"
                msg = (
                    f"the run file {self.path} was written by {by} dialogauge: "
                    f"it holds rows of schema {version}, and this one reads schema {ROW_SCHEMA}"
                )
                raise StoreError(msg, hint=_INSTEAD if older else "read it with the dialogauge that wrote it")
            unless_opened.pop_all()
        self._place = str(path)
        self._file, self._size = None if readonly else _file_at(self._place)[0], 0

    def put_meta(self, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Keep a JSON value under a name."""
        with store_errors(self.path), self._db:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, pack(value)))

    def flush_if_due(self) -> float | None:
        """Write the batch if it is full or old enough.

        Returns the seconds until what still waits is old enough; None when nothing waits.
        """
        self.expect_in_place()
        if not self._pending:
            return None
        left = self._oldest + BATCH_SECONDS - self._clock()
        if left > 0 and len(self._pending) < BATCH_UNITS:
            return left
        self.flush()
        return None

    def get_meta(self, key: str, default: Any = None, shape: Any = Any) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value kept under a name; StoreError where it is not of the shape."""
        with store_errors(self.path):
            row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
            return default if row is None else read_as(unpack(row[0]), shape)

    def all_meta(self, prefix: str) -> dict[str, Any]:
        """Return the values kept under names that begin so, in the order of the names."""
        with store_errors(self.path):
            rows = self._db.execute("SELECT key, value FROM meta ORDER BY key").fetchall()
            return {key: unpack(value) for key, value in rows if read_as(key, str).startswith(prefix)}

    def close(self) -> None:
        """Write what is pending; leave no write-ahead log, which nobody could read on a read-only disk."""
        try:
            self.flush()
            if not self.readonly:
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("PRAGMA journal_mode=DELETE")
        finally:
            self._db.close()

    def copy_to(self, path: Path) -> None:
        """Copy the file as it stands, also where another process writes it."""
        with store_errors(self.path), contextlib.closing(sqlite3.connect(path)) as copy:
            self._db.backup(copy)

    # -- writing ---------------------------------------------------------------------------------

    def add(self, unit: WorkUnit, rows: Sequence[Record]) -> None:
        """Take a finished unit, durable after the next `flush`; what it produced is what it is about."""
        target = bytes.fromhex(unit.target_digest)
        produced = [self.hides_produced(one) for row in rows if (one := produced_by(row)) is not None]
        for conversation in produced:
            target = bytes.fromhex(conversation_digest(conversation))
            self.keep(target, conversation)
        if not produced:
            self._keep(unit)
        if not self._pending:
            self._oldest = self._clock()
        written = with_earlier(unit.earlier, [self.hides(row.to_row(unit)) for row in rows])
        failed = int(any(row.failed for row in rows) or any(is_failure(row) for row in written))
        place = (bytes.fromhex(unit.key), target, unit.position, unit.repeat, failed)
        self._pending.append((unit.judge_digest, place, packable(written)))
        self.flush_if_due()

    def keep_conversation(self, unit: WorkUnit) -> None:
        """Keep the conversation of a unit that is done as the input has it now.

        Ratings and metadata are no part of what a unit is known by: they may have changed since.
        """
        if not self.readonly:
            self._keep(unit)

    def _keep(self, unit: WorkUnit) -> None:
        target = bytes.fromhex(unit.target_digest)
        if unit.subject is not None and target != self._latest:
            self._latest = target
            self.keep(target, unit.subject)

    def keep(self, target: bytes, subject: Conversation) -> None:
        """Keep a conversation, by its digest, that no unit is about alone; durable after the next `flush`."""
        waiting, now = self._bodies.get(target), beside_digest(subject)
        with store_errors(self.path):
            row = self._db.execute("SELECT digest FROM beside WHERE target = ?", (target,)).fetchone()
        kept = waiting[2] if waiting is not None else None if row is None else row[0]
        if now != kept:
            self._bodies[target] = (subject.id, encode_conversation(subject), now)
        if len(self._bodies) >= BATCH_UNITS:
            self.flush()

    def flush(self) -> None:
        """Write all that is pending in one transaction; on an error it stays pending."""
        self.expect_in_place()
        if not self._pending and not self._bodies:
            return
        bodies = [(target, name, body) for target, (name, body, _) in self._bodies.items()]
        beside = [(target, digest) for target, (_, _, digest) in self._bodies.items()]
        with store_errors(self.path), self._db:
            self._db.executemany(_PUT_CONVERSATION, bodies)
            self._db.executemany("INSERT OR REPLACE INTO beside VALUES (?, ?)", beside)
            self._insert(self._pending)
        self._pending.clear()
        self._bodies.clear()

    @property
    def lost(self) -> bool:
        """Whether the file was taken away while it was being written."""
        return self._file is None and not self.readonly

    def expect_in_place(self) -> None:
        """Raise StoreError where the file is not the one that was opened: nothing more would be kept."""
        if self._file is None:
            return
        file, size = _file_at(self._place)
        if file == self._file and size >= self._size:
            self._size = size
            return
        what = "is gone" if file is None else "was replaced" if file != self._file else "was cut off"
        self._file = None  # and not asked after again
        self._pending.clear()
        self._bodies.clear()
        msg = f"the run file {self.path} {what} while it was being written: what it held is lost"
        raise StoreError(msg, hint="put it back, or run the same command again: it begins with what is there")

    def _insert(self, units: Sequence[_Pending]) -> None:
        digests = {digest for digest, _, _ in units}
        judges = {digest: self._judge(digest) or self._enter(digest, units) for digest in digests}
        values = (
            (judges[digest].id, *place, squeeze(rows, judges[digest].dictionary))
            for digest, place, rows in units
        )
        self._db.executemany("INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def _enter(self, judge_digest: str, units: Sequence[_Pending]) -> _StoredJudge:
        own = b"".join(rows for digest, _, rows in units if digest == judge_digest)[:_DICTIONARY_BYTES]
        query = "INSERT INTO judges (digest, dictionary) VALUES (?, ?)"
        entered = self._db.execute(query, (bytes.fromhex(judge_digest), own))
        return _StoredJudge(entered.lastrowid or 0, own)

    def place_units(self, judge_digest: str, positions: Mapping[bytes, int]) -> None:
        """Set the places of a judge's units in the input: they may have been stored at others."""
        with store_errors(self.path), self._db:
            if (judge := self._judge(judge_digest)) is not None:
                moved = ((position, judge.id, key, position) for key, position in positions.items())
                query = "UPDATE units SET position = ? WHERE judge = ? AND key = ? AND position <> ?"
                self._db.executemany(query, moved)

    def renew(self, judge_digest: str, subjects: Mapping[bytes, Conversation]) -> None:
        """Let stored units, by key, be about conversations as they are now."""
        targets = {key: bytes.fromhex(conversation_digest(subject)) for key, subject in subjects.items()}
        for key, target in targets.items():
            self.keep(target, subjects[key])
        self.flush()
        with store_errors(self.path), self._db:
            if (judge := self._judge(judge_digest)) is not None:
                moved = ((target, judge.id, key) for key, target in targets.items())
                self._db.executemany("UPDATE units SET target = ? WHERE judge = ? AND key = ?", moved)

    def settle(self, changes: Mapping[bytes, Sequence[Mapping[str, Any]]]) -> None:
        """Keep what changes in rows once all are judged, by unit, in the place of what was kept before."""
        packed = ((key, pack(list(of_unit))) for key, of_unit in changes.items())
        with store_errors(self.path), self._db:
            if changes or self._db.execute("SELECT 1 FROM settled LIMIT 1").fetchone() is not None:
                self._db.execute("DELETE FROM settled")
                self._db.executemany("INSERT INTO settled VALUES (?, ?)", packed)

    def take_units(self, other: RunDatabase, judge_digest: str, keys: Collection[bytes]) -> None:
        """Take units of a judge over from another run, as they stand there."""
        query = "SELECT key, target, position, repeat, failed, rows FROM units WHERE judge = ?"
        with store_errors(self.path), self._db:
            if (judge := other._judge(judge_digest)) is not None:
                stored = other._db.execute(query, (judge.id,))
                taken = ((place, rows) for *place, rows in stored if place[0] in keys)
                packed = [(judge_digest, tuple(of), unsqueeze(rows, judge.dictionary)) for of, rows in taken]
                self._insert(packed)

    # -- reading ---------------------------------------------------------------------------------

    def finished(self, judge_digest: str) -> dict[bytes, bool]:
        """Return the keys of the finished units of that judge, each with whether it failed."""
        if (judge := self._judge(judge_digest)) is None:
            return {}
        failures = "SELECT key FROM units INDEXED BY failed_units WHERE judge = ? AND failed"
        with store_errors(self.path):
            finished = self._db.execute("SELECT key FROM units WHERE judge = ?", (judge.id,))
            failed = self._db.execute(failures, (judge.id,))
            return {read_as(key, bytes): False for (key,) in finished} | {key: True for (key,) in failed}

    def units(
        self,
        judge_digest: str,
        keys: Mapping[bytes, int] | None = None,
        *,
        ids: Collection[str] | None = None,
        settled: bool = True,
    ) -> Iterator[StoredUnit]:
        """Yield the units of that judge in the order of the input, the repeats of a conversation together.

        Args:
            judge_digest: Whose judgements.
            keys: Yield only these, when given: what the present input plans.
            ids: Yield only those of the conversations of these ids, when given.
            settled: Whether rows are as they were settled, and not as they were judged.
        """
        if (judge := self._judge(judge_digest)) is None:
            return
        changes = "(SELECT changes FROM settled WHERE settled.key = units.key)" if settled else "NULL"
        query = f"SELECT key, target, rows, {changes} FROM units WHERE judge = ?"
        values: list[int | str] = [judge.id]
        if ids is not None:
            # SQLite ends a text of JSON at a NUL: ids that hold one are named singly.
            cut = [name for name in ids if "\0" in name]
            named = f"id IN (SELECT value FROM json_each(?)) OR id IN ({', '.join('?' * len(cut))})"
            query += f" AND target IN (SELECT target FROM conversations WHERE {named})"
            values += [json.dumps(list(ids)), *cut]
        with store_errors(self.path):
            as_rows, as_bytes = self._rows_reader(), reader_of(bytes)
            units = self._db.execute(f"{query} ORDER BY position, target, repeat", values)
            for key, target, rows, changed in units:
                if keys is None or key in keys:
                    judged = unpack(rows, judge.dictionary)
                    shown = judged if changed is None else _as_settled(judged, unpack(changed))
                    yield StoredUnit(as_bytes(key), as_bytes(target), as_rows(shown))

    def _rows_reader(self) -> Callable[[object], Any]:
        """Return what checks a unit's rows: one or more of the kind that the run holds."""
        shape = ROWS.get(self.get_meta(STUDY, shape=str | None), tuple[dict[str, Any], ...])
        return reader_of(shape, parsed=True)

    def unit(self, key: bytes) -> StoredUnit | None:
        """Return one unit as it was stored; None where it is not done."""
        # CROSS JOIN: judge by judge, each by the index.
        query = "SELECT target, rows, dictionary FROM judges CROSS JOIN units ON judge = id WHERE key = ?"
        with store_errors(self.path):
            row = self._db.execute(query, (key,)).fetchone()
            if row is None:
                return None
            return StoredUnit(key, row[0], self._rows_reader()(unpack(row[1], read_as(row[2], bytes))))

    def has_unit(self, key: str) -> bool:
        """Say whether a unit is finished, failed or not."""
        name = bytes.fromhex(key)
        if any(place[0] == name for _, place, _ in reversed(self._pending)):
            return True
        query = "SELECT 1 FROM judges CROSS JOIN units ON judge = id WHERE key = ?"
        with store_errors(self.path):
            return self._db.execute(query, (name,)).fetchone() is not None

    def _judge(self, digest: str) -> _StoredJudge | None:
        query = "SELECT id, dictionary FROM judges WHERE digest = ?"
        with store_errors(self.path):
            row = self._db.execute(query, (bytes.fromhex(digest),)).fetchone()
            return None if row is None else _StoredJudge(read_as(row[0], int), read_as(row[1], bytes))

    def planned(self, part: str = "") -> dict[bytes, int] | None:
        """Return the units that the latest input plans, in order; None where they are all that is stored.

        Args:
            part: The `judge_digest` of a study that shares the file with others.
        """
        name = f"{PLANNED}:{part}" if part else PLANNED
        keys = self.get_meta(name, shape=list[str] | None)
        with store_errors(self.path):
            return None if keys is None else {bytes.fromhex(key): n for n, key in enumerate(keys)}

    def planned_of(self, judge_digest: str) -> dict[bytes, int] | None:
        """Return the units of a judge that the latest input plans, be the file its own or shared."""
        own = self.planned(judge_digest)
        return self.planned() if own is None else own

    def hold_shown(self, finished: Collection[bytes], part: str = "") -> None:
        """Keep showing the units that are stored, whatever is added: until `show` names others.

        What a killed process has added to a run is not shown beside what it was to take the place of.
        """
        if finished and self.planned(part) is None:
            self._put_planned(part, finished)

    def show(self, keys: Collection[bytes], done: Collection[bytes], part: str = "") -> None:
        """Show these units, in their order; what else is stored stays, and is left out.

        Args:
            keys: What the input plans.
            done: The units of the judge that are stored.
            part: The `judge_digest` of a study that shares the file with others.
        """
        shown = sum(key in done for key in keys)
        self._put_planned(part, keys if shown != (len(done) if part else self._stored()) else None)

    def _put_planned(self, part: str, keys: Collection[bytes] | None) -> None:
        name = f"{PLANNED}:{part}" if part else PLANNED
        self.put_meta(name, None if keys is None else [key.hex() for key in keys])

    def _stored(self) -> int:
        with store_errors(self.path):
            (number,) = self._db.execute("SELECT COUNT(*) FROM units").fetchone()
            return int(number)

    def judges(self) -> list[str]:
        """Return the digests of the judges that have units in the file."""
        with store_errors(self.path):
            digests = self._db.execute("SELECT digest FROM judges")
            return [read_as(digest, bytes).hex() for (digest,) in digests]

    def conversations(self) -> Iterator[Conversation]:
        """Yield the conversations of the latest input, in its order; of a run that produces some, these."""
        producer: str | None = self.get_meta(PRODUCER, shape=str | None)
        judge = None if producer is None else self._judge(producer)
        planned = self.planned(producer or "")
        if producer is not None and judge is None:
            return
        with store_errors(self.path):
            of = "" if judge is None else f"WHERE judge = {judge.id} "
            units = self._db.execute(f"SELECT key, target FROM units {of}ORDER BY position, target")
            targets = dict.fromkeys(target for key, target in units if planned is None or key in planned)
        for target in targets:
            if (conversation := self.conversation(target)) is not None:
                yield conversation

    def ids(self) -> list[str]:
        """Return the ids of all conversations that are stored, in the order in which they came."""
        with store_errors(self.path):
            rows = self._db.execute("SELECT id FROM conversations ORDER BY rowid").fetchall()
        return list(dict.fromkeys(read_as(id, str) for (id,) in rows))

    def conversation(self, target: bytes) -> Conversation | None:
        """Return the conversation of that digest."""
        with store_errors(self.path):
            query = "SELECT body FROM conversations WHERE target = ?"
            row = self._db.execute(query, (target,)).fetchone()
            return None if row is None else decode_conversation(row[0])

    def conversations_of(self, ids: Collection[str], judge_digest: str) -> list[Conversation]:
        """Return the conversations of those ids, in the order of the ids; unknown ids are left out.

        Of an id that several have had, those that are shown of that judge: one of each candidate.
        """
        query = "SELECT target, body FROM conversations WHERE id = ? ORDER BY rowid"
        shown: set[bytes] | None = None
        out: list[Conversation] = []
        with store_errors(self.path):
            for name in sorted(set(ids)):
                versions = self._db.execute(query, (name,)).fetchall()
                if len(versions) > 1:
                    shown = self._shown_targets(judge_digest) if shown is None else shown
                    versions = [one for one in versions if one[0] in shown] or versions[-1:]
                named = [decode_conversation(body) for _, body in versions]
                out += {conversation.candidate: conversation for conversation in named}.values()
        return out

    def _shown_targets(self, judge_digest: str) -> set[bytes]:
        planned, judge = self.planned_of(judge_digest), self._judge(judge_digest)
        if judge is None:
            return set()
        units = self._db.execute("SELECT key, target FROM units WHERE judge = ?", (judge.id,))
        return {target for key, target in units if planned is None or key in planned}


class _Judged(TypedDict):
    details: dict[str, Any]


class _Change(TypedDict):
    details: NotRequired[dict[str, Any]]


def _as_settled(judged: object, changes: object) -> list[dict[str, Any]]:
    """Return rows with what changed in them once all were judged; their details keep what did not."""
    rows = read_as(judged, tuple[_Judged, ...])
    changed = read_as(changes, tuple[_Change, ...])
    return [
        {**row, **more, "details": {**row["details"], **more.get("details", {})}}
        for row, more in zip(rows, changed, strict=True)
    ]
