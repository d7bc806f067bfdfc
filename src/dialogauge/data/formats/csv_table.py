"""Tables as text: one message or exchange a row; `json_cells` reads those with messages in a cell."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from dialogauge.core import Place, RecordFault
from dialogauge.data.form import AnyForm, SourceForm
from dialogauge.data.formats.base import Context, Outcome, Sample, TextFormat
from dialogauge.data.formats.columns import is_whole, named_columns
from dialogauge.data.formats.rows import RowTable, conversations_of
from dialogauge.data.formats.sources import described_by
from dialogauge.data.formats.threads import DataRow
from dialogauge.data.json_values import JsonValue, as_records, json_values, starts_json
from dialogauge.data.paths import path_of
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


def mapped_format(forms: Mapping[str, AnyForm]) -> TextFormat:
    """Return the format of what somebody's own map describes: records of JSON, or the rows of a table."""
    records = described_by("map", forms)

    def read(stream: LineStream, context: Context) -> Iterator[Outcome]:
        if not starts_json(stream):
            stream = as_records(LineStream(stream.source), lambda memo: row_records(stream))
        elif paths := [f.records for f in forms.values() if f.records and isinstance(f, SourceForm)]:
            whole = LineStream(stream.source)
            stream = as_records(stream, lambda memo: _records(whole, paths))
        return records.read(stream, context)

    return TextFormat("map", lambda sample: False, read, json=None)


def _records(stream: LineStream, paths: Sequence[str]) -> Iterator[JsonValue | RecordFault]:
    """Yield the records that documents list under one of the paths; a document without is one itself."""
    number = 0
    for value in json_values(stream):
        values = [] if isinstance(value, RecordFault) else [path_of(path)(value.value) for path in paths]
        lists = [listed for listed in values if isinstance(listed, list)]
        if isinstance(value, RecordFault) or not lists:
            yield value
            continue
        for one in chain(*lists):
            number += 1
            yield JsonValue(one, Place(f"{stream.source.name} record {number}"), number)


def row_records(stream: LineStream) -> Iterator[JsonValue | RecordFault]:
    """Yield the rows of a table as records, without empty cells."""
    for row in open_table(stream).rows:
        if isinstance(row, RecordFault):
            yield row
        else:
            cells = {column: cell for column, cell in row.cells.items() if cell}
            yield JsonValue(cells, Place(stream.source.name, row.line), row.line)


def _rows(stream: LineStream) -> Iterator[DataRow | RecordFault]:
    for row in open_table(stream).rows:
        if isinstance(row, RecordFault):
            yield row
        else:
            yield DataRow(row.cells, Place(stream.source.name, row.line), row.line)


CSV = TextFormat("csv", _recognises, _read, json=False, takes_order=True)
