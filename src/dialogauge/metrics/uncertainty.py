"""How sure a mean is when its scores come in clusters: several turns of one conversation.

The variance is the cluster-robust (sandwich) one of a mean: residuals are summed within a cluster
before they are squared, so turns of one conversation do not count as independent. Source: Liang and
Zeger (1986) with the factor G / (G - 1), and Student's t with G - 1 degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ClusteredMean", "clustered_mean", "clustered_mean_of_sums", "t_quantile"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """A mean with its interval; what is undefined is None."""

    mean: float | None
    """None when there is no value."""
    low: float | None
    """Lower end of the interval; None with fewer than two clusters."""
    high: float | None
    stderr: float | None
    n: int
    """Values."""
    clusters: int
    """Clusters that hold at least one value."""
    level: float = 0.95

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval as a pair, or None when it is undefined."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def within(self, low: float, high: float) -> ClusteredMean:
        """Return the same mean with its interval cut at the ends of a scale.

        No mean of scores lies beyond them, so nothing of the coverage is lost.
        """
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(self.low, low), high=min(self.high, high))


def clustered_mean(
    values: Sequence[float] | Floats, clusters: Sequence[Hashable] | None = None, *, level: float = 0.95
) -> ClusteredMean:
    """Return the mean of `values` with an interval clustered by `clusters`.

    Args:
        values: Shape (n,), finite.
        clusters: Shape (n,), the cluster of each value; None when each value is a cluster of its own.
        level: Of the interval, in (0, 1).

    Raises:
        ValueError: Lengths differ, a value is not finite, or the level is out of range.
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        msg = "a mean takes finite values only: leave out what failed or does not apply"
        raise ValueError(msg)
    if clusters is None:
        return clustered_mean_of_sums(array, np.ones(array.size), level=level)
    if len(clusters) != array.size:
        msg = f"{array.size} values but {len(clusters)} clusters"
        raise ValueError(msg)
    codes: dict[Hashable, int] = {}
    index = np.array([codes.setdefault(c, len(codes)) for c in clusters], dtype=np.intp)
    sums = np.bincount(index, weights=array, minlength=len(codes)).astype(np.float64)
    return clustered_mean_of_sums(sums, np.bincount(index, minlength=len(codes)), level=level)


def clustered_mean_of_sums(sums: Floats, counts: npt.NDArray[Any], *, level: float = 0.95) -> ClusteredMean:
    """Return the clustered mean from the sum and the count of the values in each cluster.

    Args:
        sums: Shape (G,), the sum of a cluster's values.
        counts: Shape (G,), the number of a cluster's values; clusters without values are left out.
        level: Of the interval, in (0, 1).

    Raises:
        ValueError: The level is out of range.
    """
    if not 0 < level < 1:
        msg = f"the level of an interval lies between 0 and 1, not {level}"
        raise ValueError(msg)
    sizes = np.asarray(counts, dtype=np.float64)
    held = sizes > 0
    sums, sizes = np.asarray(sums, dtype=np.float64)[held], sizes[held]
    n, clusters = int(sizes.sum()), int(sizes.size)
    if n == 0:
        return ClusteredMean(None, None, None, None, 0, 0, level)
    mean = float(sums.sum() / n)
    if clusters == 1:
        return ClusteredMean(mean, None, None, None, n, 1, level)
    residuals = sums - sizes * mean
    stderr = math.sqrt(float(residuals @ residuals) * clusters / (clusters - 1)) / n
    reach = t_quantile(0.5 + level / 2, clusters - 1) * stderr
    return ClusteredMean(mean, mean - reach, mean + reach, stderr, n, clusters, level)


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: int) -> float:
    """Return the p-quantile of Student's t with `df` degrees of freedom, to about 1e-10.

    Raises:
        ValueError: `p` is not in (0, 1), or `df` is below 1.
    """
    if not 0 < p < 1 or df < 1:
        msg = f"no t quantile for p={p}, df={df}: p lies in (0, 1), df is at least 1"
        raise ValueError(msg)
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if p == 0.5:
        return 0.0
    low, high = 0.0, 2.0
    while _t_upper_tail(high, df) > 1 - p:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _t_upper_tail(middle, df) > 1 - p else (low, middle)
    return (low + high) / 2


def _t_upper_tail(t: float, df: int) -> float:
    return 0.5 * _beta_regularised(df / (df + t * t), t * t / (df + t * t), df / 2, 0.5)


def _beta_regularised(x: float, one_minus_x: float, a: float, b: float) -> float:
    """I_x(a, b); 1 - x is an argument of its own so that it keeps its digits near x = 1."""
    if x <= 0 or one_minus_x <= 0:
        return 0.0 if x <= 0 else 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log(one_minus_x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a
    return 1 - front * _beta_fraction(one_minus_x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(abs(1 - (a + b) * x / (a + 1)), tiny)
    fraction = d
    for m in range(1, 500):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return fraction
