"""Opening inputs: which files there are, and their bytes from the beginning, as often as they are asked for.

A file is read as long as it was when it was opened, so that a log that grows is read whole up to there. What
comes through a pipe is kept in a passing file: it can be looked at before it is read, and read again.
"""

from __future__ import annotations

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from dialogauge.core import Place, shown_path
from dialogauge.data.notes import file_fault

STDIN: Final = "-"

_SUFFIXES = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt"})
_BLOCK: Final = 1 << 18
_LARGEST_PIPE: Final = 8 << 30
"""Bytes that are kept of a pipe."""
_GZIP: Final = b"\x1f\x8b"
_PACKED: Final = {
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -d"),
    b"\xfd7zXZ\x00": ("xz", "xz -d"),
    b"PK\x03\x04": ("zip", "unzip"),
    b"7z\xbc\xaf": ("7z", "7z x"),
    **{b"BZh%d1AY" % level: ("bzip2", "bunzip2") for level in range(1, 10)},
}
"""How a file begins -> what packed it, and what unpacks it."""
_LONGEST_MARK: Final = max(map(len, _PACKED))


@dataclass(frozen=True, slots=True)
class InputSource:
    """One file to read, or a pipe."""

    name: str
    """Its name in messages: the path as stated, or `<stdin>`."""
    label: str
    """The base of ids for data without ids, independent of the working directory."""
    path: Path | None
    """None for standard input."""
    member: bool = False
    """From a folder, not named by the user: the reader skips it if it is something else."""
    pipe: Pipe | None = None
    """Where it comes through one."""

    def open(self) -> io.BufferedReader:
        """Open it from the beginning, without gzip.

        Raises `FileFault` for what cannot be opened, and what was packed by something else.
        """
        try:
            raw = self._raw()
            mark = raw.peek(_LONGEST_MARK)
        except OSError as error:
            raise file_fault(Place(self.name), f"cannot be read: {error.strerror}") from error
        for begins, (packer, unpack) in _PACKED.items():
            if mark.startswith(begins):
                raw.close()
                hint = f"unpack it first, with {unpack}"
                raise file_fault(Place(self.name), f"packed by {packer}, and only gzip is read", hint)
        if not mark.startswith(_GZIP):
            return raw
        return io.BufferedReader(_Unpacked(raw), _BLOCK)

    def _raw(self) -> io.BufferedReader:
        if self.pipe is not None:
            return io.BufferedReader(_PipeReader(self.pipe), _BLOCK)
        return io.BufferedReader(_Snapshot(self.path or Path()), _BLOCK)


class _Snapshot(io.RawIOBase):
    """A file, as long as it is when it is opened."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._left = os.fstat(self._file.fileno()).st_size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        read = self._file.readinto(memoryview(buffer)[: self._left])
        self._left -= read
        if self._left and not read:
            raise OSError(errno.ESTALE, "it became shorter while it was read")
        return read

    def close(self) -> None:
        self._file.close()
        super().close()


class _Unpacked(io.RawIOBase):
    """What is in a gzip file, up to where it is damaged: from there on each call raises the same error."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed, self._file = packed, gzip.GzipFile(fileobj=packed)
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
            self._open()
        while self._size <= max(at, _LONGEST_MARK) and not self._ended:
            self._take()
        self._kept.seek(at)  # type: ignore[union-attr]  # opened above
        return self._kept.read(most)  # type: ignore[union-attr]

    def _open(self) -> None:
        self._from = sys.stdin.buffer if self._path is None else self._path.open("rb")
        self._kept = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the pipe
        weakref.finalize(self, self._kept.close)
        if self._path is not None:
            weakref.finalize(self, self._from.close)

    def _take(self) -> None:
        block = self._from.read1(_BLOCK)  # type: ignore[union-attr]  # both are buffered readers
        self._ended = not block
        if self._size + len(block) > _LARGEST_PIPE:
            raise OSError(errno.EFBIG, f"more than {_LARGEST_PIPE >> 30} GiB came through it: use a file")
        try:
            self._kept.seek(0, io.SEEK_END)  # type: ignore[union-attr]
            while block:
                written = self._kept.write(block)  # type: ignore[union-attr]
                self._size += written
                block = block[written:]
        except OSError as error:
            msg = f"what comes through it cannot be kept in {tempfile.gettempdir()}: {error.strerror}"
            raise OSError(error.errno, msg) from error


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


def locate(
    inputs: Sequence[str], order: Callable[[Path], object] | None = None
) -> tuple[list[InputSource], int]:
    """Return the files of the inputs and of their folders, and the number of files with other endings.

    `order` returns the sort key of the files of a folder (default: the path). Raises `FileFault` for a
    missing path, an empty file, a device, and a folder without a file that could hold conversations.
    """
    sources: list[InputSource] = []
    left_out = 0
    names = Counter(Path(name).name for name in inputs)
    pipes: dict[object, Pipe] = {}
    for name in inputs:
        shown, path = ("<stdin>", None) if name == STDIN else (shown_path(name), Path(name))
        status = _status(name, shown)
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
        sources.append(InputSource(shown, _plain(shown_path(label)), path, pipe=pipe))
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


def _status(name: str, shown: str) -> os.stat_result:
    """Return what an input is; raises `FileFault` where it is nothing that can be read to an end."""
    try:
        status = _standard_input() if name == STDIN else Path(name).stat()
    except FileNotFoundError as error:
        raise file_fault(Place(shown), "there is no such file or folder") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else f"no name of a file: {error}"
        raise file_fault(Place(shown), f"cannot be read: {why}") from error
    kind = stat.S_IFMT(status.st_mode)
    through = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFIFO, *([stat.S_IFSOCK] if name == STDIN else []))
    if kind not in through and not (name == STDIN and sys.stdin.isatty()):
        what = "a socket" if kind == stat.S_IFSOCK else "a device"
        hint = "give files, folders or pipes; - is standard input"
        raise file_fault(Place(shown), f"this is {what}, and no file", hint)
    return status


def _standard_input() -> os.stat_result:
    """Return what standard input is; a pipe where it is a stream of Python's alone."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    try:
        return os.fstat(sys.stdin.buffer.fileno())
    except io.UnsupportedOperation:
        return os.stat_result([stat.S_IFIFO, *[0] * 9])


def _members(folder: Path, order: Callable[[Path], object] | None) -> tuple[list[InputSource], int]:
    files = [p for p in _walk(folder) if p.is_file() and not p.name.startswith(".")]
    members = [p for p in files if Path(_plain(p.name)).suffix.lower() in _SUFFIXES]
    if not members:
        raise file_fault(
            Place(shown_path(folder)),
            "the folder holds no file that could hold conversations",
            f"looked for {', '.join(sorted(_SUFFIXES))}, also with .gz, in it and below",
        )
    members.sort(key=order or Path.as_posix)  # type: ignore[arg-type]  # any sortable key will do
    sources = [
        InputSource(shown_path(p), _plain(shown_path(p.relative_to(folder).as_posix())), p, member=True)
        for p in members
    ]
    return sources, len(files) - len(members)


def _walk(folder: Path) -> list[Path]:
    """Return all that is below a folder; raises `FileFault` for a part that may not be looked into."""

    def refuse(error: OSError) -> None:
        place = Place(shown_path(error.filename))
        raise file_fault(place, f"the folder cannot be read: {error.strerror}") from error

    return [Path(parent, name) for parent, _, names in os.walk(folder, onerror=refuse) for name in names]


def _plain(name: str) -> str:
    return name.removesuffix(".gz")
