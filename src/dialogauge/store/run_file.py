"""What every run file is: SQLite, versioned, written in small batches, with values kept by name.

Rows are written in transactions of at most `BATCH_SECONDS`; a killed process loses no more than the batch
not yet written.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import orjson

from dialogauge.core.errors import StoreError
from dialogauge.store.codec import pack, unpack

__all__ = ["BATCH_SECONDS", "BATCH_UNITS", "RunFile", "store_errors"]

# A batch of 100 rows is near the best rate of SQLite; 50 ms is what a kill may cost.
BATCH_SECONDS = 0.05
BATCH_UNITS = 200

_META = "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"

P = TypeVar("P")


class RunFile(ABC, Generic[P]):
    """One SQLite file whose rows wait as `P` for the next batch. Not for use from several threads."""

    _schema: ClassVar[str]
    """The tables beside `meta`."""
    _version: ClassVar[int]
    """Raised when the tables or what is packed in them change."""
    _instead: ClassVar[str]
    """What to do about a file of another version."""

    def __init__(
        self, path: Path, *, readonly: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Open the file, and create it unless `readonly`; StoreError when that cannot be done."""
        self.path = path
        self.readonly = readonly
        self._clock = clock
        self._pending: list[P] = []
        self._oldest = 0.0
        with store_errors(path):
            if readonly:
                self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            else:
                self._db = sqlite3.connect(path)
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(_META + self._schema)
            self._check_version()

    def _check_version(self) -> None:
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found == 0 and not self.readonly:
            self._db.execute(f"PRAGMA user_version = {self._version}")
        elif found != self._version:
            self._db.close()
            msg = (
                f"the run file {self.path} has version {found}; this dialogauge reads version {self._version}"
            )
            raise StoreError(msg, hint=self._instead)

    def put_meta(self, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Keep a JSON value under a name."""
        with store_errors(self.path), self._db:
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, pack(value)))

    def _take(self, row: P) -> None:
        """Let a row wait for the next batch."""
        if not self._pending:
            self._oldest = self._clock()
        self._pending.append(row)
        self.flush_if_due()

    def flush_if_due(self) -> float | None:
        """Write the batch if it is full or old enough.

        Returns the seconds until what still waits is old enough; None when nothing waits.
        """
        if not self._pending:
            return None
        left = self._oldest + BATCH_SECONDS - self._clock()
        if left > 0 and len(self._pending) < BATCH_UNITS:
            return left
        self.flush()
        return None

    @abstractmethod
    def flush(self) -> None:
        """Write all that is pending in one transaction; on an error it stays pending."""

    def get_meta(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value kept under a name."""
        with store_errors(self.path):
            row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
            return default if row is None else unpack(row[0])

    def all_meta(self, prefix: str) -> dict[str, Any]:
        """Return the values kept under names that begin so, in the order of the names."""
        with store_errors(self.path):
            rows = self._db.execute("SELECT key, value FROM meta ORDER BY key").fetchall()
            return {key: unpack(value) for key, value in rows if key.startswith(prefix)}

    def close(self) -> None:
        """Write what is pending and close the file.

        A file that was written is left without a write-ahead log, so that it can be read where nothing
        can be written.
        """
        try:
            self.flush()
            if not self.readonly:
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("PRAGMA journal_mode=DELETE")
        finally:
            self._db.close()


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a file into a StoreError."""
    try:
        yield
    except (sqlite3.Error, zlib.error, orjson.JSONDecodeError) as error:
        msg = f"the run file {path} cannot be used: {error}"
        raise StoreError(msg, hint=_hint(str(error))) from error


def _hint(text: str) -> str:
    if "readonly" in text or "unable to open" in text:
        return "check that the directory exists and can be written, or choose another with -o"
    if "full" in text or "I/O" in text:
        return "free some space and run the same command again; what was stored is kept"
    if "locked" in text:
        return "another process is using this run; wait for it, or choose another directory with -o"
    return "if the file is damaged, start again with --fresh or another -o"
