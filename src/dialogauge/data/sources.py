"""Input sources (files, gzip files, folders, standard input), as numbered lines and as JSON values."""

from __future__ import annotations

import codecs
import gzip
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeGuard

import orjson

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.data.notes import file_fault, json_hint, record_fault

STDIN = "-"

_SUFFIXES = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt"})
_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class InputSource:
    """One file to read, or standard input."""

    name: str
    """Its name in messages: the path as stated, or `<stdin>`."""
    label: str
    """The base of ids for data without ids, independent of the working directory."""
    path: Path | None
    """None for standard input."""
    member: bool = False
    """From a folder, not named by the user: the reader skips it if it is something else."""


def locate(
    inputs: Sequence[str], order: Callable[[Path], object] | None = None
) -> tuple[list[InputSource], int]:
    """Return the files of the inputs and of their folders, and the number of files with other endings.

    `order` returns the sort key of the files of a folder (default: the path). Raises `FileFault` for a
    missing path, an empty file, and a folder without a file that could hold conversations.
    """
    sources: list[InputSource] = []
    left_out = 0
    names = Counter(Path(name).name for name in inputs)
    for name in inputs:
        path = Path(name)
        if name == STDIN:
            sources.append(InputSource("<stdin>", "stdin", None))
        elif path.is_dir():
            members, others = _members(path, order)
            sources += members
            left_out += others
        else:
            _check(path, name)
            label = path.name if names[path.name] == 1 else path.as_posix()
            sources.append(InputSource(name, _plain(label), path))
    return sources, left_out


def _check(path: Path, name: str) -> None:
    if not path.exists():
        raise file_fault(Place(name), "there is no such file or folder")
    if path.is_file() and path.stat().st_size == 0:
        raise file_fault(Place(name), "the file is empty", "is it still being written?")


