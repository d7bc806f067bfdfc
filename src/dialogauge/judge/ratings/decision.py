"""From predicted shares of votes to one whole rating: two cut points, chosen on left-out predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cuts", "Objective", "choose_cuts", "decide", "place_cuts"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Objective = Callable[[Whole, Whole], float]
"""People's ratings and the predicted ones to what is to be large."""

_FACTORS = (0.5, 1.0, 1.5, 2.0, 3.0)
"""How often a rating beyond the usual one is given, against how often people give it."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """When to depart from the usual rating."""

    usual: int
    """What people give most often."""
    below: dict[int, float]
    """By rating k below the usual: from this predicted share of votes up to k the rating is k or less."""
    above: dict[int, float]
    """By rating k from the usual on: from this predicted share of votes beyond k it is k + 1 or more."""


def decide(shares: Floats, boundaries: tuple[int, ...], cuts: Cuts) -> Whole:
    """Return whole ratings.

    Args:
        shares: Shape (n, boundaries), predicted share of votes up to each boundary.
        boundaries: The ratings k that have a column, ascending.
        cuts: When to depart from the usual rating. Where both sides would, the lower one is taken: a
            warning is worth more than praise.
    """
    out = np.full(shares.shape[0], cuts.usual, dtype=np.int64)
    at = {k: i for i, k in enumerate(boundaries)}
    for k in sorted(cuts.above):
        out[1 - shares[:, at[k]] >= cuts.above[k]] = k + 1
    for k in sorted(cuts.below, reverse=True):
        out[shares[:, at[k]] >= cuts.below[k]] = k
    return out


def place_cuts(
    shares: Floats, gold: Whole, boundaries: tuple[int, ...], factors: tuple[float, float], usual: int
) -> Cuts:
    """Place the cuts so that ratings beyond the usual are given `factors` times as often as by people."""
    below: dict[int, float] = {}
    above: dict[int, float] = {}
    for i, k in enumerate(boundaries):
        low = k < usual
        column = shares[:, i] if low else 1 - shares[:, i]
        often = float(np.mean(gold <= k if low else gold > k)) * factors[0 if low else 1]
        if often > 0:
            (below if low else above)[k] = float(np.quantile(column, max(0.0, 1 - often)))
    return Cuts(usual, below, above)


def choose_cuts(
    shares: Floats, gold: Whole, boundaries: tuple[int, ...], usual: int, objective: Objective
) -> Cuts:
    """Return the cuts whose ratings do best; the shares must be of examples left out of the fit."""
    pairs = product(_FACTORS, _FACTORS)
    found = [place_cuts(shares, gold, boundaries, pair, usual) for pair in pairs]
    return max(found, key=lambda cuts: objective(gold, decide(shares, boundaries, cuts)))
