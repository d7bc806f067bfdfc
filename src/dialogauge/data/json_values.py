"""The JSON values of an input: one a line, or the elements of one array, read one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeGuard

import orjson

from dialogauge.core import Place, RecordFault
from dialogauge.core.shape import repeated_keys
from dialogauge.data.json_array import array_elements, damaged
from dialogauge.data.json_object import JsonPart, object_parts
from dialogauge.data.notes import excerpt, json_hint, record_fault
from dialogauge.data.sources import LARGEST, LineStream, not_utf8, opened, too_large, without_mark

DEEPEST = 100
"""Levels of lists and objects in a record; deeper values cannot be stored or processed safely."""
_LOOK_AHEAD = 20
_LARGE: Final = 1 << 20
_MOST_PARTS: Final = 1 << 19
"""Values in a record of more than `_LARGE` bytes: each takes up to 250, whatever it took in the file."""
_NO_NUMBER: Final = re.compile(rb"[:\[,\s](?:-?Infinity|NaN)\b")
_SHAPE: Final = "is a JSON document"
_STARTS: Final = "starts like JSON"
_LOOKED_INTO: Final = 256
_NUMBER: Final = rb"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*(?:[,\]]|$)"
_BEGINS_JSON: Final = re.compile(rb"\s*(?:\{|\[\s*(?:$|[\[\]{\"]|" + _NUMBER + rb"|true|false|null|NaN))")


@dataclass(slots=True)
class JsonValue:
    """One JSON value and its place."""

    value: Any
    place: Place
    number: int
    """The line, or the 1-based position in the document."""


def json_values(stream: LineStream) -> Iterator[JsonValue | RecordFault]:
    """Yield the values of a JSONL file, or the elements of one JSON array, from the first on.

    A line that is not JSON, and a record that is not UTF-8, too large or too deep, yields a `RecordFault`.
    Raises `FileFault` where a document is not JSON, after the elements before.
    """
    return _document(stream) if is_document(stream) else _per_line(stream)


def is_object(stream: LineStream) -> bool:
    """Say whether the source is one JSON document that is an object."""
    return stream.begins == b"{" and is_document(stream)


def value_of(part: JsonPart, place: Place) -> JsonValue | RecordFault:
    """Return what a part of an object holds, NaN and Infinity in it as nothing.

    A part that is not UTF-8, too large or too deep is a fault. Raises `FileFault` for one that is not JSON.
    """
    raw = part.value
    if raw is None or (len(raw) > _LARGE and _oversized(raw, place)):
        return too_large(place) if raw is None else _oversized(raw, place) or too_large(place)
    if _NO_NUMBER.search(raw):
        try:
            return _checked(json.loads(raw, parse_constant=lambda _: None), raw, place, part.number)
        except (ValueError, RecursionError):
            pass
    return _parsed(raw, place.file, part.line, place, part.number)


def outline(stream: LineStream) -> dict[str, Any]:
    """Return the members of an object that is too large to be read whole, of its lists the first element.

    Members that are too large themselves are None. Raises `FileFault` where it is not JSON.
    """
    out: dict[str, Any] = {}
    for part in object_parts(stream):
        if part.number <= 1:
            value = value_of(part, Place(stream.source.name))
            read = value.value if isinstance(value, JsonValue) else None
            out[part.key] = [read] if part.number else read
    return out


def count_values(stream: LineStream) -> int:
    """Count the values of a source: the lines of JSONL, or the elements of a document."""
    return sum(1 for _ in (_document(stream) if is_document(stream) else stream.written()))


def begins_json(line: bytes) -> bool:
    """Say whether a line begins like JSON, and not like `[10:05] Ana: Hi`."""
    return _BEGINS_JSON.match(line[:_LOOKED_INTO]) is not None


def starts_json(stream: LineStream) -> bool:
    """Say whether the first line that is not blank begins like JSON."""
    if _STARTS not in stream.memo:
        stream.memo[_STARTS] = begins_json(next((line for _, line in stream.written()), b""))
    starts: bool = stream.memo[_STARTS]
    return starts


def _per_line(stream: LineStream) -> Iterator[JsonValue | RecordFault]:
    name, loads = stream.source.name, orjson.loads
    for number, line in stream.written():
        if len(line) > _LARGE and (fault := _oversized(line, Place(name, number))):
            yield fault
            continue
        try:
            value = loads(line)
            yield _checked(value, line, Place(name, number), number)
        except orjson.JSONDecodeError as error:
            yield _broken(name, number, line, error)


def _broken(name: str, number: int, line: bytes, error: orjson.JSONDecodeError) -> RecordFault:
    hint = json_hint(line, error.msg)
    return not_utf8(line, name, number) or record_fault(
        Place(name, number), f"not JSON: {error.msg} at column {error.colno}", hint
    )


def _oversized(raw: bytes, place: Place) -> RecordFault | None:
    """Return the fault of a large record, if what is made of it would take too much memory."""
    if len(raw) > LARGEST:
        return too_large(place)
    texts, others = raw.count(b'"') // 2, raw.count(b",") // 4
    if raw.count(b"[") + raw.count(b"{") + texts + others <= _MOST_PARTS:
        return None
    message = f"the record is large and has more than {_MOST_PARTS:,} values"
    return record_fault(place, message, "it is left out: split it, or take out what is no text")


def _opened(line: bytes) -> int:
    """Return an upper bound of the depth of a line; most records have one list, so the check is short."""
    first = line.find(b"[")
    lists = line.count(b"[") if line.find(b"[", first + 1) >= 0 else 1
    return lists + line.count(b"{")


def too_deep(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether a JSON value has more than `DEEPEST` levels.

    orjson writes at most 254 levels, so it cannot write a value of over 100 levels inside 154 lists; this
    is many times faster than a walk through the value.
    """
    for _ in range(254 - DEEPEST):
        value = [value]
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        return "ecursion" in str(error)
    return False


