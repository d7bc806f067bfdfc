"""How two columns of numbers go together: Pearson, Spearman, AUC, quadratic weighted kappa.

Every coefficient has two forms. `pearson(x, y)` gives the figure. `pearson_draws(x, y, weights)` gives
it once per row of a weight matrix (draws, n), without a Python loop: a bootstrap passes how often each
value was drawn. A coefficient that is undefined is None, and NaN among draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Values = Sequence[float] | Floats

_SIDES: Final = ("left", "right")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient; None when it is undefined for these values."""

    value: float | None
    n: int
    """Pairs it stands on."""


def pearson(x: Values, y: Values) -> Coefficient:
    """Pearson's r; undefined with fewer than two pairs or when a column is constant."""
    return _single(pearson_draws, x, y)


def spearman(x: Values, y: Values) -> Coefficient:
    """Spearman's rho: Pearson's r of the mid-ranks, so ties are allowed."""
    return _single(spearman_draws, x, y)


def auc(scores: Values, positive: Values) -> Coefficient:
    """Area under the ROC curve: P(score of a positive > of a negative), ties count a half.

    `positive` is 1 or 0 for each score. Undefined when one of the classes is empty.
    """
    return _single(auc_draws, scores, positive)


def quadratic_weighted_kappa(x: Values, y: Values) -> Coefficient:
    """Cohen's kappa with quadratic weights, of scores with equal steps (Cohen, 1968).

    Quadratic weights make the categories superfluous: kappa = 1 - E(x - y)^2 / (E(x' - y')^2) with x'
    and y' drawn independently, so unused levels of the scale do not matter. Undefined when both columns
    are constant at the same score.
    """
    return _single(kappa_draws, x, y)


def pearson_draws(x: Values, y: Values, weights: Floats) -> Floats:
    """Pearson's r per row of `weights`, shape (draws, n) -> (draws,)."""
    a, b, w = _columns(x, y, weights)
    return _weighted_pearson(a[None, :], b[None, :], w)


def spearman_draws(x: Values, y: Values, weights: Floats) -> Floats:
    """Spearman's rho per row of `weights`; ranks are taken anew within each draw."""
    a, b, w = _columns(x, y, weights)
    return _weighted_pearson(_weighted_ranks(a, w), _weighted_ranks(b, w), w)


def auc_draws(scores: Values, positive: Values, weights: Floats) -> Floats:
    """AUC per row of `weights`, shape (draws, n) -> (draws,).

    Raises:
        ValueError: `positive` holds other values than 0 and 1.
    """
    a, label, w = _columns(scores, positive, weights)
    if not np.isin(label, (0, 1)).all():
        msg = "labels of an AUC are 0 or 1"
        raise ValueError(msg)
    high, low = np.flatnonzero(label == 1), np.flatnonzero(label == 0)
    low = low[np.argsort(a[low], kind="stable")]
    under = np.zeros((w.shape[0], low.size + 1))
    np.cumsum(w[:, low], axis=1, out=under[:, 1:])
    below, up_to = (under[:, np.searchsorted(a[low], a[high], side=side)] for side in _SIDES)
    ones = w[:, high]
    return _divide((ones * (below + up_to) / 2).sum(axis=1), ones.sum(axis=1) * under[:, -1])


def kappa_draws(x: Values, y: Values, weights: Floats) -> Floats:
    """Quadratic weighted kappa per row of `weights`, shape (draws, n) -> (draws,)."""
    a, b, w = _columns(x, y, weights)
    total = w.sum(axis=1)
    observed = _divide(w @ ((a - b) ** 2), total)
    mean_a, mean_b = _divide(w @ a, total), _divide(w @ b, total)
    # E(x' - y')^2 = var x + var y + (mean x - mean y)^2 for independent x', y'
    chance = _variance(a, mean_a, w, total) + _variance(b, mean_b, w, total) + (mean_a - mean_b) ** 2
    kappa: Floats = 1 - _divide(observed, np.where(chance > 1e-12, chance, 0.0))
    return kappa


def mid_ranks(values: Values) -> Floats:
    """Ranks from 1; tied values get the mean of the ranks they cover. Shape (n,) -> (n,)."""
    array = np.asarray(values, dtype=np.float64)
    ranks: Floats = _weighted_ranks(array, np.ones((1, array.size)))[0]
    return ranks


def _single(draws: Callable[[Values, Values, Floats], Floats], x: Values, y: Values) -> Coefficient:
    n = max(len(x), len(y))
    value = float(draws(x, y, np.ones((1, n)))[0]) if n else math.nan
    return Coefficient(value if math.isfinite(value) else None, n)


def _columns(x: Values, y: Values, weights: Floats) -> tuple[Floats, Floats, Floats]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or weights.shape[-1] != a.size:
        msg = f"columns of different length: {a.size} and {b.size}, weights for {weights.shape[-1]}"
        raise ValueError(msg)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        msg = "coefficients take finite values only: leave out what failed or does not apply"
        raise ValueError(msg)
    return a, b, weights


def _weighted_pearson(a: Floats, b: Floats, w: Floats) -> Floats:
    total = w.sum(axis=1, keepdims=True)
    da = a - _divide((w * a).sum(axis=1, keepdims=True), total)
    db = b - _divide((w * b).sum(axis=1, keepdims=True), total)
    saa, sbb, sab = (w * da * da).sum(axis=1), (w * db * db).sum(axis=1), (w * da * db).sum(axis=1)
    # a constant column leaves only rounding noise, which must not become a coefficient
    floor = 1e-12 * total[:, 0]
    return _divide(sab, np.sqrt(np.where((saa > floor) & (sbb > floor), saa * sbb, 0.0)))


def _weighted_ranks(values: Floats, w: Floats) -> Floats:
    """Mid-ranks in the sample where value i occurs w[d, i] times; shape (draws, n)."""
    _, inverse = np.unique(values, return_inverse=True)
    ranks: Floats = (_below(w, values) + (_per_level(w, values) + 1) / 2)[:, inverse]
    return ranks


def _per_level(w: Floats, values: Floats) -> Floats:
    """Weight at each distinct value, in ascending order; shape (draws, levels)."""
    order = np.argsort(values, kind="stable")
    _, starts = np.unique(values[order], return_index=True)
    summed: Floats = np.add.reduceat(w[:, order], starts, axis=1)
    return summed


def _below(w: Floats, values: Floats) -> Floats:
    level = _per_level(w, values)
    return np.cumsum(level, axis=1) - level


def _variance(column: Floats, mean: Floats, w: Floats, total: Floats) -> Floats:
    variance: Floats = _divide(w @ (column**2), total) - mean**2
    return variance


def _divide(top: Floats, bottom: Floats) -> Floats:
    """Divide; by zero gives NaN without a warning."""
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out
