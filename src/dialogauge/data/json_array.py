"""The elements of a JSON array as they are written, one by one: the array may be larger than memory."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import Final

from dialogauge.core import FileFault, Place
from dialogauge.data.notes import file_fault
from dialogauge.data.sources import LARGEST, LineStream, opened, without_mark

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


def _block(file: BufferedReader, size: int) -> bytes:
    """Return so many bytes; fewer before the end, and before an error, which the next call raises."""
    parts: list[bytes] = []
    while size > 0 and (part := _part(file, size, parts)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


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
        block = _block(file, min(max(_BLOCK, len(self.data)), _LARGEST_BLOCK))
        if self.at - self.start > LARGEST:
            self._begin(kept=False)
        self.data = self.data[self.start :] + (block if self.data else without_mark(block, name))
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
