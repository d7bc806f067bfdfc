"""Intervals and bounds without draws: of a mean whose scores come in clusters, of a share, and of failures.

The variance of a mean is the cluster-robust (sandwich) one: residuals are summed within a cluster before they
are squared, so turns of one conversation do not count as independent. Source: Liang and Zeger (1986) with the
factor G / (G - 1), and Student's t with G - 1 degrees of freedom. A run of a million rows has it in one pass;
figures of agreement, which have no such formula, draw clusters instead (`estimate`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.stats.estimate import Estimate
from dialogauge.stats.table import Floats, label_codes

METHOD: Final = "Student's t of clusters"
LEVEL: Final = 0.95
"""Of every interval here."""


def mean_bounds(
    total: float, n: int, n_failed: int, *, worst: float, best: float
) -> tuple[float, float] | None:
    """Return the mean if every failure had been the worst score, and if it had been the best.

    Args:
        total: Sum of the scores.
        n: How many scores; n/a is no score and no failure.
        n_failed: How many scores are missing because the judge failed.
        worst: The worst score of the scale (the higher end where lower is better).
        best: The best score of the scale.

    Returns:
        None where there is neither a score nor a failure.

    Raises:
        ValueError: A count is negative.
    """
    if n < 0 or n_failed < 0:
        msg = f"counts cannot be negative: n={n}, n_failed={n_failed}"
        raise ValueError(msg)
    asked = n + n_failed
    return ((total + n_failed * worst) / asked, (total + n_failed * best) / asked) if asked else None


def wilson_interval(hits: int, n: int) -> tuple[float, float] | None:
    """Return the 95 % Wilson score interval of `hits` out of `n`; None when n is 0.

    Raises:
        ValueError: Counts that cannot be.
    """
    if not 0 <= hits <= n:
        msg = f"no interval for {hits} of {n}"
        raise ValueError(msg)
    if n == 0:
        return None
    z = NormalDist().inv_cdf(0.975)
    share, squared = hits / n, z * z
    middle = (share + squared / (2 * n)) / (1 + squared / n)
    reach = z / (1 + squared / n) * math.sqrt(share * (1 - share) / n + squared / (4 * n * n))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def clustered_mean(values: Sequence[float] | Floats, clusters: Sequence[Hashable] | None = None) -> Estimate:
    """Return the mean of `values` with an interval clustered by `clusters`.

    Args:
        values: Shape (n,), finite.
        clusters: Shape (n,), the cluster of each value; None when each value is a cluster of its own.

    Raises:
        ValueError: Lengths differ, or a value is not finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        msg = "a mean takes finite values only: leave out what failed or does not apply"
        raise ValueError(msg)
    if clusters is None:
        return clustered_mean_of_sums(array, np.ones(array.size))
    if len(clusters) != array.size:
        msg = f"{array.size} values but {len(clusters)} clusters"
        raise ValueError(msg)
    codes, groups = label_codes(clusters)
    sums = np.bincount(codes, weights=array, minlength=groups).astype(np.float64)
    return clustered_mean_of_sums(sums, np.bincount(codes, minlength=groups))


def clustered_mean_of_sums(sums: Floats, counts: npt.NDArray[Any]) -> Estimate:
    """Return the clustered mean from the sum and the count of the values in each cluster.

    Args:
        sums: Shape (G,), the sum of a cluster's values.
        counts: Shape (G,), the number of a cluster's values; clusters without values are left out.
    """
    sizes = np.asarray(counts, dtype=np.float64)
    filled = sizes > 0
    sums, sizes = np.asarray(sums, dtype=np.float64)[filled], sizes[filled]
    n, clusters = int(sizes.sum()), int(sizes.size)
    if n == 0:
        return Estimate(None, None, None, LEVEL, 0, 0, METHOD)
    mean = float(sums.sum() / n)
    if clusters == 1:
        return Estimate(mean, None, None, LEVEL, n, 1, METHOD)
    residuals = sums - sizes * mean
    stderr = math.sqrt(float(residuals @ residuals) * clusters / (clusters - 1)) / n
    return t_estimate(mean, stderr, n=n, clusters=clusters)


def t_estimate(mean: float, stderr: float, *, n: int, clusters: int) -> Estimate:
    """Return a mean with the interval of its standard error, by Student's t; at least two clusters."""
    reach = t_quantile(0.5 + LEVEL / 2, clusters - 1) * stderr
    return Estimate(mean, mean - reach, mean + reach, LEVEL, n, clusters, METHOD)


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
