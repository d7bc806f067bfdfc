"""Left-out predictions in which nothing of the left-out part was used, not even for a setting.

For the part f, each of the three parts on either side is predicted by a fit without f and without itself.
On these predictions the ridge strength and the cuts for f are chosen; then f is predicted by the fit to all
the others. A fit without f and g serves both.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import UsageError
from dialogauge.core.shape import read_as
from dialogauge.data.ratings import LEVELS
from dialogauge.judges.fitted.model import (
    Cuts,
    PlaceTable,
    Sums,
    boundaries_of,
    choose_cuts,
    decide,
    solve_ridge,
    sums_of,
    targets_of,
    usual_of,
)
from dialogauge.stats import cohen_kappa, confusion

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

RIDGES = (150.0, 50.0, 15.0)
_NEAR = 3
"""How many parts on either side are predicted to choose the settings of a part."""


class _Stored(TypedDict):
    called: list[int]
    shares: list[list[float]]
    boundaries: tuple[int, ...]
    fold: list[int]
    ridges: tuple[float, ...]
    cuts: dict[str, Any]
    ridge: float


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The left-out predictions, and the settings chosen on them."""

    called: Whole
    """Shape (n,): the whole rating of each example, from the fit that had not seen its part."""
    shares: Floats
    """Shape (n, boundaries): the predicted share of votes up to each boundary."""
    boundaries: tuple[int, ...]
    fold: Whole
    """Shape (n,): the part of each example, from 0."""
    ridges: tuple[float, ...]
    """The strength that was chosen for each part."""
    cuts: Cuts
    """Chosen on all left-out predictions: for the model that is fitted to everything."""
    ridge: float
    """Likewise."""

    def to_json(self) -> dict[str, Any]:
        """Write as plain JSON values; numbers lose nothing."""
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in asdict(self).items()}

    @classmethod
    def from_json(cls, value: object) -> CrossValidation:
        """Read what `to_json` wrote; ValueError for anything else."""
        stored = read_as(value, _Stored)
        boundaries = stored["boundaries"]
        n = len(stored["called"])
        if not len(stored["shares"]) == len(stored["fold"]) == n or not boundaries:
            msg = "the predictions are not of the same examples"
            raise ValueError(msg)
        return cls(
            np.array(stored["called"], dtype=np.int64),
            np.array(stored["shares"], dtype=np.float64).reshape(n, len(boundaries)),
            boundaries,
            np.array(stored["fold"], dtype=np.int64),
            stored["ridges"],
            Cuts.from_json(stored["cuts"]),
            stored["ridge"],
        )


