"""Means: over targets in clusters, over groups, with failures; and a published interval of them."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dialogauge.stats.coefficients import divided
from dialogauge.stats.estimate import LEVEL, Basis, Estimate, Gain, Moves, Range, Sides, freedom_of
from dialogauge.stats.table import Floats, label_codes

Label = TypeVar("Label", bound=Hashable)


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


def mean_estimate(
    values: Sequence[float] | Floats,
    clusters: Sequence[Hashable] | None = None,
    *,
    weights: Sequence[float] | Floats | None = None,
    limits: Range = (0.0, 1.0),
    unit: str = "conversations",
) -> Estimate:
    """Return the mean of `values` with an interval clustered by `clusters`.

    Args:
        values: Shape (n,), finite; a share takes 0 and 1.
        clusters: Shape (n,), the cluster of each value; None when each value is a cluster of its own.
        weights: Shape (n,), how many targets each value stands for: one divided by its chance of being
            chosen. The mean is then Hajek's (1971), the sum of the weighted values by that of the weights.
        limits: The range of the values.
        unit: What a cluster is.

    Raises:
        ValueError: Lengths differ, a value is not finite, or a weight is not above 0.
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        msg = "a mean takes finite values only: leave out what failed or does not apply"
        raise ValueError(msg)
    if clusters is None:
        clusters = range(array.size)
    if len(clusters) != array.size:
        msg = f"{array.size} values but {len(clusters)} clusters"
        raise ValueError(msg)
    codes, groups = label_codes(clusters)
    each = np.ones(array.size) if weights is None else np.asarray(weights, dtype=np.float64)
    if each.shape != array.shape or not (each > 0).all():
        msg = "a weight above 0 for each value"
        raise ValueError(msg)
    per_cluster = (np.bincount(codes, weights=of, minlength=groups) for of in (array * each, each))
    sums, sizes = (of.astype(np.float64) for of in per_cluster)
    targets = None if weights is None else array.size
    return mean_of_sums(sums, sizes, limits=limits, unit=unit, targets=targets)


def mean_of_sums(
    sums: Floats,
    counts: npt.NDArray[Any],
    *,
    limits: Range,
    unit: str = "conversations",
    support: int | None = None,
    targets: int | None = None,
) -> Estimate:
    """Return the clustered mean from the sum and the count of the values in each cluster.

    Args:
        sums: Shape (G,), the sum of a cluster's values.
        counts: Shape (G,), the number of a cluster's values; clusters without values are left out.
        limits: The range of the values.
        unit: What a cluster is.
        support: Clusters that it stands on, where others hold targets but tell nothing of it.
        targets: How many values there are, where `counts` are sums of their weights. Clusters then count for
            as many as would tell as much if all weighed the same.
    """
    sizes = np.asarray(counts, dtype=np.float64)
    filled = sizes > 0
    sums, sizes = np.asarray(sums, dtype=np.float64)[filled], sizes[filled]
    total, n = float(sums.sum()), float(sizes.sum())
    moved = divided(total - sums, n - sizes)
    basis = Basis.of(sizes, unit)
    if targets is not None:
        basis, support = replace(basis, n=targets), int(freedom_of(sizes)) + 1
    return basis.estimate(total / n if n else None, moved, limits, support=support)


def gain_of_sums(
    a: tuple[Floats, Floats], b: tuple[Floats, Floats], *, limits: Range, unit: str, paired: bool
) -> tuple[Gain, Basis]:
    """Return how far the mean of b lies above that of a, and what the difference stands on.

    The same cluster is left out of both. Of two samples a cluster is mostly of one of them, and the
    difference is made of both means' own intervals.

    Args:
        a: Sum and count of the values in each cluster, shape (G,) each.
        b: The same of the others, cluster by cluster; of two samples one of the two counts is mostly 0.
        limits: The range of the values.
        unit: What a cluster is.
        paired: Whether the clusters of a are those of b.
    """
    filled = a[1] + b[1] > 0
    (sums_a, counts_a), (sums_b, counts_b) = ((sums[filled], counts[filled]) for sums, counts in (a, b))

    def mean(sums: Floats, counts: Floats) -> Floats:
        return divided(sums.sum() - sums, counts.sum() - counts)

    n_a, n_b = float(counts_a.sum()), float(counts_b.sum())
    reach, basis = limits[1] - limits[0], Basis.of(counts_a + counts_b, unit)
    moved_a, moved_b = mean(sums_a, counts_a), mean(sums_b, counts_b)
    if not n_a or not n_b:
        return Gain(None, moved_b - moved_a, reach), basis
    value_a, value_b = float(sums_a.sum() / n_a), float(sums_b.sum() / n_b)
    sides = None
    if not paired:
        sides = _sides((value_a, moved_a, counts_a), (value_b, moved_b, counts_b), limits)
    return Gain(value_b - value_a, moved_b - moved_a, reach, sides=sides), basis


def _sides(a: tuple[float, Floats, Floats], b: tuple[float, Floats, Floats], limits: Range) -> Sides:
    """Put two means together, each with what it is without each cluster, and the clusters' counts."""
    moves = [np.nan_to_num(moved - value) for value, moved, _ in (a, b)]
    there = [counts > 0 for _, _, counts in (a, b)]
    one, other = (
        Moves.of(of, int(filled.sum()), freedom_of(counts[filled]))
        for of, filled, (_, _, counts) in zip(moves, there, (a, b), strict=True)
    )
    spread, both = math.sqrt(one.variance * other.variance), int((there[0] & there[1]).sum())
    correlation = float(moves[0] @ moves[1]) / spread if spread else 0.0
    return Sides(a[0], b[0], one, other, limits, correlation, both)


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


def macro_gain(differences: Mapping[Any, float], reach: float) -> Gain:
    """Return the mean of the users' mean differences, none of which is above `reach` either way."""
    return Gain(macro_mean(differences), _moved(differences), reach)


def _moved(means: Mapping[Any, float]) -> Floats:
    """Return the mean of the groups' means with each group left out, shape (groups,)."""
    values = np.array(list(means.values()), dtype=np.float64)
    return divided(values.sum() - values, np.full(values.size, values.size - 1.0))


def macro_estimate(means: Mapping[Any, float], *, n: int, limits: Range, unit: str = "users") -> Estimate:
    """Return the mean of the users' means with an interval by users.

    Args:
        means: By user, as `group_means` returns them.
        n: Values behind the means.
        limits: The range of the values.
        unit: What stands for a user.
    """
    return Basis(n, len(means), unit).estimate(macro_mean(means), _moved(means), limits)


def published_interval(means: Mapping[Any, float], *, draws: int = 1000, seed: int = 42) -> Range | None:
    """Return the interval of the mean of the users' means that PersTurnBench publishes.

    It is too narrow where there are few users, and stands here so that published figures can be had.

    Users are drawn by Python's own generator; the ends are order statistics, the sorted replicates at
    floor(n (1 - level) / 2) and floor(n (1 + level) / 2), counted from 0. None with fewer than two users.

    Source: PersTurnBench, appendix G.
    """
    values = [means[user] for user in sorted(means)]
    if len(values) < 2 or not draws:
        return None
    rng = random.Random(seed)
    drawn = sorted(sum(rng.choice(values) for _ in values) / len(values) for _ in range(draws))
    return drawn[int(draws * (1 - LEVEL) / 2)], drawn[min(draws - 1, int(draws * (1 + LEVEL) / 2))]
