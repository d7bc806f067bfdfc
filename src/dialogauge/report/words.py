"""Numbers and cells in words: the same on a page and on a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dialogauge.report.cells import (
    Cell,
    Count,
    Ends,
    Figure,
    Interval,
    Missing,
    Mix,
    Number,
    Percent,
    Prose,
    Span,
    Text,
)

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
