"""Tables as text: one message or exchange a row, or one conversation a row, with its messages in a cell."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.form import SourceForm
from dialogauge.data.formats.base import Context, Entry, Outcome, RecordFormat, Sample, TextFormat
from dialogauge.data.formats.columns import is_whole, named_columns
from dialogauge.data.formats.described import described_format
from dialogauge.data.formats.messenger import messenger_format
from dialogauge.data.formats.rows import RowTable, conversations_of
from dialogauge.data.formats.threads import DataRow
from dialogauge.data.json_values import starts_json, too_deep, written_value
from dialogauge.data.notes import excerpt, record_fault
from dialogauge.data.sources import LineStream
from dialogauge.data.tables import open_table, read_header

_OBJECTS: Final = lazy_pattern(r"\s*\[\s*\{")


def csv_format(records: Sequence[RecordFormat]) -> TextFormat:
    """Return the format of tables; cells may hold the messages of any of the formats."""

    def recognises(sample: Sample) -> bool:
        try:
            columns = read_header(enumerate(sample.lines, 1)).columns
        except csv.Error:
            return False
        if is_whole(named_columns(columns, sample.mapping)):
            return True
        return any(map(_OBJECTS.search, sample.lines)) and _of_cells(sample, records) is not None

    def read(stream: LineStream, context: Context) -> Iterator[Outcome]:
        table = RowTable(open_table(stream).columns, lambda: _rows(stream))
        within = None
        if not is_whole(named_columns(table.columns, context.mapping)):
            within = _of_cells(Sample(stream.source, context.mapping), records)
        if within is None:
            return conversations_of(table, context)
        what = f"tables have messages in a cell: read as {within.name}"
        context.notes.recognise(what, Place(stream.source.name))
        return _conversations(stream, context, within)

    return TextFormat("csv", recognises, read, json=False, takes_order=True)


def mapped_format(forms: Mapping[str, SourceForm]) -> TextFormat:
    """Return the format of what somebody's own map describes: records of JSON, or the rows of a table."""
    spoken = any(form.speaker for form in forms.values())
    records = (messenger_format if spoken else described_format)("map", forms)

    def read(stream: LineStream, context: Context) -> Iterator[Outcome]:
        if isinstance(records, RecordFormat) and not starts_json(stream):
            return _conversations(stream, context, within=records)
        return records.read(stream, context)

    return TextFormat("map", lambda sample: False, read, json=None)


def _rows(stream: LineStream) -> Iterator[DataRow | RecordFault]:
    for row in open_table(stream).rows:
        if isinstance(row, RecordFault):
            yield row
        else:
            yield DataRow(row.cells, Place(stream.source.name, row.line), row.line)


def _of_cells(sample: Sample, records: Sequence[RecordFormat]) -> RecordFormat | None:
    """Return the format of the messages in a cell of the first row; None where there are none."""
    try:
        row = next(_rows(LineStream(sample.source)), None)
    except FileFault:
        return None
    if not isinstance(row, DataRow) or not any(map(_OBJECTS.match, row.cells.values())):
        return None
    try:
        record = _record(row)
    except RecordFault:
        return None
    return next((f for f in records if f.recognises(Sample(sample.source, sample.mapping, record))), None)


def _conversations(stream: LineStream, context: Context, within: RecordFormat) -> Iterator[Outcome]:
    for row in _rows(stream):
        try:
            if isinstance(row, RecordFault):
                yield row
            else:
                made_id = f"{context.source.label}:{row.number}"
                yield within.convert(_record(row), Entry(context, row.place, made_id))
        except RecordFault as fault:
            yield fault


def _record(row: DataRow) -> dict[str, Any]:
    """Return a row as a record; raises `RecordFault` for a cell that begins as a list and is none."""
    return {column: _value(cell, column, row.place) for column, cell in row.cells.items() if cell}


def _value(cell: str, column: str, place: Place) -> Any:  # noqa: ANN401  # any JSON value
    if not _OBJECTS.match(cell):
        return cell
    try:
        value = written_value(cell)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        what = f"column {column!r} holds no whole list: {excerpt(str(error))}"
        raise record_fault(place, what, "write it as JSON") from error
    if too_deep(value):
        raise record_fault(place, f"column {column!r} is nested too deep")
    return value
