"""How two columns go together: correlations, AUC, kappas, and precision, recall and F1 of two classes.

Every coefficient has two forms. `pearson(x, y)` gives the figure. `pearson_draws(x, y, weights)` gives
it once per row of a weight matrix (draws, n), without a Python loop: the weights say how often each value
counts, 0 for one that is left out. A coefficient that is undefined is None, and NaN among draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from dialogauge.stats.distributions import t_tail
from dialogauge.stats.table import Codes, Floats

Values = Sequence[float] | Floats | npt.NDArray[np.bool_]

TiedPairs = Literal["strict", "half", "drop"]
"""What a pair says that a column has tied. `strict`: a tie agrees with a tie alone. `half`: where one column
alone has it tied it counts half. `drop`: a pair that either has tied is left out."""
_EQUAL: Final = 1e-9
"""How far apart scores are at least that are no tie."""
_SIDES: Final = ("left", "right")
_TIED: Final = 12
"""Decimals, of the largest value, up to which values to be ranked differ."""


def divided(top: Floats, bottom: Floats, *, otherwise: float = np.nan) -> Floats:
    """Divide; by zero gives `otherwise` without a warning."""
    alike = top.shape == bottom.shape  # which is most of the cost for a few clusters
    out = np.full(top.shape if alike else np.broadcast_shapes(top.shape, bottom.shape), otherwise)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def pearson(x: Values, y: Values) -> float | None:
    """Pearson's r; None with fewer than two pairs or when a column is constant."""
    return _single(pearson_draws, x, y)


def spearman(x: Values, y: Values) -> float | None:
    """Spearman's rho: Pearson's r of the mid-ranks, so ties are allowed."""
    return _single(spearman_draws, x, y)


def spearman_p(rho: float | None, n: int) -> float | None:
    """Return the two-sided p-value of Spearman's rho of n pairs, by Student's t of n - 2 degrees of freedom.

    None with fewer than three pairs, and where rho is undefined.
    """
    if rho is None or n < 3:
        return None
    return 0.0 if abs(rho) >= 1 else 2 * t_tail(abs(rho) * math.sqrt((n - 2) / (1 - rho**2)), n - 2)


def pearson_draws(x: Values, y: Values, weights: Floats) -> Floats:
    """Pearson's r per row of `weights`, shape (draws, n) -> (draws,)."""
    a, b, w = _columns(x, y, weights)
    return _weighted_pearson(a[None, :], b[None, :], w)


def spearman_draws(x: Values, y: Values, weights: Floats) -> Floats:
    """Spearman's rho per row of `weights`; ranks are taken anew within each draw."""
    a, b, w = _columns(x, y, weights)
    (of_a, ranks_a, times_a), (of_b, ranks_b, times_b) = (_weighted_ranks(column, w) for column in (a, b))
    saa, sbb = (times_a * ranks_a**2).sum(axis=1), (times_b * ranks_b**2).sum(axis=1)
    sab: Floats = np.einsum("dn,dn,dn->d", w, ranks_a[:, of_a], ranks_b[:, of_b])
    return _correlated(saa, sbb, sab, w.sum(axis=1))


def auc_draws(scores: Values, positive: Values, weights: Floats) -> Floats:
    """AUC per row of `weights`, shape (draws, n) -> (draws,).

    Raises:
        ValueError: `positive` holds other values than 0 and 1.
    """
    a, label, w = _columns(scores, positive, weights)
    if not np.isin(label, (0, 1)).all():
        msg = "labels of an AUC are 0 or 1"
        raise ValueError(msg)
    a = _without_noise(a)
    high, low = np.flatnonzero(label == 1), np.flatnonzero(label == 0)
    low = low[np.argsort(a[low], kind="stable")]
    under = np.zeros((w.shape[0], low.size + 1))
    np.cumsum(w[:, low], axis=1, out=under[:, 1:])
    below, up_to = (under[:, np.searchsorted(a[low], a[high], side=side)] for side in _SIDES)
    ones = w[:, high]
    return divided((ones * (below + up_to) / 2).sum(axis=1), ones.sum(axis=1) * under[:, -1])


