"""One SQLite file a replay benchmark: the candidates' replies, and what evaluators gave them.

What is left to do is what is missing in it, so the same command goes on where it stopped. A reply or a
score is a value or a failure, never both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dialogauge.core.errors import StoreError
from dialogauge.runs.records import pack, unpack
from dialogauge.runs.store import RunFile, store_errors

REFERENCE: Final = ""
"""The name under which an evaluator's scores of the original replies stand."""

_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS candidates (
    name TEXT PRIMARY KEY, place INTEGER NOT NULL, about BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS replies (
    candidate TEXT, item TEXT, body BLOB NOT NULL, failed INTEGER NOT NULL, PRIMARY KEY (candidate, item)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scores (
    evaluator TEXT, candidate TEXT, item TEXT, body BLOB NOT NULL, failed INTEGER NOT NULL,
    PRIMARY KEY (evaluator, candidate, item)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class StoredReply:
    """What a candidate said to one item, or why it said nothing."""

    candidate: str
    item: str
    text: str | None
    failure: Mapping[str, Any] | None = None
    """`kind` and `message`."""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredScore:
    """What an evaluator gave one reply, or why it gave nothing."""

    candidate: str
    """`REFERENCE` for an original reply."""
    item: str
    """The turn's id; for the reference also of turns that are no items."""
    block: str
    position: int
    length: int
    """Characters of the reply."""
    score: int | None
    value: float | None
    """The same with its fraction."""
    failure: Mapping[str, Any] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class ReplayDatabase(RunFile[tuple[str, tuple[Any, ...]]]):
    """The SQLite file of one replay benchmark. Not for use from several threads."""

    _schema = _SCHEMA
    _version = _VERSION
    _instead = "collect into another directory"

    def __init__(
        self, path: Path, *, readonly: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Open the file, and create it unless `readonly`; StoreError when that cannot be done."""
        if readonly and not path.is_file():
            msg = f"{path.parent} holds no replay run: there is no {path.name} in it"
            raise StoreError(msg, hint="give the directory that `dialogauge replay collect` wrote (its -o)")
        super().__init__(path, readonly=readonly, clock=clock)

    # -- writing ---------------------------------------------------------------------------------

    def put_candidate(self, name: str, about: Mapping[str, Any]) -> None:
        """Keep what a candidate is; one that is there keeps its place."""
        query = (
            "INSERT INTO candidates VALUES (?, (SELECT COUNT(*) FROM candidates), ?) "
            "ON CONFLICT (name) DO UPDATE SET about = excluded.about"
        )
        with store_errors(self.path), self._db:
            self._db.execute(query, (name, pack(dict(about))))

    def forget_candidate(self, name: str) -> None:
        """Drop a candidate's replies and scores."""
        self.flush()
        with store_errors(self.path), self._db:
            self._db.execute("DELETE FROM replies WHERE candidate = ?", (name,))
            self._db.execute("DELETE FROM scores WHERE candidate = ?", (name,))

    def add_reply(self, reply: StoredReply) -> None:
        """Take a reply; what was scored of an earlier one is forgotten. Durable after the next flush."""
        body = pack([reply.text, reply.failure, dict(reply.details)])
        row = (reply.candidate, reply.item, body, int(reply.failure is not None))
        self._take(("DELETE FROM scores WHERE candidate = ? AND item = ?", (reply.candidate, reply.item)))
        self._take(("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", row))

    def add_score(self, evaluator: str, score: StoredScore) -> None:
        """Take a score; it is durable after the next flush."""
        s = score
        body = pack([s.block, s.position, s.length, s.score, s.value, s.failure, dict(s.details)])
        row = (evaluator, s.candidate, s.item, body, int(s.failure is not None))
        self._take(("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)", row))

    def flush(self) -> None:
        """Write all that is pending in one transaction; on an error it stays pending."""
        if not self._pending:
            return
        with store_errors(self.path), self._db:
            for query, row in self._pending:
                self._db.execute(query, row)
        self._pending.clear()

    # -- reading ---------------------------------------------------------------------------------

    def candidates(self) -> dict[str, dict[str, Any]]:
        """Return what each candidate is, in the order in which they came."""
        with store_errors(self.path):
            found = self._db.execute("SELECT name, about FROM candidates ORDER BY place").fetchall()
            return {name: unpack(about) for name, about in found}

    def replied(self, candidate: str) -> dict[str, bool]:
        """Return the items that a candidate was asked, each with whether it failed."""
        with store_errors(self.path):
            query = "SELECT item, failed FROM replies WHERE candidate = ?"
            return {item: bool(failed) for item, failed in self._db.execute(query, (candidate,))}

    def reply(self, candidate: str, item: str) -> StoredReply | None:
        """Return what a candidate said to an item; None when it was not asked."""
        with store_errors(self.path):
            query = "SELECT body FROM replies WHERE candidate = ? AND item = ?"
            row = self._db.execute(query, (candidate, item)).fetchone()
            if row is None:
                return None
            text, failure, details = unpack(row[0])
            return StoredReply(candidate, item, text, failure, details)

    def reply_failed(self, candidate: str, item: str) -> bool | None:
        """Say whether a candidate failed on an item; None when it was not asked."""
        query = "SELECT failed FROM replies WHERE candidate = ? AND item = ?"
        return self._flag(query, (candidate, item))

    def score_failed(self, evaluator: str, candidate: str, item: str) -> bool | None:
        """Say whether an evaluator failed on a candidate's reply; None when it was not asked."""
        query = "SELECT failed FROM scores WHERE evaluator = ? AND candidate = ? AND item = ?"
        return self._flag(query, (evaluator, candidate, item))

    def _flag(self, query: str, key: tuple[str, ...]) -> bool | None:
        with store_errors(self.path):
            row = self._db.execute(query, key).fetchone()
            return None if row is None else bool(row[0])

    def failed_replies(self, candidate: str) -> Iterator[StoredReply]:
        """Yield the failures of a candidate."""
        with store_errors(self.path):
            query = "SELECT item, body FROM replies WHERE candidate = ? AND failed = 1"
            for item, body in self._db.execute(query, (candidate,)).fetchall():
                _, failure, details = unpack(body)
                yield StoredReply(candidate, item, None, failure, details)

    def cut_short(self, candidate: str) -> Iterator[str]:
        """Yield the items to which a candidate's reply ended at the limit of tokens or in a filter."""
        with store_errors(self.path):
            query = "SELECT item, body FROM replies WHERE candidate = ? AND failed = 0"
            for item, body in self._db.execute(query, (candidate,)):
                if unpack(body)[2].get("finish") in ("length", "filter"):
                    yield item

    def scored(self, evaluator: str, candidate: str) -> dict[str, bool]:
        """Return the items that an evaluator was asked about, each with whether it failed."""
        with store_errors(self.path):
            query = "SELECT item, failed FROM scores WHERE evaluator = ? AND candidate = ?"
            return {item: bool(f) for item, f in self._db.execute(query, (evaluator, candidate))}

    def scores(self, evaluator: str, candidate: str) -> Iterator[StoredScore]:
        """Yield an evaluator's scores of a candidate, by item."""
        with store_errors(self.path):
            query = "SELECT item, body FROM scores WHERE evaluator = ? AND candidate = ?"
            for item, body in self._db.execute(query, (evaluator, candidate)):
                yield StoredScore(candidate, item, *unpack(body))
