"""Tables as text: one message or exchange a row; `json_cells` reads those with messages in a cell."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from dialogauge.core import Place, RecordFault
from dialogauge.data.formats.base import Context, Outcome, Sample, TextFormat
from dialogauge.data.formats.columns import is_whole, named_columns
from dialogauge.data.formats.rows import RowTable, conversations_of
from dialogauge.data.formats.threads import DataRow
from dialogauge.data.sources import LineStream
from dialogauge.data.tables import open_table, read_header


def _recognises(sample: Sample) -> bool:
    try:
        columns = read_header(enumerate(sample.lines, 1)).columns
    except csv.Error:
        return False
    return is_whole(named_columns(columns, sample.mapping))


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    return conversations_of(RowTable(open_table(stream).columns, lambda: _rows(stream)), context)


def _rows(stream: LineStream) -> Iterator[DataRow | RecordFault]:
    for row in open_table(stream).rows:
        if isinstance(row, RecordFault):
            yield row
        else:
            yield DataRow(row.cells, Place(stream.source.name, row.line), row.line)


CSV = TextFormat("csv", _recognises, _read, json=False, takes_order=True)
