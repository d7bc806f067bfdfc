"""Rows out of a CSV or TSV source: delimiter found out, cells of any size, byte order mark tolerated."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dialogauge.core import Place, RecordFault
from dialogauge.data.faults import file_fault, record_fault
from dialogauge.data.sources import LineStream

__all__ = ["Row", "Table", "delimiter_of", "find_column", "open_table"]

_DELIMITERS = ",;\t|"
_LARGEST_CELL = 1 << 30


@dataclass(frozen=True, slots=True)
class Row:
    """One row: column name to cell, and the line on which it ends."""

    cells: dict[str, str]
    line: int


@dataclass(frozen=True)
class Table:
    """A table that is being read."""

    columns: tuple[str, ...]
    delimiter: str
    rows: Iterator[Row | RecordFault]


def delimiter_of(header: str) -> str:
    """Return the delimiter that parts a header line into most columns; a comma when there is one column."""
    return max(_DELIMITERS, key=lambda d: (header.count(d), d == ","))


def find_column(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the first column that bears one of the names, whatever its case."""
    by_name = {column.lower(): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def open_table(stream: LineStream) -> Table:
    """Read the header of a table; its rows follow lazily.

    A row of the wrong width comes as a `RecordFault`. Raises `FileFault` for a table without a header
    or with a column named twice, and where the file breaks off.
    """
    # The limit is the csv module's own global; a message may be longer than its 128 KiB.
    csv.field_size_limit(_LARGEST_CELL)
    name = stream.source.name
    lines = (line for _, line in stream.text())
    header = next((line for line in lines if line.strip()), "")
    delimiter = delimiter_of(header)
    try:
        columns = tuple(cell.strip() for cell in next(csv.reader([header], delimiter=delimiter), []))
    except csv.Error as error:
        raise file_fault(Place(name, 1), f"the header is no row of a table: {error}") from error
    twice = {c for c in columns if c and columns.count(c) > 1}
    if not columns or twice:
        what = f"has two columns named {sorted(twice)[0]!r}" if twice else "has no header"
        raise file_fault(Place(name, 1), f"the table {what}", "the first line names the columns")
    return Table(
        columns, delimiter, _rows(csv.reader(lines, delimiter=delimiter, strict=True), columns, name)
    )


def _rows(reader: Iterator[list[str]], columns: tuple[str, ...], name: str) -> Iterator[Row | RecordFault]:
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield record_fault(Place(name, _line(reader)), f"not a row: {error}", "are the quotes balanced?")
            continue
        if not cells:
            continue
        if len(cells) != len(columns):
            yield record_fault(
                Place(name, _line(reader)),
                f"the row has {len(cells)} cells, the header {len(columns)} columns",
                "a cell that holds the delimiter or a line break must be in quotes",
            )
            continue
        yield Row(dict(zip(columns, cells, strict=True)), _line(reader))


def _line(reader: Iterator[list[str]]) -> int:
    # The header was taken off before the reader began to count.
    return int(getattr(reader, "line_num", 0)) + 1
