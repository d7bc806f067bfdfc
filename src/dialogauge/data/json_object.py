"""The members of a JSON object as they are written, one by one: a list in it may be larger than memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

import orjson

from dialogauge.data.json_array import TOKEN, Scan, damaged
from dialogauge.data.sources import LARGEST, LineStream, opened

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
                    self._name(token)
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

    def _name(self, token: bytes) -> None:
        try:
            self.key = orjson.loads(token)
        except orjson.JSONDecodeError:
            self.key = token.decode("utf-8", "replace")
        self._begin(kept=True)

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
