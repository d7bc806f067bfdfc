"""The lines of an input, as bytes and as text; none of them takes more than `LARGEST` bytes."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from io import BufferedReader
from typing import IO, Any, Final

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.core.values import Value
from dialogauge.data.notes import NoteBook, file_fault, record_fault
from dialogauge.data.opening import InputSource

LARGEST: Final = 16 << 20
"""Bytes of a record, and of a line, at most: what is made of it takes several times as much memory."""
_BLOCK: Final = 1 << 18
_BEGINS: Final = "begins with"
_NEVER_TEXT: Final = re.compile(rb"[\x00-\x08\x0e-\x1a]")


class LineStream(Value):
    """The lines of one source as bytes, numbered from 1, without gzip and byte order mark.

    Each iteration reads from the beginning. Of a line longer than `LARGEST` it yields the first `LARGEST` + 1
    bytes. It raises `FileFault` where it cannot be read, and where gzip breaks off, after all before.
    """

    source: InputSource
    memo: dict[str, Any] = field(default_factory=dict)
    """What was seen on the first look."""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the numbered lines."""
        number = 0
        with opened(self.source, lambda: number + 1) as file:
            for number, line in enumerate(iter(partial(file.readline, LARGEST + 1), b""), start=1):
                yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if len(line) > LARGEST:
                    _pass_over(file, line)

    def written(self) -> Iterator[tuple[int, bytes]]:
        """Yield the numbered lines that are not blank."""
        number = 0
        with opened(self.source, lambda: number + 1) as file:
            for line in iter(partial(file.readline, LARGEST + 1), b""):
                number += 1
                line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if line.isspace() or not line:
                    # Read on over blank lines, as far as they are unpacked.
                    ahead = file.peek()
                    blank = len(ahead) - len(ahead.lstrip())
                    number += file.read(ahead.rfind(b"\n", 0, blank) + 1).count(b"\n")
                    continue
                yield number, line
                if len(line) > LARGEST:
                    _pass_over(file, line)

    @property
    def begins(self) -> bytes:
        """The first byte that is no space; empty where there is none."""
        if _BEGINS not in self.memo:
            self.memo[_BEGINS] = next((line.strip()[:1] for _, line in self.written()), b"")
        first: bytes = self.memo[_BEGINS]
        return first

    def note_unread(self, notes: NoteBook) -> None:
        """Note the cells of a workbook that were read as empty, once it was read."""
        cells = self.source.zipped.unread if self.source.zipped is not None else None
        if cells:
            text = "workbooks have formulas without a stored result: read as empty cells"
            hint = f"the first is {cells[0]}: open the workbook in a spreadsheet and save it"
            notes.assume(text, Place(self.source.name), hint=hint)

    def text(self, damaged: list[RecordFault] | None = None) -> Iterator[tuple[int, str]]:
        """Yield the numbered lines as text.

        The fault of a line that is not UTF-8 is added to a list, if there is one, before the line comes
        with marks in it. Raises `FileFault` at the first such line, if there is none.
        """
        for number, line in self:
            try:
                yield number, line.decode("utf-8", "replace" if len(line) > LARGEST else "strict")
            except UnicodeDecodeError:
                if damaged is None:
                    as_utf8(line, self.source.name, number)
                elif (fault := not_utf8(line, self.source.name, number)) is not None:
                    damaged.append(fault)
                yield number, line.decode("utf-8", "replace")


@contextmanager
def opened(source: InputSource, line: Callable[[], int]) -> Iterator[BufferedReader]:
    """Open a source; what goes wrong while it is read becomes a `FileFault` at the line that is read."""
    with source.open() as file:
        try:
            yield file
        except (EOFError, OSError, zlib.error) as error:
            place = Place(source.name, line())
            hint = None
            if isinstance(error, EOFError):
                message = "the gzip file breaks off here: it is truncated"
                hint = "the lines before were read; fetch or write the file again"
            elif isinstance(error, gzip.BadGzipFile | zlib.error):
                message = f"the gzip file is damaged: {error}"
            else:
                why = error.strerror if isinstance(error, OSError) else None
                message = f"cannot be read: {why or error}"
            raise file_fault(place, message, hint) from error


def too_large(place: Place) -> RecordFault:
    """Return the fault of a record that is larger than `LARGEST`."""
    message = f"the record is larger than {LARGEST >> 20} MiB"
    return record_fault(place, message, "it is left out: split it, or take out what is no text")


def _pass_over(file: IO[bytes], line: bytes) -> None:
    """Read on to the end of a line."""
    while line and not line.endswith(b"\n"):
        line = file.readline(_BLOCK)


def not_utf8(raw: bytes, name: str, number: int) -> RecordFault | None:
    """Return the fault of a record that begins at line `number` and is not UTF-8; None where it is."""
    try:
        as_utf8(raw, name, number)
    except FileFault as fault:
        return record_fault(fault.place or Place(name), fault.message, fault.hint)
    return None


def as_utf8(raw: bytes, name: str, number: int = 1) -> str:
    """Return text that begins at line `number`; raises `FileFault` with line and column if not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        if _NEVER_TEXT.search(raw):
            hint = "give text: JSON, CSV or a chat; or Parquet, or a zip file"
            raise file_fault(
                Place(name, number), "this is no text, and of no form that is known", hint
            ) from error
        from dialogauge.core.encodings import utf8_hint  # for messages only

        column = at - raw.rfind(b"\n", 0, at)
        raise file_fault(
            Place(name, number + raw.count(b"\n", 0, at)),
            f"not UTF-8: byte 0x{raw[at]:02x} at column {column}",
            utf8_hint(raw),
        ) from error
