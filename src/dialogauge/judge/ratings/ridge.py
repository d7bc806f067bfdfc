"""Ridge regression from sums over examples: fits without a part cost no second pass over the data.

The sums of several parts add up. So one pass gives the fit to everything, and the fit without each part
or pair of parts, whatever the number of examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import NotConverged
from dialogauge.judge.ratings.rows import SparseRows

__all__ = ["Sums", "solve_ridge", "sums_of"]

Floats = NDArray[np.float64]
_STEPS, _TOLERANCE = 2000, 1e-4


@dataclass(frozen=True, slots=True)
class Sums:
    """What a ridge regression needs to know of some examples, c columns and k targets."""

    squares: NDArray[np.float32]
    """Shape (c, c): the sum of x x'."""
    products: Floats
    """Shape (c, k): the sum of x y'."""
    columns: Floats
    """Shape (c,): the sum of x."""
    targets: Floats
    """Shape (k,): the sum of y."""
    size: int

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.squares + other.squares,
            self.products + other.products,
            self.columns + other.columns,
            self.targets + other.targets,
            self.size + other.size,
        )

    def __sub__(self, other: Sums) -> Sums:
        return Sums(
            self.squares - other.squares,
            self.products - other.products,
            self.columns - other.columns,
            self.targets - other.targets,
            self.size - other.size,
        )


def sums_of(rows: SparseRows, targets: Floats, mask: NDArray[np.bool_]) -> Sums:
    """Sum over the rows of a mask; `targets` has the shape (n, k)."""
    c, k = rows.columns.size, targets.shape[1]
    out = Sums(np.zeros((c, c), np.float32), np.zeros((c, k)), np.zeros(c), np.zeros(k), 0)
    for indices, block in rows.dense(mask):
        here = targets[indices]
        products = (block.T @ here.astype(np.float32)).astype(np.float64)
        columns = block.sum(axis=0, dtype=np.float64)
        out += Sums(block.T @ block, products, columns, here.sum(axis=0), indices.size)
    return out


def solve_ridge(sums: Sums, ridge: float) -> tuple[Floats, Floats]:
    """Return the weights, shape (c, k), that minimise the squared error plus the penalty, and the means (k,).

    The targets are centred; the features are not, and there is no intercept besides the means. Solved by
    conjugate gradients, scaled by the diagonal.

    Args:
        sums: Of the examples.
        ridge: Penalty on the squared weights, above 0.

    Raises:
        NotConverged: The residual did not fall to a ten-thousandth.
    """
    prior: Floats = sums.targets / max(sums.size, 1)
    right = sums.products - np.outer(sums.columns, prior)
    scale = 1 / (np.diagonal(sums.squares).astype(np.float64) + ridge)[:, None]
    weights = np.zeros_like(right)
    residual = right.copy()
    direction = scale * residual
    squared = (residual * direction).sum(axis=0)
    aim = _TOLERANCE**2 * np.maximum(squared, 1e-300)
    for _ in range(_STEPS):
        if (squared <= aim).all():
            return weights, prior
        ahead = (sums.squares @ direction.astype(np.float32)).astype(np.float64) + ridge * direction
        step = squared / np.maximum((direction * ahead).sum(axis=0), 1e-300)
        weights += step * direction
        residual -= step * ahead
        before, squared = squared, (residual * (scale * residual)).sum(axis=0)
        direction = scale * residual + squared / np.maximum(before, 1e-300) * direction
    msg = f"the ridge regression did not settle in {_STEPS} steps"
    raise NotConverged(msg, hint="a ridge strength above 1 settles soon")
