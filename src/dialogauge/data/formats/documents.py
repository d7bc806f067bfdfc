"""JSON documents that list conversations beside what holds for all, and files that stand beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import orjson

from dialogauge.core import Place, RecordFault
from dialogauge.core.values import Value
from dialogauge.data.formats.base import (
    Context,
    Entry,
    Format,
    Outcome,
    RecordFormat,
    Sample,
    TextFormat,
    entries,
)
from dialogauge.data.formats.columns import named_columns
from dialogauge.data.formats.rows import conversations_of, table_of
from dialogauge.data.formats.threads import DataRow
from dialogauge.data.json_values import (
    JsonValue,
    is_message_list,
    is_object,
    json_values,
    object_parts,
    outline,
    starts_json,
    value_of,
)
from dialogauge.data.notes import excerpt, file_fault, record_fault
from dialogauge.data.sources import LARGEST, LineStream, opened

Listed = tuple[dict[str, Any], Any, Entry]
"""What holds for all, one value of the list (a `RecordFault` in place of one), and its context."""


def listed(
    stream: LineStream, context: Context, key: str, head: Collection[str], unread: Collection[str] = ()
) -> Iterator[Listed]:
    """Yield the values that a document lists; a document or line without the list is one value itself.

    The list is read value by value, and may be larger than memory.

    Args:
        stream: The source: one object, an array of such, or one a line.
        context: Its context.
        key: The list.
        head: The keys that hold for all.
        unread: Keys of a document without the list that nobody needs, and that may be large.

    Raises:
        FileFault: The source breaks off, or is not JSON.
    """
    if not is_object(stream):
        for value, entry in entries(stream, context):
            if isinstance(value, dict) and isinstance(value.get(key), list):
                for number, one in enumerate(value[key], start=1):
                    place = replace(entry.place, file=f"{entry.place.file} record {number}")
                    yield value, one, Entry(context, place, f"{entry.made_id}:{number}")
            else:
                yield {}, value, entry
        return
    name, label = context.source.name, context.source.label
    about, whole = _members(stream, key, head, unread)
    if whole is not None:
        yield {}, whole, Entry(context, Place(name), f"{label}:1")
        return
    for part in object_parts(stream, (key,)):
        if part.number:
            entry = Entry(context, Place(f"{name} record {part.number}"), f"{label}:{part.number}")
            value = value_of(part, entry.place)
            yield about, value.value if isinstance(value, JsonValue) else value, entry


def _members(
    stream: LineStream, key: str, head: Collection[str], unread: Collection[str]
) -> tuple[dict[str, Any], dict[str, Any] | RecordFault | None]:
    """Return what holds for all, and the whole document where it has no such list."""
    about: dict[str, Any] = {}
    whole: dict[str, Any] = {}
    has_list = False
    place = Place(stream.source.name)
    for part in object_parts(stream, (key,)):
        has_list = has_list or part.number > 0
        if has_list and set(head) <= about.keys():
            break
        if part.number or (part.key in unread and part.key not in head):
            continue
        value = value_of(part, place)
        if isinstance(value, RecordFault):
            if not has_list and part.key not in head:
                return about, value
            continue
        whole[part.key] = value.value
        if part.key in head:
            about[part.key] = value.value
    return about, None if has_list else whole


def read_beside(context: Context, name: str, what: str, kind: type, *, above: int = 0) -> Any:  # noqa: ANN401  # any JSON value
    """Return what a JSON file beside the source holds; an empty value where there is none.

    Args:
        context: The source; the file is read once for all its records.
        name: The file, maybe in a folder beside it.
        what: The word for its content in messages, in the plural.
        kind: What the file is to hold, `dict` or `list`.
        above: So many folders above are looked into too.

    Raises:
        FileFault: The file cannot be read, is not JSON, or holds something else.
    """
    if name not in context.memo:
        context.memo[name] = _read(context, name, what, kind, above)
    return context.memo[name]


def _read(context: Context, name: str, what: str, kind: type, above: int) -> Any:  # noqa: ANN401  # any JSON value
    source = context.source.beside(name, above)
    if source is None:
        return kind()
    place = Place(source.name)
    if name.endswith(".jsonl"):
        return [one.value for one in json_values(LineStream(source)) if isinstance(one, JsonValue)]
    with opened(source, lambda: 1) as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise file_fault(place, f"the {what} are larger than {LARGEST >> 20} MiB")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise file_fault(place, f"the {what} cannot be read: {error}") from error
    if not isinstance(value, kind):
        wanted = "an object" if kind is dict else "a list"
        raise file_fault(place, f"the {what} are {excerpt(value)}: not {wanted}")
    return value


class ListedFormat(RecordFormat):
    """A format whose records stand alone, or in a list of a document."""

    lists: tuple[str, ...] = ()
    """The keys of such lists."""

    def recognises(self, sample: Sample) -> bool:
        """Say whether the first record looks like this format, or the first that a document lists."""
        inner = Sample(sample.source, sample.mapping, _first_in(sample.record, self.lists)[1])
        return super().recognises(sample) or super().recognises(inner)

    def count(self, stream: LineStream, context: Context) -> int:
        """Count the records."""
        return sum(1 for _ in listed(stream, context, self._list(stream, context), ()))

    def read(self, stream: LineStream, context: Context) -> Iterator[Outcome]:
        """Convert the records one by one."""
        yield from _values(stream, context, self._list(stream, context), self)

    def _list(self, stream: LineStream, context: Context) -> str:
        """Return the key of the list; none of a record itself, which may have such a key too."""
        first = _document(stream)
        return "" if self.recognise(first, context.mapping) else _first_in(first, self.lists)[0]


def _first_in(record: Any, lists: Sequence[str]) -> tuple[str, Any]:  # noqa: ANN401  # any JSON value
    """Return the list that a document has, and the first record in it."""
    inner = record if isinstance(record, dict) else {}
    each = ((key, inner.get(key)) for key in lists)
    return next(((key, of[0]) for key, of in each if isinstance(of, list) and of), (lists[0], None))


def wrapped_format(formats: Sequence[Format], rows: Format) -> TextFormat:
    """Return the format of documents that hold records of other formats, or flat rows."""
    holder = _Holder(tuple(formats), rows)
    return TextFormat("wrapped", holder.recognises, holder.read, takes_order=True)


class _Holder(Value):
    """What a document may hold."""

    formats: tuple[Format, ...]
    rows: Format

    def recognises(self, sample: Sample) -> bool:
        record = sample.record
        if not isinstance(record, dict) or not (_by_id(record) or self.within(record, sample)):
            return False
        stream = LineStream(sample.source)
        return starts_json(stream) and (is_object(stream) or len(list(islice(json_values(stream), 2))) == 1)

    def within(self, record: dict[str, Any], sample: Sample) -> tuple[str, Format] | None:
        """Return the one list of records in a document, and their format."""
        lists = {k: v[0] for k, v in record.items() if isinstance(v, list) and v}
        several = [(k, first) for k, first in lists.items() if isinstance(first, dict | list)]
        named = [(key, first, self._of(first, sample)) for key, first in several]
        whole = [each for each in named if isinstance(each[2], RecordFormat)]
        if len(several) != 1 and len(whole) != 1:
            return None
        ((key, first, one),) = named if len(several) == 1 else whole
        if one is self.rows and isinstance(first, dict):
            return (key, one) if "conversation_id" in named_columns(tuple(first), sample.mapping) else None
        return (key, one) if isinstance(one, RecordFormat) else None

    def _of(self, first: Any, sample: Sample) -> Format | None:  # noqa: ANN401  # any JSON value
        inner = Sample(sample.source, sample.mapping, first)
        return next((f for f in self.formats if f.recognises(inner)), None)

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
