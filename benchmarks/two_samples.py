"""How often the interval of the difference of two samples holds it, and how often it leaves out a true 0.

Samples of few and of many clusters, rare and common shares, of one target or several in each cluster, and
scores of 1 to 5. Floors: level at most .08, coverage at least .92, in every cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.tables import table
from dialogauge.stats import gain_of_sums

__all__ = ["KINDS", "SIZES", "missed", "two_samples"]

SIZES = ((5, 5), (5, 50), (10, 100), (20, 20), (20, 200), (50, 50), (100, 100), (100, 1000))
SHARES = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5)
LEVELS = (3.0, 4.0, 4.7)
"""Of scores of 1 to 5 before they are rounded and cut."""
_TURNS = 5

Draw = Callable[[np.random.Generator, int, float], tuple[np.ndarray, np.ndarray]]
"""Draws the sums and the sizes of so many clusters of a population with such a mean."""


def _single(rng: np.random.Generator, clusters: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    return rng.binomial(1, share, clusters).astype(float), np.ones(clusters)


def _several(apart: float) -> Draw:
    """Return how clusters of several targets are drawn that differ by a logistic intercept."""
    chance = 1 / (1 + np.exp(-np.linspace(-12, 12, 481)[:, None] - _normal(4000)[None, :] * apart))
    means = chance.mean(axis=1)

    def draw(rng: np.random.Generator, clusters: int, share: float) -> tuple[np.ndarray, np.ndarray]:
        shift = np.interp(share, means, np.linspace(-12, 12, 481))
        sizes = 1 + rng.poisson(_TURNS - 1, clusters)
        often = 1 / (1 + np.exp(-(shift + rng.normal(0, apart, clusters))))
        return rng.binomial(sizes, often).astype(float), sizes.astype(float)

    return draw


def _scores(rng: np.random.Generator, clusters: int, level: float) -> tuple[np.ndarray, np.ndarray]:
    sizes = 1 + rng.poisson(_TURNS - 1, clusters)
    latent = np.repeat(rng.normal(level, 0.6, clusters), sizes) + rng.normal(0, 0.9, sizes.sum())
    starts = np.append(0, np.cumsum(sizes)[:-1])
    return np.add.reduceat(np.clip(np.round(latent), 1, 5), starts), sizes.astype(float)


def _normal(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=n)


KINDS: dict[str, tuple[Draw, tuple[float, ...]]] = {
    "share, one target each": (_single, SHARES),
    "share, five each": (_several(1.0), SHARES),
    "share, five each, far apart": (_several(2.0), SHARES),
    "scores 1 to 5, five each": (_scores, LEVELS),
}


def missed(
    kind: str, sizes: tuple[int, int], means: tuple[float, float], samples: int, seed: int = 0
) -> float:
    """Return how often the interval of a difference does not hold it: where both means are equal, the level.

    Args:
        kind: Of `KINDS`.
        sizes: Clusters of both samples.
        means: Of both populations: shares, or levels of scores.
        samples: How many.
        seed: Of all draws.
    """
    draw, rng = KINDS[kind][0], np.random.default_rng([*sizes, seed])
    truth = _truth(kind, means[1]) - _truth(kind, means[0])
    limits = (1.0, 5.0) if kind.startswith("scores") else (0.0, 1.0)
    out = 0
    for pair, n in Counter(_pairs(draw, rng, sizes, means, samples, alike=draw is _single)).items():
        sides = [np.array(side) for side in pair]
        (sums_a, counts_a), (sums_b, counts_b) = sides
        none_a, none_b = np.zeros(sums_a.size), np.zeros(sums_b.size)
        gain, _ = gain_of_sums(
            (np.append(sums_a, none_b), np.append(counts_a, none_b)),
            (np.append(none_a, sums_b), np.append(none_a, counts_b)),
            limits=limits, unit="conversations", paired=False,
        )  # fmt: skip
        low, high = gain.sides.around(gain.value, limits[1] - limits[0])
        out += n * (truth < low or truth > high)
    return out / samples


def _pairs(
    draw: Draw,
    rng: np.random.Generator,
    sizes: tuple[int, int],
    means: tuple[float, float],
    samples: int,
    *,
    alike: bool,
) -> Iterator[Any]:
    """Yield two samples each time; those of clusters alike in size in one order, for many are the same."""
    for _ in range(samples):
        sides = (draw(rng, size, mean) for size, mean in zip(sizes, means, strict=True))
        yield tuple(
            (tuple(sorted(sums.tolist())) if alike else tuple(sums.tolist()), tuple(counts.tolist()))
            for sums, counts in sides
        )


def _truth(kind: str, mean: float) -> float:
    if KINDS[kind][0] is not _scores:
        return mean
    latent = mean + np.hypot(0.6, 0.9) * _normal(400_000)
    return float(np.clip(np.round(latent), 1, 5).mean())


def two_samples(samples: int) -> dict[str, Any]:
    """Measure and print the level and the coverage of every cell; return the figures."""
    figures: dict[str, Any] = {}
    for kind, (_, means) in KINDS.items():
        rows: dict[str, list[float]] = {}
        for sizes in SIZES:
            name = f"{sizes[0]} against {sizes[1]}"
            rows[f"level, {name}"] = [missed(kind, sizes, (m, m), samples) for m in means]
            other = [m + 0.5 if kind.startswith("scores") else min(2 * m, 0.9) for m in means]
            both = [((m, o), (o, m)) for m, o in zip(means, other, strict=True)]
            rows[f"coverage, {name}"] = [1 - max(missed(kind, sizes, p, samples) for p in ps) for ps in both]
        figures[kind] = rows
        head = ("cell", *(f"{m:g}" for m in means))
        cells = [(name, *(f"{v:.3f}" for v in values)) for name, values in rows.items()]
        print(table(f"Two samples: {kind}; coverage of a doubled share, or half a point more", head, cells))
    return figures
