"""How sure a mean is when its scores come in clusters: several turns of one conversation.

The variance is the cluster-robust (sandwich) one of a mean: residuals are summed within a cluster
before they are squared, so turns of one conversation do not count as independent. Source: Liang and
Zeger (1986) with the factor G / (G - 1), and Student's t with G - 1 degrees of freedom.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_CHUNK_CELLS = 4_000_000
"""Weights held at once: 32 MB, whatever the number of values and draws."""


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A percentile interval; None when fewer than half of the draws are defined."""

    low: float | None
    high: float | None
    draws: int
    undefined: int
    """Draws in which the statistic was undefined, left out of the percentiles."""
    clusters: int
    level: float


def cluster_bootstrap(
    statistic: Callable[[Floats], Floats],
    clusters: Sequence[Hashable],
    *,
    rng: np.random.Generator,
    draws: int = 1000,
    level: float = 0.95,
) -> BootstrapInterval:
    """Return the percentile interval of a statistic when clusters are drawn with replacement.

    Args:
        statistic: Takes how often each value was drawn, shape (d, n), and returns the statistic of each
            draw, shape (d,), NaN where undefined. For example `partial(pearson_draws, x, y)`.
        clusters: Shape (n,), the cluster of each value.
        rng: Source of chance; the same state gives the same interval.
        draws: How many resamples.
        level: Of the interval, in (0, 1).

    Raises:
        ValueError: Fewer than one draw, or the level is out of range.
    """
    if draws < 1 or not 0 < level < 1:
        msg = f"a bootstrap needs at least one draw and a level in (0, 1), not {draws} and {level}"
        raise ValueError(msg)
    weights = cluster_weights(clusters, rng=rng, draws=draws)
    groups = len(set(clusters))
    found = np.concatenate([statistic(w) for w in weights]) if groups > 1 else np.full(draws, np.nan)
    return interval_of_draws(found, clusters=groups, level=level)


def cluster_weights(
    clusters: Sequence[Hashable], *, rng: np.random.Generator, draws: int, chunks: int = 1
) -> Iterator[Floats]:
    """Yield how often each value is drawn, in blocks of shape (d, n) that sum to `draws` rows.

    Args:
        clusters: Shape (n,), the cluster of each value; whole clusters are drawn.
        rng: Source of chance.
        draws: Rows in all.
        chunks: Blocks at least, where there are as many draws; more where memory asks for it.
    """
    codes: dict[Hashable, int] = {}
    index = np.array([codes.setdefault(c, len(codes)) for c in clusters], dtype=np.intp)
    groups = len(codes)
    if not groups:
        return
    step = max(1, min(_CHUNK_CELLS // index.size, -(-draws // chunks)))
    for size in _sizes(draws, step):
        drawn = rng.multinomial(groups, np.full(groups, 1 / groups), size=size)
        yield drawn[:, index].astype(np.float64)


def choice_weights(clusters: Sequence[Hashable], *, seed: int, draws: int) -> Floats:
    """Return how often each cluster is drawn by Python's own generator, shape (draws, clusters).

    Cluster after cluster by `random.Random(seed).choice`: the draws of PersTurnBench's published intervals,
    when the clusters come sorted.
    """
    groups = len(clusters)
    rng = random.Random(seed)
    places = range(groups)
    out = np.zeros((draws, groups))
    for row in out:
        for _ in places:
            row[rng.choice(places)] += 1
    return out


def order_interval(found: Floats, *, clusters: int, level: float = 0.95) -> BootstrapInterval:
    """Return the interval between order statistics, the ends of PersTurnBench's published intervals.

    The sorted draws at floor(n (1 - level) / 2) and floor(n (1 + level) / 2), counted from 0; None with fewer
    than two clusters, or where over half of the draws are undefined.
    """
    draws = int(found.size)
    defined = np.sort(found[np.isfinite(found)])
    n, undefined = int(defined.size), draws - int(defined.size)
    if clusters < 2 or undefined * 2 > draws or not n:
        return BootstrapInterval(None, None, draws, undefined, clusters, level)
    low, high = defined[int(n * (1 - level) / 2)], defined[min(n - 1, int(n * (1 + level) / 2))]
    return BootstrapInterval(float(low), float(high), draws, undefined, clusters, level)


def interval_of_draws(found: Floats, *, clusters: int, level: float = 0.95) -> BootstrapInterval:
    """Return the percentile interval of draws, shape (draws,); None with fewer than two clusters."""
    draws = int(found.size)
    defined = found[np.isfinite(found)]
    undefined = draws - int(defined.size)
    if clusters < 2 or undefined * 2 > draws or not defined.size:
        return BootstrapInterval(None, None, draws, undefined, clusters, level)
    low, high = np.quantile(defined, [0.5 - level / 2, 0.5 + level / 2])
    return BootstrapInterval(float(low), float(high), draws, undefined, clusters, level)


def mean_draws(values: Sequence[float] | Floats, weights: Floats) -> Floats:
    """Mean per row of `weights`, shape (draws, n) -> (draws,)."""
    means: Floats = weights @ np.asarray(values, dtype=np.float64) / weights.sum(axis=1)
    return means


def _sizes(draws: int, step: int) -> list[int]:
    return [min(step, draws - start) for start in range(0, draws, step)]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The mean if every failure had been the worst score, and if it had been the best."""

    worst: float | None
    """None when there is neither a score nor a failure."""
    best: float | None
    n: int
    """Scores."""
    n_failed: int


def mean_bounds(total: float, n: int, n_failed: int, *, worst: float, best: float) -> Bounds:
    """Return the bounds of a mean of `n` scores that sum to `total`, with `n_failed` failures.

    Args:
        total: Sum of the scores.
        n: How many scores; n/a is no score and no failure.
        n_failed: How many scores are missing because the judge failed.
        worst: The worst score of the scale (the higher end where lower is better).
        best: The best score of the scale.

    Raises:
        ValueError: A count is negative.
    """
    if n < 0 or n_failed < 0:
        msg = f"counts cannot be negative: n={n}, n_failed={n_failed}"
        raise ValueError(msg)
    asked = n + n_failed
    if asked == 0:
        return Bounds(None, None, 0, 0)
    return Bounds((total + n_failed * worst) / asked, (total + n_failed * best) / asked, n, n_failed)


def wilson_interval(hits: int, n: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Return the Wilson score interval of `hits` out of `n`; None when n is 0.

    Raises:
        ValueError: Counts that cannot be, or a level outside (0, 1).
    """
    if not 0 <= hits <= n or not 0 < level < 1:
        msg = f"no interval for {hits} of {n} at level {level}"
        raise ValueError(msg)
    if n == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, squared = hits / n, z * z
    middle = (share + squared / (2 * n)) / (1 + squared / n)
    reach = z / (1 + squared / n) * math.sqrt(share * (1 - share) / n + squared / (4 * n * n))
    return max(0.0, middle - reach), min(1.0, middle + reach)


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
