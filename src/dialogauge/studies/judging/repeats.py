"""How far repeats of one judge lie apart, target by target: a mean over runs hides it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import Scale
from dialogauge.report import words
from dialogauge.stats import Categories, Estimate, RatingGrid, coefficients_of, mean_estimate

_MOST: Final = 30
"""Repeats whose pairs are compared; of more the first."""
_APART: Final = 2
_CATEGORIES: Final = 101
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
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


class RepeatScores:
    """The scores of every target in every repeat, by dimension."""

    def __init__(self, dimensions: int) -> None:
        self._targets: dict[tuple[int, int | None], int] = {}
        self._cells = array("l")
        self._at = [(array("l"), array("l"), array("d")) for _ in range(dimensions)]

    def add(self, cell: int, turn: int | None, repeat: int, position: int, value: float) -> None:
        """Add one score of one target."""
        target = self._targets.setdefault((cell, turn), len(self._targets))
        if target == len(self._cells):
            self._cells.append(cell)
        targets, repeats, values = self._at[position]
        targets.append(target)
        repeats.append(repeat - 1)
        values.append(value)

    def spread(self, position: int, scale: Scale, of: npt.NDArray[np.intp], unit: str) -> Spread:
        """Return how far the repeats lie apart on one dimension.

        Args:
            position: Of the dimension.
            scale: Of the dimension.
            of: Shape (cells,), the cluster of each cell.
            unit: What a cluster is.
        """
        target, repeat, value = (np.array(numbers) for numbers in self._at[position])
        table = np.full((len(self._targets), int(repeat.max(initial=0)) + 1), np.nan)
        if value.size:
            table[target, repeat] = value
        several = np.count_nonzero(~np.isnan(table), axis=1) >= 2
        if not several.any():
            return Spread(0, None)
        table, cells = table[several], np.array(self._cells)[several]
        sd = float(np.nanstd(table, axis=1, ddof=1).mean())
        return Spread(len(table), sd, *_agreement(table, scale, of[cells].tolist(), unit))


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
