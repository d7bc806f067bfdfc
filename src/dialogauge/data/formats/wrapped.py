"""One JSON document that holds the records, `{"data": [...]}`, or the messages of each conversation by id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dialogauge.core import Place, RecordFault
from dialogauge.data.formats.base import Context, Entry, Format, Outcome, RecordFormat, Sample, TextFormat
from dialogauge.data.formats.columns import named_columns
from dialogauge.data.formats.documents import listed
from dialogauge.data.formats.rows import conversations_of, table_of
from dialogauge.data.formats.threads import DataRow
from dialogauge.data.json_values import JsonValue, is_message_list, is_object, json_values, outline
from dialogauge.data.notes import excerpt, record_fault
from dialogauge.data.sources import LineStream


def wrapped_format(formats: Sequence[Format], rows: Format) -> TextFormat:
    """Return the format of documents that hold records of other formats, or flat rows."""
    holder = _Holder(tuple(formats), rows)
    return TextFormat("wrapped", holder.recognises, holder.read, takes_order=True)


@dataclass(frozen=True, slots=True)
class _Holder:
    """What a document may hold."""

    formats: tuple[Format, ...]
    rows: Format

    def recognises(self, sample: Sample) -> bool:
        record = sample.record
        if not isinstance(record, dict) or not (_by_id(record) or self.within(record, sample)):
            return False
        stream = LineStream(sample.source)
        return is_object(stream) or len(list(islice(json_values(stream), 2))) == 1

    def within(self, record: dict[str, Any], sample: Sample) -> tuple[str, Format] | None:
        """Return the one list of records in a document, and their format."""
        lists = {k: v[0] for k, v in record.items() if isinstance(v, list) and v}
        several = [(k, first) for k, first in lists.items() if isinstance(first, dict | list)]
        if len(several) != 1:
            return None
        ((key, first),) = several
        inner = Sample(sample.source, sample.mapping, first)
        one = next((f for f in self.formats if f.recognises(inner)), None)
        if one is self.rows and isinstance(first, dict):
            return (key, one) if "conversation_id" in named_columns(tuple(first), sample.mapping) else None
        return (key, one) if isinstance(one, RecordFormat) else None

    def read(self, stream: LineStream, context: Context) -> Iterator[Outcome]:
        place, record = Place(context.source.name), _document(stream)
        if isinstance(record, RecordFault):
            yield record
        elif _by_id(record):
            openai = next(f for f in self.formats if isinstance(f, RecordFormat) and f.name == "openai")
            yield from _each(_by_id(record), context, openai)
        elif known := self.within(record, Sample(stream.source, context.mapping)):
            key, one = known
            context.notes.recognise(f"documents have records under {key!r}, read as {one.name}", place)
            yield from _values(stream, context, key, one)
        else:
            yield record_fault(place, f"the document is {excerpt(record)}: no records in it")


def _document(stream: LineStream) -> dict[str, Any] | RecordFault:
    value = next(json_values(stream), None)
    if isinstance(value, JsonValue) and isinstance(value.value, dict):
        return value.value
    if is_object(stream):
        return outline(stream)
    return record_fault(Place(stream.source.name), "this is no JSON object with records in it")


def _by_id(record: dict[str, Any]) -> dict[str, Any]:
    """Return conversations by their ids, which may stand in a store; nothing where the values are others."""
    store = record.get("store")
    if isinstance(store, dict) and store and all(map(is_message_list, store.values())):
        return store
    return record if len(record) > 1 and all(map(is_message_list, record.values())) else {}


def _each(record: dict[str, Any], context: Context, openai: RecordFormat) -> Iterator[Outcome]:
    context.notes.recognise(
        "documents have messages of conversations by their ids", Place(context.source.name)
    )
    for number, (name, messages) in enumerate(record.items(), start=1):
        entry = Entry(context, Place(f"{context.source.name} record {number}"), name)
        try:
            yield openai.convert({"conversation_id": name, "messages": messages}, entry)
        except RecordFault as fault:
            yield fault


def _values(stream: LineStream, context: Context, key: str, one: Format) -> Iterator[Outcome]:
    if not isinstance(one, RecordFormat):
        yield from conversations_of(table_of(lambda: _rows(stream, context, key)), context)
        return
    for _, value, entry in listed(stream, context, key, ()):
        try:
            yield value if isinstance(value, RecordFault) else one.convert(value, entry)
        except RecordFault as fault:
            yield fault


def _rows(stream: LineStream, context: Context, key: str) -> Iterator[DataRow | RecordFault]:
    for number, (_, value, entry) in enumerate(listed(stream, context, key, ()), start=1):
        if isinstance(value, RecordFault):
            yield value
        elif isinstance(value, dict):
            yield DataRow(value, entry.place, number)
        else:
            yield record_fault(entry.place, f"the row is {excerpt(value)}: not an object")
