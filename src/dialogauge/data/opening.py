"""Opening inputs: which files there are, and their bytes from the beginning, as often as they are asked for.

A file is read as long as it was when it was opened, so that a log that grows is read whole up to there. What
comes through a pipe is kept in a passing file: it can be looked at before it is read, and read again.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import io
import os
import stat
import sys
import tempfile
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from dialogauge.core import FileFault, Place, alike_file, shown_path
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.archives import (
    OLD_OFFICE,
    ZIP,
    ZSTANDARD,
    Blocks,
    Member,
    is_tar,
    members_of,
    most_of,
    unzstandard,
)
from dialogauge.data.columnar import MARKS, row_blocks
from dialogauge.data.notes import file_fault

STDIN: Final = "-"

_ARCHIVES = frozenset({".zip", ".eval", ".xlsx", ".xlsm", ".xls", ".tar", ".tgz"})
_COLUMNAR = frozenset({".parquet", ".arrow", ".feather"})
_TEXTS = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".vtt", ".srt", ".sbv"})
_SUFFIXES = _TEXTS | _COLUMNAR | _ARCHIVES
_BLOCK: Final = 1 << 18
_LARGEST_PIPE: Final = 8 << 30
"""Bytes that are kept of a pipe."""
_GZIP: Final = b"\x1f\x8b"
_UNPACK: Final = "unpack it first, with "
_EXPORT: Final = "export the conversations as text, CSV or JSON"
_PICTURE: Final = ("this is a picture", _EXPORT)
_SOUND: Final = (
    "this is a recording of sound or film",
    "give its transcript, as text or as captions (.vtt, .srt)",
)
_TABLE: Final = "export the table of messages as CSV or JSON"
_REFUSED: Final = {
    b"\xfd7zXZ\x00": ("packed by xz, which is not read", f"{_UNPACK}xz -d"),
    b"7z\xbc\xaf": ("packed by 7z, which is not read", f"{_UNPACK}7z x"),
    b"Rar!\x1a\x07": ("packed by RAR, which is not read", f"{_UNPACK}unrar x"),
    b"\x04\x22\x4d\x18": ("packed by LZ4, which is not read", f"{_UNPACK}lz4 -d"),
    **{
        b"BZh%d1AY" % level: ("packed by bzip2, which is not read", f"{_UNPACK}bunzip2")
        for level in range(1, 10)
    },
    b"%PDF": ("this is a PDF file", _EXPORT),
    b"{\\rtf": ("this is a text document (RTF)", "save it as plain text (.txt, UTF-8)"),
    **dict.fromkeys((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), _PICTURE),
    **dict.fromkeys((b"OggS", b"ID3", b"fLaC", b"\x1aE\xdf\xa3"), _SOUND),
    b"SQLite format 3\0": ("this is an SQLite data base", "sqlite3 -header -csv FILE 'SELECT ...'"),
    b"PGDMP": (
        "this is a dump of PostgreSQL in its own form",
        f"load it with pg_restore, and {_TABLE}: psql --csv -c 'SELECT ...'",
    ),
    b"Obj\x01": ("this is an Avro file", "convert it to JSONL or Parquet"),
    b"ORC": ("this is an ORC file", "convert it to JSONL or Parquet"),
    b"FEA1": ("this is a Feather file of the old form", "write it as Parquet or JSONL"),
    b"\x89HDF": ("this is an HDF5 file", "convert it to JSONL or Parquet"),
    b"\x93NUMPY": ("this is an array of NumPy", "write its texts as JSON, one record a line"),
    b"\x80\x04\x95": ("this is a pickle of Python", "write it with json.dumps, one record a line"),
    b"[Script Info]": ("these are subtitles of SubStation Alpha", "convert them to .srt or .vtt"),
}
"""How a file begins -> why it is not read, and what to do."""
_LATER: Final = {
    b"WAVE": (8, _SOUND),
    b"AVI ": (8, _SOUND),
    b"WEBP": (8, _PICTURE),
    b"ftyp": (4, _SOUND),
    b"DUCK": (8, ("this is a DuckDB data base", "duckdb -csv FILE 'SELECT ...'")),
}
"""Marks that stand further in, as `_REFUSED`."""
_BEGINS_TEXT: Final = lazy_pattern(
    r"\s*(?:(?P<html>(?i:<!doctype html|<(?:html|head|body|div|table)[\s>]))|(?P<xml><\?xml\s)"
    r"|(?P<mbox>From \S+ +[A-Z][a-z]{2} +[A-Z][a-z]{2} +\d)"
    r"|(?P<mail>(?:Return-Path|Received|Delivered-To|MIME-Version|Message-ID|DKIM-Signature): "
    r"|From: [^\n]*\n(?:To|Subject|Date|Sent|Cc): )"
    r"|(?:--[^\n]*\n|/\*(?s:.*?)\*/;?|\s)*+(?P<sql>CREATE |INSERT |DROP |SET \w+ ?=|SET NAMES|PRAGMA |"
    r"BEGIN;|BEGIN TRANSACTION|START TRANSACTION|SELECT pg_catalog|\\restrict |COPY [\w.\"]+ \(|USE `|"
    r"(?i:insert into |create table |drop table )))"
)
_TEXTS_OF: Final = {
    "html": ("this is a web page (HTML)", f"{_EXPORT}; most apps have an export as JSON beside that page"),
    "xml": ("this is an XML document", _EXPORT),
    "mbox": ("this is a mailbox (mbox)", "write a line of JSON for each mail, with thread, sender and text"),
    "mail": ("this is a mail", "write a line of JSON for each mail, with thread, sender and text"),
    "sql": ("this is a dump of an SQL data base", f"load it into a data base, and {_TABLE}"),
}
_WIDE: Final = lazy_pattern(
    r"(?P<utf_32>\xff\xfe\0\0|\0\0\xfe\xff)|(?P<utf_16>\xff\xfe|\xfe\xff)"
    r"|(?P<utf_32_le>[^\0]\0\0\0[^\0]\0\0\0)|(?P<utf_32_be>\0\0\0[^\0]\0\0\0[^\0])"
    r"|(?P<utf_16_le>[^\0]\0[^\0]\0)|(?P<utf_16_be>\0[^\0]\0[^\0])"
)
"""How a file begins whose characters take two or four bytes, with a byte order mark or without."""
_LOOKED_AT: Final = 1 << 14
_BYTES: Final = "latin-1"
"""Makes a character of each byte, for patterns."""
_LONGEST_MARK: Final = 16


Order = Callable[[Path], object]
"""Returns the sort key of a file."""


@dataclass(frozen=True, slots=True)
class InputSource:
    """One file to read, or a pipe."""

    name: str
    """Its name in messages: the path as stated, or `<stdin>`."""
    label: str
    """The base of ids for data without ids, independent of the working directory."""
    path: Path | None
    """None for standard input; of a file in a zip file it goes on from that of the zip file."""
    member: bool = False
    """From a folder or zip file, not named by the user: the reader skips it if it is something else."""
    pipe: Pipe | None = None
    """Where it comes through one."""
    zipped: Member | None = None
    """Where it is a file in a zip file."""

    def open(self) -> io.BufferedReader:
        """Open it from the beginning, without gzip or zstandard; the rows of Parquet and Arrow as JSONL.

        UTF-16 and UTF-32 are read as UTF-8. Raises `FileFault` for what cannot be opened, and what is named
        here as something else; `MissingExtra` where a package is needed.
        """
        try:
            raw = self._raw()
            return self._unpacked(raw, raw.peek(_LONGEST_MARK))
        except OSError as error:
            raise file_fault(Place(self.name), f"cannot be read: {error.strerror}") from error
        except FileFault:
            raw.close()
            raise

    def _unpacked(self, raw: io.BufferedReader, mark: bytes) -> io.BufferedReader:
        """Return what is in an open file that begins with a mark."""
        if other := other_kind(mark):
            raise file_fault(Place(self.name), *other)
        if mark.startswith((*ZIP, OLD_OFFICE)) or is_tar(mark):
            return self._only_sheet()
        kind = next((kind for begins, kind in MARKS.items() if mark.startswith(begins)), None)
        if kind is not None:
            return io.BufferedReader(row_blocks(raw, kind, self.name), _BLOCK)
        if (inner := self._inner(raw, mark)) is not None:
            first = _peeked(inner)
            if first.startswith((_GZIP, ZSTANDARD)):
                raise file_fault(Place(self.name), "packed twice", "unpack it once, with gunzip or zstd -d")
            return self._unpacked(inner, first)
        wide = _WIDE.match(mark[:_LONGEST_MARK].decode(_BYTES))
        return (
            raw
            if wide is None
            else io.BufferedReader(Blocks(_recoded(raw, wide.lastgroup or ""), raw), _BLOCK)
        )

    def _inner(self, raw: io.BufferedReader, mark: bytes) -> io.BufferedReader | None:
        """Return what is packed by gzip or zstandard; None for anything else."""
        if mark.startswith(_GZIP):
            file = gzip.GzipFile(fileobj=raw)
            return io.BufferedReader(Blocks(iter(partial(file.read1, _BLOCK), b""), file, raw), _BLOCK)
        return unzstandard(raw, self.name) if mark.startswith(ZSTANDARD) else None

    def is_wide(self) -> bool:
        """Say whether it is in UTF-16 or UTF-32; raises `OSError` where it cannot be opened."""
        with self._raw() as raw:
            return _WIDE.match(raw.peek(_LONGEST_MARK)[:_LONGEST_MARK].decode(_BYTES)) is not None

    def members(self, order: Order | None = None) -> tuple[list[InputSource], int]:
        """Return the files of a zip file, any other file alone, and the number of files left out of it.

        Raises `FileFault` for a zip file that cannot be read.
        """
        try:
            archive = self._raw()
            if (inner := self._inner(archive, archive.peek(_LONGEST_MARK))) is not None:
                archive = inner
            first = _peeked(archive)
            if not (first.startswith((*ZIP, OLD_OFFICE)) or is_tar(first)):
                archive.close()
                return [self], 0
            if inner is not None:
                with self._raw() as packed:
                    most = most_of(packed.seek(0, io.SEEK_END))
                archive = io.BufferedReader(_PipeReader(Pipe(None, inner, most)), _BLOCK)
            members, others = members_of(archive, self.name, _fits)
        except (OSError, EOFError, zlib.error) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise file_fault(Place(self.name), f"cannot be read: {why or error}") from error
        return _sorted(map(self._holding, members), order), others

    def beside(self, name: str, above: int = 0) -> InputSource | None:
        """Return the file of that name in its folder, or up to so many folders higher, if there is one."""
        if self.zipped is not None:
            member = self.zipped.beside(name, above)
            return None if member is None else InputSource(member.path.as_posix(), name, None, zipped=member)
        folders = self.path.resolve().parents[: above + 1] if self.path is not None else ()
        file = next((folder / name for folder in folders if (folder / name).is_file()), None)
        return None if file is None else InputSource(shown_path(file), name, file)

    def _holding(self, member: Member) -> InputSource:
        name, label = f"{self.name}/{member.path}", _plain(f"{self.label}/{member.path}")
        path = (self.path or Path(self.name)) / member.path
        return InputSource(name, label, path, member=True, zipped=member)

    def _only_sheet(self) -> io.BufferedReader:
        """Return the one sheet of a workbook, as CSV; raises `FileFault` for any other zip file."""
        if self.zipped is not None:
            raise file_fault(Place(self.name), "an archive in an archive", "unpack the outer one first")
        members, _ = self.members()
        if members[0].zipped is None or members[0].zipped.unread is None:
            raise file_fault(
                Place(self.name), "this is an archive", "give it as an input, or call it .zip or .tar"
            )
        if len(members) > 1:
            what = f"this is a workbook of {len(members)} sheets, and one is needed"
            raise file_fault(Place(self.name), what, "save the one sheet as CSV (UTF-8)")
        return members[0].open()

    def _raw(self) -> io.BufferedReader:
        if self.zipped is not None:
            return io.BufferedReader(self.zipped.open(), _BLOCK)
        if self.pipe is not None:
            return io.BufferedReader(_PipeReader(self.pipe), _BLOCK)
        return io.BufferedReader(_Snapshot(self.path or Path()), _BLOCK)


class _Snapshot(io.RawIOBase):
    """A file, as long as it is when it is opened."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._left = self._size = os.fstat(self._file.fileno()).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        read = self._file.readinto(memoryview(buffer)[: self._left])
        self._left -= read
        if self._left and not read:
            raise OSError(errno.ESTALE, "it became shorter while it was read")
        return read

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = (0, self._size - self._left, self._size)[whence]
        at = self._file.seek(max(start + offset, 0))
        self._left = max(self._size - at, 0)
        return at

    def close(self) -> None:
        self._file.close()
        super().close()


