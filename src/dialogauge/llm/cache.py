"""A cache of replies in a file, so that the same request is paid for once.

The key is the whole request: model, endpoint, parameters, messages, schema, token limit and repeat.
Several processes may share the file. No fault of the cache stops a run.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import orjson

from dialogauge.core.judgement import Usage
from dialogauge.core.packing import squeeze
from dialogauge.llm.protocol import (
    ChatClient,
    ChatFailure,
    ChatReply,
    ChatRequest,
    FinishReason,
    WrappedClient,
)
from dialogauge.llm.wire import MAX_BYTES

_log = logging.getLogger(__name__)

_FILE = "replies.db"
_SCHEMA = "CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
_BATCH = 64
_BATCH_SECONDS = 2.0
_BUSY_SECONDS = 0.25
_LARGEST = 4 * MAX_BYTES
"""Bytes of a value, packed or not; a reply has fewer. What is larger was not written by this cache."""
_FINISHES: tuple[FinishReason, ...] = get_args(FinishReason)
_CHANGING = frozenset({"dropped", "schema_support"})


def client_identity(client: ChatClient) -> Mapping[str, Any]:
    """Return a client's description without the parts that change during use, for digests and cache keys."""
    return {key: value for key, value in client.describe().items() if key not in _CHANGING}


