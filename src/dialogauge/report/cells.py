"""What stands in a block: marked words, the values of tables, tiles and definitions, and how they read.

An undefined value is None, and stays visible as a dash; a reason for it (`n/a`, `failed`) is a `Missing`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


DASH = "–"


def decimal(value: float | None, digits: int = 2, *, signed: bool = False) -> str:
    """Write a number with its decimals, or a dash when it is undefined; what rounds to zero has no minus."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{value:{'+' if signed else ''}z,.{digits}f}"


def interval(ends: Ends | None, digits: int = 2) -> str:
    """Write an interval as `[3.98, 4.25]`, or a dash when there is none."""
    return DASH if ends is None else f"[{decimal(ends[0], digits)}, {decimal(ends[1], digits)}]"


def bounds(ends: Ends, digits: int = 2, *, signed: bool = False) -> str:
    """Write bounds as `3.40–4.50`, or `-0.10 to +0.20` where they have signs."""
    between = " to " if signed or min(ends) < 0 else DASH
    return between.join(decimal(end, digits, signed=signed) for end in ends)


def percent(value: float | None) -> str:
    """Write a share as a percentage; a little is not nothing and almost all is not all."""
    if value is None or not math.isfinite(value):
        return DASH
    if 0 < value < 0.001:
        return "<0.1 %"
    if 0.999 < value < 1:
        return ">99.9 %"
    return f"{value:.0%}".replace("%", " %") if value in (0, 1) else f"{value:.1%}".replace("%", " %")


def percents(ends: Ends) -> str:
    """Write the interval of a share as `[80.1 %, 97.5 %]`."""
    return f"[{percent(ends[0])}, {percent(ends[1])}]"


def cost(value: float | None) -> str:
    """Write a cost, or say that it is unknown; never 0 for what is not known."""
    if value is None:
        return "unknown"
    return f"{value:.4f}" if 0 < value < 1 else f"{value:,.2f}"


def name(identifier: str) -> str:
    """Write a key such as `context_use` as words."""
    return identifier.replace("_", " ")


def listing(names: Sequence[str], most: int | None = None) -> str:
    """Write names as `a, b and c`; of more than `most` the first, and how many there are besides."""
    if most is not None and len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def language(code: str) -> str:
    """Write `en` and `zh` as names; any other code as it is."""
    return {"en": "English", "zh": "Chinese"}.get(code, code)


def score(value: float | str | None) -> str:
    """Write a score: whole numbers without decimals, `n/a`, `failed` for none."""
    if value is None:
        return "failed"
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value == int(value) else f"{value:z.2f}"


def sign(side: str) -> str:
    """Write how one figure stands to another (`Comparison.side`) as a sign; `?` where that is undefined."""
    signs = {"above": "▲", "below": "▼", "not distinguishable": "≈", "too few to tell": "…"}
    return signs.get(side, "?")


def counts_of(figure: Figure) -> tuple[str, ...]:
    """Return the counts and bounds of a figure: `160/200 scored`, `40 failed`, `bounds 3.40–4.50`."""
    parts = [f"{figure.n:,}/{figure.requested:,} scored"]
    if figure.n_na:
        parts.append(f"{figure.n_na:,} n/a")
    parts.append(f"{figure.n_failed:,} failed")
    if figure.bounds is not None:
        parts.append(f"bounds {bounds(figure.bounds, figure.digits)}")
    return tuple(parts)


def figure_value(figure: Figure) -> tuple[str, str]:
    """Return the value of a figure and its interval: `4.12` and `[3.98, 4.25]`."""
    if not figure.n:
        return "no score", ""
    ends = "[no interval]" if figure.interval is None else interval(figure.interval, figure.digits)
    return decimal(figure.value, figure.digits), ends


def figure_line(figure: Figure) -> str:
    """Write a figure in a line: `4.12 [3.98, 4.25] · 160/200 scored · 40 failed · bounds 3.40–4.50`."""
    head = " ".join(filter(None, figure_value(figure)))
    return " · ".join((head, *counts_of(figure)))


def cell_words(cell: Cell) -> tuple[str, tuple[str, ...]]:
    """Return what a cell says, and the short lines beneath it."""
    if cell is None:
        return DASH, ()
    if isinstance(cell, str):
        return cell, ()
    if isinstance(cell, int):
        return f"{cell:,}", ()
    if isinstance(cell, Number):
        beneath = []
        if cell.interval is not None:
            fewer = cell.digits if cell.interval_digits is None else cell.interval_digits
            beneath.append(interval(cell.interval, fewer))
        if cell.bounds is not None:
            beneath.append(f"bounds {bounds(cell.bounds, cell.digits, signed=cell.signed)}")
        limit = "≤" if cell.at_most else ""
        return limit + decimal(cell.value, cell.digits, signed=cell.signed), (*beneath, *cell.notes)
    if isinstance(cell, Text):
        return " ".join(filter(None, (cell.text, cell.note, *(t.text for t in cell.tags)))), ()
    if isinstance(cell, Missing):
        return cell.why or DASH, ()
    if isinstance(cell, Count):
        return f"{cell.n:,}" if cell.of is None else f"{cell.n:,}/{cell.of:,}", cell.notes
    return _wider_words(cell)


def _wider_words(cell: Percent | Interval | Mix | Figure) -> tuple[str, tuple[str, ...]]:
    if isinstance(cell, Percent):
        ends = cell.interval
        return percent(cell.value), () if ends is None else (percents(ends),)
    if isinstance(cell, Interval):
        return interval(cell.ends, cell.digits), ()
    if isinstance(cell, Mix):
        return (mix_words(cell), (f"of {sum(p.n for p in cell.parts):,}",)) if cell.parts else (DASH, ())
    value, between = figure_value(cell)
    scored = f"{cell.n:,}/{cell.requested:,}" + (f", {cell.n_na:,} n/a" if cell.n_na else "")
    counts = (scored, f"{cell.n_failed:,} failed")
    return (value, (between, *counts)) if cell.n else (DASH, (value, *counts))


def mix_words(mix: Mix) -> str:
    """Write the counts of a mix: `3 / 2 / 1`."""
    return " / ".join(f"{p.n:,}" for p in mix.parts)


def part_share(n: int, total: int) -> float:
    """Return the share of a part; 0 of nothing."""
    return n / total if total else 0.0


def prose_words(prose: Prose) -> str:
    """Return a sentence without its looks."""
    pieces = (prose,) if isinstance(prose, str | Span) else prose
    return "".join(p if isinstance(p, str) else _span(p) for p in pieces)


def _span(span: Span) -> str:
    return f"“{span.text}”" if span.style == "quote" else span.text
