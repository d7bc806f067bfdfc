"""Excel workbooks: each sheet read as a table in CSV, while it is unpacked.

Texts and numbers are as they are stored: a day is a number, which orders as well. Of a formula its result
counts.
"""

from __future__ import annotations

import csv
import errno
import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary
from xml.parsers import expat

WORKBOOK: Final = "xl/workbook.xml"
"""The member by which a zip file is a workbook."""
_RELATIONS: Final = "xl/_rels/workbook.xml.rels"
_STRINGS: Final = "xl/sharedStrings.xml"
_MOST_STRINGS: Final = 1 << 28
"""Bytes of the texts that all sheets share, which are kept in memory."""
_WIDEST: Final = 16_384
"""Columns of a sheet."""
_LONGEST: Final = 1 << 20
"""Characters of a cell; spreadsheets take 32,767."""
_LARGEST_ROW: Final = 1 << 24
"""Characters of a row."""
_BLOCK: Final = 1 << 16
_YES_OR_NO: Final = {"1": "true", "0": "false"}

_read: Final[WeakKeyDictionary[zipfile.ZipFile, list[str]]] = WeakKeyDictionary()
"""The shared texts of the workbooks that are open: each sheet needs them, each time it is opened."""
Event = tuple[str, str, Any]
"""`begin`, `end` or `text`; the element; its attributes or the text."""


def sheets_of(archive: zipfile.ZipFile) -> list[tuple[str, str]]:
    """Return name and member of each sheet, in their order; raises `OSError` for a damaged workbook."""
    with _whole():
        related = {
            about.get("Id"): posixpath.join("/xl", about.get("Target", ""))
            for about in _elements(archive, _RELATIONS, "Relationship")
        }
        sheets = [
            (about.get("name", ""), posixpath.normpath(related.get(about.get("id"), "")).lstrip("/"))
            for about in _elements(archive, WORKBOOK, "sheet")
        ]
    return [(name, path) for name, path in sheets if path in archive.NameToInfo]


class SheetLines(io.RawIOBase):
    """The rows of a sheet as lines of CSV; raises `OSError` where the workbook is damaged."""

    def __init__(self, archive: zipfile.ZipFile, path: str, unread: list[str] | None = None) -> None:
        """Take a sheet by the path of its member; nothing is read yet.

        `unread` will hold the places of formulas without a result, as far as the sheet was read.
        """
        unread = [] if unread is None else unread
        unread.clear()
        self._rows = _rows(archive, path, unread)
        self._left = b""

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        """Write the next bytes into a buffer and return how many."""
        if not self._left:
            with _whole():
                self._left = _line(next(self._rows, None))
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


@contextmanager
def _whole() -> Iterator[None]:
    try:
        yield
    except (
        *(zipfile.BadZipFile, zlib.error, expat.ExpatError, EOFError),
        *(ValueError, IndexError, RuntimeError),  # of numbers and places that are none; of a password
    ) as error:
        raise OSError(errno.EILSEQ, f"the workbook is damaged here: {error}") from error


def _line(row: list[str] | None) -> bytes:
    if row is None:
        return b""
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(row)
    return line.getvalue().encode("utf-8", "surrogatepass")


def _rows(archive: zipfile.ZipFile, path: str, unread: list[str]) -> Iterator[list[str]]:
    """Yield the rows of a sheet that hold something, as wide as the first of them or wider."""
    strings = _strings(archive)
    row: list[str] = []
    width = size = 0
    for column, kind, text in _cells(archive, path, unread):
        if text:
            cell = _cell(text, kind, strings)
            size += len(cell)
            if size > _LARGEST_ROW:
                raise OSError(errno.EFBIG, f"a row takes more than {_LARGEST_ROW >> 20} MiB")
            row += [""] * (column - len(row))
            row[column - 1] = cell
        elif not column:
            if any(row):
                width = width or len(row)
                yield row + [""] * (width - len(row))
            row, size = [], 0


