"""What spreadsheets and survey tools make of rating tables: decimal commas, scores with words."""

from __future__ import annotations

import re
from typing import Final

from dialogauge.data.ratings import as_score

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