class ResponseCache:
    """Values by key in one SQLite file in a folder, written in small transactions.

    `get` returns a new value at once. It is on disk after 64 values, at the first `put` after two seconds, or
    on `flush` and `close`; after `flush_soon` when the event loop comes round. A damaged file is moved aside
    with a warning; where that cannot be done, and in a folder that cannot be written, the cache stores
    nothing, with a warning.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = folder / _FILE
        self._clock = clock
        self._pending: dict[bytes, bytes] = {}
        self._since = 0.0
        self._due = False
        self._not_before = float("-inf")
        self._connection: sqlite3.Connection | None = None
        self._open()

    def get(self, key: bytes) -> Mapping[str, Any] | None:
        """Return the value of a key; None without one."""
        packed = self._pending.get(key) or self._read(key)
        if packed is None:
            return None
        reader = zlib.decompressobj()
        try:
            raw = reader.decompress(packed, _LARGEST)
            value = orjson.loads(raw) if reader.eof else None
        except (zlib.error, orjson.JSONDecodeError):
            return None
        return value if isinstance(value, dict) else None

    def put(self, key: bytes, value: Mapping[str, Any]) -> None:
        """Store a value of plain JSON and replace an earlier one."""
        if self._connection is None:
            return
        if not self._pending:
            self._since = self._clock()
        self._pending[key] = squeeze(_canonical(value))
        if len(self._pending) >= _BATCH or self._clock() - self._since > _BATCH_SECONDS:
            self.flush()

    def flush_soon(self) -> None:
        """Write what is pending when the event loop comes round, all in one transaction.

        What was answered then outlives even `kill -9`. A file that another process locks is tried again after
        two seconds: each try waits.
        """
        if not self._due and self._clock() >= self._not_before:
            self._due = True
            asyncio.get_running_loop().call_soon(self._flush_due)

    def _flush_due(self) -> None:
        self._due = False
        self.flush()

    def flush(self) -> None:
        """Write all pending values."""
        if self._connection is None or not self._pending:
            return
        try:
            with _faults(), self._connection:
                self._connection.executemany(
                    "INSERT OR REPLACE INTO replies VALUES (?, ?)", list(self._pending.items())
                )
        except sqlite3.DatabaseError as error:
            if not self._recover(error):
                self._not_before = self._clock() + _BATCH_SECONDS
                return
        self._pending.clear()

    def close(self) -> None:
        """Write and close; closing twice is harmless."""
        if self._connection is not None:
            self._connection.execute("PRAGMA busy_timeout = 10000")
            self.flush()
        self._drop()

    def _open(self) -> None:
        for attempt in (1, 2):
            try:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, check_same_thread=False)
                try:
                    with _faults():
                        connection.execute("PRAGMA journal_mode = WAL")
                        connection.execute("PRAGMA synchronous = NORMAL")
                        connection.execute(_SCHEMA)
                        connection.commit()
                        # Some damage shows only when a page is read.
                        connection.execute("SELECT key FROM replies LIMIT 1").fetchone()
                except sqlite3.DatabaseError:
                    connection.close()
                    raise
                self._connection = connection
            except (OSError, sqlite3.DatabaseError) as error:
                damaged = isinstance(error, sqlite3.DatabaseError)
                busy = isinstance(error, sqlite3.OperationalError) and "no such" not in str(error)
                if damaged and not busy and attempt == 1:
                    if self._set_aside(error):
                        continue
                    return
                _log.warning("no response cache: %s cannot be used (%s)", self.path, error)
            return

    def _read(self, key: bytes) -> bytes | None:
        if self._connection is None:
            return None
        query = "SELECT value FROM replies WHERE key = ? AND length(value) <= ?"
        try:
            with _faults():
                row = self._connection.execute(query, (key, _LARGEST)).fetchone()
        except sqlite3.DatabaseError as error:
            self._recover(error)
            return None
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def _recover(self, error: sqlite3.DatabaseError) -> bool:
        """Handle an error; False if a retry may work."""
        if isinstance(error, sqlite3.OperationalError):
            if "locked" not in str(error) and "busy" not in str(error):
                _log.warning("the response cache %s is given up: %s", self.path, error)
                self._drop()
            return self._connection is None
        self._drop()
        if self._set_aside(error):
            self._open()
        return self._connection is None

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _set_aside(self, error: Exception) -> bool:
        """Move a damaged file out of the way; say whether that was possible."""
        stamp = time.strftime("%Y%m%d-%H%M%S")
        target = self.path.with_name(f"{_FILE}.damaged-{stamp}")
        try:
            for suffix in ("", "-wal", "-shm"):
                # Another process may have moved it first.
                with contextlib.suppress(FileNotFoundError):
                    self.path.with_name(_FILE + suffix).replace(target.with_name(target.name + suffix))
        except OSError as refused:
            _log.warning("no response cache: %s is damaged (%s) and stays (%s)", self.path, error, refused)
            return False
        _log.warning("the response cache %s is damaged (%s); moved to %s", self.path, error, target.name)
        return True


@contextlib.contextmanager
def _faults() -> Iterator[None]:
    """Make an error of SQLite of one whose words are no UTF-8: they quote the damaged file."""
    try:
        yield
    except UnicodeDecodeError as error:
        msg = "its schema is not UTF-8"
        raise sqlite3.DatabaseError(msg) from error


class CachedClient(WrappedClient):
    """Answers from a cache, and asks the inner client for the rest.

    Failures and filtered replies are not stored. Without `read`, every request goes to the inner client and
    its reply replaces the stored one; a failed item is retried that way.
    """

    def __init__(self, inner: ChatClient, cache: ResponseCache, *, read: bool = True) -> None:
        super().__init__(inner)
        self._cache = cache
        self._use_stored = read
        self._start = hashlib.sha256(_canonical(client_identity(inner)))

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Return the stored reply (`cached` 1, no calls, no cost, its tokens), or ask."""
        key = self._key(request)
        stored = self._stored(key)
        if stored is not None:
            return stored
        reply = await self.inner.complete(request)
        if isinstance(reply, ChatReply) and reply.finish != "filter":
            self._cache.put(
                key,
                {
                    "text": reply.text,
                    "finish": reply.finish,
                    "reasoning": reply.reasoning,
                    "model": reply.model,
                    "prompt_tokens": reply.usage.prompt_tokens,
                    "completion_tokens": reply.usage.completion_tokens,
                },
            )
            self._cache.flush_soon()
        return reply

    def stored(self, request: ChatRequest) -> ChatReply | None:
        """Return the stored reply; None where there is none, or none is to be read."""
        return self._stored(self._key(request))

    def _stored(self, key: bytes) -> ChatReply | None:
        record = self._cache.get(key) if self._use_stored else None
        return None if record is None else _from_record(record)

    async def close(self) -> None:
        """Write pending values and close the inner client; the cache stays open for other clients."""
        self._cache.flush()
        await super().close()

    def _key(self, request: ChatRequest) -> bytes:
        schema = None if request.schema is None else [request.schema.name, request.schema.schema]
        key = self._start.copy()
        key.update(_canonical([request.messages, schema, request.max_tokens, request.salt]))
        return key.digest()


def _canonical(value: object) -> bytes:
    try:
        return orjson.dumps(value, default=dict, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # Strings that are not valid Unicode stay distinct when they are escaped.
        return json.dumps(value, default=dict, sort_keys=True).encode()


def _from_record(record: Mapping[str, Any]) -> ChatReply | None:
    """Return the stored reply; None if it is not of the form in which replies are stored."""
    text = record.get("text")
    finish = next((f for f in _FINISHES if f == record.get("finish")), None)
    reasoning, model = record.get("reasoning"), record.get("model")
    prompt, completion = record.get("prompt_tokens"), record.get("completion_tokens")
    if not isinstance(text, str) or not all(s is None or isinstance(s, str) for s in (reasoning, model)):
        return None
    if finish is None or type(prompt) is not int or type(completion) is not int:
        return None
    if not (0 <= prompt < 1 << 32 and 0 <= completion < 1 << 32):
        return None
    return ChatReply(text, finish, Usage(0, 1, prompt, completion), reasoning, model)
