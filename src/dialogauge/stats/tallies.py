"""Ratings tallied by cluster, so that a coefficient is a function of how often each cluster counts.

What a coefficient needs of a cluster is a few sums: how often two ratings of a target were of which
categories, for each pair of raters and for all; how often each category was chosen; sums of squares. They are
added up once. A draw costs one product of its weights with them. Arrays are made in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dialogauge.stats.coefficients import divided
from dialogauge.stats.contingency import Pooled
from dialogauge.stats.table import Codes, Floats, Mask

_BLOCK: Final = 2_500_000
"""Numbers of an array made at once: 20 MB."""
_ROUNDING: Final = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Without:
    """The tables of one rater and p others: whole, and with each of their clusters left out."""

    one: int
    others: Codes
    """Shape (p,)."""
    tables: Floats
    """Shape (p + m, q, q): the whole ones, then those without a cluster."""
    pair: Codes
    """Shape (m,): of which pair the latter are."""
    cluster: Codes
    """Shape (m,): which cluster they are without; without any other, a table is the whole one."""


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
    whole: Mask = field(init=False)
    """Shape (s,): the raters who give no fractions."""

    def __post_init__(self) -> None:
        """Find out who gives fractions."""
        whole = (self.codes < 0) | (self.values == self.steps[self.codes])
        object.__setattr__(self, "whole", whole.all(axis=0))

    @property
    def times(self) -> Codes:
        """How often each target was rated, shape (n,)."""
        return np.asarray((self.codes >= 0).sum(axis=1), dtype=np.intp)

    @property
    def complete(self) -> Mask:
        """The targets that every rater rated, shape (n,)."""
        return np.asarray((self.codes >= 0).all(axis=1), dtype=np.bool_)

    def pooled(self, weights: Floats) -> Pooled:
        """Return what all pairs of ratings say, for each row of weights (draws, clusters)."""
        q, times = self.steps.size, self.times.astype(np.float64)
        chosen = np.stack([(self.codes == code).sum(axis=1) for code in range(q)], axis=1).astype(np.float64)
        others = np.maximum(times - 1, 1)
        once = divided(np.ones(times.size), times, otherwise=0.0)
        agreed, coincidences = np.empty((2, len(weights), q, q))
        step = max(1, _BLOCK // max(times.size * q, 1))
        for start in range(0, q, step):
            some = slice(start, start + step)
            pairs = chosen[:, some, None] * (chosen[:, None, :] - np.eye(q)[some])
            pairs = pairs.reshape(times.size, pairs.shape[1] * q)
            for of, each in ((agreed, once / others), (coincidences, 1 / others)):
                of[:, some] = self._summed(pairs * each[:, None], weights).reshape(len(weights), -1, q)
        return Pooled(agreed, coincidences, self._summed(chosen * once[:, None], weights), self.steps)

    def tables(self, weights: Floats) -> Iterator[tuple[int, Codes, Floats]]:
        """Yield a rater, p others, and their tables, shape (draws, p, q, q), until all pairs were."""
        cells = self.steps.size**2
        for one, others, target, pair, cell in self._shared(lambda _: len(weights)):
            # How often each code occurs, shape (draws, size), each as often as its cluster counts.
            code = pair * cells + cell
            every = np.zeros((len(weights), (others.size * cells)))
            if code.size:
                both, times = np.unique(code * self.clusters + self.cluster[target], return_counts=True)
                codes, cluster = np.divmod(both, self.clusters)
                used, starts = np.unique(codes, return_index=True)
                for row, weight in zip(every, weights, strict=True):
                    row[used] = np.add.reduceat(weight.take(cluster) * times, starts)
            yield one, others, every.reshape(len(weights), others.size, *self._square)

    def without(self) -> Iterator[Without]:
        """Yield the tables of all pairs of raters, and each without the clusters that are in it."""
        cells = self.steps.size**2
        for one, others, target, pair, cell in self._shared(lambda n: 1 + min(n, self.clusters)):
            moved, place = np.unique(pair * self.clusters + self.cluster[target], return_inverse=True)
            whole = np.bincount(pair * cells + cell, minlength=others.size * cells).reshape(-1, cells)
            gone = np.bincount(place * cells + cell, minlength=moved.size * cells).reshape(-1, cells)
            of, cluster = np.divmod(moved, self.clusters)
            tables = np.concatenate([whole, whole[of] - gone]).astype(np.float64).reshape(-1, *self._square)
            yield Without(one, others, tables, of, cluster)

    @property
    def _square(self) -> tuple[int, int]:
        return self.steps.size, self.steps.size

    def _shared(self, tables: Callable[[int], int]) -> Iterator[tuple[int, Codes, Codes, Codes, Codes]]:
        """Yield where a rater and others rated the same targets: all pairs, a block of others at a time.

        Args:
            tables: Of how many targets a rater rated, how many tables are made of a pair.

        Yields:
            The rater, the others (p,); and of each rating that they share the target, the place of the other
            among them, and the cell of the table.
        """
        q, raters = self.steps.size, self.codes.shape[1]
        for one in range(raters):
            mine = np.flatnonzero(self.codes[:, one] >= 0)
            step = max(1, _BLOCK // max(q * q * tables(mine.size), mine.size))
            for start in range(one + 1, raters, step):
                theirs = self.codes[mine, start : start + step]
                place, other = np.nonzero(theirs >= 0)
                others, pair = np.unique(other, return_inverse=True)
                cell = self.codes[mine[place], one] * q + theirs[place, other]
                yield one, others + start, mine[place], pair, cell

    def _summed(self, columns: Floats, weights: Floats) -> Floats:
        """Return the sums of columns (n, c), shape (draws, c), each target as often as its cluster counts."""
        order = np.argsort(self.cluster, kind="stable")
        present, starts = np.unique(self.cluster[order], return_index=True)
        if not present.size:
            return np.zeros((len(weights), columns.shape[1]))
        sums = np.add.reduceat(columns[order], starts, axis=0)
        return (weights if present.size == self.clusters else weights[:, present]) @ sums

    def one_way(self, weights: Floats) -> Floats:
        """Return ICC(1), shape (draws,): of targets rated by any, each so often as it was."""
        times = self.times.astype(np.float64)
        y = np.where(self.codes >= 0, self.values - self.steps.mean(), 0.0)
        total = y.sum(axis=1)
        own = divided(total**2, times, otherwise=0.0)
        columns = [np.ones(times.size), times, times**2, total, own, (y**2).sum(axis=1)]
        rated = np.stack(columns, axis=1) * (times > 0)[:, None]
        targets, n, squares, sums, between, within = self._summed(rated, weights).T
        mean = divided(sums**2, n)
        ms_between = divided(_settled(between - mean, within), targets - 1)
        ms_within = divided(_settled(within - between, within), n - targets)
        size = divided(n - divided(squares, n), targets - 1)
        return divided(ms_between - ms_within, ms_between + (size - 1) * ms_within)

    def two_way(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return ICC(2) and ICC(3), shape (draws,) each: of the targets that every rater rated."""
        k, some = self.codes.shape[1], self.complete
        y = np.where(some[:, None], self.values - self.steps.mean(), 0.0)
        columns = np.column_stack([some, y.sum(axis=1) ** 2, (y**2).sum(axis=1), y])
        n, rows, squares, *raters = self._summed(columns, weights).T
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
