"""A Gaussian process over replies with a part that all users share and one that is each user's own.

    y(u, x) = x'w + f_u(x) + noise,    w ~ N(0, 1),    f_u ~ GP(0, k)

The rows of different users have only `w` in common, so the training users enter one by one: each costs one
solve of the size of its own rows and leaves a precision and a shift for `w`. The belief about `w` is the
prior for a user's own history, which is again one small solve. The result is that of the Gaussian process
over all rows together, without its one large Cholesky, and a user can be taken out again exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

LEVEL: Final = 0.15
"""Variance of the users' levels. All variances are in units of the variance of all ratings."""
SCENARIO: Final = 0.05
"""Of a user's level in one scenario."""
SESSION: Final = 0.15
"""Of a user's level in one conversation."""
READING: Final = 0.4
"""Of what a user makes of the form of a reply."""
NOISE: Final = 0.8
"""Of a rating beside all that is modelled."""

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

    def take(self, at: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
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


@dataclass(frozen=True, slots=True)
class WeightInformation:
    """Evidence of the rated rows of one user, or of several, about the shared weights."""

    precision: Floats
    """Shape (columns, columns)."""
    shift: Floats
    """Shape (columns,)."""

    @classmethod
    def together(cls, parts: Iterable[WeightInformation], columns: int) -> WeightInformation:
        """Add up the evidence of several users; without a user it is zero."""
        precision, shift = np.zeros((columns, columns)), np.zeros(columns)
        for part in parts:
            precision += part.precision
            shift += part.shift
        return cls(precision, shift)

    def without(self, part: WeightInformation) -> WeightInformation:
        """Take one user out again."""
        return WeightInformation(self.precision - part.precision, self.shift - part.shift)


@dataclass(frozen=True, slots=True)
class Belief:
    """A normal distribution of the shared weights."""

    mean: Floats
    """Shape (columns,)."""
    covariance: Floats
    """Shape (columns, columns)."""

    @classmethod
    def of(cls, evidence: WeightInformation) -> Belief:
        """Start from w ~ N(0, 1) and take the evidence in."""
        precision = np.eye(evidence.shift.size) + evidence.precision
        covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        return cls(covariance @ evidence.shift, covariance)


@dataclass(frozen=True, slots=True)
class RatedRows:
    """Rated replies to one user; may be empty."""

    rows: Rows
    scores: Floats
    """The ratings, centred, in deviations, shape (rows,)."""

    def take(self, indices: NDArray[np.intp]) -> RatedRows:
        """Return some of the rows."""
        return RatedRows(self.rows.take(indices), self.scores[indices])


def information_of(user: RatedRows) -> WeightInformation:
    """Return the evidence of one user's ratings."""
    rows = user.rows
    covariance = own_covariance(rows, rows) + NOISE * np.eye(user.scores.size)
    solved = np.linalg.solve(covariance, np.column_stack([rows.shared, user.scores]))
    both = rows.shared.T @ solved
    return WeightInformation(both[:, :-1], both[:, -1])


def predict(belief: Belief, history: RatedRows, targets: Rows) -> Floats:
    """Return the expected value of each target row, each as if it stood alone, shape (targets,).

    The user of the history is not among the training users that the belief is from.
    """
    moved: Floats = pulls(belief, history, targets).sum(axis=0)
    return prior(belief, targets) + moved


def prior(belief: Belief, targets: Rows) -> Floats:
    """Return the expected values by the training users alone, shape (targets,)."""
    out: Floats = targets.shared @ belief.mean
    return out


def pulls(belief: Belief, history: RatedRows, targets: Rows) -> Floats:
    """Return by how much each rated row moves each target from its prior, shape (history, targets)."""
    rows = history.rows
    spread = rows.shared @ belief.covariance
    among = spread @ rows.shared.T + own_covariance(rows, rows)
    across = spread @ targets.shared.T + own_covariance(rows, targets)
    surprise = history.scores - rows.shared @ belief.mean
    weights = np.linalg.solve(among + NOISE * np.eye(surprise.size), surprise)
    out: Floats = across * weights[:, None]
    return out


@dataclass(frozen=True, slots=True)
class ProcessFit:
    """The training users, together and left out."""

    together: WeightInformation
    left_out: tuple[Floats, ...]
    """By user the expected ratings of a fit to the other users, which know of the user's own ratings those
    of the other scenarios; empty where there are fewer than two users."""


def fit_process(users: Sequence[RatedRows], columns: int) -> ProcessFit:
    """Put the training users together, and predict each from the others.

    There may be none; `columns` of the rows are shared.
    """
    evidence = [information_of(user) for user in users]
    together = WeightInformation.together(evidence, columns)
    if len(users) < 2:
        return ProcessFit(together, ())
    beliefs = (Belief.of(together.without(own)) for own in evidence)
    return ProcessFit(together, tuple(_left_out(u, b) for u, b in zip(users, beliefs, strict=True)))


def _left_out(user: RatedRows, belief: Belief) -> Floats:
    """Predict a training user's ratings from all others and the user's own other scenarios."""
    out = np.empty_like(user.scores)
    for scenario in np.unique(user.rows.scenarios):
        here = np.flatnonzero(user.rows.scenarios == scenario)
        past = np.flatnonzero(user.rows.scenarios != scenario)
        out[here] = predict(belief, user.take(past), user.rows.take(here))
    return out
