"""Keeps replies in a file, so that the same question is paid for once.

The key is the whole request: model, endpoint, parameters, messages, schema, token limit and repeat.
Several processes may share the file. A cache is a convenience: nothing that is wrong with it stops a run.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from dialogauge.core.judgement import Usage
from dialogauge.core.packing import squeeze
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatReply, ChatRequest

_log = logging.getLogger(__name__)

_FILE = "replies.db"
_SCHEMA = "CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
_BATCH = 64
_BATCH_SECONDS = 2.0
_BUSY_SECONDS = 0.25
_LEARNT = frozenset({"dropped", "schema_support"})


def client_identity(client: ChatClient) -> Mapping[str, Any]:
    """Return what `describe` says of a client, without what it learns while it is used.

    For digests and cache keys: it stays the same from the first request to the last.
    """
    return {key: value for key, value in client.describe().items() if key not in _LEARNT}


class ResponseCache:
    """Values by key in one SQLite file in a folder; writes are gathered into small transactions.

    What is put is found at once; it is on disk at the latest when 64 values or two seconds have come
    together and something else is put, or on `flush` and `close`. A damaged file is moved aside with a
    warning; a folder that cannot be written gives a cache that forgets, with a warning.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = folder / _FILE
        self._clock = clock
        self._pending: dict[bytes, bytes] = {}
        self._since = 0.0
        self._connection: sqlite3.Connection | None = None
        self._open()

    def get(self, key: bytes) -> Mapping[str, Any] | None:
        """Return the value of a key; None when there is none."""
        packed = self._pending.get(key) or self._read(key)
        if packed is None:
            return None
        try:
            value = orjson.loads(zlib.decompress(packed))
        except (zlib.error, orjson.JSONDecodeError):
            return None
        return value if isinstance(value, dict) else None

    def put(self, key: bytes, value: Mapping[str, Any]) -> None:
        """Keep a value of plain JSON; an earlier one of the same key is replaced."""
        if self._connection is None:
            return
        if not self._pending:
            self._since = self._clock()
        self._pending[key] = squeeze(_canonical(value))
        if len(self._pending) >= _BATCH or self._clock() - self._since > _BATCH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what has been gathered."""
        if self._connection is None or not self._pending:
            return
        try:
            with self._connection:
                self._connection.executemany(
                    "INSERT OR REPLACE INTO replies VALUES (?, ?)", list(self._pending.items())
                )
        except sqlite3.DatabaseError as error:
            if not self._recover(error):
                return
        self._pending.clear()

    def close(self) -> None:
        """Write and close; closing twice is harmless."""
        if self._connection is not None:
            self._connection.execute("PRAGMA busy_timeout = 10000")
            self.flush()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> None:
        for attempt in (1, 2):
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = _connect(self.path)
            except (OSError, sqlite3.OperationalError) as error:
                _log.warning("no response cache: %s cannot be used (%s)", self.path, error)
                return
            except sqlite3.DatabaseError as error:
                if attempt == 2:
                    _log.warning("no response cache: %s cannot be used (%s)", self.path, error)
                    return
                self._set_aside(error)
            else:
                return

    def _read(self, key: bytes) -> bytes | None:
        if self._connection is None:
            return None
        try:
            row = self._connection.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
        except sqlite3.DatabaseError as error:
            self._recover(error)
            return None
        return row[0] if row is not None and isinstance(row[0], bytes) else None

    def _recover(self, error: sqlite3.DatabaseError) -> bool:
        """Go on after an error; False when the same may work at the next try."""
        if isinstance(error, sqlite3.OperationalError):
            if "locked" not in str(error) and "busy" not in str(error):
                _log.warning("the response cache %s is given up: %s", self.path, error)
                self._drop()
            return self._connection is None
        self._drop()
        self._set_aside(error)
        self._open()
        return self._connection is None

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        target = self.path.with_name(f"{_FILE}.damaged-{stamp}")
        _log.warning("the response cache %s is damaged (%s); moved to %s", self.path, error, target.name)
        for suffix in ("", "-wal", "-shm"):
            # Another process may have moved it first.
            source = self.path.with_name(_FILE + suffix)
            if source.exists():
                source.replace(target.with_name(target.name + suffix))


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_SCHEMA)
        connection.commit()
        # Some damage shows only when a page is read.
        connection.execute("SELECT key FROM replies LIMIT 1").fetchone()
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


class CachedClient:
    """Answers from a cache what has been answered before, and asks the inner client for the rest.

    Failures and filtered replies are not kept. With `read` off every question is asked anew and its
    answer replaces the one that is kept: that is how a failed item is tried again.
    """

    def __init__(self, inner: ChatClient, cache: ResponseCache, *, read: bool = True) -> None:
        self.inner = inner
        self._cache = cache
        self._read = read
        self._start = hashlib.sha256(_canonical(client_identity(inner)))

    @property
    def name(self) -> str:
        """The inner client's name."""
        return self.inner.name

    def describe(self) -> Mapping[str, Any]:
        """The inner client's description: where an answer comes from does not change what it is."""
        return self.inner.describe()

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Return the kept reply (`cached` 1, no calls, no cost, its tokens), or ask."""
        key = self._key(request)
        kept = self._cache.get(key) if self._read else None
        if kept is not None and isinstance(kept.get("text"), str):
            return _thaw(kept)
        reply = await self.inner.complete(request)
        if isinstance(reply, ChatReply) and reply.finish != "filter":
            self._cache.put(key, _freeze(reply))
        return reply

    async def close(self) -> None:
        """Write what is not written yet and close the inner client; the cache stays open for others."""
        self._cache.flush()
        await self.inner.close()

    def _key(self, request: ChatRequest) -> bytes:
        schema = None if request.schema is None else [request.schema.name, request.schema.schema]
        whole = _canonical([request.messages, schema, request.max_tokens, request.salt])
        key = self._start.copy()
        key.update(whole)
        return key.digest()


def _canonical(value: object) -> bytes:
    try:
        return orjson.dumps(value, default=dict, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # Strings that are not valid Unicode; escaped, they are told apart.
        return json.dumps(value, default=dict, sort_keys=True).encode()


def _freeze(reply: ChatReply) -> Mapping[str, Any]:
    return {
        "text": reply.text,
        "finish": reply.finish,
        "reasoning": reply.reasoning,
        "model": reply.model,
        "prompt_tokens": reply.usage.prompt_tokens,
        "completion_tokens": reply.usage.completion_tokens,
    }


def _thaw(kept: Mapping[str, Any]) -> ChatReply:
    usage = Usage(0, 1, kept.get("prompt_tokens", 0), kept.get("completion_tokens", 0), 0.0)
    return ChatReply(
        kept["text"], kept.get("finish", "other"), usage, kept.get("reasoning"), kept.get("model")
    )