def _deep(place: Place) -> RecordFault:
    message = f"the record is nested more than {DEEPEST} levels deep"
    return record_fault(place, message, "is something packed into itself again and again?")


_OF_ROWS: Final = frozenset({"conversation_id", "dialogue_id", "session_id", "sessionId", "conversationId"})
"""Keys of messages that say which conversation each belongs to."""


def is_message_list(value: object) -> TypeGuard[list[dict[str, Any]]]:
    """Say whether a JSON list is one conversation: a list of messages, not of records or rows."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, dict) or not _OF_ROWS.isdisjoint(first):
        return False
    named = any(isinstance(first.get(key), str) for key in ("role", "from", "speaker"))
    return (
        named
        or first.get("type") in ("human", "ai", "system")
        or (isinstance(first.get("parts"), list) and first.get("kind") in ("request", "response"))
        or (isinstance(first.get("source"), str) and "models_usage" in first)
        or (first.get("lc") == 1 and "kwargs" in first)
    )


def is_document(stream: LineStream) -> bool:
    """Say whether the source is one JSON document and not one value per line.

    It is a document if neither its first line nor the next ones are JSON values, or if its only line is a
    list of records.
    """
    if _SHAPE not in stream.memo:
        stream.memo[_SHAPE] = _looks_like_document(line for _, line in stream.written())
    document: bool = stream.memo[_SHAPE]
    return document


def _looks_like_document(lines: Iterator[bytes]) -> bool:
    first = next(lines, b"").strip()
    if first in (b"[", b"{") or (first.startswith(b"[") and first.endswith(b",")):
        return True
    if len(first) > _LARGE and _oversized(first, Place("")):
        return first.startswith(b"[") or (first.startswith(b"{") and next(lines, None) is None)
    value = _loaded(first)
    if isinstance(value, list):
        return not is_message_list(value) and next(lines, None) is None
    if value is not None:
        return False
    following = [_is_record(line) for line in islice(lines, _LOOK_AHEAD)]
    return bool(following) and not any(following)


def _is_record(line: bytes) -> bool:
    return len(line) <= _LARGE and isinstance(_loaded(line), dict | list)


def _loaded(line: bytes) -> Any:  # noqa: ANN401  # any JSON value
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _document(stream: LineStream) -> Iterator[JsonValue | RecordFault]:
    """Yield the elements of an array of records; any other document is one value."""
    name = stream.source.name
    if stream.begins != b"[":
        yield _single(stream)
        return
    for number, (raw, line) in enumerate(array_elements(stream), start=1):
        place = Place(f"{name} record {number}")
        if raw is None:
            yield too_large(place)
        elif len(raw) > _LARGE and (fault := _oversized(raw, place)):
            yield fault
        else:
            element = _parsed(raw, name, line, place, number)
            if number == 1 and isinstance(element, JsonValue) and is_message_list([element.value]):
                yield _single(stream)
                return
            yield element


def _single(stream: LineStream) -> JsonValue | RecordFault:
    """Return a document as one value."""
    place = Place(stream.source.name)
    with opened(stream.source, lambda: 1) as file:
        raw = without_mark(file.read(LARGEST + 1), place.file)
    fault = _oversized(raw, place) if len(raw) > _LARGE else None
    return fault or _parsed(raw, place.file, 1, place, 1)


def _checked(value: Any, raw: bytes, place: Place, number: int) -> JsonValue | RecordFault:  # noqa: ANN401
    if _opened(raw) > DEEPEST and too_deep(value):
        return _deep(place)
    if repeated := repeated_keys(raw, value):
        message = f"an object has the key {excerpt(min(repeated))} twice, and says two things"
        return record_fault(place, message, "which of them counts is not known: write each key once")
    return JsonValue(value, place, number)


def _parsed(raw: bytes, name: str, line: int, place: Place, number: int) -> JsonValue | RecordFault:
    """Return what stands in a document from a line on; raises `FileFault` if that is not JSON."""
    try:
        return _checked(orjson.loads(raw), raw, place, number)
    except orjson.JSONDecodeError as error:
        fault = not_utf8(raw, name, line)
        if fault is None:
            raise damaged(name, line + error.lineno - 1, error.msg) from error
        return fault
