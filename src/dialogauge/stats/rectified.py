"""The rectified mean: a judge scored every target, people rated some, and both are used.

The mean of people's ratings over all targets is estimated by their mean over the rated ones, plus how much
the judge's mean over the unrated ones differs from its mean over the rated ones, times a factor. The factor
is tuned to the data: 0 for a judge that says nothing of people, so that the estimate is never much less
certain than people's mean alone. What the judge gets wrong on average cancels out. It holds where the rated
targets are a random part of all, or each has a weight: one divided by its chance of being rated. Then means
over rated targets are weighted, and the judge's mean over all takes the place of that over the unrated ones,
which are no random part. A judge is nearer to people where it was fitted to them than elsewhere, so
its mean over the rated ones is over those that it was not fitted to.

Source: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), prediction-powered inference; Angelopoulos,
Duchi and Zrnic (2023), PPI++, whose power tuning is here made for clusters: the factor that makes the sum of
squares of the clusters' influences least. The interval is that of every figure (`estimate`); the factor is
tuned anew with each cluster left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from dialogauge.core.values import Value
from dialogauge.stats.estimate import MIN_CLUSTERS, Basis, Estimate, Range, freedom_of
from dialogauge.stats.means import mean_estimate, mean_of_sums
from dialogauge.stats.table import Floats, Mask, label_codes


class RectifiedMean(Value):
    """Three estimates of people's mean, from the same clusters."""

    judge: Estimate
    """The judge's mean over all targets."""
    rated_only: Estimate
    """People's mean over the rated targets."""
    rectified: Estimate
    factor: float
    """How far the judge is used: 0 not at all; about 1 where it is as people are, on their scale."""


def rectified_mean(  # noqa: PLR0913 - two columns, their ranges, and what is known of the targets
    ratings: Sequence[float] | Floats,
    judge: Sequence[float] | Floats,
    clusters: Sequence[Hashable],
    of_ratings: Range,
    of_judge: Range,
    *,
    weights: Floats | None = None,
    fitted: Mask | None = None,
    unit: str = "conversations",
) -> RectifiedMean:
    """Return the rectified mean, beside the judge's and that of the ratings alone.

    Args:
        ratings: Shape (n,), people's; NaN where they did not rate.
        judge: Shape (n,), finite; on any scale.
        clusters: Shape (n,), the cluster of each target.
        of_ratings: The range of people's ratings.
        of_judge: That of the judge's scores.
        weights: Shape (n,), of rated targets how many they stand for; the others have none. None: as many.
        fitted: Shape (n,), whether the judge was fitted to a target. It is not used where too few clusters
            hold rated ones that it was not fitted to.
        unit: What a cluster is.

    Raises:
        ValueError: Lengths differ, the judge left a target out, or there is no rated or no unrated one.
    """
    people, own = np.asarray(ratings, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    rated = np.isfinite(people)
    if people.shape != own.shape or len(clusters) != people.size or not np.isfinite(own).all():
        msg = "a rectified mean takes a score of the judge and a cluster for each target"
        raise ValueError(msg)
    if not rated.any() or rated.all():
        msg = "a rectified mean takes rated and unrated targets"
        raise ValueError(msg)
    codes, groups = label_codes(clusters)
    known, fresh = np.where(rated, people, 0.0), rated
    if fitted is not None and (rated & fitted).any():
        fresh = rated & ~fitted
        fresh = fresh & (np.unique(codes[fresh]).size >= MIN_CLUSTERS)
    weight = np.ones(people.size) if weights is None else np.where(rated, weights, 0.0)
    others = ~rated if weights is None else np.ones(people.size)
    columns = (known * weight, rated * weight, own * fresh * weight, fresh * weight, own * others, others)
    per_cluster = [np.bincount(codes, weights=c, minlength=groups) for c in columns]
    sums: Floats = np.stack(per_cluster, axis=1).astype(np.float64)
    total, cross = sums.sum(axis=0), sums.T @ sums
    value, factor = _rectified(total, cross)
    left_out = _rectified(total - sums, cross - sums[:, :, None] * sums[:, None, :])[0]
    # Where few clusters hold the rated targets, the interval is no surer than these few make it.
    parts = [of for of in sums.T[[1, 3, 5]] if of.any()]
    fewer = min(int(np.count_nonzero(sizes)) for sizes in parts)
    basis = Basis(int(people.size), groups, unit, min(freedom_of(sizes) for sizes in parts))
    targets = None if weights is None else int(rated.sum())
    return RectifiedMean(
        mean_estimate(own, clusters, limits=of_judge, unit=unit),
        mean_of_sums(sums[:, 0], sums[:, 1], limits=of_ratings, unit=unit, targets=targets),
        basis.estimate(float(value), left_out, of_ratings, support=fewer),
        float(factor),
    )


def _rectified(total: Floats, cross: Floats) -> tuple[Floats, Floats]:
    """Return estimate and factor from sums over clusters.

    Args:
        total: Shape (..., 6): people's scores, rated targets, the judge's scores of the rated that it was not
            fitted to, how many these are, its scores of the unrated, unrated targets. With weights the first
            four are weighted, and the last two are of all.
        cross: Shape (..., 6, 6): the sum over clusters of the products of their sums.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        rating, rated, own, fresh, other, unrated = np.moveaxis(total, -1, 0)
        mean, own_mean, other_mean = rating / rated, own / fresh, other / unrated
        nothing = np.zeros_like(mean)
        # The influence of a cluster is a + factor * b, both sums of its own sums with these weights.
        a = np.stack([1 / rated, -mean / rated, *[nothing] * 4], axis=-1)
        weights = (nothing, nothing, -1 / fresh, own_mean / fresh, 1 / unrated, -other_mean / unrated)
        b = np.stack(weights, axis=-1)
        ab = np.einsum("...i,...ij,...j->...", a, cross, b)
        bb = np.einsum("...i,...ij,...j->...", b, cross, b)
        used = bb > 1e-12 * np.abs(mean + 1)
        factor = np.where(used, -ab / bb, 0.0)
        return mean + np.where(used, factor * (other_mean - own_mean), 0.0), factor
