"""What the training users say together, and what is said of each of them when they are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.judge.user.kernel import NOISE, Rows
from dialogauge.judge.user.posterior import Belief, Evidence, evidence_of, predict

__all__ = ["Fit", "Known", "fit_known"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Known:
    """One training user: all rated replies."""

    rows: Rows
    scores: Floats
    """Their ratings, centred, in deviations, shape (rows,)."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The training users, together and left out."""

    together: Evidence
    left_out: tuple[Floats, ...]
    """By user what is said of the ratings when the user is no training user and their own ratings of the
    scenario are not known; empty where there are fewer than two users."""


def fit_known(known: Sequence[Known], columns: int) -> Fit:
    """Put the training users together, and say of each what the others make expect.

    Args:
        known: The training users; may be empty.
        columns: How many columns of the rows all users share.
    """
    evidence = [evidence_of(user.rows, user.scores, NOISE) for user in known]
    together = Evidence.together(evidence, columns)
    if len(known) < 2:
        return Fit(together, ())
    beliefs = (Belief.of(together.without(own)) for own in evidence)
    return Fit(together, tuple(_left_out(u, b) for u, b in zip(known, beliefs, strict=True)))


def _left_out(user: Known, belief: Belief) -> Floats:
    """Say of a training user's ratings what all others and the user's own other scenarios make expect."""
    found = np.empty_like(user.scores)
    for scenario in np.unique(user.rows.scenarios):
        here = np.flatnonzero(user.rows.scenarios == scenario)
        past = np.flatnonzero(user.rows.scenarios != scenario)
        history, targets = user.rows.take(past), user.rows.take(here)
        found[here] = predict(belief, history, user.scores[past], targets, NOISE)
    return found
