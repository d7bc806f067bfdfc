"""How far repeats of one judge lie apart, target by target: a mean over runs hides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import Scale
from dialogauge.core.values import Value
from dialogauge.report import words
from dialogauge.stats import Categories, Estimate, RatingGrid, coefficients_of, mean_estimate

_MOST: Final = 30
"""Repeats whose pairs are compared; of more the first."""
_APART: Final = 2
_CATEGORIES: Final = 101
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.integer[Any]]


class Spread(Value):
    """How far repeats of one target lie apart."""

    targets: int
    """Targets with at least two scores."""
    mean_sd: float | None
    """Mean over the targets of their standard deviation (n - 1)."""
    exact: Estimate | None = None
    """Mean over pairs of repeats of the share of targets with the same whole score.

    None on a scale of fractions, as AC1 is.
    """
    ac1: Estimate | None = None
    """Gwet's AC1 of the repeats as raters."""
    apart: Estimate | None = None
    """Share of the targets whose scores span two or more; None on a scale that spans less."""


def spread_among(
    values: Floats, targets: Places, repeats: Places, clusters: Places, scale: Scale, unit: str
) -> Spread:
    """Return how far repeats lie apart on one dimension.

    Args:
        values: Shape (n,), the scores.
        targets: Shape (n,), a number for what each is of.
        repeats: Shape (n,), from 1.
        clusters: Shape (n,).
        scale: Of the dimension.
        unit: What a cluster is.
    """
    _, first, target = np.unique(targets, return_index=True, return_inverse=True)
    table = np.full((first.size, int(repeats.max(initial=1))), np.nan)
    table[target, repeats - 1] = values
    several = np.count_nonzero(~np.isnan(table), axis=1) >= 2
    if not several.any():
        return Spread(0, None)
    sd = float(np.nanstd(table[several], axis=1, ddof=1).mean())
    return Spread(
        int(several.sum()), sd, *_agreement(table[several], scale, clusters[first][several].tolist(), unit)
    )


def _agreement(
    table: Floats, scale: Scale, clusters: Sequence[int], unit: str
) -> tuple[Estimate | None, ...]:
    """Return exact agreement, AC1, and the share of targets whose scores span two or more."""
    width = scale.high - scale.low
    if not scale.integer or not 1 <= width < _CATEGORIES:
        return ()
    used, categories = table[:, :_MOST], Categories.of_scale(scale)
    repeats = tuple(f"repeat {n}" for n in range(1, used.shape[1] + 1))
    grid = RatingGrid(used, tuple(range(len(used))), repeats, categories, tuple(clusters), unit)
    figures = coefficients_of(grid, ("exact", "ac1"))
    span = np.nanmax(table, axis=1) - np.nanmin(table, axis=1)
    apart = mean_estimate((span >= _APART).astype(np.float64), clusters, unit=unit)
    return figures["exact"], figures["ac1"], apart if width >= _APART else None


def spread_of(spread: Spread) -> str:
    """Say how far repeats of a target lie apart, each figure with its interval where there is one."""
    parts = [f"mean sd {spread.mean_sd:.2f}"]
    named = (("the same score in", spread.exact), ("2 or more apart in", spread.apart))
    parts += [f"{name} {words.percent(e.value)}{_ends(e)}" for name, e in named if e is not None]
    if spread.ac1 is not None and spread.ac1.value is not None:
        parts.append(f"AC1 {spread.ac1.value:.2f}")
    return ", ".join(parts)


def _ends(estimate: Estimate) -> str:
    return "" if estimate.interval is None else f" {words.percents(estimate.interval)}"
