"""How alike two replies are in the eyes of one user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEVEL", "NOISE", "READING", "SCENARIO", "SESSION", "Rows", "own_covariance"]

LEVEL: Final = 0.15
"""Variance of the users' levels. All variances are in units of the variance of all ratings."""
SCENARIO: Final = 0.05
"""Of a user's level in one scenario."""
SESSION: Final = 0.15
"""Of a user's level in one conversation."""
READING: Final = 0.4
"""Of what a user makes of the form of a reply."""
NOISE: Final = 0.8
"""Of a rating beside all that."""

Floats = NDArray[np.float64]
Names = NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Rows:
    """Replies to one user, as the model sees them."""

    shared: Floats
    """What all users weigh alike, shape (rows, columns), every column with its prior deviation in it."""
    form: Floats
    """Standardised numbers of form, shape (rows, features)."""
    scenarios: Names
    """Shape (rows,)."""
    sessions: Names
    """Ids of their conversations, shape (rows,)."""

    def take(self, indices: Sequence[int] | NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        at = np.asarray(indices, dtype=np.intp)
        return Rows(self.shared[at], self.form[at], self.scenarios[at], self.sessions[at])


def own_covariance(a: Rows, b: Rows) -> Floats:
    """Return the covariance of what is this user's own between two sets of rows, shape (a, b).

    A level, one for the scenario, one for the conversation, and a smooth function of the form of a reply:
    exp(-d² / 2), d² the mean squared difference over the features. Two replies that look alike please this
    user alike, whatever others make of them.
    """
    squares = (a.form**2).sum(axis=1)[:, None] + (b.form**2).sum(axis=1) - 2 * a.form @ b.form.T
    apart = np.maximum(squares, 0.0) / max(1, a.form.shape[1])
    out: Floats = LEVEL + READING * np.exp(-apart / 2)
    out += SCENARIO * (a.scenarios[:, None] == b.scenarios)
    out += SESSION * (a.sessions[:, None] == b.sessions)
    return out
