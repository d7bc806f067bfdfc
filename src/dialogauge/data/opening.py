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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from dialogauge.core import FileFault, Place, alike_file, shown_path
from dialogauge.data.archives import ZIP, ZSTANDARD, Member, Sheet, members_of, unzstandard
from dialogauge.data.columnar import MARKS, RowLines
from dialogauge.data.notes import file_fault

UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""How a file in UTF-16 begins."""
STDIN: Final = "-"

_ZIPPED = frozenset({".zip", ".eval", ".xlsx", ".xlsm"})
_COLUMNAR = frozenset({".parquet", ".arrow", ".feather"})
_SUFFIXES = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt"}) | _COLUMNAR | _ZIPPED
_BLOCK: Final = 1 << 18
_LARGEST_PIPE: Final = 8 << 30
"""Bytes that are kept of a pipe."""
_GZIP: Final = b"\x1f\x8b"
_UNPACK: Final = "unpack it first, with "
_EXPORT: Final = "export the conversations as text, CSV or JSON"
_REFUSED: Final = {
    b"\xfd7zXZ\x00": ("packed by xz, which is not read", f"{_UNPACK}xz -d"),
    b"7z\xbc\xaf": ("packed by 7z, which is not read", f"{_UNPACK}7z x"),
    **{
        b"BZh%d1AY" % level: ("packed by bzip2, which is not read", f"{_UNPACK}bunzip2")
        for level in range(1, 10)
    },
    b"%PDF": ("this is a PDF file", _EXPORT),
    b"\x89PNG": ("this is a picture", _EXPORT),
    b"SQLite format 3\0": ("this is an SQLite data base", "sqlite3 -header -csv FILE 'SELECT ...'"),
    b"\xd0\xcf\x11\xe0": ("this is an Office file of the old form", "save its sheet as CSV (UTF-8)"),
    b"Obj\x01": ("this is an Avro file", "convert it to JSONL or Parquet"),
    b"\x89HDF": ("this is an HDF5 file", "convert it to JSONL or Parquet"),
    b"\x80\x04\x95": ("this is a pickle of Python", "write it with json.dumps, one record a line"),
}
"""How a file begins -> why it is not read, and what to do."""
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

        UTF-16 is read as UTF-8. Raises `FileFault` for what cannot be opened, and what was packed by
        something else; `MissingExtra` where pyarrow is needed.
        """
        try:
            raw = self._raw()
            mark = raw.peek(_LONGEST_MARK)
        except OSError as error:
            raise file_fault(Place(self.name), f"cannot be read: {error.strerror}") from error
        try:
            return self._unpacked(raw, mark)
        except FileFault:
            raw.close()
            raise

    def _unpacked(self, raw: io.BufferedReader, mark: bytes) -> io.BufferedReader:
        """Return what is in an open file that begins with a mark."""
        for begins, (why, hint) in _REFUSED.items():
            if mark.startswith(begins):
                raise file_fault(Place(self.name), why, hint)
        if mark.startswith(ZIP):
            return self._only_sheet()
        kind = next((kind for begins, kind in MARKS.items() if mark.startswith(begins)), None)
        try:
            if kind is not None:
                return io.BufferedReader(RowLines(raw, kind, self.name), _BLOCK)
        except OSError as error:
            raise file_fault(Place(self.name), f"cannot be read: {error.strerror}") from error
        if mark.startswith(_GZIP):
            return io.BufferedReader(_Unpacked(raw, gzip.GzipFile(fileobj=raw)), _BLOCK)
        if mark.startswith(ZSTANDARD):
            return io.BufferedReader(_Unpacked(raw, unzstandard(raw, self.name)), _BLOCK)
        return io.BufferedReader(Recoded(raw), _BLOCK) if mark.startswith(UTF16) else raw

    def is_utf16(self) -> bool:
        """Say whether it is in UTF-16; raises `OSError` where it cannot be opened."""
        with self._raw() as raw:
            return raw.peek(_LONGEST_MARK).startswith(UTF16)

    def members(self, order: Order | None = None) -> tuple[list[InputSource], int]:
        """Return the files of a zip file, any other file alone, and the number of files left out of it.

        Raises `FileFault` for a zip file that cannot be read.
        """
        try:
            with self._raw() as file:
                if not file.peek(_LONGEST_MARK).startswith(ZIP):
                    return [self], 0
            members, others = members_of(self._raw(), self.name, _fits)
        except OSError as error:
            raise file_fault(Place(self.name), f"cannot be read: {error.strerror}") from error
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
            raise file_fault(Place(self.name), "a zip file in a zip file", "unzip the outer one first")
        members, _ = self.members()
        if not isinstance(members[0].zipped, Sheet):
            raise file_fault(Place(self.name), "this is a zip file", "give it as an input, or call it .zip")
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


class _Unpacked(io.RawIOBase):
    """What is in a packed file, up to where it is damaged: from there on each call raises the same error."""

    def __init__(self, packed: IO[bytes], file: Any) -> None:  # noqa: ANN401 - of gzip, zstd or pyarrow
        self._packed, self._file = packed, file
        self._error: Exception | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        if self._error is not None:
            raise self._error
        try:
            block = self._file.read1(len(buffer))
        except (EOFError, OSError, zlib.error) as error:
            self._error = error
            raise
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


class Pipe:
    """What came through a pipe so far, kept in a passing file that has no name."""

    def __init__(self, path: Path | None) -> None:
        """Name the pipe, None for standard input; nothing is opened yet."""
        self._path = path
        self._from: IO[bytes] | None = None
        self._kept: IO[bytes] | None = None
        self._size = 0
        self._ended = False

    def read(self, at: int, most: int) -> bytes:
        """Return what stands at an offset, as soon as something does; nothing at the end."""
        if self._kept is None:
            self._from = sys.stdin.buffer if self._path is None else self._path.open("rb")
            self._kept = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the pipe
            weakref.finalize(self, self._kept.close)
            if self._path is not None:
                weakref.finalize(self, self._from.close)
        while self._size <= max(at, _LONGEST_MARK) and not self._ended:
            block = self._from.read1(_BLOCK)  # type: ignore[union-attr]  # both are buffered readers
            self._ended = not block
            if self._size + len(block) > _LARGEST_PIPE:
                raise OSError(errno.EFBIG, f"more than {_LARGEST_PIPE >> 30} GiB came through it: use a file")
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
    if Path(source.label).suffix.lower() not in _ZIPPED:
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


class Recoded(io.RawIOBase):
    """UTF-16 as UTF-8; raises `OSError` where it does not go on as it begins."""

    def __init__(self, file: io.BufferedReader) -> None:
        """Take a file that is open at its beginning."""
        self._file, self._decoder, self._left = file, codecs.getincrementaldecoder("utf-16")(), b""

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        """Write the next bytes into a buffer and return how many."""
        ended = False
        while not self._left and not ended:
            block = self._file.read1(_BLOCK)
            ended = not block
            try:
                self._left = self._decoder.decode(block, final=ended).encode()
            except UnicodeError as error:
                raise OSError(errno.EILSEQ, "it begins as UTF-16 and does not go on so") from error
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
