"""What spreadsheets and survey tools make of rating tables: UTF-16, decimal commas, scores with words."""

from __future__ import annotations

import codecs
import errno
import io
import re
from dataclasses import fields
from typing import Any, Final

from dialogauge.data.opening import InputSource
from dialogauge.data.ratings import as_score
from dialogauge.data.sources import opened

_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLOCK: Final = 1 << 18
_NUMBER: Final = r"([+-]?\d+(?:\.\d+)?)"
_LED: Final = re.compile(
    rf"{_NUMBER}(?:(?:\s+[-–—]\s*|\s*[-–—]\s+|\s*[:=]\s*|\s*[.)]\s+)[^\W\d]\D*|\s*\(\D+\))"
)
_TRAILED: Final = re.compile(rf"[^\W\d]\D*[(\[（]\s*{_NUMBER}\s*[)\]）]")
_STARS: Final = re.compile(rf"{_NUMBER}[\s-]*(?:stars?|points?|星|分)", re.IGNORECASE)
_DECIMAL: Final = re.compile(r"(?<=\d),(?=\d)")
COMMAS: Final = "scores have a decimal comma"
WORDS: Final = "scores have words beside their number, which alone counts"


def score_in(value: object, *, commas: bool = False) -> tuple[float | str, str | None]:
    """Return the score of a cell, and what is to be said of how it was read.

    A number beside words counts where there is one and it cannot be anything else: `4 - Good`, `4: Good`,
    `Very Good (5)`, `5 stars`. Other texts are categories, such as `3 or 4` and `>3`.

    Args:
        value: Of the cell.
        commas: Whether cells are parted by something else than commas, so that `4,5` is four and a half.

    Raises:
        ValueError: It is no score.
    """
    score = as_score(value)
    if not isinstance(score, str):
        return score, None
    text = _DECIMAL.sub(".", score) if commas else score
    match = next((m for form in (_LED, _TRAILED, _STARS) if (m := form.fullmatch(text))), None)
    if match is not None:
        return as_score(match[1]), WORDS
    number = as_score(text) if text != score else score
    return (score, None) if isinstance(number, str) else (number, COMMAS)


class Utf16Source(InputSource):
    """A file in UTF-16, which spreadsheets call Unicode text; it is read as UTF-8."""

    def open(self) -> io.BufferedReader:
        """Open it from the beginning, as UTF-8."""
        return io.BufferedReader(_Recoded(super().open()), _BLOCK)


def as_utf8_source(source: InputSource) -> InputSource:
    """Return a source that is read as UTF-8, be the file UTF-16; raises `FileFault` where it cannot be."""
    with opened(source, lambda: 1) as file:
        if not file.peek(2).startswith(_MARKS):
            return source
    return Utf16Source(*(getattr(source, one.name) for one in fields(source)))


class _Recoded(io.RawIOBase):
    """UTF-16 as UTF-8."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file, self._decoder, self._left = file, codecs.getincrementaldecoder("utf-16")(), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
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
        self._file.close()
        super().close()
