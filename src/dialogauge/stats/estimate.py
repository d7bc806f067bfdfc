"""One estimate with one clustered interval, and the one way of drawing bootstrap replicates.

Whole clusters are drawn with replacement, because scores of one user or one conversation go together. The
same settings draw the same clusters for every figure on the same targets, so differences of two figures are
paired; and the first thousand of ten thousand draws are the thousand that were drawn without them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Final, TypeVar

import numpy as np

from dialogauge.stats.coefficients import divided
from dialogauge.stats.table import Floats, label_codes

Label = TypeVar("Label", bound=Hashable)

_BLOCK_CELLS: Final = 250_000
"""Weights held at once: 2 MB, whatever the number of targets and draws."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval; what is undefined is None."""

    value: float | None
    """None where the figure is undefined, for example over nothing: then n is 0."""
    low: float | None
    """None with fewer than two clusters, without draws, or where most draws leave the figure undefined."""
    high: float | None
    level: float
    """Of the interval, in (0, 1)."""
    n: int
    """Targets that it stands on."""
    clusters: int
    """Clusters that hold at least one of them."""
    method: str
    """How the interval is made, and by what it is clustered: `bootstrap by users`."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def within(self, low: float, high: float) -> Estimate:
        """Return the same figure with its interval cut at the ends of a scale, which no mean can pass."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(self.low, low), high=min(self.high, high))

    def to_json(self) -> dict[str, Any]:
        """Write the estimate; what is undefined is null."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ClusterDraws:
    """How clusters are drawn."""

    draws: int = 1000
    """Of an interval; 0 for none."""
    seed: int = 0
    level: float = 0.95
    for_p: int = 0
    """Of a p-value, where it takes more than an interval; intervals read the first `draws`."""
    published: bool = False
    """Whether to draw by Python's own generator and to take order statistics as ends, as PersTurnBench's
    published intervals do. Slower, and used only where these are reproduced."""

    @property
    def total(self) -> int:
        """Draws that are made."""
        return max(self.draws, self.for_p) if self.draws else 0

    def blocks(self, clusters: int, cells: int = 0, versions: int = 1) -> Iterator[Floats]:
        """Yield how often each cluster is drawn, in blocks of shape (d, clusters) that sum to `total` rows.

        Args:
            clusters: How many there are.
            cells: Columns of the widest array that is made of a block; bounds its rows.
            versions: Of a source that was dealt by chance; each block is for one of them, and `draws` has
                enough blocks for all.
        """
        if not self.total or not clusters:
            return
        step = max(1, min(_BLOCK_CELLS // max(clusters, cells), -(-self.draws // versions)))
        rng = np.random.default_rng(self.seed)
        for start in range(0, self.total, step):
            size = min(step, self.total - start)
            if self.published:
                yield _published_weights(self.total, self.seed, clusters)[start : start + size]
            else:
                drawn = rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=size)
                yield drawn.astype(np.float64)

    def ends(self, replicates: Floats, clusters: int) -> tuple[float, float] | None:
        """Return the ends of the interval: percentiles of the first `draws` replicates.

        The published ends are order statistics: the sorted replicates at floor(n (1 - level) / 2) and
        floor(n (1 + level) / 2), counted from 0. None with fewer than two clusters, or where over half of the
        replicates are undefined.
        """
        mine = replicates[: self.draws]
        defined = np.sort(mine[np.isfinite(mine)])
        n = int(defined.size)
        if clusters < 2 or not n or n * 2 < mine.size:
            return None
        if self.published:
            last = min(n - 1, int(n * (1 + self.level) / 2))
            return float(defined[int(n * (1 - self.level) / 2)]), float(defined[last])
        low, high = np.quantile(defined, [0.5 - self.level / 2, 0.5 + self.level / 2])
        return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Basis:
    """What figures stand on."""

    n: int
    """Targets."""
    clusters: int
    unit: str
    """What a cluster is, as messages say it: `users`."""
    draws: ClusterDraws

    def estimate(self, value: float | None, replicates: Floats) -> Estimate:
        """Put a figure together with the interval of its replicates, shape (total draws,)."""
        ends = None if value is None else self.draws.ends(replicates, self.clusters)
        low, high = ends or (None, None)
        how = "published bootstrap" if self.draws.published else "bootstrap"
        method = f"{how} by {self.unit}" if self.draws.draws else "none"
        return Estimate(value, low, high, self.draws.level, self.n, self.clusters, method)


@lru_cache(maxsize=32)
def _published_weights(draws: int, seed: int, clusters: int) -> Floats:
    """Draw cluster after cluster by `random.Random(seed).choice`, as PersTurnBench's code does."""
    rng, places = random.Random(seed), range(clusters)
    weights = np.zeros((draws, clusters))
    for row in weights:
        for _ in places:
            row[rng.choice(places)] += 1
    weights.setflags(write=False)
    return weights


