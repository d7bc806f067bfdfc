"""A seeded bootstrap that draws whole clusters (conversations, users), without a loop over draws."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "BootstrapInterval",
    "choice_weights",
    "cluster_bootstrap",
    "cluster_weights",
    "interval_of_draws",
    "mean_draws",
    "order_interval",
]

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
