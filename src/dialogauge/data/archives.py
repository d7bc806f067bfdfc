"""Zip files, whose members are read as files of a folder are, and what unpacks zstandard.

Nothing is written: a member is unpacked while it is read, never beyond the size that the zip file states.
The sheets of an Excel workbook are read as tables in CSV. Texts and numbers are as they are stored: a day is
a number, which orders as well. Of a formula its result counts.
"""

from __future__ import annotations

import copy
import csv
import errno
import io
import lzma
import posixpath
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any, Final
from weakref import WeakKeyDictionary
from xml.parsers import expat

from dialogauge.core import MissingExtra, Place, shown_path
from dialogauge.data.notes import file_fault

ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""How a zip file begins, and one without members."""
ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
_ZSTANDARD: Final = 93
"""As a method of a member."""
_ENCRYPTED: Final = 1
_MOST_MEMBERS: Final = 100_000
_MOST: Final = 64 << 30
"""Bytes that the members may unpack to, together."""
_SUSPECT: Final = 1 << 30
_MOST_TIMES: Final = 200
"""The size of the zip file that they may unpack to, where it is more than `_SUSPECT` bytes."""
_INSPECT: Final = ".eval"
"""The ending of a log of Inspect."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in a zip file."""

    archive: zipfile.ZipFile
    info: zipfile.ZipInfo
    path: PurePosixPath
    """Its path in the zip file, without steps out of it."""

    def open(self) -> io.RawIOBase:
        """Open it from the beginning; raises `OSError` where it cannot be unpacked."""
        if self.info.flag_bits & _ENCRYPTED:
            raise OSError(errno.EACCES, "it is encrypted: unzip it with its password first")
        return _Unzipped(self._unpacked, self.info)

    def beside(self, name: str, above: int) -> Member | None:
        """Return the file of that name in its folder, or up to so many folders higher, if there is one."""
        paths = [folder / name for folder in list(self.path.parents)[: above + 1]]
        infos = ((self.archive.NameToInfo.get(path.as_posix()), path) for path in paths)
        return next((Member(self.archive, info, path) for info, path in infos if info is not None), None)

    def _unpacked(self) -> IO[bytes] | io.BufferedReader:
        if self.info.compress_type != _ZSTANDARD:
            return self.archive.open(self.info)
        as_stored = copy.copy(self.info)
        as_stored.compress_type, as_stored.file_size = zipfile.ZIP_STORED, self.info.compress_size
        del as_stored.CRC  # it is that of the unpacked bytes
        return unzstandard(self.archive.open(as_stored), self.path.name)


def members_of(file: IO[bytes], name: str, fits: Callable[[str], bool]) -> tuple[list[Member], int]:
    """Return the files of a zip file whose names fit, and the number of the others.

    Raises `FileFault` for a damaged zip file, one that unpacks to more than anybody's log, a workbook, and
    one without such a file.
    """
    place = Place(name)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, OSError) as error:
        hint = "fetch or write it again"
        raise file_fault(place, f"the zip file is damaged or not whole: {error}", hint) from error
    infos = [info for info in archive.infolist() if not info.is_dir()]
    _refuse_bombs(infos, file.seek(0, io.SEEK_END), place)
    if WORKBOOK in archive.NameToInfo:
        return _sheets(archive, place), 0
    files = [Member(archive, info, _path(info.filename)) for info in infos]
    files = [m for m in files if not any(part.startswith((".", "__MACOSX")) for part in m.path.parts)]
    if name.lower().endswith(_INSPECT):  # what stands beside the samples repeats them
        files = [m for m in files if m.path.parts[0] == "samples"] or files
    fitting = [m for m in files if fits(m.path.name)]
    if not fitting:
        raise file_fault(place, "the zip file holds no file that could hold conversations")
    return fitting, len(files) - len(fitting)


@dataclass(frozen=True, slots=True)
class Sheet(Member):
    """A sheet of a workbook."""

    unread: list[str] = field(default_factory=list, compare=False)
    """The cells with a formula without a result, as far as it was read."""

    def open(self) -> io.RawIOBase:
        """Open it from the beginning, as CSV."""
        return SheetLines(self.archive, self.info.filename, self.unread)

    def beside(self, name: str, above: int) -> Member | None:
        """Return nothing: sheets have no folder."""
        return None


