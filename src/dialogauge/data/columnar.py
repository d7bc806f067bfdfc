"""Parquet and Arrow files, read as JSONL: one row a line, without what is null."""

from __future__ import annotations

import errno
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import IO, Any, Final

import orjson

from dialogauge.core import MissingExtra
from dialogauge.data.archives import Blocks

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


def row_blocks(file: IO[bytes], kind: str, name: str) -> Blocks:
    """Return the rows of a file as lines of JSON; raises `MissingExtra` without pyarrow.

    `OSError` says that the file is damaged, here or where it is read.
    """
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        msg = f"{name} is {kind}, and reading that needs pyarrow"
        raise MissingExtra(msg, hint="pip install 'dialogauge[parquet]'") from error
    openers: Mapping[str, Callable[[IO[bytes]], Iterator[Any]]] = {
        "Parquet": lambda kept: pyarrow.parquet.ParquetFile(kept).iter_batches(_ROWS),
        "Arrow": lambda kept: _batches(pyarrow.ipc.open_file(kept)),
        "Arrow stream": lambda kept: iter(pyarrow.ipc.open_stream(kept)),
    }

    @contextmanager
    def named() -> Iterator[None]:
        try:
            yield
        # Of strings that are damaged Python itself says SystemError.
        except (pyarrow.ArrowException, OSError, ValueError, EOFError, zlib.error, SystemError) as error:
            raise OSError(errno.EILSEQ, f"the {kind} file is damaged here: {error}") from error

    def lines(batches: Iterator[Any]) -> Iterator[bytes]:
        with named():
            yield from _lines(batches)

    with named():
        with ExitStack() as damaged:
            whole = file if file.seekable() else _kept(file)
            damaged.callback(whole.close)
            blocks = Blocks(lines(openers[kind](whole)), whole)
            damaged.pop_all()
        return blocks


def _kept(file: IO[bytes]) -> IO[bytes]:
    """Return a passing copy of a file that can only be read on."""
    with file, ExitStack() as damaged:
        copy = damaged.enter_context(tempfile.TemporaryFile())
        shutil.copyfileobj(file, copy)
        copy.seek(0)
        damaged.pop_all()  # closed with the lines
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
