"""Rows of a table put together by conversation and in order of time, in bounded memory.

Rows that stand so are handed on as they are read; others are sorted in a passing file.
"""

from __future__ import annotations

import math
import pickle
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.core.values import Value
from dialogauge.data.notes import IdPlaces, NoteBook, excerpt, file_fault, record_fault


@dataclass(frozen=True, slots=True)
class DataRow:
    """One row, of JSON or of a table."""

    cells: Mapping[str, Any]
    place: Place
    number: int
    """Its position or line: later rows have higher ones."""


Rows = Callable[[], Iterator[DataRow | RecordFault]]
"""The rows from the beginning; raises `FileFault` where the source breaks off."""


class Threads(Value):
    """By what rows belong together, and by what they are ordered."""

    name: str | None
    """The column of the conversation; None where no column says it."""
    thread: Callable[[DataRow], str]
    order: str | None
    """The column of time or position."""
    moment: Callable[[DataRow], object]
    """What stands in that column."""
    ordered: bool = False
    """Whether the user named that column: then what is no time in it is a fault."""
    is_user: Callable[[DataRow], bool] | None = None
    """Whether a row is the user's, where the column says turns, of which several rows have the same."""


def _reader(form: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, form).replace(tzinfo=UTC)


_READERS = tuple(
    map(
        _reader,
        (
            *("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p"),
            *("%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y, %I:%M:%S %p"),
            *("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S"),
            *("%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S", "%b %d, %Y %I:%M %p", "%b %d, %Y %I:%M:%S %p"),
        ),
    )
)


