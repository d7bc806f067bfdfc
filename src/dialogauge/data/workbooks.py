"""The sheets of Excel workbooks as tables in CSV, by python-calamine; days and times in ISO form.

Of a formula its stored result counts. A text that is merged over several rows stands in each of them.
"""

from __future__ import annotations

import csv
import errno
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import chain
from typing import IO, Any, Final
from xml.parsers import expat

from dialogauge.core import MissingExtra, Place
from dialogauge.data.notes import file_fault

_STRINGS: Final = "xl/sharedStrings.xml"
_MOST_STRINGS: Final = 1 << 28
"""Bytes of the texts that all sheets share, which are kept in memory."""
_MOST_CELLS: Final = 1 << 25
"""Between the first cell of a sheet and its last: all of them are kept in memory while it is read."""
_LONGEST: Final = 1 << 20
"""Characters of a cell; spreadsheets take 32,767."""
_LARGEST_ROW: Final = 1 << 24
"""Characters of a row."""
_EXACT: Final = 1e21
_SAVE: Final = "save its sheet as CSV (UTF-8)"
_PLACE: Final = re.compile(rb"<(?:\w+:)?(?:c|row)\s[^>]*?\br=[\"']([A-Z]*)(\d+)[\"']")
_NO_RESULT: Final = re.compile(
    rb"<c\b(?![^>]*\bt=[\"']str)([^>]*)>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>"
)
_NO_TEXT: Final = re.compile(rb"<c\b[^>]*\bt=[\"']s[\"'][^>]*>\s*<v>(?!\d+</v>)[^<]")
_WIDEST: Final = 16_384
"""Columns of a sheet."""
_NAMED: Final = re.compile(rb"\br=[\"'](\w+)")

Sheet = tuple[Callable[[], Iterator[bytes]], Sequence[str]]
"""What yields its lines, and the cells with a formula without a result."""


def sheets_of(
    file: IO[bytes], place: Place, parts: Mapping[str, Callable[[], Iterator[bytes]]]
) -> list[tuple[str, Sheet]]:
    """Return the sheets of a workbook that hold something, each under its name.

    `parts` are its members; a workbook of the old form has none.

    Raises `FileFault` where none does and for what is no whole workbook, `MissingExtra` without
    python-calamine.
    """
    try:
        from python_calamine import CalamineWorkbook
    except ImportError as error:
        msg = f"{place.file} is an Excel workbook, and reading that needs python-calamine"
        raise MissingExtra(msg, hint=f"pip install 'dialogauge[excel]', or {_SAVE}") from error
    try:
        unread = list[str]()
        for part, blocks in parts.items():
            if part == _STRINGS and sum(map(len, blocks())) > _MOST_STRINGS:
                raise OSError(errno.EFBIG, f"its texts take more than {_MOST_STRINGS >> 20} MiB")
            if part.endswith(".xml") and part != _STRINGS:
                unread += _looked_through(blocks())
        file.seek(0)
        with _whole():
            book = CalamineWorkbook.from_filelike(file)
        sheet = lru_cache(1)(book.get_sheet_by_name)  # it is opened several times before the next
        sheets = {name: partial(_lines, partial(sheet, name)) for name in book.sheet_names}
        written = [(name, lines) for name, lines in sheets.items() if next(lines(), None) is not None]
    except OSError as error:
        what = "cannot be read" if parts else "this is an Office file of the old form, and cannot be read"
        raise file_fault(place, f"{what}: {error.strerror}", _SAVE) from error
    if not written:
        raise file_fault(place, "the workbook has no sheet with anything in it", "is it the right file?")
    return [(name, (lines, () if n else unread)) for n, (name, lines) in enumerate(written)]


def _looked_through(blocks: Iterator[bytes]) -> Iterator[str]:
    """Yield the cells of a sheet with a formula without a result.

    Raises `OSError` for what calamine passes over without a word, or runs out of memory with: what is no
    whole XML, cells of no column or of no shared text, and a sheet that is too large.
    """
    columns, rows, left, parser = 1, 1, b"", expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    for block in chain(blocks, (b"",)):
        with _whole():
            parser.Parse(block, not block)
        part, _, left = (left + block + b"row>" * (not block)).rpartition(b"row>")
        if len(left) > _LARGEST_ROW:
            raise OSError(errno.EFBIG, f"a row takes more than {_LARGEST_ROW >> 20} MiB")
        for column, row in _PLACE.findall(part):
            rows, columns = max(rows, int(row)), max(columns, _number(column))
            if columns > _WIDEST:
                raise OSError(errno.EILSEQ, f"no cell is called '{(column + row).decode()[:20]}'")
        if _NO_TEXT.search(part):
            raise OSError(errno.EILSEQ, "the workbook is damaged here: a cell has no text")
        yield from (
            (_NAMED.search(about) or [b"", b"a cell"])[1].decode() for about in _NO_RESULT.findall(part)
        )
    if rows * columns > _MOST_CELLS:
        raise OSError(errno.EFBIG, f"a sheet reaches over {rows:,} rows and {columns:,} columns")


def _refuse(*_: object) -> None:
    msg = "it declares a type of document, which no workbook does"
    raise ValueError(msg)


def _number(column: bytes) -> int:
    number = 0
    for letter in column:
        number = number * 26 + letter - ord("A") + 1
    return number


def _lines(opened: Callable[[], Any]) -> Iterator[bytes]:
    """Yield the rows that hold something as lines of CSV, as wide as the first of them or wider."""
    with _whole():
        sheet = opened()
        first = 0 if sheet.start is None else sheet.start[1]
        merged, width = defaultdict(list), 0
        for (top, column), (bottom, _) in sheet.merged_cell_ranges or ():
            merged[top].append((column - first, bottom))
        lasting: dict[int, tuple[int, str]] = {}
        for number, values in enumerate(sheet.iter_rows()):
            cells = [_text(value) for value in values[first:]]
            lasting = {at: (last, text) for at, (last, text) in lasting.items() if number <= last}
            for at, (_, text) in lasting.items():
                cells[at] = text
            while cells and not cells[-1]:
                cells.pop()
            if sum(map(len, cells)) > _LARGEST_ROW:
                raise OSError(errno.EFBIG, f"a row takes more than {_LARGEST_ROW >> 20} MiB")
            if cells:
                if width:
                    lasting |= {at: (last, cells[at]) for at, last in merged[number] if at < len(cells)}
                width = width or len(cells)
                line = io.StringIO()
                csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells + [""] * (width - len(cells)))
                yield line.getvalue().encode("utf-8", "surrogatepass")


def _text(value: Any) -> str:  # noqa: ANN401 - text, number, yes or no, time or day
    if isinstance(value, str):
        if len(value) > _LONGEST:
            raise OSError(errno.EFBIG, f"a cell holds more than {_LONGEST:,} characters")
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else str(value)
    return str(value.isoformat() if hasattr(value, "isoformat") else value)


@contextmanager
def _whole() -> Iterator[None]:
    """Make an `OSError` of what calamine raises, where a damaged workbook makes it panic too."""
    try:
        yield
    except (OSError, GeneratorExit, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        raise OSError(errno.EILSEQ, f"the workbook is damaged here: {error}") from error
