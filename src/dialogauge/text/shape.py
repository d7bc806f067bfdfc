"""The form of a text in numbers: length, lines, lists, marks; without words of any language."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.core.patterns import lazy_pattern

_CLASSES: Final = {
    "digit": "0123456789",
    "comma": ",，、",
    "colon": ":：",
    "bracket": "(（[【",
    "quote": '"“”「」『』《》',
    "question": "?？",
    "exclamation": "!！",
    "stop": "。.…；;",
    "line": "\n",
}
_NAMES: Final = ("other", *_CLASSES, "letter", "han", "emoji")
_NUMBER: Final = {name: i for i, name in enumerate(_NAMES)}
_LISTED = lazy_pattern(r"^[ \t]*(?:[-*•·+]|\d+[.、)）])[ \t]*\S", re.MULTILINE)
_NUMBERED = lazy_pattern(r"^[ \t]*\d+[.、)）]", re.MULTILINE)
_HEADED = lazy_pattern(r"^[ \t]*(?:#{1,6}[ \t]|\*\*[^*\n]+\*\*[:：]?[ \t]*$)", re.MULTILINE)
_ROW = lazy_pattern(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_INDENTED = lazy_pattern(r"\n[ \t]{2,}\S")
_EMOJI: Final = (0x2600, 0x27BF)

SHAPE: Final = (
    "length",
    "lines",
    "list_items",
    "numbered_items",
    "headings",
    "bold",
    "table",
    "emoji",
    "numbers",
    "digit_share",
    "line_length",
    "longest_line",
    "line_spread",
    "first_line",
    "sentence_length",
    "words",
    "letter_share",
    "exclamations",
    "questions",
    "colon_share",
    "bracket_share",
    "comma_share",
    "blank_lines",
    "indented",
    "ends_asking",
    "ends_closed",
    "quotes",
    "variety",
)
"""The names of the numbers, in order.

Counts and lengths are logs (of 1 + n), shares are per cent of all characters, `table` and `ends_` are 0 or 1;
`variety` is distinct characters over length ** 0.6.
"""

TextShape = tuple[float, ...]


@lru_cache(maxsize=1)
def _table() -> NDArray[np.uint8]:
    """Return the class of each code point up to 65,535; the last entry is for all others."""
    table = np.zeros(0x10000 + 1, np.uint8)
    for code in range(0x80):
        if chr(code).isalpha():
            table[code] = _NUMBER["letter"]
    for code in range(0x80, 0x10000):
        if chr(code).isalpha():
            table[code] = _NUMBER["han" if 0x3400 <= code <= 0x9FFF else "letter"]
    table[_EMOJI[0] : _EMOJI[1] + 1] = _NUMBER["emoji"]
    table[-1] = _NUMBER["emoji"]
    for name, characters in _CLASSES.items():
        for character in characters:
            table[ord(character)] = _NUMBER[name]
    return table


def shape_of(text: str) -> TextShape:
    """Return the numbers of `SHAPE`, in linear time; all are finite, also for an empty text."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    classes = _table().take(points, mode="clip")
    counts = dict(zip(_NAMES, np.bincount(classes, minlength=len(_NAMES)).tolist(), strict=True))
    size = max(1, len(text))
    lines = [line for line in text.split("\n") if line.strip()] or [""]
    logs = [math.log1p(len(line)) for line in lines]
    mean = sum(logs) / len(logs)
    ends = counts["stop"] + counts["question"] + counts["exclamation"]
    last = text.rstrip()[-1:]
    ascending = np.sort(points)
    return (
        math.log1p(len(text)),
        math.log1p(len(lines)),
        math.log1p(len(_LISTED.findall(text))),
        math.log1p(len(_NUMBERED.findall(text))),
        math.log1p(len(_HEADED.findall(text))),
        math.log1p(text.count("**") // 2),
        float(_ROW.search(text) is not None),
        math.log1p(counts["emoji"]),
        math.log1p(_runs(classes, "digit")),
        100 * counts["digit"] / size,
        math.log(size / len(lines)),
        max(logs),
        math.sqrt(sum((x - mean) ** 2 for x in logs) / len(logs)),
        logs[0],
        math.log(size / max(1, ends)),
        math.log1p(_runs(classes, "letter")),
        100 * counts["letter"] / size,
        math.log1p(counts["exclamation"]),
        math.log1p(counts["question"]),
        100 * counts["colon"] / size,
        100 * counts["bracket"] / size,
        100 * counts["comma"] / size,
        math.log1p(text.count("\n\n")),
        math.log1p(len(_INDENTED.findall(text))),
        float(last in _CLASSES["question"] and last != ""),
        float(last in "。.!！" and last != ""),
        math.log1p(counts["quote"]),
        (int(np.count_nonzero(ascending[1:] != ascending[:-1])) + bool(points.size)) / size**0.6,
    )


def _runs(classes: NDArray[np.uint8], name: str) -> int:
    """Count the runs of characters of one class."""
    here = classes == _NUMBER[name]
    return int(np.count_nonzero(here[:1])) + int(np.count_nonzero(here[1:] > here[:-1]))
