"""Zip and tar files, whose members are read as files of a folder are, and what unpacks zstandard.

Nothing is written: a member is unpacked while it is read, never beyond the size that the zip file states.
"""

from __future__ import annotations

import copy
import errno
import io
import lzma
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any, Final

from dialogauge.core import DialogaugeError, MissingExtra, Place, shown_path
from dialogauge.data.notes import file_fault

ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""How a zip file begins, and one without members."""
OLD_OFFICE: Final = b"\xd0\xcf\x11\xe0"
"""How an Office file of the old form begins, such as .xls."""
ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
_ZSTANDARD: Final = 93
"""As a method of a member."""
_ENCRYPTED: Final = 1
_MOST_MEMBERS: Final = 100_000
_MOST: Final = 64 << 30
"""Bytes that the members may unpack to, together."""
_SUSPECT: Final = 1 << 30
_MOST_TIMES: Final = 200
"""The size of the archive that they may unpack to, where it is more than `_SUSPECT` bytes."""
_INSPECT: Final = ".eval"
"""The ending of a log of Inspect."""
_BLOCK: Final = 1 << 18
_SMALL: Final = 1 << 13
"""Bytes that are lost with a damaged block."""
_END_OF_TAR: Final = bytes(512)
_SAVE: Final = "save its sheet as CSV (UTF-8)"
_OFFICE: Final = {
    "word/document.xml": ("this is a Word document", "save it as plain text (.txt, UTF-8)"),
    "ppt/presentation.xml": ("this is a PowerPoint file", "give the conversations as text, CSV or JSON"),
    "content.xml": ("this is an OpenDocument file", "save its sheet as CSV (UTF-8), its text as .txt"),
    "xl/workbook.bin": ("this is a workbook of the binary form", f"save it as .xlsx, or {_SAVE}"),
}
"""The member by which a zip file is a document -> what it is, and what to do."""


_BlocksOf = Callable[[], Iterator[bytes]]
"""Yields what is in a member, from its beginning."""


class Blocks(io.RawIOBase):
    """Bytes that come block by block; once a block failed, each call raises the same error."""

    def __init__(self, blocks: Iterator[bytes], *files: IO[bytes] | io.BufferedIOBase) -> None:
        """Take the blocks, and the files to close with them."""
        self._blocks, self._files, self._left = blocks, files, b""
        self._error: Exception | None = None

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        """Write the next bytes into a buffer and return how many."""
        if self._error is not None:
            raise self._error
        try:
            while not self._left and (block := next(self._blocks, None)) is not None:
                self._left = block
        except (EOFError, OSError, zlib.error) as error:
            self._error = error
            raise
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()
        super().close()


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive, or a sheet of a workbook."""

    path: PurePosixPath
    """Its path in the archive, without steps out of it."""
    blocks: _BlocksOf
    """Yields what is in it; raises `OSError` where it cannot be unpacked."""
    unread: Sequence[str] | None = field(default=None, compare=False)
    """Of a sheet, the cells with a formula without a result."""
    others: Mapping[PurePosixPath, _BlocksOf] = field(default_factory=dict, repr=False, compare=False)
    """What is in each file of the archive."""

    def open(self) -> io.RawIOBase:
        """Open it from the beginning."""
        return Blocks(self.blocks())

    def beside(self, name: str, above: int) -> Member | None:
        """Return the file of that name in its folder, or up to so many folders higher, if there is one."""
        paths = (folder / name for folder in list(self.path.parents)[: above + 1])
        path = next((path for path in paths if path in self.others), None)
        return None if path is None else Member(path, self.others[path], others=self.others)


def is_tar(mark: bytes) -> bool:
    """Say whether a file that begins so is a tar file."""
    return mark[257:262] == b"ustar"


def members_of(file: IO[bytes], name: str, fits: Callable[[str], bool]) -> tuple[list[Member], int]:
    """Return the files of a zip or tar file whose names fit, and the number of the others.

    Raises `FileFault` for a damaged archive, one that unpacks to more than anybody's log, a document of an
    office program, and one without such a file.
    """
    place = Place(name)
    mark = file.read(512)
    kind, members = ("tar", _of_tar) if is_tar(mark) else ("zip", _of_zip)
    file.seek(0)
    try:
        if mark.startswith(OLD_OFFICE):
            return _sheets(file, place, {}), 0
        files = members(file, place)
    except DialogaugeError:
        raise
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, ValueError, EOFError, OSError) as error:
        hint = "fetch or write it again"
        raise file_fault(place, f"the {kind} file is damaged or not whole: {error}", hint) from error
    except NotImplementedError as error:
        raise file_fault(place, f"the {kind} file is of a form that is not read: {error}") from error
    if files and files[0].unread is not None:
        return files, 0
    files = [m for m in files if not any(part.startswith((".", "__MACOSX")) for part in m.path.parts)]
    if name.lower().endswith(_INSPECT):  # what stands beside the samples repeats them
        files = [m for m in files if m.path.parts[0] == "samples"] or files
    fitting = [m for m in files if fits(m.path.name)]
    if not fitting:
        raise file_fault(place, f"the {kind} file holds no file that could hold conversations")
    return fitting, len(files) - len(fitting)


def _sheets(file: IO[bytes], place: Place, parts: Mapping[str, _BlocksOf]) -> list[Member]:
    from dialogauge.data.workbooks import sheets_of  # few have workbooks

    sheets = sheets_of(file, place, parts)
    return [Member(PurePosixPath(name.replace("/", "_")), *sheet) for name, sheet in sheets]