def replicates_of(statistic: Callable[[Floats], Floats], clusters: int, draws: ClusterDraws) -> Floats:
    """Return the replicates of a statistic, shape (total,), NaN where undefined.

    Args:
        statistic: Takes how often each cluster was drawn, shape (d, clusters), and returns shape (d,).
        clusters: How many there are.
        draws: How they are drawn.
    """
    parts = [statistic(weights) for weights in draws.blocks(clusters)]
    return np.concatenate(parts) if parts else np.empty(0)


def mean_estimate(
    values: Sequence[float] | Floats,
    clusters: Sequence[Hashable],
    draws: ClusterDraws,
    *,
    unit: str = "users",
) -> Estimate:
    """Return the mean over cases, with an interval that draws clusters.

    Args:
        values: Shape (n,), finite; a share takes 0 and 1.
        clusters: Shape (n,), the cluster of each case.
        draws: How clusters are drawn.
        unit: What a cluster is.
    """
    array = np.asarray(values, dtype=np.float64)
    codes, groups = label_codes(clusters)
    sums, sizes = (np.bincount(codes, weights=of, minlength=groups) for of in (array, np.ones(array.size)))
    replicates = replicates_of(lambda w: divided(w @ sums, w @ sizes), groups, draws)
    value = float(sums.sum() / sizes.sum()) if array.size else None
    return Basis(int(array.size), groups, unit, draws).estimate(value, replicates)


def group_means(values: Sequence[float] | Floats, groups: Sequence[Label]) -> dict[Label, float]:
    """Return the mean of each group, in the order in which groups first come; NaN values take no part."""
    array = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(array)
    codes: dict[Label, int] = {}
    of = [codes.setdefault(g, len(codes)) for g, there in zip(groups, known.tolist(), strict=True) if there]
    places = np.array(of, dtype=np.intp)
    means = np.bincount(places, weights=array[known]) / np.bincount(places)
    return dict(zip(codes, means.tolist(), strict=True))


def macro_mean(means: Mapping[Any, float]) -> float | None:
    """Return the mean of the groups' means, each group counted once; None without a group."""
    return sum(means.values()) / len(means) if means else None


def macro_replicates(means: Mapping[Any, float], draws: ClusterDraws) -> Floats:
    """Return the replicates of the mean of the groups' means, shape (total,); groups sorted by name."""
    values = np.array([means[group] for group in sorted(means)], dtype=np.float64)
    return replicates_of(lambda w: w @ values / values.size, values.size, draws)


def macro_estimate(means: Mapping[Any, float], draws: ClusterDraws, *, n: int) -> Estimate:
    """Return the mean of the users' means with an interval that draws users.

    Args:
        means: By group, as `group_means` returns them.
        draws: How groups are drawn.
        n: Values behind the means.
    """
    return Basis(n, len(means), "users", draws).estimate(macro_mean(means), macro_replicates(means, draws))
