"""A seeded bootstrap that draws whole clusters (conversations, users), without a loop over draws."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["BootstrapInterval", "cluster_bootstrap", "mean_draws"]

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
    codes: dict[Hashable, int] = {}
    index = np.array([codes.setdefault(c, len(codes)) for c in clusters], dtype=np.intp)
    groups = len(codes)
    if groups < 2:
        return BootstrapInterval(None, None, draws, draws, groups, level)
    step = max(1, _CHUNK_CELLS // index.size)
    parts = [
        statistic(
            rng.multinomial(groups, np.full(groups, 1 / groups), size=size)[:, index].astype(np.float64)
        )
        for size in _sizes(draws, step)
    ]
    found = np.concatenate(parts)
    defined = found[np.isfinite(found)]
    undefined = draws - int(defined.size)
    if undefined * 2 > draws:
        return BootstrapInterval(None, None, draws, undefined, groups, level)
    low, high = np.quantile(defined, [0.5 - level / 2, 0.5 + level / 2])
    return BootstrapInterval(float(low), float(high), draws, undefined, groups, level)


def mean_draws(values: Sequence[float] | Floats, weights: Floats) -> Floats:
    """Mean per row of `weights`, shape (draws, n) -> (draws,)."""
    means: Floats = weights @ np.asarray(values, dtype=np.float64) / weights.sum(axis=1)
    return means


def _sizes(draws: int, step: int) -> list[int]:
    return [min(step, draws - start) for start in range(0, draws, step)]
