"""What counts as a score that people gave, in JSON and in the text of a table."""

from __future__ import annotations

import math

from dialogauge.data.faults import shown

_LARGEST = 2**63
"""No whole number from here on can be stored; as a float it would be another one."""

__all__ = ["as_score", "as_turn"]


def as_score(value: object) -> float | str:
    """Return a number, or the name of a category; raise `ValueError` saying what is wrong.

    `"4"` and `4.0` are 4, `"4.5"` is 4.5, any other text is a category. True, null, an empty text,
    NaN, lists and objects are no scores.
    """
    if isinstance(value, bool):
        msg = f"the score is {str(value).lower()}: write a number or the name of a category"
        raise ValueError(msg)  # noqa: TRY004  # callers turn one kind of error into a fault with its place
    if isinstance(value, str):
        value = value.strip()
        number = _number(value)
        if number is None and value:
            return value
        value = number
    if value is None:
        msg = "the score is missing"
        raise ValueError(msg)
    if not isinstance(value, int | float):
        msg = f"the score is {shown(value)}: neither a number nor a category"
        raise ValueError(msg)  # noqa: TRY004  # as above
    if isinstance(value, float) and not math.isfinite(value):
        msg = f"the score is {value}: not a number"
        raise ValueError(msg)
    if abs(value) >= _LARGEST:
        msg = "the score is too large for a number of 64 bits"
        raise ValueError(msg)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def as_turn(value: object) -> int | None:
    """Return a turn number, None for nothing; raise `ValueError` for anything but a whole number."""
    if value is None or value == "":
        return None
    try:
        score = as_score(value)
    except ValueError:
        score = str(value)
    if not isinstance(score, int) or score < 0:
        msg = f"the turn is {shown(value)}: not a whole number from 0 on"
        raise ValueError(msg)
    return score


def _number(text: str) -> float | None:
    if not text or text[0] not in "+-.0123456789":
        return math.nan if text.lower() == "nan" else None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None
