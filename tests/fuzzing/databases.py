"""SQLite files made wrong: in their bytes, in their tables, in their values, and in what the values hold."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from dialogauge.core.packing import squeeze, unsqueeze
from fuzzing import mutate

_VALUES: tuple[Any, ...] = (
    None,
    0,
    -1,
    7,
    2**62,
    1.5,
    float("inf"),
    "",
    "text",
    "\x00",
    b"",
    b"\x00",
    b"x\x9c\x03\x00\x00\x00\x00\x01",
    squeeze(b"[]"),
    squeeze(b"{}"),
    squeeze(b"null"),
    squeeze(b'"x"'),
    squeeze(b"[1]"),
    squeeze(b"[{}]"),
    squeeze(b"{"),
)


def spoil(rng: random.Random, path: Path) -> None:
    """Make a database wrong in one of the four ways, most often in what its values hold."""
    draw = rng.random()
    if draw < 0.15:
        raw = path.read_bytes()
        path.write_bytes(mutate.spoil(rng, raw) if rng.random() < 0.5 else _scattered(rng, raw))
        return
    with contextlib.closing(sqlite3.connect(path)) as db, contextlib.suppress(sqlite3.Error), db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if draw < 0.25:
            _structure(rng, db, rng.choice(tables))
            return
        for _ in range(rng.randint(1, 2)):
            table = rng.choice(tables)
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            _values(rng, db, table, rng.choice(columns), draw < 0.5)


def _scattered(rng: random.Random, raw: bytes) -> bytes:
    out = bytearray(raw)
    for _ in range(rng.choice((1, 5, 100, 1000))):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def _structure(rng: random.Random, db: sqlite3.Connection, table: str) -> None:
    column = rng.choice([row[1] for row in db.execute(f"PRAGMA table_info({table})")])
    db.execute(
        rng.choice(
            (
                f"DROP TABLE {table}",
                f"DELETE FROM {table}",
                f"ALTER TABLE {table} RENAME COLUMN {column} TO other",
                f"ALTER TABLE {table} RENAME TO other",
                f"PRAGMA user_version = {rng.choice((0, 1, 3, 99, -1, 2**31 - 1))}",
                f"ALTER TABLE {table} ADD COLUMN more",
            )
        )
    )


def _values(rng: random.Random, db: sqlite3.Connection, table: str, column: str, plain: bool) -> None:
    """Change one value of a column: for any other, or what it holds in its structure."""
    keys = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
    where = " AND ".join(f"{key} IS ?" for key in keys)
    rows = db.execute(f"SELECT {column}, {', '.join(keys)} FROM {table}").fetchall()
    if not rows:
        return
    value, *key = rng.choice(rows)
    changed = None if plain else _inside(rng, value, _dictionaries(db))
    if changed is None:
        changed = rng.choice(_VALUES)
    every = rng.random() < 0.2
    with contextlib.suppress(sqlite3.Error):
        db.execute(
            f"UPDATE {table} SET {column} = ?" + ("" if every else f" WHERE {where}"),
            (changed,) if every else (changed, *key),
        )


def _dictionaries(db: sqlite3.Connection) -> list[bytes]:
    try:
        return [b"", *(d for (d,) in db.execute("SELECT dictionary FROM judges"))]
    except sqlite3.Error:
        return [b""]


def _inside(rng: random.Random, value: object, dictionaries: list[bytes]) -> bytes | None:
    """Change the JSON that is packed in a value; None where none is."""
    if not isinstance(value, bytes):
        return None
    for dictionary in dictionaries:
        with contextlib.suppress(Exception):
            found = orjson.loads(unsqueeze(value, dictionary))
            text = mutate.as_text(rng, mutate.structure(rng, found))
            return squeeze(text.encode("utf-8", "replace"), dictionary)
    return None


Spoiling = Callable[[random.Random, Path], None]