def _sheets(archive: zipfile.ZipFile, place: Place) -> list[Member]:
    """Return the sheets of a workbook that hold something; raises `FileFault` where none does."""
    try:
        named = sheets_of(archive)
        sheets: list[Member] = [
            Sheet(archive, archive.NameToInfo[path], PurePosixPath(name.replace("/", "_")))
            for name, path in named
            if SheetLines(archive, path).read(1)
        ]
    except OSError as error:
        raise file_fault(
            place, f"cannot be read: {error.strerror}", "save its sheet as CSV (UTF-8)"
        ) from error
    if not sheets:
        raise file_fault(place, "the workbook has no sheet with anything in it", "is it the right file?")
    return sheets


def _path(name: str) -> PurePosixPath:
    parts = PurePosixPath(shown_path(name.replace("\\", "/"))).parts
    return PurePosixPath(*(part for part in parts if part not in ("/", "..")))


def _refuse_bombs(infos: Sequence[zipfile.ZipInfo], size: int, place: Place) -> None:
    total = sum(info.file_size for info in infos)
    what = None
    if len(infos) > _MOST_MEMBERS:
        what = f"the zip file holds {len(infos):,} files, more than {_MOST_MEMBERS:,}"
    elif total > _MOST or total > max(_SUSPECT, _MOST_TIMES * size):
        what = f"the zip file would unpack to {total:,} bytes, {total // size:,} times its size"
    if what is not None:
        raise file_fault(place, what, "unzip what you need of it, and give the folder")


class _Unzipped(io.RawIOBase):
    """A member, up to where it is damaged."""

    def __init__(self, unpacked: Callable[[], IO[bytes]], info: zipfile.ZipInfo) -> None:
        self._info, self._left, self._sum = info, info.file_size, 0
        self._file = self._tried(unpacked)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        block: bytes = self._tried(lambda: self._file.read(min(len(buffer), self._left)))
        self._left -= len(block)
        self._sum = zlib.crc32(block, self._sum)
        if not block and len(buffer) and (self._left or self._sum != self._info.CRC):
            raise OSError(errno.EILSEQ, "the zip file is damaged here")
        buffer[: len(block)] = block
        return len(block)

    def _tried(self, step: Callable[[], Any]) -> Any:  # noqa: ANN401  # whatever the step returns
        try:
            return step()
        except NotImplementedError as error:
            why = f"packed in a way that is not read (method {self._info.compress_type}): unzip it first"
            raise OSError(errno.ENOTSUP, why) from error
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError, OSError) as error:
            raise OSError(errno.EILSEQ, f"the zip file is damaged here: {error}") from error

    def close(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()
        super().close()


def unzstandard(packed: IO[bytes], name: str) -> io.BufferedReader:
    """Return what is in a zstandard file; raises `MissingExtra` where nothing here unpacks it."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return io.BufferedReader(_Zstandard(zstd.ZstdFile(packed), zstd.ZstdError))
    try:
        import pyarrow
    except ImportError as error:
        msg = f"{name} is packed by zstandard, and reading that needs pyarrow or Python 3.14"
        raise MissingExtra(
            msg, hint="pip install 'dialogauge[parquet]', or unpack it with zstd -d"
        ) from error
    return io.BufferedReader(_Zstandard(pyarrow.CompressedInputStream(packed, "zstd"), OSError))


class _Zstandard(io.RawIOBase):
    """What is in a zstandard file, unpacked by either library; OSError says where it ends or is damaged."""

    def __init__(self, file: IO[bytes], damaged: type[Exception]) -> None:
        self._file, self._damaged = file, damaged

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        try:
            block = self._file.read(len(buffer))
        except (EOFError, self._damaged) as error:
            # Python says that it ends by an EOFError, pyarrow by a word.
            ends = isinstance(error, EOFError) or "truncated" in str(error).lower()
            why = "breaks off here: it is truncated" if ends else f"is damaged here: {error}"
            raise OSError(errno.EILSEQ, f"the zstandard file {why}") from error
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        super().close()


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