def auc_without(scores: Values, positive: Values, part: Codes, parts: int) -> Floats:
    """AUC with each part of the values left out, shape (parts,): as of `auc_draws`, without a matrix.

    Args:
        scores: Shape (n,), finite.
        positive: Shape (n,), 0 or 1.
        part: Shape (n,), the part of each value, from 0.
        parts: How many there are.
    """
    _, rank = np.unique(_without_noise(np.asarray(scores, dtype=np.float64)), return_inverse=True)
    ones, zeros = (np.flatnonzero(np.asarray(positive) == label) for label in (1, 0))
    own = part * (rank.max(initial=0) + 1) + rank  # compares within a part; below is all of the parts before

    def sums(of: Codes, values: Floats | None = None) -> Floats:
        return np.bincount(part[of], weights=values, minlength=parts).astype(np.float64)

    n_ones, n_zeros = sums(ones), sums(zeros)
    won = _places(rank[ones], rank[zeros])
    lost = ones.size - _places(rank[zeros], rank[ones])
    inside = sums(ones, _places(own[ones], own[zeros])) - n_ones * (np.cumsum(n_zeros) - n_zeros)
    # The pairs of which one or the other is in a part go with it; those of which both are went twice.
    top = won.sum() - sums(ones, won) - sums(zeros, lost) + inside
    return divided(top, (ones.size - n_ones) * (zeros.size - n_zeros))


def auc_within(scores: Values, positive: Values, group: Codes, weights: Floats) -> tuple[Floats, Floats]:
    """Return the parts of the AUC of each group: pairs won, ties a half, and all pairs, shape (groups,).

    Args:
        scores: Shape (n,), finite.
        positive: Shape (n,), 0 or 1.
        group: Shape (n,), the group of each value, from 0.
        weights: Shape (n,), how often each counts.
    """
    _, rank = np.unique(_without_noise(np.asarray(scores, dtype=np.float64)), return_inverse=True)
    ones, zeros = (np.flatnonzero(np.asarray(positive) == label) for label in (1, 0))
    own = group * (rank.max(initial=0) + 1) + rank  # compares within a group; below is all of those before
    zeros = zeros[np.argsort(own[zeros], kind="stable")]
    total = np.concatenate([[0.0], np.cumsum(weights[zeros])])
    below, up_to = (total[np.searchsorted(own[zeros], own[ones], side=side)] for side in _SIDES)
    groups = int(group.max(initial=-1)) + 1
    n_ones, n_zeros = (np.bincount(group[of], weights[of], groups) for of in (ones, zeros))
    before = np.cumsum(n_zeros) - n_zeros
    wins = weights[ones] * ((below + up_to) / 2 - before[group[ones]])
    won: Floats = np.bincount(group[ones], wins, groups).astype(np.float64)
    return won, (n_ones * n_zeros).astype(np.float64)


def _places(of: Codes, among: Codes) -> Floats:
    """Return how many are below each rank, those of the same rank half. Shapes (n,), (m,) -> (n,)."""
    ordered = np.sort(among)
    below, up_to = (np.searchsorted(ordered, of, side=side) for side in _SIDES)
    places: Floats = (below + up_to) / 2
    return places


def kappa_draws(x: Values, y: Values, weights: Floats) -> Floats:
    """Quadratic weighted kappa per row of `weights`, shape (draws, n) -> (draws,)."""
    a, b, w = _columns(x, y, weights)
    total = w.sum(axis=1)
    observed = divided(w @ ((a - b) ** 2), total)
    mean_a, mean_b = divided(w @ a, total), divided(w @ b, total)
    # E(x' - y')^2 = var x + var y + (mean x - mean y)^2 for independent x', y'
    chance = _variance(a, mean_a, w, total) + _variance(b, mean_b, w, total) + (mean_a - mean_b) ** 2
    kappa: Floats = 1 - divided(observed, np.where(chance > 1e-12, chance, 0.0))
    return kappa


def mid_ranks(values: Values) -> Floats:
    """Ranks from 1; tied values get the mean of the ranks they cover. Shape (n,) -> (n,)."""
    array = np.asarray(values, dtype=np.float64)
    level, ranks, _ = _weighted_ranks(array, np.ones((1, array.size)))
    from_one: Floats = ranks[0, level] + (array.size + 1) / 2
    return from_one


def _single(draws: Callable[[Values, Values, Floats], Floats], x: Values, y: Values) -> float | None:
    n = max(len(x), len(y))
    value = float(draws(x, y, np.ones((1, n)))[0]) if n else math.nan
    return value if math.isfinite(value) else None


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
    da = a - divided((w * a).sum(axis=1, keepdims=True), total)
    db = b - divided((w * b).sum(axis=1, keepdims=True), total)
    saa, sbb, sab = (w * da * da).sum(axis=1), (w * db * db).sum(axis=1), (w * da * db).sum(axis=1)
    return _correlated(saa, sbb, sab, total[:, 0])


def _correlated(saa: Floats, sbb: Floats, sab: Floats, total: Floats) -> Floats:
    # a constant column leaves only rounding noise, which must not become a coefficient
    floor = 1e-12 * total
    return divided(sab, np.sqrt(np.where((saa > floor) & (sbb > floor), saa * sbb, 0.0)))


