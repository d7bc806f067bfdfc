"""JSON documents that list conversations beside what holds for all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from dialogauge.core import Place, RecordFault
from dialogauge.data.formats.base import Context, Entry, entries
from dialogauge.data.json_object import object_parts
from dialogauge.data.json_values import JsonValue, is_object, value_of
from dialogauge.data.sources import LineStream

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