def _members(folder: Path, order: Callable[[Path], object] | None) -> tuple[list[InputSource], int]:
    files = [p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")]
    members = [p for p in files if Path(_plain(p.name)).suffix.lower() in _SUFFIXES]
    if not members:
        raise file_fault(
            Place(str(folder)),
            "the folder holds no file that could hold conversations",
            f"looked for {', '.join(sorted(_SUFFIXES))}, also with .gz, in it and below",
        )
    members.sort(key=order or Path.as_posix)  # type: ignore[arg-type]  # any sortable key will do
    sources = [InputSource(str(p), _plain(p.relative_to(folder).as_posix()), p, member=True) for p in members]
    return sources, len(files) - len(members)


def _plain(name: str) -> str:
    return name.removesuffix(".gz")


class LineStream:
    """The lines of one source as bytes, numbered from 1, without gzip and byte order mark.

    Iteration raises `FileFault` where a compressed file breaks off, after all lines before it.
    """

    def __init__(self, source: InputSource) -> None:
        """Open the source; raises `FileFault` if that fails."""
        self.source = source
        self._close: list[IO[bytes]] = []
        self._head: list[tuple[int, bytes]] = []
        self._fault: FileFault | None = None
        self.memo: dict[str, Any] = {}
        """Results of looking ahead."""
        try:
            self._file = self._open()
        except OSError as error:
            self.close()
            raise file_fault(Place(source.name), f"cannot be read: {error.strerror}") from error
        self._lines = self._read()

    def _open(self) -> Iterable[bytes]:
        if self.source.path is None:
            raw: IO[bytes] = sys.stdin.buffer
        else:
            raw = self.source.path.open("rb", buffering=1 << 18)
            self._close.append(raw)
        if raw.peek(2)[:2] != _GZIP:  # type: ignore[attr-defined]  # both are buffered readers
            return raw
        packed = gzip.GzipFile(fileobj=raw)
        self._close.insert(0, packed)  # type: ignore[arg-type]  # closes like any other
        return packed

    def _read(self) -> Iterator[tuple[int, bytes]]:
        number = 0
        try:
            for number, line in enumerate(self._file, start=1):
                yield number, self._without_mark(line) if number == 1 else line
        except (EOFError, OSError, zlib.error) as error:
            hint = None
            if isinstance(error, EOFError):
                message = "the gzip file breaks off here: it is truncated"
                hint = "the lines before were read; fetch or write the file again"
            elif isinstance(error, gzip.BadGzipFile | zlib.error):
                message = f"the gzip file is damaged: {error}"
            else:
                message = f"cannot be read: {error.strerror}"
            raise file_fault(Place(self.source.name, number + 1), message, hint) from error

    def _without_mark(self, line: bytes) -> bytes:
        if line.startswith(_UTF16):
            raise file_fault(Place(self.source.name), "the file is UTF-16", "save it as UTF-8")
        return line.removeprefix(codecs.BOM_UTF8)

    def head(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines from the first on without consuming them.

        A fault after the first line is raised later, by iteration, after the lines before it.
        """
        index = 0
        while True:
            if index == len(self._head):
                try:
                    following = next(self._lines, None)
                except FileFault as fault:
                    if not self._head:
                        raise
                    self._fault = fault
                    return
                if following is None:
                    return
                self._head.append(following)
            yield self._head[index]
            index += 1

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the numbered lines, each once."""
        head, self._head = self._head, []
        yield from head
        del head
        yield from self._lines
        if self._fault is not None:
            raise self._fault

    def text(self) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines as text; raises `FileFault` at the first that is not UTF-8."""
        for number, line in self:
            yield number, as_utf8(line, self.source.name, number)

    def close(self) -> None:
        """Close the file; standard input stays open."""
        while self._close:
            self._close.pop(0).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def as_utf8(raw: bytes, name: str, number: int = 1) -> str:
    """Return text that begins at line `number`; raises `FileFault` with line and column if not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        column = at - raw.rfind(b"\n", 0, at)
        raise file_fault(
            Place(name, number + raw.count(b"\n", 0, at)),
            f"not UTF-8: byte 0x{raw[at]:02x} at column {column}",
            "save the file as UTF-8, e.g. iconv -f LATIN1 -t UTF-8",
        ) from error


_LOOK_AHEAD = 20
DEEPEST = 100
"""Levels of lists and objects in a record; deeper values cannot be stored or processed safely."""
_SHAPE, _DOCUMENT = "is a JSON document", "JSON document"


@dataclass(slots=True)
class JsonValue:
    """One JSON value and its place."""

    value: Any
    place: Place
    number: int
    """The line, or the 1-based position in the document."""


def json_values(stream: LineStream) -> Iterator[JsonValue | RecordFault]:
    """Yield the values of a JSONL file, or the elements of one JSON array (loaded whole).

    A line that is not JSON yields a `RecordFault`. Raises `FileFault` for a document that is not JSON, and
    for a line that is not UTF-8.
    """
    if is_document(stream):
        document = _document(stream)
        del stream.memo[_DOCUMENT]
        yield from _elements(stream.source.name, document)
    else:
        yield from _per_line(stream.source.name, stream)


def count_values(stream: LineStream) -> int:
    """Count the values of a source: the lines of JSONL, or the elements of a document."""
    if not is_document(stream):
        return sum(1 for _, line in stream if not line.isspace())
    document = _document(stream)
    return len(document) if isinstance(document, list) and not is_message_list(document) else 1


def first_values(stream: LineStream) -> Iterator[JsonValue | RecordFault]:
    """Yield the values from the first on without consuming them; a document is loaded, once."""
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


def is_message_list(value: object) -> TypeGuard[list[dict[str, Any]]]:
    """Say whether a JSON list is one conversation: a list of messages, not of records."""
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and any(isinstance(value[0].get(key), str) for key in ("role", "from", "speaker"))
    )


def is_document(stream: LineStream) -> bool:
    """Say whether the source is one JSON document and not one value per line.

    It is a document if neither its first line nor the next ones are JSON values, or if its only line is a
    list of records. The stream is not consumed.
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
        name, raw = stream.source.name, b"".join(line for _, line in stream)
        try:
            stream.memo[_DOCUMENT] = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            as_utf8(raw, name)
            raise file_fault(
                Place(name, error.lineno),
                f"not JSON: {error.msg} at column {error.colno}",
                "looks like one JSON document, truncated or damaged; in JSONL each record is on one line",
            ) from error
    return stream.memo[_DOCUMENT]


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
    as_utf8(line, name, number)
    hint = json_hint(line, error.msg)
    return record_fault(Place(name, number), f"not JSON: {error.msg} at column {error.colno}", hint)
