"""The JSON values of an input: one a line, or the elements of one array, read one by one.

An array, and a list in an object, may be larger than memory: their elements are read as they are written.
"""

from __future__ import annotations

import ast
import codecs
import json
import re
import warnings
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import islice
from typing import Any, Final, TypeGuard

import orjson

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.core.shape import repeated_keys
from dialogauge.data.notes import excerpt, file_fault, json_hint, record_fault
from dialogauge.data.sources import LARGEST, LineStream, not_utf8, opened, too_large

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
_LONGEST_PRINTED: Final = 1 << 18
"""Characters of a value as Python prints it: reading one takes far more memory than JSON does."""
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
            hint = json_hint(line, error.msg)
            yield not_utf8(line, name, number) or record_fault(
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


def written_value(text: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return the value that a text holds, as JSON or as Python prints it.

    Raises `ValueError`, `SyntaxError`, `TypeError`, `MemoryError` or `RecursionError` where it holds none.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        if len(text) > _LONGEST_PRINTED:
            raise
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd escapes
        return orjson.loads(orjson.dumps(ast.literal_eval(text.strip())))


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
        raw = file.read(LARGEST + 1).removeprefix(codecs.BOM_UTF8)
    fault = _oversized(raw, place) if len(raw) > _LARGE else None
    return fault or _parsed(raw, place.file, 1, place, 1)


def _checked(value: Any, raw: bytes, place: Place, number: int) -> JsonValue | RecordFault:  # noqa: ANN401
    # An upper bound of the depth of a line; most records have one list, so the check is short.
    first = raw.find(b"[")
    lists = raw.count(b"[") if raw.find(b"[", first + 1) >= 0 else 1
    if lists + raw.count(b"{") > DEEPEST and too_deep(value):
        message = f"the record is nested more than {DEEPEST} levels deep"
        return record_fault(place, message, "is something packed into itself again and again?")
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


_BLOCK, _LARGEST_BLOCK = 1 << 18, 1 << 22
TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{},]', re.DOTALL)
"""A text, the mark that begins one whose end is not read yet, or what nests and parts values."""


def array_elements(stream: LineStream) -> Iterator[tuple[bytes | None, int]]:
    """Yield the elements of an array and the lines where they begin; None for one larger than `LARGEST`.

    Raises `FileFault` where there is none, where the array breaks off, and where more follows it.
    """
    name, scan = stream.source.name, Scan()
    with opened(stream.source, lambda: scan.line) as file:
        while scan.read(file, name):
            for mark in scan.marks():
                if mark == b"," or scan.number or not scan.kept or scan.element().strip():
                    yield scan.element() if scan.kept else None, scan.line
                elif mark == b"]":
                    raise file_fault(Place(name), "the JSON array is empty")
                scan.go_on()
                if mark != b",":
                    if mark == b"}" or scan.element(len(scan.data)).strip() or file.read(_BLOCK).strip():
                        raise damaged(name, scan.line, "more follows the array")
                    return
            if len(scan.data) - scan.at > LARGEST:
                raise damaged(name, scan.line, f"a text in record {scan.number + 1} does not end")
    end = scan.line + scan.data.count(b"\n", scan.start)
    raise damaged(name, end, f"the array breaks off in record {scan.number + 1}")


def _part(file: BufferedReader, size: int, before: list[bytes]) -> bytes:
    try:
        return file.read1(size)
    except (EOFError, OSError, zlib.error):
        if not before:
            raise
        return b""


def damaged(name: str, line: int, why: str) -> FileFault:
    """Return the fault of a document that is not JSON."""
    hint = "looks like one JSON document, truncated or damaged; in JSONL each record is on one line"
    return file_fault(Place(name, line), f"not JSON: {why}", hint)


@dataclass(slots=True)
class Scan:
    """How far an array was looked through."""

    data: bytes = b""
    """From the beginning of the element on, where it is kept."""
    start: int = 0
    """Where the element begins in `data`."""
    at: int = 0
    """How far `data` was looked through."""
    line: int = 1
    """Of `start`."""
    number: int = 0
    """Elements before it."""
    depth: int = 0
    kept: bool = True
    """Whether the element is not too large so far."""

    def read(self, file: BufferedReader, name: str) -> bool:
        """Take the next bytes; what is before the element goes, and the element if it is too large.

        Returns False at the end of the file. Raises `FileFault` for UTF-16.
        """
        # So many bytes; fewer before the end, and before an error, which the next call raises.
        size = min(max(_BLOCK, len(self.data)), _LARGEST_BLOCK)
        parts: list[bytes] = []
        while size > 0 and (part := _part(file, size, parts)):
            parts.append(part)
            size -= len(part)
        block = b"".join(parts)
        if self.at - self.start > LARGEST:
            self._begin(kept=False)
        self.data = self.data[self.start :] + (block if self.data else block.removeprefix(codecs.BOM_UTF8))
        self.at, self.start = self.at - self.start, 0
        return bool(block)

    def marks(self) -> Iterator[bytes]:
        """Yield the marks that end an element: comma or bracket; `at` is behind it."""
        for match in TOKEN.finditer(self.data, self.at):
            token, self.at = match[0], match.end()
            if token == b'"':
                self.at -= 1
                return
            if token in (b"[", b"{"):
                self.depth += 1
                self.start = self.at if self.depth == 1 else self.start
            elif self.depth == 1 and token in (b",", b"]", b"}"):
                self.kept = self.kept and self.at - self.start <= LARGEST
                yield token
            elif token in (b"]", b"}"):
                self.depth -= 1
        self.at = len(self.data)

    def element(self, end: int | None = None) -> bytes:
        """Return the element, which ends before the mark; or what stands from its beginning to an end."""
        return self.data[self.start : self.at - 1 if end is None else end]

    def go_on(self) -> None:
        """Begin the next element behind the mark."""
        self.number += 1
        self._begin(kept=True)

    def _begin(self, *, kept: bool) -> None:
        self.line += self.data.count(b"\n", self.start, self.at)
        self.start, self.kept = self.at, kept


_SPACE: Final = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class JsonPart:
    """A member of an object, or an element of a list that is one."""

    key: str
    value: bytes | None
    """None for one larger than `LARGEST`."""
    line: int
    number: int = 0
    """Of an element, from 1; 0 for a member."""


def object_parts(stream: LineStream, lists: Collection[str] | None = None) -> Iterator[JsonPart]:
    """Yield the members of an object in their order; of those in `lists` that are lists, the elements.

    Without `lists` that holds for all.

    Raises `FileFault` where the object breaks off, is none, and where more follows it.
    """
    name, scan = stream.source.name, _Members(lists=lists)
    with opened(stream.source, lambda: scan.line) as file:
        while scan.read(file, name):
            yield from scan.parts()
            if scan.closed:
                if scan.data[scan.at :].strip() or file.read(1 << 18).strip():
                    raise damaged(name, scan.line, "more follows the object")
                return
            if len(scan.data) - scan.at > LARGEST:
                raise damaged(name, scan.line, "a text does not end")
    raise damaged(name, scan.line, "the object breaks off")


@dataclass(slots=True)
class _Members(Scan):
    """How far an object was looked through."""

    lists: Collection[str] | None = None
    key: str | None = None
    """Of the member that is read."""
    listed: bool = False
    """Whether the elements of that member come one by one."""
    closed: bool = False

    def parts(self) -> Iterator[JsonPart]:
        """Yield what ends in the data; `at` is behind it."""
        for match in TOKEN.finditer(self.data, self.at):
            token, self.at = match[0], match.end()
            if token == b'"':
                self.at -= 1
                return
            if token[:1] == b'"':
                if self.depth == 1 and self.key is None:
                    try:
                        self.key = orjson.loads(token)
                    except orjson.JSONDecodeError:
                        self.key = token.decode("utf-8", "replace")
                    self._begin(kept=True)
            elif token in (b"[", b"{"):
                self.depth += 1
                if self.depth == 2 and token == b"[" and (self.lists is None or self.key in self.lists):
                    self.listed, self.number = True, 0
                    self._begin(kept=True)
            else:
                yield from self._ended(token)
                if self.closed:
                    return
        self.at = len(self.data)

    def _ended(self, token: bytes) -> Iterator[JsonPart]:
        """Yield what a comma or a bracket ends."""
        part = self.element() if self.kept and self.at - self.start <= LARGEST else None
        if self.depth == 2 and self.listed and token != b"}":
            if part is None or part.strip() or token == b",":
                self.number += 1
                yield JsonPart(self.key or "", part, self.line, self.number)
            self._begin(kept=True)
        if token != b",":
            self.depth -= 1
        if (self.depth == 1 and token == b",") or self.depth == 0:
            if self.key is not None and not self.listed:
                value = None if part is None else part.lstrip(_SPACE + b":")
                yield JsonPart(self.key, value, self.line)
            self.key, self.listed, self.closed = None, False, self.depth == 0
            self._begin(kept=True)