class Pipe:
    """What came through a pipe so far, kept in a passing file that has no name."""

    def __init__(
        self, path: Path | None, packed: io.BufferedReader | None = None, most: int | None = None
    ) -> None:
        """Name the pipe, None for standard input, or take what is unpacked; nothing is opened yet.

        `most` bounds the bytes that come through it.
        """
        self._path, self._most = path, most or _LARGEST_PIPE
        self._from: IO[bytes] | None = packed
        self._kept: IO[bytes] | None = None
        self._size = 0
        self._ended = False

    def read(self, at: int, most: int) -> bytes:
        """Return what stands at an offset, as soon as something does; nothing at the end."""
        if self._kept is None:
            if self._from is None:
                self._from = sys.stdin.buffer if self._path is None else self._path.open("rb")
            self._kept = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the pipe
            weakref.finalize(self, self._kept.close)
            if self._from is not sys.stdin.buffer:
                weakref.finalize(self, self._from.close)
        while self._size <= max(at, _LONGEST_MARK) and not self._ended:
            block = self._from.read1(_BLOCK)  # type: ignore[union-attr]  # both are buffered readers
            self._ended = not block
            if self._size + len(block) > self._most:
                raise OSError(errno.EFBIG, f"more than {self._most:,} bytes came through it: use a file")
            try:
                self._kept.seek(0, io.SEEK_END)
                while block:
                    written = self._kept.write(block)
                    self._size += written
                    block = block[written:]
            except OSError as error:
                msg = f"what comes through it cannot be kept in {tempfile.gettempdir()}: {error.strerror}"
                raise OSError(error.errno, msg) from error
        self._kept.seek(at)
        return self._kept.read(most)

    @property
    def size(self) -> int:
        """Bytes that come through it, once all have."""
        while not self._ended:
            self.read(self._size, 1)
        return self._size


