"""JSON values out of a source: one per line, or the elements of one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

import orjson

from dialogauge.core import Place, RecordFault
from dialogauge.data.faults import file_fault, json_hint, record_fault
from dialogauge.data.sources import LineStream, utf8_fault

__all__ = [
    "DEEPEST",
    "JsonValue",
    "count_values",
    "first_values",
    "is_document",
    "is_message_list",
    "json_values",
    "too_deep",
]

_LOOK_AHEAD = 20
DEEPEST = 100
"""Levels of lists and objects in a record; what is deeper could not be stored or walked through safely."""
_SHAPE, _DOCUMENT = "is a JSON document", "JSON document"


@dataclass(slots=True)
class JsonValue:
    """One JSON value and where it stands."""

    value: Any
    place: Place
    number: int
    """The line, or the 1-based position in the document."""


def json_values(stream: LineStream) -> Iterator[JsonValue | RecordFault]:
    """Hand out the values of a JSONL file, or the elements of one JSON array (loaded whole).

    A line that is not JSON comes as a `RecordFault`. Raises `FileFault` for a document that is not
    JSON, and for a line that is not UTF-8.
    """
    if is_document(stream):
        document = _document(stream)
        del stream.memo[_DOCUMENT]
        yield from _elements(stream.source.name, document)
    else:
        yield from _per_line(stream.source.name, stream)


def count_values(stream: LineStream) -> int:
    """Count the values of a source; where each has a line, the lines, without a look at them."""
    if not is_document(stream):
        return sum(1 for _, line in stream if not line.isspace())
    document = _document(stream)
    return len(document) if isinstance(document, list) and not is_message_list(document) else 1


def first_values(stream: LineStream) -> Iterator[JsonValue | RecordFault]:
    """Look at the values from the first on without using them up; a document is loaded, once."""
    if is_document(stream):
        return _elements(stream.source.name, _document(stream))
    return _per_line(stream.source.name, stream.head())


def _per_line(name: str, lines: Iterable[tuple[int, bytes]]) -> Iterator[JsonValue | RecordFault]:
    loads = orjson.loads
    for number, line in lines:
        try:
            value = loads(line)
            if _opened(line) > DEEPEST and too_deep(value):
                yield _deep(Place(name, number))
            else:
                yield JsonValue(value, Place(name, number), number)
        except orjson.JSONDecodeError as error:
            if line.isspace():
                continue
            yield _broken(name, number, line, error)


def _opened(line: bytes) -> int:
    """Count what a line opens at most; most records have one list, and a short look finds no other."""
    first = line.find(b"[")
    lists = line.count(b"[") if line.find(b"[", first + 1) >= 0 else 1
    return lists + line.count(b"{")


def too_deep(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether a JSON value has more than `DEEPEST` levels.

    orjson writes 254 levels and no more, so in 154 lists a value of over 100 cannot be written; that is
    many times faster than walking through it.
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


def is_message_list(value: object) -> TypeGuard[list[dict[str, Any]]]:
    """Say whether a JSON list is one conversation: a list of messages, not of records."""
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and any(isinstance(value[0].get(key), str) for key in ("role", "from", "speaker"))
    )


def is_document(stream: LineStream) -> bool:
    """Say whether the source is one JSON document rather than a value per line.

    It is when its first line is no JSON value by itself and none of the next lines is either, or when
    the one line that there is holds a list of records. The stream is not used up.
    """
    if _SHAPE not in stream.memo:
        stream.memo[_SHAPE] = _looks_like_document(stream.head())
    return bool(stream.memo[_SHAPE])


def _looks_like_document(numbered: Iterable[tuple[int, bytes]]) -> bool:
    lines = (line for _, line in numbered if not line.isspace())
    first = next(lines, b"").strip()
    if first in (b"[", b"{") or (first.startswith(b"[") and first.endswith(b",")):
        return True
    value = _loaded(first)
    if isinstance(value, list):
        return not is_message_list(value) and next(lines, None) is None
    if value is not None:
        return False
    following = [line for _, line in zip(range(_LOOK_AHEAD), lines, strict=False)]
    return bool(following) and not any(isinstance(_loaded(line), dict | list) for line in following)


def _loaded(line: bytes) -> Any:  # noqa: ANN401  # any JSON value
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _document(stream: LineStream) -> Any:  # noqa: ANN401  # any JSON value
    if _DOCUMENT not in stream.memo:
        stream.memo[_DOCUMENT] = _parsed(stream.source.name, b"".join(line for _, line in stream))
    return stream.memo[_DOCUMENT]


def _parsed(name: str, raw: bytes) -> Any:  # noqa: ANN401  # any JSON value
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        _check_utf8(name, raw)
        raise file_fault(
            Place(name, error.lineno),
            f"not JSON: {error.msg} at column {error.colno}",
            "looks like one JSON document, truncated or damaged; in JSONL each record is on one line",
        ) from error


def _elements(name: str, document: Any) -> Iterator[JsonValue | RecordFault]:  # noqa: ANN401
    if not isinstance(document, list) or is_message_list(document):
        yield _deep(Place(name)) if too_deep(document) else JsonValue(document, Place(name), 1)
        return
    if not document:
        raise file_fault(Place(name), "the JSON array is empty")
    for number, value in enumerate(document, start=1):
        place = Place(f"{name} record {number}")
        yield _deep(place) if too_deep(value) else JsonValue(value, place, number)


def _broken(name: str, number: int, line: bytes, error: orjson.JSONDecodeError) -> RecordFault:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as bad:
        raise utf8_fault(name, number, bad) from bad
    return record_fault(
        Place(name, number), f"not JSON: {error.msg} at column {error.colno}", json_hint(line, error.msg)
    )


def _check_utf8(name: str, raw: bytes) -> None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1
        start = raw.rfind(b"\n", 0, error.start) + 1
        at = UnicodeDecodeError("utf-8", raw[start : error.end], error.start - start, error.end - start, "")
        raise utf8_fault(name, number, at) from error
