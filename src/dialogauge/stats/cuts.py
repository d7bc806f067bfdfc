"""Cuts: what a prediction with fractions is called, in whole scores, by what people said elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dialogauge.stats.table import Floats, whole_scores

_LEAST: Final = 50
"""Fewer ratings are too few to fit to."""
ROUNDING: Final = (1.5, 2.5, 3.5, 4.5)
"""Plain rounding, where too little is known."""
_MORE_THREES, _MORE_FIVES = 0.25, 0.2
"""By how much oftener 3 and 5 are given than by people; 4 gives way."""


def shares_of(scores: Floats) -> Floats:
    """Return how often each score from 1 to 5 is to be given, shape (5,).

    As often as people gave it, but a quarter more 3s and a fifth more 5s at the cost of the 4s, which keep
    at least half: a prediction draws towards the middle, and it is made for the dissatisfied next to the
    boundary.
    """
    whole = whole_scores(scores).astype(np.intp)
    shares: Floats = np.bincount(whole - 1, minlength=5) / whole.size
    more = np.array([0.0, 0.0, _MORE_THREES * shares[2], 0.0, _MORE_FIVES * shares[4]])
    if more.sum() > 0:
        more *= min(1.0, 0.5 * shares[3] / more.sum())
    shares += more
    shares[3] -= more.sum()
    return shares


def cuts_of(predicted: Floats, scores: Floats) -> tuple[float, ...]:
    """Return four ascending values of the prediction; a score is 1 and one more for each value exceeded.

    Both arguments, shape (ratings,), are of training users that were left out.
    """
    if scores.size < _LEAST or float(np.ptp(scores)) == 0:
        return ROUNDING
    below: Sequence[float] = np.minimum(np.cumsum(shares_of(scores))[:4], 1.0).tolist()
    return tuple(float(np.quantile(predicted, q)) for q in below)