class _PipeReader(io.RawIOBase):
    """A pipe from its beginning."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe, self._at = pipe, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        block = self._pipe.read(self._at, len(buffer))
        buffer[: len(block)] = block
        self._at += len(block)
        return len(block)

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = self._pipe.size if whence == io.SEEK_END else self._at * whence
        self._at = max(start + offset, 0)
        return self._at


def locate(inputs: Sequence[str], order: Order | None = None) -> tuple[list[InputSource], int]:
    """Return the files of the inputs, of their folders and zip files, and the number of files left out.

    `order` returns the sort key of the files of a folder (default: the path). Raises `FileFault` for a
    missing path, an empty file, a device, and a folder or zip file without a file that could hold
    conversations.
    """
    sources: list[InputSource] = []
    left_out = 0
    names = Counter(Path(name).name for name in inputs)
    pipes: dict[object, Pipe] = {}
    for name in inputs:
        shown, path = ("<stdin>", None) if name == STDIN else (shown_path(name), Path(name))
        # What an input is; raises `FileFault` where it is nothing that can be read to an end.
        try:
            status = _standard_input() if name == STDIN else Path(name).stat()
        except FileNotFoundError as error:
            raise file_fault(Place(shown), "there is no such file or folder", alike_file(name)) from error
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else f"no name of a file: {error}"
            raise file_fault(Place(shown), f"cannot be read: {why}") from error
        kind = stat.S_IFMT(status.st_mode)
        through = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFIFO, *([stat.S_IFSOCK] if name == STDIN else []))
        if kind not in through and not (name == STDIN and sys.stdin.isatty()):
            what = "a socket" if kind == stat.S_IFSOCK else "a device"
            hint = "give files, folders or pipes; - is standard input"
            raise file_fault(Place(shown), f"this is {what}, and no file", hint)
        if path is not None and stat.S_ISDIR(status.st_mode):
            members, others = _members(path, order)
            sources += members
            left_out += others
            continue
        pipe = None
        if path is None or not stat.S_ISREG(status.st_mode):
            pipe = pipes.setdefault((status.st_dev, status.st_ino), Pipe(path))
        elif status.st_size == 0:
            raise file_fault(Place(shown), "the file is empty", "is it still being written?")
        label = "stdin" if path is None else path.name if names[path.name] == 1 else path.as_posix()
        source = InputSource(shown, _plain(shown_path(label)), path, pipe=pipe)
        members, others = source.members(order)
        sources += members
        left_out += others
    return sources, left_out


def pipe_of(name: str) -> tuple[int, int] | None:
    """Return which pipe an input is, `-`, a named one or that of `<(...)`; None where it is none.

    It can be read but once, under whatever name.
    """
    try:
        status = _standard_input() if name == STDIN else Path(name).stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if name == STDIN or stat.S_ISFIFO(status.st_mode) else None


def _standard_input() -> os.stat_result:
    """Return what standard input is; a pipe where it is a stream of Python's alone."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    try:
        return os.fstat(sys.stdin.buffer.fileno())
    except io.UnsupportedOperation:
        return os.stat_result([stat.S_IFIFO, *[0] * 9])