def moment_of(value: object) -> float | None:
    """Return a number or a time as a number that orders it; None for anything else.

    Times are in ISO form, without a day, with AM or PM and then American, or with points as in German.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        pass
    else:
        return number if math.isfinite(number) else None
    text = str(value).strip().removesuffix(" UTC")
    for read in (datetime.fromisoformat, *_READERS):
        try:
            time = read(text)
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            continue
    return None


def each_differs(rows: Rows, value: Callable[[DataRow], str | None]) -> bool:
    """Say whether more than one row has a value, and no two the same."""
    seen, known = IdPlaces(), 0
    for row in whole_rows(rows):
        text = value(row)
        if text is not None:
            known += 1
            if seen.add(text, 0, row.number) is not None:
                return False
    return known > 1


def in_threads(
    rows: Rows, by: Threads, notes: NoteBook, name: str, looked: Rows | None = None
) -> Iterator[DataRow | RecordFault]:
    """Yield the rows so that those of a conversation stand together, in order of time.

    Conversations come in the order of their first rows. Where the times of a file only fall, its latest row
    is the first one. A row that cannot be read stands behind the one before it. `looked` has of each row what
    orders it alone.

    Raises:
        FileFault: The file breaks off, or a column that the user named for the order holds no times.
    """
    by, look = _settled(looked or rows, by, notes, name)
    if look.untimed is not None:
        if by.ordered:
            row = look.untimed
            what = f"column {by.order!r} holds {excerpt(by.moment(row))}: neither a number nor a time"
            raise file_fault(row.place, what, "write times as 2026-01-31T17:05:00, or numbers")
        text = f"rows have no number and no time in {by.order!r}: they keep the order of the file"
        notes.assume(text, look.untimed.place)
    falling = look.falling and look.untimed is None
    if not look.apart and not falling:
        yield from rows()
        return
    if look.apart:
        text = f"tables have rows of one conversation apart: put together by {by.name!r}"
        notes.recognise(text, Place(name))
    if falling:
        notes.recognise(f"tables have rows that are not in order: put in that of {by.order!r}", Place(name))
    yield from _sorted(rows, by, name, timed=look.untimed is None, latest_first=falling and not look.rising)


def _settled(rows: Rows, by: Threads, notes: NoteBook, name: str) -> tuple[Threads, _Look]:
    """Return by what rows are ordered, and a look at them; turns order them where each is in one place."""
    look = _look(rows, by)
    if by.is_user is None or not (look.falling or look.apart or look.untimed):
        return by, look
    turns = None if look.untimed else _in_turns(rows, by, by.is_user)
    if turns is not None and not look.falling:
        return by, look
    if turns is None and look.untimed is None and look.falling:
        text = f"tables have a {by.order!r} that begins anew: their rows keep the order of the file"
        notes.assume(text, Place(name))
    by = turns or replace(by, order=None)
    return by, _look(rows, by)


def _in_turns(rows: Rows, by: Threads, is_user: Callable[[DataRow], bool]) -> Threads | None:
    """Return the order in which the user speaks first in a turn; None where a turn is in two places."""
    seen, previous = IdPlaces(), ""
    for row in whole_rows(rows):
        spot = f"{by.thread(row)}\0{moment_of(by.moment(row))}\0{is_user(row)}"
        if spot != previous and seen.add(spot, 0, row.number) is not None:
            return None
        previous = spot
    return replace(by, moment=lambda row: (moment_of(by.moment(row)) or 0) + (not is_user(row)) / 2)


@dataclass(slots=True)
class _Look:
    """What a first look at all rows shows."""

    apart: bool = False
    rising: bool = False
    falling: bool = False
    untimed: DataRow | None = None
    """The first row without a time."""


def _look(rows: Rows, by: Threads) -> _Look:
    seen, so_far, previous, at = IdPlaces(), _Look(), None, None
    for row in whole_rows(rows) if by.name or by.order else ():
        thread = by.thread(row)
        now = moment_of(by.moment(row)) if by.order else 0.0
        if now is None:
            so_far.untimed = so_far.untimed or row
        if thread != previous:
            so_far.apart = seen.add(thread, 0, row.number) is not None or so_far.apart
        elif now is not None and at is not None:
            so_far.rising, so_far.falling = so_far.rising or now > at, so_far.falling or now < at
        previous, at = thread, now
    return so_far


def whole_rows(rows: Rows) -> Iterator[DataRow]:
    """Yield the rows that can be read, up to where the file breaks off."""
    try:
        yield from (row for row in rows() if isinstance(row, DataRow))
    except FileFault:
        return


_ARRANGED = """SELECT row FROM rows JOIN
    (SELECT thread, MIN(number) AS first FROM rows GROUP BY thread) USING (thread)
    ORDER BY first, at, number * ?, rows.rowid"""


def _sorted(
    rows: Rows, by: Threads, name: str, *, timed: bool, latest_first: bool
) -> Iterator[DataRow | RecordFault]:
    broken: list[FileFault] = []
    try:
        with closing(sqlite3.connect("")) as kept:
            kept.execute("CREATE TABLE rows (thread BLOB, at REAL, number INTEGER, row BLOB)")
            values = _values(rows, by, broken, timed=timed)
            kept.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", values)
            kept.execute("CREATE INDEX by_thread ON rows (thread, number)")  # else the join is quadratic
            for (packed,) in kept.execute(_ARRANGED, (-1 if latest_first else 1,)):
                kind, *parts = pickle.loads(packed)
                yield DataRow(*parts) if kind == "row" else record_fault(*parts)
    except sqlite3.Error as error:
        what = f"its rows cannot be put in order in {tempfile.gettempdir()}: {error}"
        raise file_fault(Place(name), what) from error
    if broken:
        raise broken[0]


def _values(
    rows: Rows, by: Threads, broken: list[FileFault], *, timed: bool
) -> Iterator[tuple[bytes, float | None, int, bytes]]:
    """Yield what is kept of each row; a fault goes with the row before it, and so does a break."""
    thread, at, number = b"", None, 0
    source = rows()
    while True:
        try:
            row = next(source)
        except StopIteration:
            return
        except FileFault as fault:
            broken.append(fault)
            what = ("the file breaks off within this conversation", None)
            row = record_fault(Place(fault.place.file if fault.place else "?", None), *what)
        packed: tuple[object, ...]
        if isinstance(row, DataRow):
            thread = by.thread(row).encode("utf-8", "surrogatepass")
            at = moment_of(by.moment(row)) if timed and by.order else None
            number = row.number
            packed = ("row", row.cells, row.place, number)
        else:
            packed = ("fault", row.place, row.message, row.hint)
        yield thread, at, number, pickle.dumps(packed)
        if broken:
            return
