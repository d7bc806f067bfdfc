"""Rows out of a CSV or TSV source: delimiter found out, cells of any size, byte order mark tolerated."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dialogauge.core import Place, RecordFault
from dialogauge.data.notes import file_fault, record_fault
from dialogauge.data.sources import LineStream

_DELIMITERS = ",;\t|"
_LARGEST_CELL = 1 << 30
_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: column name to cell, and the line on which it ends."""

    cells: dict[str, str]
    line: int


@dataclass(frozen=True)
class DelimitedTable:
    """A table that is being read."""

    columns: tuple[str, ...]
    rows: Iterator[Row | RecordFault]


@dataclass(frozen=True, slots=True)
class Header:
    """The line that names the columns."""

    line: int
    """1-based."""
    delimiter: str
    columns: tuple[str, ...]
    """Empty where there is no such line."""


def read_header(lines: Iterator[tuple[int, str]]) -> Header:
    """Take the header off numbered lines: the first that is not blank, behind a line `sep=;` the second.

    The delimiter is the one that such a line names, else that which parts the header into most columns, what
    stands in quotes aside; a comma when there is one column. Raises `csv.Error` for a header that is no row.
    """
    written = ((number, line) for number, line in lines if line.strip())
    number, line = next(written, (1, ""))
    told = _SEPARATOR.fullmatch(line.strip("\r\n"))
    if told:
        number, line = next(written, (number, ""))
    delimiter = told[1] if told else _delimiter_of(line)
    columns = next(csv.reader([line], delimiter=delimiter), [])
    return Header(number, delimiter, tuple(cell.strip() for cell in columns))


def _delimiter_of(header: str) -> str:
    bare = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=lambda d: (bare.count(d), d == ","))


def find_column(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the first column that bears one of the names, whatever its case."""
    by_name = {column.lower(): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def open_table(stream: LineStream) -> DelimitedTable:
    """Read the header of a table; its rows follow lazily.

    A row of the wrong width comes as a `RecordFault`. Raises `FileFault` for a table without a header
    or with a column named twice, and where the file breaks off.
    """
    # The limit is the csv module's own global; a message may be longer than its 128 KiB.
    csv.field_size_limit(_LARGEST_CELL)
    name = stream.source.name
    lines = stream.text()
    try:
        header = read_header(lines)
    except csv.Error as error:
        raise file_fault(Place(name, 1), f"the header is no row of a table: {error}") from error
    columns = header.columns
    twice = {c for c in columns if c and columns.count(c) > 1}
    if not columns or twice:
        what = f"has two columns named {sorted(twice)[0]!r}" if twice else "has no header"
        raise file_fault(Place(name, 1), f"the table {what}", "the first line names the columns")
    reader = csv.reader((line for _, line in lines), delimiter=header.delimiter, strict=True)
    return DelimitedTable(columns, _rows(reader, header, name))


def _rows(reader: Iterator[list[str]], header: Header, name: str) -> Iterator[Row | RecordFault]:
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield record_fault(
                Place(name, _line(reader, header)), f"not a row: {error}", "are the quotes balanced?"
            )
            continue
        if not cells:
            continue
        if len(cells) != len(header.columns):
            yield record_fault(
                Place(name, _line(reader, header)),
                f"the row has {len(cells)} cells, the header {len(header.columns)} columns",
                "a cell that holds the delimiter or a line break must be in quotes",
            )
            continue
        yield Row(dict(zip(header.columns, cells, strict=True)), _line(reader, header))


def _line(reader: Iterator[list[str]], header: Header) -> int:
    # All up to the header was taken off before the reader began to count.
    return int(getattr(reader, "line_num", 0)) + header.line