def _members(folder: Path, order: Order | None) -> tuple[list[InputSource], int]:
    files = [p for p in _walk(folder) if p.is_file() and not p.name.startswith(".")]
    if any(map(Path.is_symlink, files)):  # a link, such as latest.jsonl, goes where what it names stands too
        last = sorted(files, key=lambda path: (path.is_symlink(), path), reverse=True)
        files = list({path.resolve(): path for path in last}.values())
    members = [p for p in files if _fits(p.name)]
    if not members:
        raise file_fault(
            Place(shown_path(folder)),
            "the folder holds no file that could hold conversations",
            f"looked for {', '.join(sorted(_SUFFIXES))}, also with .gz or .zst, in it and below",
        )
    left_out = len(files) - len(members)
    sources: list[InputSource] = []
    for p in members:
        label = _plain(shown_path(p.relative_to(folder).as_posix()))
        within, others = _opened_up(InputSource(shown_path(p), label, p, member=True))
        sources += within
        left_out += others
    return _sorted(sources, order), left_out


def _opened_up(source: InputSource) -> tuple[list[InputSource], int]:
    """Return what is in a zip file of a folder; one that cannot be read stays, and is named when it is."""
    if Path(source.label).suffix.lower() not in _ARCHIVES:
        return [source], 0
    try:
        return source.members()
    except FileFault:
        return [source], 0