def _of_zip(file: IO[bytes], place: Place) -> list[Member]:
    archive = zipfile.ZipFile(file)
    infos = [info for info in archive.infolist() if not info.is_dir()]
    _refuse_bombs("zip", [info.file_size for info in infos], file.seek(0, io.SEEK_END), place)
    if WORKBOOK in archive.NameToInfo:
        parts = {info.filename: partial(_unzipped, archive, info) for info in infos}
        return _sheets(file, place, parts)
    if office := next((_OFFICE[n] for n in _OFFICE if n in archive.NameToInfo), None):
        raise file_fault(place, *office)
    return _beside_each_other([(_path(info.filename), partial(_unzipped, archive, info)) for info in infos])


def _of_tar(file: IO[bytes], place: Place) -> list[Member]:
    archive = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115 - its members are read later
    infos = [info for info in archive.getmembers() if info.isfile()]
    file.seek(archive.offset)
    if file.read(len(_END_OF_TAR)) != _END_OF_TAR:
        msg = "its end is missing"
        raise tarfile.ReadError(msg)
    _refuse_bombs("tar", [info.size for info in infos], file.seek(0, io.SEEK_END), place)
    return _beside_each_other([(_path(info.name), partial(_untarred, archive, info)) for info in infos])


def _beside_each_other(files: Sequence[tuple[PurePosixPath, _BlocksOf]]) -> list[Member]:
    others = dict(files)
    return [Member(path, blocks, others=others) for path, blocks in files]


def _path(name: str) -> PurePosixPath:
    parts = PurePosixPath(shown_path(name.replace("\\", "/"))).parts
    return PurePosixPath(*(part for part in parts if part not in ("/", "..")))


def _refuse_bombs(kind: str, sizes: Sequence[int], size: int, place: Place) -> None:
    total, what = sum(sizes), None
    if len(sizes) > _MOST_MEMBERS:
        what = f"the {kind} file holds {len(sizes):,} files, more than {_MOST_MEMBERS:,}"
    elif total > most_of(size):
        what = f"the {kind} file would unpack to {total:,} bytes, {total // size:,} times its size"
    if what is not None:
        raise file_fault(place, what, "unpack what you need of it, and give the folder")


def most_of(size: int) -> int:
    """Return the bytes that an archive of a size may unpack to."""
    return min(_MOST, max(_SUSPECT, _MOST_TIMES * size))


def _untarred(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    with _named("tar"), archive.extractfile(info) or io.BytesIO() as file:
        yield from iter(partial(file.read, _BLOCK), b"")


def _unzipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield what is in a member, up to where it is damaged."""
    if info.flag_bits & _ENCRYPTED:
        raise OSError(errno.EACCES, "it is encrypted: unzip it with its password first")
    left, checksum = info.file_size, 0
    with _named("zip", info.compress_type), _open_member(archive, info) as file:
        while left and (block := file.read(min(_BLOCK, left))):
            left -= len(block)
            checksum = zlib.crc32(block, checksum)
            yield block
    if left or checksum != info.CRC:
        raise OSError(errno.EILSEQ, "the zip file is damaged here")


def _open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes] | io.BufferedReader:
    if info.compress_type != _ZSTANDARD:
        return archive.open(info)
    as_stored = copy.copy(info)
    as_stored.compress_type, as_stored.file_size = zipfile.ZIP_STORED, info.compress_size
    del as_stored.CRC  # it is that of the unpacked bytes
    return unzstandard(archive.open(as_stored), info.filename)


@contextmanager
def _named(kind: str, method: int = 0) -> Iterator[None]:
    """Make an `OSError` of what goes wrong in an archive."""
    try:
        yield
    except NotImplementedError as error:
        why = f"packed in a way that is not read (method {method}): unzip it first"
        raise OSError(errno.ENOTSUP, why) from error
    except (
        *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
        *(EOFError, ValueError, OSError),
    ) as error:
        raise OSError(errno.EILSEQ, f"the {kind} file is damaged here: {error}") from error


def unzstandard(packed: IO[bytes], name: str) -> io.BufferedReader:
    """Return what is in a zstandard file; raises `MissingExtra` where nothing here unpacks it."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return _unpacked(zstd.ZstdFile(packed), zstd.ZstdError)
    try:
        import pyarrow
    except ImportError as error:
        msg = f"{name} is packed by zstandard, and reading that needs pyarrow or Python 3.14"
        raise MissingExtra(
            msg, hint="pip install 'dialogauge[parquet]', or unpack it with zstd -d"
        ) from error
    return _unpacked(pyarrow.CompressedInputStream(packed, "zstd"), OSError)


def _unpacked(file: IO[bytes], damaged: type[Exception]) -> io.BufferedReader:
    """Return what is in a zstandard file, by either library; OSError says where it ends or is damaged."""

    def blocks() -> Iterator[bytes]:
        try:
            yield from iter(partial(file.read, _SMALL), b"")
        except (EOFError, damaged) as error:
            # Python says that it ends by an EOFError, pyarrow by a word.
            ends = isinstance(error, EOFError) or "truncated" in str(error).lower()
            why = "breaks off here: it is truncated" if ends else f"is damaged here: {error}"
            raise OSError(errno.EILSEQ, f"the zstandard file {why}") from error

    return io.BufferedReader(Blocks(blocks(), file), _BLOCK)


WORKBOOK: Final = "xl/workbook.xml"
"""The member by which a zip file is a workbook."""