def _cells(archive: zipfile.ZipFile, path: str, unread: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield column, type and text of each cell; column 0 at the end of a row.

    The places of formulas without a result are added to `unread`.
    """
    text = _CellText()
    at, place, kind, inside, formula = 0, "", "", False, False
    for event, tag, value in _events(archive, path):
        if event == "text" and inside:
            text.add(value)
        elif tag in ("v", "t"):
            inside, formula = event == "begin", False
        elif tag == "c" and event == "begin":
            at, kind = _column(value["r"]) if "r" in value else at + 1, value.get("t", "n")
            place, formula = value.get("r", f"column {at}"), False
        elif tag == "c":
            unread += [place] * formula
            yield at, kind, text.taken()
        elif tag == "f":
            formula = True
        elif tag == "row" and event == "end":
            yield 0, "", ""
            at = 0


@dataclass(slots=True)
class _CellText:
    """The text of a cell, in parts."""

    parts: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, part: str) -> None:
        self.size += len(part)
        if self.size > _LONGEST:
            raise OSError(errno.EFBIG, f"a cell holds more than {_LONGEST:,} characters")
        self.parts.append(part)

    def taken(self) -> str:
        """Return the text, and begin anew."""
        text = "".join(self.parts)
        self.parts, self.size = [], 0
        return text


def _cell(text: str, kind: str, strings: list[str]) -> str:
    if kind == "s":
        if int(text) < 0:
            msg = f"no text has the number {text}"
            raise ValueError(msg)
        return strings[int(text)]
    if kind == "e":  # what a formula failed with
        return ""
    return _YES_OR_NO.get(text, text) if kind == "b" else text


def _column(place: str) -> int:
    """Return the column of a cell such as `AB12`, from 1 on."""
    number = 0
    for letter in place.rstrip("0123456789"):
        number = number * 26 + ord(letter) - ord("A") + 1
    if not 0 < number <= _WIDEST:
        msg = f"no cell is called {place[:20]!r}"
        raise ValueError(msg)
    return number


def _strings(archive: zipfile.ZipFile) -> list[str]:
    """Return the texts that cells name by their numbers, without how their words are pronounced."""
    if _STRINGS in archive.NameToInfo and archive.NameToInfo[_STRINGS].file_size > _MOST_STRINGS:
        raise OSError(
            errno.EFBIG, f"its texts take more than {_MOST_STRINGS >> 20} MiB: save it as CSV (UTF-8)"
        )
    if archive in _read:
        return _read[archive]
    strings, text = [], _CellText()
    inside = beside = False
    for event, tag, value in _events(archive, _STRINGS):
        if event == "text" and inside and not beside:
            text.add(value)
        elif tag == "t":
            inside = event == "begin"
        elif tag == "rPh":
            beside = event == "begin"
        elif tag == "si" and event == "end":
            strings.append(text.taken())
    _read[archive] = strings
    return strings


def _elements(archive: zipfile.ZipFile, path: str, name: str) -> Iterator[Mapping[str, str]]:
    return (value for event, tag, value in _events(archive, path) if event == "begin" and tag == name)


def _events(archive: zipfile.ZipFile, path: str) -> Iterator[Event]:
    """Yield what stands in a member, names without their space; nothing where there is no such member."""
    if path not in archive.NameToInfo:
        return
    events: list[Event] = []
    parser = expat.ParserCreate(namespace_separator="|")
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, about: events.append(
        ("begin", _local(name), {_local(key): value for key, value in about.items()})
    )
    parser.EndElementHandler = lambda name: events.append(("end", _local(name), None))
    parser.CharacterDataHandler = lambda text: events.append(("text", "", text))
    parser.StartDoctypeDeclHandler = _refuse
    with archive.open(path) as file:
        for block in iter(partial(file.read, _BLOCK), b""):
            parser.Parse(block)
            yield from events
            events.clear()
        parser.Parse(b"", True)  # noqa: FBT003 - the last


def _local(name: str) -> str:
    return name.rpartition("|")[2]


def _refuse(*_: object) -> None:
    msg = "it declares a type of document, which no workbook does"
    raise ValueError(msg)