def _without_noise(values: Floats) -> Floats:
    """Return values to be ranked: those tie that differ only by the order in which they were summed."""
    largest = np.abs(values).max(initial=0.0)
    return np.round(values / largest, _TIED) if largest else values


def _weighted_ranks(values: Floats, w: Floats) -> tuple[Codes, Floats, Floats]:
    """Return mid-ranks, from the middle of all, in the sample where value i occurs w[d, i] times.

    Returns:
        The level of each value, shape (n,); of levels their ranks and how often each occurs, (draws, levels).
    """
    values = _without_noise(values)
    levels, inverse = np.unique(values, return_inverse=True)
    order = np.argsort(values, kind="stable")
    at_level = np.add.reduceat(w[:, order], np.searchsorted(values[order], levels), axis=1)
    ranks: Floats = np.cumsum(at_level, axis=1) - (at_level + at_level.sum(axis=1, keepdims=True)) / 2
    return inverse, ranks, at_level


def _variance(column: Floats, mean: Floats, w: Floats, total: Floats) -> Floats:
    variance: Floats = divided(w @ (column**2), total) - mean**2
    return variance


def precision_draws(called: Values, positive: Values, weights: Floats) -> Floats:
    """Precision per row of `weights`, shape (draws, n) -> (draws,); NaN where nothing was called."""
    a, b = _labels(called, positive)
    return divided(weights @ (a * b), weights @ a)


def recall_draws(called: Values, positive: Values, weights: Floats) -> Floats:
    """Recall per row of `weights`; NaN where nothing is positive."""
    a, b = _labels(called, positive)
    return divided(weights @ (a * b), weights @ b)


def f1_draws(called: Values, positive: Values, weights: Floats) -> Floats:
    """F1 per row of `weights`; 0 where no positive was found."""
    a, b = _labels(called, positive)
    return divided(2 * (weights @ (a * b)), weights @ (a + b))


def _labels(called: Values, positive: Values) -> tuple[Floats, Floats]:
    a, b = np.asarray(called, dtype=np.float64), np.asarray(positive, dtype=np.float64)
    if a.shape != b.shape:
        msg = f"columns of different length: {a.size} and {b.size}"
        raise ValueError(msg)
    if any(((column != 0) & (column != 1)).any() for column in (a, b)):
        msg = "labels are 0 or 1"
        raise ValueError(msg)
    return a, b


def kendall_without(x: Values, y: Values, part: Codes, parts: int) -> Floats:
    """Kendall's tau-b of numbers, and the same with each part left out, shape (1 + parts,).

    Source: Kendall (1945). It takes time and memory by the square of n.

    Args:
        x: Shape (n,), finite.
        y: Likewise.
        part: Shape (n,), the part of each value, from 0.
        parts: How many there are.
    """
    a, b = (np.asarray(of, dtype=np.float64) for of in (x, y))
    onto = np.zeros((parts, a.size))
    onto[part, np.arange(a.size)] = 1.0
    signs = [np.sign(of[:, None] - of) for of in (a, b)]
    sums = []
    for pairs in (signs[0] * signs[1], signs[0] ** 2, signs[1] ** 2):
        of_parts = onto @ pairs
        own = (of_parts * onto).sum(axis=1)
        sums.append(pairs.sum() - np.concatenate([[0.0], 2 * of_parts.sum(axis=1) - own]))
    return divided(sums[0], np.sqrt(sums[1] * sums[2]))


def same_order(x: Floats, y: Floats, ties: TiedPairs = "strict") -> tuple[Floats, Floats]:
    """Count the pairs of items that two columns put in the same order, row by row.

    Source: DynSess, A.6, equation 8, which is `strict`.

    Args:
        x: Shape (rows, n); NaN where an item has no score, and its pairs do not count.
        y: Likewise.
        ties: What a tied pair says.

    Returns:
        The pairs in the same order, and all that count, shape (rows,) each.
    """
    first, second = np.triu_indices(x.shape[1], 1)
    apart = [of[:, first] - of[:, second] for of in (x, y)]
    counts = np.isfinite(apart[0]) & np.isfinite(apart[1])
    a, b = (np.where(counts & (np.abs(of) > _EQUAL), np.sign(of), 0.0) for of in apart)
    same = (a == b).astype(np.float64)
    if ties == "half":
        same = np.where((a == 0) != (b == 0), 0.5, same)
    elif ties == "drop":
        counts &= (a != 0) & (b != 0)
    return (same * counts).sum(axis=1), counts.sum(axis=1).astype(np.float64)