def line_folds(n: int, folds: int) -> Whole:
    """Cut n examples into parts of n // folds in their order; what is left over joins the last part."""
    size = max(1, n // folds)
    return np.minimum(np.arange(n) // size, folds - 1)


def agreement(gold: Whole, called: Whole) -> float:
    """Return what the cuts are to make large: kappa, which neither the usual rating nor chance raises."""
    return float(np.nan_to_num(cohen_kappa(confusion(gold - 1, called - 1, LEVELS))))


def boundaries_to_fit(table: PlaceTable, fold: Whole) -> tuple[int, ...]:
    """Return the ratings that have enough votes up to them and beyond.

    `fold` is the part of each example, from 0, shape (n,).

    Raises:
        UsageError: There are fewer than three parts, or all ratings are alike.
    """
    parts, boundaries = np.unique(fold).size, boundaries_of(table.shares)
    if parts < 3 or not boundaries:
        what = "all ratings are alike" if not boundaries else f"the examples fall into {parts} parts"
        msg = f"nothing to validate: {what}"
        raise UsageError(msg, hint="give more rated conversations, or --cv 3")
    return boundaries


async def cross_validate(table: PlaceTable, fold: Whole) -> CrossValidation:
    """Predict every part from the others; between two fits other tasks have their turn.

    Arguments and errors are those of `boundaries_to_fit`.
    """
    boundaries = boundaries_to_fit(table, fold)
    parts = [int(k) for k in np.unique(fold)]
    fits = _Fits(table, fold, boundaries, parts)
    for ridge in RIDGES:
        await fits.run(ridge)
    usual = usual_of(table.gold)
    called = np.full(table.gold.size, usual, dtype=np.int64)
    shares = np.zeros((table.gold.size, len(boundaries)))
    chosen = []
    for f in parts:
        inner = np.isin(fold, fits.near(f)) & ~table.prior_only
        ridge = min(RIDGES, key=lambda r: fits.error(fits.without(r, f), inner))
        seen = fits.without(ridge, f)[inner]
        here = fold == f
        usual_there = usual_of(table.gold[fold != f])
        cuts = choose_cuts(seen, table.gold[inner], boundaries, usual_there, agreement)
        shares[here] = fits.single[ridge][here]
        called[here] = np.where(table.prior_only[here], usual_there, decide(shares[here], boundaries, cuts))
        chosen.append(ridge)
    informed = ~table.prior_only
    best = min(RIDGES, key=lambda r: fits.error(fits.single[r], informed))
    final = choose_cuts(fits.single[best][informed], table.gold[informed], boundaries, usual, agreement)
    return CrossValidation(called, shares, boundaries, fold, tuple(chosen), final, best)


class _Fits:
    """The left-out predictions of all fits."""

    def __init__(self, table: PlaceTable, fold: Whole, boundaries: tuple[int, ...], parts: list[int]) -> None:
        self._table, self._fold, self._boundaries, self._parts = table, fold, boundaries, parts
        self.single: dict[float, Floats] = {}
        """By ridge strength each part as predicted by the fit without it."""
        self._pairs: dict[tuple[float, int, int], Floats] = {}
        """By strength, f and g: the part g as predicted by the fit without f and g."""
        targets = targets_of(table, boundaries)
        self._of: dict[int, Sums] = {
            f: sums_of(table.rows, targets, (fold == f) & ~table.prior_only) for f in parts
        }
        self._all = sum(list(self._of.values())[1:], start=self._of[parts[0]])

    def near(self, f: int) -> list[int]:
        """Return the parts on either side of f, in a ring."""
        i, k = self._parts.index(f), len(self._parts)
        around = {(i + step) % k for step in range(-_NEAR, _NEAR + 1)} - {i}
        return [self._parts[j] for j in sorted(around)]

    async def run(self, ridge: float) -> None:
        """Fit without each part, and without each pair of near parts."""
        fold = self._fold
        self.single[ridge] = np.zeros((fold.size, len(self._boundaries)))
        for f in self._parts:
            self.single[ridge][fold == f] = (await self._predicted(ridge, (f,)))[fold == f]
            for g in self.near(f):
                if f < g:
                    predicted = await self._predicted(ridge, (f, g))
                    self._pairs[ridge, f, g] = predicted[fold == g]
                    self._pairs[ridge, g, f] = predicted[fold == f]

    async def _predicted(self, ridge: float, left_out: tuple[int, ...]) -> Floats:
        kept = self._all
        for part in left_out:
            kept = kept - self._of[part]
        weights, prior = solve_ridge(kept, ridge)
        await asyncio.sleep(0)
        return self._table.rows.times(weights) + prior

    def without(self, ridge: float, f: int) -> Floats:
        """Return the predictions of the parts near f by fits without f and without themselves."""
        out = np.zeros((self._fold.size, len(self._boundaries)))
        for g in self.near(f):
            out[self._fold == g] = self._pairs[ridge, f, g]
        return out

    def error(self, predicted: Floats, where: NDArray[np.bool_]) -> float:
        """Return the mean squared error of the shares."""
        targets = targets_of(self._table, self._boundaries)
        return float(np.mean((predicted - targets)[where] ** 2))
