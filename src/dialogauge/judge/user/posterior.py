"""A Gaussian process over replies with a part that all users share and one that is each user's own.

    y(u, x) = x'w + f_u(x) + noise,    w ~ N(0, 1),    f_u ~ GP(0, k)

The rows of different users have only `w` in common, so the training users enter one by one: each costs one
solve of the size of its own rows and leaves a precision and a shift for `w`. What `w` then is believed to be
is the prior under which a user's own history is read, which again is one small solve. The result is that of
the Gaussian process over all rows together, without its one large Cholesky, and a user can be taken out
again exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.judge.user.kernel import Rows, own_covariance

__all__ = ["Belief", "Evidence", "evidence_of", "predict", "prior", "pulls"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rated rows of one user, or of several together, say of the shared weights."""

    precision: Floats
    """Shape (columns, columns)."""
    shift: Floats
    """Shape (columns,)."""

    @classmethod
    def together(cls, parts: Iterable[Evidence], columns: int) -> Evidence:
        """Put together what several users say; of nobody, it is nothing."""
        precision, shift = np.zeros((columns, columns)), np.zeros(columns)
        for part in parts:
            precision += part.precision
            shift += part.shift
        return cls(precision, shift)

    def without(self, part: Evidence) -> Evidence:
        """Take one user out again."""
        return Evidence(self.precision - part.precision, self.shift - part.shift)


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of the shared weights: a normal distribution."""

    mean: Floats
    """Shape (columns,)."""
    covariance: Floats
    """Shape (columns, columns)."""

    @classmethod
    def of(cls, evidence: Evidence) -> Belief:
        """Start from w ~ N(0, 1) and take the evidence in."""
        precision = np.eye(evidence.shift.size) + evidence.precision
        covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        return cls(covariance @ evidence.shift, covariance)


def evidence_of(rows: Rows, values: Floats, noise: float) -> Evidence:
    """Read one user's rated rows.

    Args:
        rows: The user's rows.
        values: Their ratings, shape (rows,), centred.
        noise: Variance of a rating beside all that is modelled.
    """
    covariance = own_covariance(rows, rows) + noise * np.eye(values.size)
    solved = np.linalg.solve(covariance, np.column_stack([rows.shared, values]))
    found = rows.shared.T @ solved
    return Evidence(found[:, :-1], found[:, -1])


def predict(belief: Belief, history: Rows, values: Floats, targets: Rows, noise: float) -> Floats:
    """Return the expected value of each target row, each as if it stood alone, shape (targets,).

    Args:
        belief: From the training users, the user at hand not among them.
        history: The user's rated rows; may be empty.
        values: Their ratings, centred.
        targets: The rows to predict.
        noise: As in `evidence_of`.
    """
    moved: Floats = pulls(belief, history, values, targets, noise).sum(axis=0)
    return prior(belief, targets) + moved


def prior(belief: Belief, targets: Rows) -> Floats:
    """Return what the training users make expect, shape (targets,)."""
    out: Floats = targets.shared @ belief.mean
    return out


def pulls(belief: Belief, history: Rows, values: Floats, targets: Rows, noise: float) -> Floats:
    """Return by how much each rated row moves each target from its prior, shape (history, targets).

    The arguments are those of `predict`.
    """
    spread = history.shared @ belief.covariance
    among = spread @ history.shared.T + own_covariance(history, history)
    across = spread @ targets.shared.T + own_covariance(history, targets)
    surprise = values - history.shared @ belief.mean
    weights = np.linalg.solve(among + noise * np.eye(values.size), surprise)
    out: Floats = across * weights[:, None]
    return out
