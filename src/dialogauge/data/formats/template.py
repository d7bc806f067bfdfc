"""Texts that a chat template made of conversations: under `text` of a record, or a file of such a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dialogauge.core import ROLES, Conversation, Place, RecordFault
from dialogauge.data.field_map import NO_MAP, FieldMap
from dialogauge.data.formats.base import Context, Entry, Outcome, RecordFormat, Sample, TextFormat, fault_in
from dialogauge.data.formats.columns import named_columns
from dialogauge.data.formats.fields import conversation_from
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.rendered import is_rendered, opens, unrendered
from dialogauge.data.formats.roles import ROLE_ALIASES, role_named
from dialogauge.data.notes import LONGEST, excerpt, too_long
from dialogauge.data.sources import LineStream

_TEXT: Final = "text"


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or mapping.content is not None or mapping.prompt is not None:
        return False
    role = record.get("role")
    is_row = isinstance(role, str) and (role.lower() in ROLES or role.lower() in ROLE_ALIASES)
    beside = {"prompt", "reply"} <= named_columns(tuple(record), mapping).keys()
    return is_rendered(record.get(_TEXT)) and not is_row and not beside


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    text = record.get(_TEXT) if isinstance(record, dict) else None
    if not isinstance(text, str) or not is_rendered(text):
        raise fault_in(entry, f"the text is {excerpt(text)}: it does not begin as a chat template writes it")
    reader = MessageReader(entry, role_of=lambda name: role_named(name, entry), ordered=True)
    return conversation_from(
        record, reader.read(unrendered(text, entry)), reader.rated, entry, messages_key=_TEXT
    )


def _recognises_text(sample: Sample) -> bool:
    return sample.mapping == NO_MAP and is_rendered("".join(sample.lines))


def _read_text(stream: LineStream, context: Context) -> Iterator[Outcome]:
    lines, size, first, number = list[str](), 0, 1, 0
    for at, line in stream.text():
        if lines and size and opens(line):
            number += 1
            yield _read_one(lines, size, first, number, context)
            lines, size = [], 0
        first = first if size else at
        size += len(line) if line.strip() or size else 0
        if size <= LONGEST:
            lines.append(line)
    yield _read_one(lines, size, first, number + 1, context)


def _read_one(lines: list[str], size: int, line: int, number: int, context: Context) -> Outcome:
    name = f"{context.source.label.removesuffix('.txt')}_{number}"
    place = Place(context.source.name, line, name)
    if size > LONGEST:
        return too_long(place)
    entry = Entry(context, place, name)
    try:
        return _convert({"id": name, _TEXT: "".join(lines).rstrip("\r\n")}, entry)
    except RecordFault as fault:
        return fault


TEMPLATE = RecordFormat("template", _recognises, _convert, takes_order=False)
TEMPLATE_TEXT = TextFormat("template-text", _recognises_text, _read_text, json=False)
