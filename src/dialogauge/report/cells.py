"""What stands in a block: words that look different, and the values of tables, tiles and definitions.

An undefined value is None, and stays visible as a dash; a reason for it (`n/a`, `failed`) is a `Missing`.
"""

from __future__ import annotations

import math
from typing import Final, Literal

from dialogauge.core.values import Value

Ends = tuple[float, float]
"""Low and high end of an interval, or of bounds."""

Tone = Literal["best", "good", "middle", "low", "worst", "none", "neutral", "plain"]
"""What a colour means: five steps of an ordered scale; `none` for what has no value (hatched); `neutral`
between two sides; `plain` where no order is meant."""

Emphasis = Literal["strong", "plain", "quiet"]
"""`strong`: what the page is about; `plain`: what it is compared with; `quiet`: what is no candidate."""

_P_DIGITS: Final = 3

_STEPS: Final[tuple[Tone, ...]] = ("worst", "low", "middle", "good", "best")


def ordinal_tones(levels: int) -> tuple[Tone, ...]:
    """Return a tone for each level of an ordered scale, the worst first; neighbours share one beyond five."""
    if levels == 1:
        return ("plain",)
    return tuple(_STEPS[round(i * 4 / (levels - 1))] for i in range(levels))


# Words


class Span(Value):
    """A piece of a sentence that looks different, or leads somewhere on the page."""

    text: str
    style: Literal["", "strong", "soft", "code", "quote", "tag", "warn"] = ""
    """`tag` and `warn` are short labels in a frame."""
    link: str = ""
    """The anchor of a section or transcript of this page; without such an anchor it is plain text."""


Prose = str | Span | tuple[str | Span, ...]
"""A sentence or a few."""


# Cells: what stands in a table, a tile or a definition


class Missing(Value):
    """No value, and where it is known, why."""

    why: str = ""


class Text(Value):
    """Words with what belongs to them."""

    text: str
    note: str = ""
    """Less important words behind it."""
    tone: Tone | None = None
    """A colour swatch before it."""
    link: str = ""
    """The anchor of a section or transcript of this page; without such an anchor it is plain text."""
    tags: tuple[Span, ...] = ()


class Count(Value):
    """A count, alone or of a whole."""

    n: int
    of: int | None = None
    notes: tuple[str, ...] = ()
    """Short lines beneath."""


class Number(Value):
    """A number with its decimals, and the interval it is not shown without."""

    value: float | None
    digits: int = 2
    interval: Ends | None = None
    bounds: Ends | None = None
    """What missing values could move it to."""
    signed: bool = False
    strong: bool = False
    interval_digits: int | None = None
    """Where the interval needs fewer decimals than the value."""
    notes: tuple[str, ...] = ()
    """Short lines beneath."""
    at_most: bool = False
    """The value is no more than this; written with ≤."""


def p_value(p: float | None, *, at_floor: bool = False) -> Number:
    """Return a p-value for a table; one that is at its floor, or less than can be shown, with ≤.

    Args:
        p: In [0, 1].
        at_floor: It can be no lower with so few clusters or draws, and may be lower in truth.
    """
    least = 10**-_P_DIGITS
    if p is None or not (at_floor or p < least):
        return Number(p, _P_DIGITS)
    return Number(max(least, math.ceil(round(p / least, 6)) * least), _P_DIGITS, at_most=True)


class Percent(Value):
    """A share from 0 to 1, shown in percent."""

    value: float | None
    interval: Ends | None = None


class Interval(Value):
    """An interval without a number of its own; None where there is none."""

    ends: Ends | None
    digits: int = 2


class Part(Value):
    """One part of a whole."""

    name: str
    n: int
    tone: Tone = "plain"


class Mix(Value):
    """How a whole divides into parts, drawn small: wins, ties and losses, or how often each score."""

    parts: tuple[Part, ...]


class Figure(Value):
    """A number with all that it is never shown without; a block of its own, or a cell."""

    value: float | None
    n: int
    """Scores that it stands on."""
    requested: int
    n_na: int = 0
    n_failed: int = 0
    interval: Ends | None = None
    bounds: Ends | None = None
    """If every failure were the worst, and the best, value of the scale."""
    digits: int = 2


Cell = str | int | None | Missing | Text | Count | Number | Percent | Interval | Mix | Figure
"""A `str` is a text, an `int` a count, None a missing value."""
