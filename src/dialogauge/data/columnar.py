"""Parquet and Arrow files, read as JSONL: one row a line, without what is null."""

from __future__ import annotations

import errno
import io
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import IO, Any, Final

import orjson

from dialogauge.core import MissingExtra

MARKS: Final[Mapping[bytes, str]] = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow stream",  # as Hugging Face saves data sets
}
"""How a file begins -> what it is."""
_ROWS: Final = 64
_OPTIONS: Final = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
_SAID_BY_NULL: Final = "content"
"""The key that is kept where it is null: so a message says that it only calls tools."""


class RowLines(io.RawIOBase):
    """The rows of a file as lines of JSON."""

    def __init__(self, file: IO[bytes], kind: str, name: str) -> None:
        """Open it; raises `MissingExtra` without pyarrow, `OSError` for a damaged file."""
        try:
            import pyarrow
            import pyarrow.ipc
            import pyarrow.parquet
        except ImportError as error:
            msg = f"{name} is {kind}, and reading that needs pyarrow"
            raise MissingExtra(msg, hint="pip install 'dialogauge[parquet]'") from error
        self._failed = (pyarrow.ArrowException, OSError, ValueError)
        self._kind, self._left = kind, b""
        self._file = file if file.seekable() else self._tried(lambda: _kept(file))
        openers: Mapping[str, Callable[[], Iterator[Any]]] = {
            "Parquet": lambda: pyarrow.parquet.ParquetFile(self._file).iter_batches(_ROWS),
            "Arrow": lambda: _batches(pyarrow.ipc.open_file(self._file)),
            "Arrow stream": lambda: iter(pyarrow.ipc.open_stream(self._file)),
        }
        self._lines = _lines(self._tried(openers[kind]))

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        """Write the next bytes into a buffer and return how many."""
        if not self._left:
            self._left = self._tried(lambda: next(self._lines, b""))
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def _tried(self, step: Callable[[], Any]) -> Any:  # noqa: ANN401  # whatever the step returns
        try:
            return step()
        except self._failed as error:
            raise OSError(errno.EILSEQ, f"the {self._kind} file is damaged here: {error}") from error

    def close(self) -> None:
        """Close the file."""
        if hasattr(self, "_file"):
            self._file.close()
        super().close()


def _kept(file: IO[bytes]) -> IO[bytes]:
    """Return a passing copy of a file that can only be read on."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the lines
    with file:
        shutil.copyfileobj(file, copy)
    copy.seek(0)
    return copy


def _batches(reader: Any) -> Iterator[Any]:  # noqa: ANN401 - of pyarrow
    return (reader.get_batch(number) for number in range(reader.num_record_batches))


def _lines(batches: Iterator[Any]) -> Iterator[bytes]:
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS):
            for row in batch.slice(start, _ROWS).to_pylist():
                yield orjson.dumps(_without_nulls(row), default=_plain, option=_OPTIONS)


def _without_nulls(value: Any) -> Any:  # noqa: ANN401  # any value of a cell
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None or k == _SAID_BY_NULL}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def _plain(value: object) -> object:
    """Return a JSON value for what has none of its own: bytes that are no text are named by their number."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return f"<{len(value):,} bytes>"
    if isinstance(value, Decimal):
        return float(value)
    return value.total_seconds() if isinstance(value, timedelta) else str(value)
