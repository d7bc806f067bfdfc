"""Zip files, whose members are read as files of a folder are, and what unpacks zstandard.

Nothing is written: a member is unpacked while it is read, never beyond the size that the zip file states.
"""

from __future__ import annotations

import copy
import errno
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, Any, Final

from dialogauge.core import MissingExtra, Place, shown_path
from dialogauge.data.notes import file_fault
from dialogauge.data.workbooks import WORKBOOK, SheetLines, sheets_of

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
    _refuse_bombs(infos, _size(file), place)
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


def _size(file: IO[bytes]) -> int:
    return file.seek(0, io.SEEK_END)


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