def _sorted(sources: Iterable[InputSource], order: Order | None) -> list[InputSource]:
    key = order or Path.as_posix
    return sorted(sources, key=lambda source: key(source.path or Path()))  # type: ignore[arg-type, return-value]


def _walk(folder: Path) -> list[Path]:
    """Return all that is below a folder, each once; raises `FileFault` for a part that cannot be looked into.

    Links to folders are followed after all else, so that a file keeps its place in the folder it lies in.
    """

    def refuse(error: OSError) -> None:
        place = Place(shown_path(error.filename))
        raise file_fault(place, f"the folder cannot be read: {error.strerror}") from error

    files: list[Path] = []
    seen: set[tuple[int, int]] = set()
    left = [folder]
    for start in left:  # which grows
        for parent, folders, names in os.walk(start, onerror=refuse):
            status = Path(parent).stat()
            if (status.st_dev, status.st_ino) in seen:
                folders.clear()
                continue
            seen.add((status.st_dev, status.st_ino))
            files += [Path(parent, name) for name in names]
            left += [path for name in sorted(folders) if (path := Path(parent, name)).is_symlink()]
    return files


def _fits(name: str) -> bool:
    """Say whether a file of that name could hold conversations."""
    return Path(_plain(name)).suffix.lower() in _SUFFIXES


def _plain(name: str) -> str:
    return name.removesuffix(".gz").removesuffix(".zst")


def other_kind(begins: bytes) -> tuple[str, str] | None:
    """Return what a file is that begins so and is not read, and what to do; None for any other."""
    for mark, other in _REFUSED.items():
        if begins.startswith(mark):
            return other
    for mark, (at, other) in _LATER.items():
        if begins[at : at + len(mark)] == mark:
            return other
    if begins.startswith((b"{", b"[")):
        return None
    text = _BEGINS_TEXT.match(begins[:_LOOKED_AT].removeprefix(codecs.BOM_UTF8).decode(_BYTES))
    return None if text is None else _TEXTS_OF[text.lastgroup or ""]


def _peeked(file: io.BufferedReader) -> bytes:
    """Return how a packed file begins; nothing where it is damaged, which is said where it is read."""
    try:
        return file.peek(_LONGEST_MARK)
    except (OSError, EOFError, zlib.error):
        return b""


def _recoded(file: io.BufferedReader, kind: str) -> Iterator[bytes]:
    """Yield UTF-16 or UTF-32 as UTF-8; raises `OSError` where it does not go on as it begins."""
    decoder, ended = codecs.getincrementaldecoder(kind)(), False
    while not ended:
        block = file.read1(_BLOCK)
        ended = not block
        try:
            yield decoder.decode(block, final=ended).encode()
        except UnicodeError as error:
            name = kind[:6].upper().replace("_", "-")
            raise OSError(errno.EILSEQ, f"it begins as {name} and does not go on so") from error
