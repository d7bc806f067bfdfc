"""Where bytes come from: files, gzip files, folders, standard input; as numbered lines."""

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
from typing import IO, Any, Self

from dialogauge.core import FileFault, Place
from dialogauge.data.faults import file_fault

__all__ = ["STDIN", "LineStream", "Source", "locate", "utf8_fault"]

STDIN = "-"

_SUFFIXES = frozenset({".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt"})
_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read, or standard input."""

    name: str
    """What messages call it: the path as given, or `<stdin>`."""
    label: str
    """What ids are made from where the data has none; the same in whatever folder one stands."""
    path: Path | None
    """None for standard input."""
    member: bool = False
    """Found in a folder, not named by the user: may be left out when it is something else."""


def locate(inputs: Sequence[str], order: Callable[[Path], object] | None = None) -> tuple[list[Source], int]:
    """Return the files that the inputs name, folders opened, and how many were left out by their ending.

    `order` gives the sort key of the files of a folder (default: the path). Raises `FileFault` for a
    path that is missing, an empty file, and a folder without a file that could hold conversations.
    """
    sources: list[Source] = []
    left_out = 0
    names = Counter(Path(given).name for given in inputs)
    for given in inputs:
        path = Path(given)
        if given == STDIN:
            sources.append(Source("<stdin>", "stdin", None))
        elif path.is_dir():
            members, others = _members(path, order)
            sources += members
            left_out += others
        else:
            _check(path, given)
            label = path.name if names[path.name] == 1 else path.as_posix()
            sources.append(Source(given, _plain(label), path))
    return sources, left_out


def _check(path: Path, given: str) -> None:
    if not path.exists():
        raise file_fault(Place(given), "there is no such file or folder")
    if path.is_file() and path.stat().st_size == 0:
        raise file_fault(Place(given), "the file is empty", "is it still being written?")


def _members(folder: Path, order: Callable[[Path], object] | None) -> tuple[list[Source], int]:
    files = [p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")]
    wanted = [p for p in files if Path(_plain(p.name)).suffix.lower() in _SUFFIXES]
    if not wanted:
        raise file_fault(
            Place(str(folder)),
            "the folder holds no file that could hold conversations",
            f"looked for {', '.join(sorted(_SUFFIXES))}, also with .gz, in it and below",
        )
    wanted.sort(key=order or Path.as_posix)  # type: ignore[arg-type]  # any sortable key will do
    found = [Source(str(p), _plain(p.relative_to(folder).as_posix()), p, member=True) for p in wanted]
    return found, len(files) - len(wanted)


def _plain(name: str) -> str:
    return name.removesuffix(".gz")


class LineStream:
    """The lines of one source as bytes, numbered from 1; gzip and a byte order mark are seen to.

    Iterating raises `FileFault` where a compressed file breaks off; all lines before were handed out.
    """

    def __init__(self, source: Source) -> None:
        """Open the source; raises `FileFault` when that fails."""
        self.source = source
        self._close: list[IO[bytes]] = []
        self._head: list[tuple[int, bytes]] = []
        self._fault: FileFault | None = None
        self.memo: dict[str, Any] = {}
        """What was found out about the content while looking ahead."""
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
        except EOFError as error:
            raise file_fault(
                Place(self.source.name, number + 1),
                "the gzip file breaks off here: it is truncated",
                "the lines before were read; fetch or write the file again",
            ) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise file_fault(
                Place(self.source.name, number + 1), f"the gzip file is damaged: {error}"
            ) from error
        except OSError as error:
            raise file_fault(
                Place(self.source.name, number + 1), f"cannot be read: {error.strerror}"
            ) from error

    def _without_mark(self, line: bytes) -> bytes:
        if line.startswith(_UTF16):
            raise file_fault(Place(self.source.name), "the file is UTF-16", "save it as UTF-8")
        return line.removeprefix(codecs.BOM_UTF8)

    def head(self) -> Iterator[tuple[int, bytes]]:
        """Look at the lines from the first on without using them up.

        A fault behind the first line is kept for the reading: what stands before it is still read.
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
        """Hand out the numbered lines, each once."""
        head, self._head = self._head, []
        yield from head
        del head
        yield from self._lines
        if self._fault is not None:
            raise self._fault

    def text(self) -> Iterator[tuple[int, str]]:
        """Hand out the numbered lines as text; raises `FileFault` at the first that is not UTF-8."""
        for number, line in self:
            try:
                yield number, line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise utf8_fault(self.source.name, number, error) from error

    def close(self) -> None:
        """Close what was opened; standard input stays open."""
        while self._close:
            self._close.pop(0).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def utf8_fault(name: str, number: int, error: UnicodeDecodeError) -> FileFault:
    """Return the fault of a line that is not UTF-8; reading of the file stops there."""
    byte = error.object[error.start]
    return file_fault(
        Place(name, number),
        f"not UTF-8: byte 0x{byte:02x} at column {error.start + 1}",
        "save the file as UTF-8, e.g. iconv -f LATIN1 -t UTF-8",
    )
