"""Rows of CSV and TSV sources, with any delimiter and cells of any size."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dialogauge.core import Place, RecordFault
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.data.notes import file_fault, record_fault
from dialogauge.data.paths import plain_name
from dialogauge.data.sources import LARGEST, LineStream

_DELIMITERS = ",;\t|"
_SEPARATOR = lazy_pattern(r"sep=(.)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: column -> cell, and the line of its end."""

    cells: dict[str, str]
    line: int


class DelimitedTable(Value):
    """A table with lazy rows."""

    columns: tuple[str, ...]
    rows: Iterator[Row | RecordFault]
    delimiter: str = ","


class Header(Value):
    """The line with the names of the columns."""

    line: int
    """1-based."""
    delimiter: str
    columns: tuple[str, ...]
    """Empty without such a line."""


def read_header(lines: Iterator[tuple[int, str]]) -> Header:
    """Consume and return the header: the first non-blank line, or the next one after a line `sep=;`.

    The delimiter is that of the `sep` line, else the one that splits the header into most columns outside
    quotes; a comma for one column. Raises `csv.Error` for a header that is no row.
    """
    written = ((number, line) for number, line in lines if line.strip())
    number, line = next(written, (1, ""))
    separator = _SEPARATOR.fullmatch(line.strip("\r\n"))
    if separator:
        number, line = next(written, (number, ""))
    delimiter = separator[1] if separator else _delimiter_of(line)
    columns = next(csv.reader([line], delimiter=delimiter), [])
    return Header(number, delimiter, tuple(cell.strip() for cell in columns))


def _delimiter_of(header: str) -> str:
    bare = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=lambda d: (bare.count(d), d == ","))


def find_column(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the column with the first of the names, in any case: `Session ID` and `sessionId` too."""
    by_name = {plain_name(column): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def open_table(stream: LineStream) -> DelimitedTable:
    """Read the header of a table; its rows follow lazily.

    A row of the wrong width yields a `RecordFault`, unless its further cells, or all, are empty; so does one
    that is not UTF-8. Raises `FileFault` for a table without a header, with one that is not UTF-8, or with a
    repeated column, and where the file breaks off.
    """
    # The csv module has one global limit of 128 KiB; a message may be longer. `_RowLines` bounds rows.
    csv.field_size_limit(2 * LARGEST)
    name = stream.source.name
    damaged: list[RecordFault] = []
    lines = stream.text(damaged)
    try:
        header = read_header(lines)
    except csv.Error as error:
        raise file_fault(Place(name, 1), f"the header is no row of a table: {error}") from error
    for fault in damaged:
        raise file_fault(fault.place or Place(name), fault.message, fault.hint)
    columns = header.columns
    twice = {c for c, times in Counter(columns).items() if c and times > 1}
    numbers = bool(columns) and all(map(_is_number, twice or columns))
    if not columns or twice or numbers:
        what = f"has two columns named {sorted(twice)[0]!r}" if twice else "has no header"
        if numbers:
            what = "has no header: its first line holds numbers"
        raise file_fault(Place(name, 1), f"the table {what}", "the first line names the columns")
    bounded = _RowLines(lines, damaged)
    reader = csv.reader(bounded, delimiter=header.delimiter, strict=True)
    return DelimitedTable(columns, _rows(reader, bounded, header, name), header.delimiter)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


class _RowLines:
    """The lines of a table; more of them than a row may take are refused, for a quote that never closes."""

    def __init__(self, lines: Iterable[tuple[int, str]], damaged: list[RecordFault]) -> None:
        self._lines = iter(lines)
        self.damaged = damaged
        """The faults of lines since the last row."""
        self.taken = 0
        """Characters since the last row."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        _, line = next(self._lines)
        self.taken += len(line)
        if self.taken > LARGEST:
            msg = f"it is larger than {LARGEST >> 20} MiB"
            raise csv.Error(msg)
        return line


def _rows(
    reader: Iterator[list[str]], lines: _RowLines, header: Header, name: str
) -> Iterator[Row | RecordFault]:
    while True:
        lines.taken = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield record_fault(
                Place(name, _line(reader, header)), f"not a row: {error}", "are the quotes balanced?"
            )
            continue
        if lines.damaged:
            yield lines.damaged[0]
            lines.damaged.clear()
            continue
        if cells:
            yield _row(cells, header, name, _line(reader, header))


def _row(cells: list[str], header: Header, name: str, line: int) -> Row | RecordFault:
    while len(cells) > len(header.columns) and not cells[-1].strip():
        cells.pop()
    if not cells[0].strip() and not any(map(str.strip, cells)):
        cells = [""] * len(header.columns)
    if len(cells) != len(header.columns):
        return record_fault(
            Place(name, line),
            f"the row has {len(cells)} cells, the header {len(header.columns)} columns",
            "a cell that holds the delimiter or a line break must be in quotes",
        )
    return Row(dict(zip(header.columns, cells, strict=True)), line)


def _line(reader: Iterator[list[str]], header: Header) -> int:
    # The reader does not count the header.
    return int(getattr(reader, "line_num", 0)) + header.line
