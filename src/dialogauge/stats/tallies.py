"""Ratings tallied by cluster, so that a coefficient is a function of how often each cluster counts.

What a coefficient needs of a cluster is a few sums: how often two ratings of a target were of which
categories, for each pair of raters and for all; how often each category was chosen; sums of squares. They are
added up once. A draw costs one product of its weights with them. Arrays are made in blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from dialogauge.stats.coefficients import divided
from dialogauge.stats.contingency import Pooled
from dialogauge.stats.table import Codes, Floats, Mask

_BLOCK: Final = 2_500_000
"""Numbers of an array made at once: 20 MB."""
_ROUNDING: Final = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """The ratings of n targets by s raters, ready to be tallied."""

    values: Floats
    """Shape (n, s); NaN: not rated."""
    codes: Codes
    """Shape (n, s), the place of the category; -1: not rated."""
    steps: Floats
    """Shape (q,), the numbers of the categories in rising order; of names their places."""
    cluster: Codes
    """Shape (n,), from 0."""
    clusters: int

    @property
    def times(self) -> Codes:
        """How often each target was rated, shape (n,)."""
        return np.asarray((self.codes >= 0).sum(axis=1), dtype=np.intp)

    @property
    def complete(self) -> Mask:
        """The targets that every rater rated, shape (n,)."""
        return np.asarray((self.codes >= 0).all(axis=1), dtype=np.bool_)

    def pairs(self, most: int) -> Iterator[list[tuple[int, int]]]:
        """Yield the pairs of raters, at most so many at a time."""
        every = list(itertools.combinations(range(self.codes.shape[1]), 2))
        return (every[start : start + most] for start in range(0, len(every), most))

    def pooled(self, weights: Floats) -> Pooled:
        """Return what all pairs of ratings say, for each row of weights (draws, clusters)."""
        q, times = self.steps.size, self.times.astype(np.float64)
        sums = np.zeros((2, len(weights), q * q))
        others = np.maximum(times - 1, 1)
        for some in self.pairs(max(1, _BLOCK // max(times.size, 1))):
            target, _, cell = self._cells(some)
            for of, value in zip(sums, (1 / (times * others)[target], 1 / others[target]), strict=True):
                of += self._counted(target, cell, value, q * q, weights)
        tables = sums.reshape(2, len(weights), q, q)
        agreed, coincidences = tables + np.swapaxes(tables, -1, -2)
        target, rater = np.nonzero(self.codes >= 0)
        shares = self._counted(target, self.codes[target, rater], 1 / times[target], q, weights)
        return Pooled(agreed, coincidences, shares, self.steps)

    def tables(self, weights: Floats) -> Iterator[tuple[list[tuple[int, int]], Floats]]:
        """Yield pairs of raters with their tables, shape (draws, pairs, q, q), some pairs at a time."""
        q = self.steps.size
        for some in self.pairs(max(1, _BLOCK // max(q * q * len(weights), self.times.size, 1))):
            target, pair, cell = self._cells(some)
            every = self._counted(target, pair * q * q + cell, None, len(some) * q * q, weights)
            yield some, every.reshape(len(weights), len(some), q, q)

    def _cells(self, pairs: list[tuple[int, int]]) -> tuple[Codes, Codes, Codes]:
        """Return where two raters rated the same target: the target, the place of the pair, the cell."""
        one, other = (self.codes[:, side] for side in np.array(pairs, dtype=np.intp).T)
        target, pair = np.nonzero((one >= 0) & (other >= 0))
        return target, pair, one[target, pair] * self.steps.size + other[target, pair]

    def _counted(
        self, target: Codes, code: Codes, value: Floats | None, size: int, weights: Floats
    ) -> Floats:
        """Return the sums of values by code, shape (draws, size), each as often as its cluster counts."""
        out = np.zeros((len(weights), size))
        used, place = np.unique(code, return_inverse=True)
        step = max(1, _BLOCK // max(self.clusters, 1))
        for start in range(0, used.size, step):
            columns = used[start : start + step]
            here = slice(None) if used.size <= step else (place >= start) & (place < start + step)
            at = self.cluster[target[here]] * columns.size + place[here] - start
            of = None if value is None else value[here]
            tally = np.bincount(at, weights=of, minlength=self.clusters * columns.size)
            out[:, columns] = weights @ tally.reshape(self.clusters, -1).astype(np.float64, copy=False)
        return out

    def _summed(self, columns: Floats, some: Mask, weights: Floats) -> Floats:
        """Return the sums of columns (n, c) over some targets, shape (c, draws)."""
        cluster = self.cluster[some]
        tally = [np.bincount(cluster, weights=of, minlength=self.clusters) for of in columns[some].T]
        return np.stack(tally) @ weights.T

    def one_way(self, weights: Floats) -> Floats:
        """Return ICC(1), shape (draws,): of targets rated by any, each so often as it was."""
        times = self.times.astype(np.float64)
        y = np.where(self.codes >= 0, self.values - self.steps.mean(), 0.0)
        total = y.sum(axis=1)
        columns = [np.ones(times.size), times, times**2, total, divided(total**2, times), (y**2).sum(axis=1)]
        targets, n, squares, sums, between, within = self._summed(
            np.stack(columns, axis=1), times > 0, weights
        )
        mean = divided(sums**2, n)
        ms_between = divided(_settled(between - mean, within), targets - 1)
        ms_within = divided(_settled(within - between, within), n - targets)
        size = divided(n - divided(squares, n), targets - 1)
        return divided(ms_between - ms_within, ms_between + (size - 1) * ms_within)

    def two_way(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return ICC(2) and ICC(3), shape (draws,) each: of the targets that every rater rated."""
        k, some = self.codes.shape[1], self.complete
        y = self.values - self.steps.mean()
        columns = np.column_stack([np.ones(len(y)), y.sum(axis=1) ** 2, (y**2).sum(axis=1), y])
        n, rows, squares, *raters = self._summed(columns, some, weights)
        by_rater = np.stack(raters)
        mean = divided(by_rater.sum(axis=0) ** 2, n * k)
        between = _settled(rows / k - mean, squares)
        strictness = _settled(divided((by_rater**2).sum(axis=0), n) - mean, squares)
        rest = _settled(squares - mean - between - strictness, squares)
        ms_rows, ms_raters = divided(between, n - 1), strictness / (k - 1)
        ms_rest = divided(rest, (n - 1) * (k - 1))
        top, bottom = ms_rows - ms_rest, ms_rows + (k - 1) * ms_rest
        return divided(top, bottom + divided(k * (ms_raters - ms_rest), n)), divided(top, bottom)


def _settled(squares: Floats, of: Floats) -> Floats:
    """Return sums of squares without what rounding alone leaves of a zero."""
    return np.where(squares > _ROUNDING * (1 + of), squares, 0.0)
