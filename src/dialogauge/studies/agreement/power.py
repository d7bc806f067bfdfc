"""What it takes to tell two judges apart: simulated from the answers at hand, and laid out as blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Card,
    Cards,
    Cell,
    Curve,
    Missing,
    Percent,
    Point,
    Prose,
    Section,
    Span,
    data_table,
    words,
)
from dialogauge.stats import ENOUGH, MEASURES, Power, PowerPoint, RatingGrid, ScoreTable, power_of, scores_of
from dialogauge.stats.comparison import ALPHA
from dialogauge.stats.table import Mask
from dialogauge.studies.agreement.sources import scale_of
from dialogauge.text import counted

_LIMITS = (
    "Studies are drawn from these data: whole clusters with replacement, and as many of the raters as are "
    "asked for. So the difference in the data is taken for the true one; kinds of conversations that they "
    "lack are not in it; and more raters than a target has here cannot be simulated: the same ones several "
    "times are no others."
)


def power_between(
    grid: RatingGrid, judges: tuple[str, str | None], people: Sequence[str], measure: str, *, seed: int = 0
) -> Power | None:
    """Simulate what it takes to tell two judges apart; None where they share no target with people.

    Args:
        grid: Of judges and people on the same targets.
        judges: Two of its raters; None for the second takes the constant judge that does best.
        people: Others of its raters, whose mean is what the judges are held against.
        measure: Of `MEASURES`, over all targets.
        seed: Of all draws.

    Raises:
        UsageError: One is none of the raters, or the measure cannot be simulated.
    """
    names = [name for name in judges if name is not None]
    ratings, values = grid.take(people).values, grid.take(names).values
    shared: Mask = np.array(np.isfinite(values).all(axis=1) & np.isfinite(ratings).any(axis=1))
    if not shared.any():
        return None
    scale, own = scale_of(grid.categories), grid.only(shared)
    sources = {
        name: scores_of(column, scale=scale) for name, column in zip(names, values[shared].T, strict=True)
    }
    return power_of(ScoreTable(sources, own.clusters, own.unit), judges, ratings[shared], measure, seed=seed)


def power_section(power: Power, about: str, *, curves: bool = True) -> Section:
    """Lay out the power of studies of several sizes.

    Args:
        power: As simulated.
        about: What was asked.
        curves: Whether curves are drawn beside the table.
    """
    observed = power.observed
    blocks: list[Block] = [Callout((power_sentence(power),), "info")]
    if power.points:
        by = {(p.clusters, p.raters): p for p in power.points}
        rows: list[tuple[Cell, ...]] = []
        for targets, clusters in sorted({(p.targets, p.clusters) for p in power.points}):
            points = (by.get((clusters, raters)) for raters in power.raters)
            shares = (Percent(p.apart.value, p.apart.interval) if p else Missing() for p in points)
            rows.append((targets, clusters, *shares))
        heads = ("targets", observed.unit, *(f"{_raters(k)} each" for k in power.raters))
        blocks.append(data_table("Share of studies that tell them apart", heads, rows))
        if curves:
            x = Axis(0, max(p.targets for p in power.points), "targets", whole=True)
            cards = []
            for k in power.raters:
                mine = (p for p in power.points if p.raters == k)
                curve = tuple(Point(p.targets, p.apart.value or 0.0, p.apart.interval) for p in mine)
                title = f"Share told apart, {_raters(k)} each"
                cards.append(Card(f"{_raters(k)} each", (Curve(title, curve, x, Axis(0, 1, "told apart")),)))
            blocks.append(Cards(tuple(cards), wide=True))
        blocks.append(Callout((_LIMITS,)))
    lead = (
        f"{about}, by {MEASURES[observed.measure].title}: the share of studies in which p is below "
        f"{ALPHA:g}; {power.studies:,} studies of each size."
    )
    title = f"What it takes to tell {observed.a} from {observed.b}"
    return Section(title, tuple(blocks), lead, short="Power")


def power_sentence(power: Power) -> Prose:
    """Say how many targets it takes, and how far the data at hand go."""
    observed, here = power.observed, power.here
    if here is None:
        return (Span("Cannot tell.", "strong"), f" {observed.a} and {observed.b}: {power.why_not}.")
    parts = [_needed(power, power.raters[-1])]
    parts.append(f"what you have ({_size(here)}): {_share(here)}.")
    fewer = [f"with {_raters(k)} {_short(power, k)}" for k in power.raters[:-1]]
    text = "; ".join(parts) + (f" It takes {', '.join(fewer)}." if fewer else "")
    if observed.p is not None and observed.p < ALPHA:
        return (Span(text[0].upper() + text[1:], "strong"),)
    ends = observed.difference.interval
    apart = words.decimal(observed.difference.value, 3, signed=True)
    apart += "" if ends is None else f" {words.interval(ends, 3)}"
    why = f"The data do not tell {observed.a} from {observed.b}: how far they differ is not known ({apart}). "
    return (Span(why, "strong"), f"Were it as far as here: {text}")


def _needed(power: Power, raters: float) -> str:
    names, often = f"{power.observed.a} from {power.observed.b}", f"{ENOUGH * 100:g} % of studies"
    mine, needed = [p for p in power.points if p.raters == raters], power.needed(raters)
    if needed is None:
        return f"even {_size(mine[-1])}, tell {names} in only {_share(mine[-1])} of studies"
    if not needed:
        return f"{_size(mine[0])}, or even fewer tell {names} in {often}"
    return f"about {_rounded(needed):,} targets with {_raters(raters)} each tell {names} in {often}"


def _short(power: Power, raters: float) -> str:
    mine, needed = [p for p in power.points if p.raters == raters], power.needed(raters)
    if needed is None:
        return f"more than {mine[-1].targets:,}"
    return f"about {_rounded(needed):,}" if needed else f"{mine[0].targets:,} or fewer"


def _rounded(targets: float) -> int:
    """Return a number of targets to two digits, upward: the simulation knows no more."""
    step = int(10 ** max(len(str(int(targets))) - 2, 0))
    return -(-int(targets) // step) * step


def _raters(raters: float) -> str:
    return counted(int(raters), "rater") if raters == int(raters) else f"{raters:.1f} raters"


def _size(point: PowerPoint) -> str:
    return f"{counted(point.targets, 'target')}, {_raters(point.raters)} each"


def _share(point: PowerPoint) -> str:
    return f"{100 * (point.apart.value or 0):.0f} %"
