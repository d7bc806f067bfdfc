"""Two sources side by side: what a judge and people say of the same targets, tallied into cells.

A measure is a function of how often each cluster counts. What enters is tallied first: targets of which both
sources say the same are one cell. So many draws cost a product of their weights with the cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np

from dialogauge.stats.categories import WIDEST, Categories
from dialogauge.stats.coefficients import auc_within, divided
from dialogauge.stats.table import Codes, DissatisfiedRule, Floats, Mask, Scores, ScoreTable, row_codes

Need = Literal["numbers", "scale", "categories", "classes", "ranking", "users", "blocks"]
"""What a measure can need of a table and of both sources."""

_COLUMNS: Final = ("gold", "value", "gold_whole", "whole", "order", "gold_class", "class")
_DENSE: Final = 64
"""Cells times clusters, for each target, up to which clusters are tallied by cells, in an array of 8 MB."""


class Weights:
    """How often each cluster, and by it each cell, counts in a block."""

    def __init__(self, pairs: Pairs, clusters: Floats) -> None:
        self.clusters = clusters
        """Shape (d, clusters)."""
        self._pairs = pairs

    @cached_property
    def cells(self) -> Floats:
        """Shape (d, cells)."""
        counts = self._pairs.counts
        if counts is not None:
            return self.clusters @ counts
        drawn: Floats = self.clusters[:, self._pairs.cluster]
        return drawn if self._pairs.weights is None else drawn * self._pairs.weights

    @cached_property
    def tables(self) -> Floats:
        """Shape (d, q, q): the whole scores of both; rows are the reference."""
        return self._pairs.tables(self.cells)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSample:
    """What a source and a reference say of the n targets of a table. Made by `sample_of`."""

    table: ScoreTable
    source: Scores
    reference: Scores
    rule: DissatisfiedRule | None
    can: frozenset[Need]
    low_is_bad: bool
    ranks_apart: bool
    """Whether the source ranks by something else than its values."""

    @property
    def columns(self) -> Floats:
        """Shape (columns, n), in the order of `_COLUMNS`: with what is not there 0."""
        gold, scored, nothing = self.reference, self.source, np.zeros(self.table.n)
        gold_class, own = _classes(gold, gold.values, self.rule), _classes(scored, scored.whole, self.rule)
        columns = {
            "gold": gold.values if gold.numbers else nothing,
            "value": scored.values,
            "gold_whole": gold.whole if gold.numbers else nothing,
            "whole": scored.whole,
            "order": scored.order,
            "gold_class": nothing if gold_class is None else gold_class,
            "class": nothing if own is None else own,
        }
        return np.array([columns[name] for name in _COLUMNS])


class Pairs:
    """What sources and references say of the targets of samples, tallied into cells. Made by `pair_up`.

    Small samples of one kind may be taken together: each has clusters, users and blocks of its own.
    """

    def __init__(self, samples: Sequence[ScoreSample]) -> None:
        tables, first = [s.table for s in samples], samples[0]
        self.scale, self.can, self.low_is_bad = first.source.scale, first.can, first.low_is_bad
        self.n = sum(t.n for t in tables)
        self.samples = len(samples)
        self.cluster, self.sample = _numbered([t.cluster_codes for t in tables])
        """Shape (n,), and of each cluster its sample, shape (clusters,)."""
        self.clusters = self.sample.size
        self.weights: Floats | None = None
        """Shape (n,), how often each target counts; None where once."""
        if any(t.weights is not None for t in tables):
            self.weights = np.concatenate([np.ones(t.n) if t.weights is None else t.weights for t in tables])
        self._tables = tables
        every = np.concatenate([s.columns for s in samples], axis=1)
        cells, self.cell = every, np.arange(self.n)
        self.counts: Floats | None = None
        """Shape (clusters, cells); None where each target is a cell of its own."""
        most = min(_DENSE * self.n, 1_000_000) // max(self.clusters, 1)
        if np.unique(every[_COLUMNS.index("order")]).size <= most:  # there are as many cells at least
            codes, places = row_codes(list(every))
            if places.size <= most:
                cells, self.cell = every[:, places], codes
                self.counts = _tally(self.cluster, self.clusters, codes, places.size, self.weights)
        by_name = dict(zip(_COLUMNS, cells, strict=True))
        self.gold, self.value = by_name["gold"], by_name["value"]
        """Shape (cells,): the reference's number and the source's, with fractions."""
        self.gold_whole, self.whole = by_name["gold_whole"], by_name["whole"]
        self.order: Floats = by_name["order"]
        """What the source ranks by."""
        self.gold_sat, self.sat = 1 - by_name["gold_class"], 1 - by_name["class"]
        """1 where the reference, or the source, is satisfied."""

    @property
    def ranking(self) -> Floats:
        """What the source ranks by, the satisfied highest."""
        return self.order if self.low_is_bad else -self.order

    @property
    def size(self) -> int:
        """Cells."""
        return int(self.gold.size)

    def won_within(self, what: Literal["users", "blocks"]) -> tuple[Floats, Floats]:
        """Return how often a dissatisfied target ranks below a satisfied one of its group.

        A group counts by its pairs over its targets (Mantel and Haenszel), so that a long one does not speak
        for all. Groups lie within clusters.

        Returns:
            Won pairs and all pairs, each by cluster, shape (clusters,).
        """
        group, groups = self._codes(what)
        weights = np.ones(self.n) if self.weights is None else self.weights
        won, pairs = auc_within(self.ranking[self.cell], self.gold_sat[self.cell], group, weights)
        size = np.bincount(group, weights=weights, minlength=groups)
        cluster = np.zeros(groups, dtype=np.intp)
        cluster[group] = self.cluster
        shares = (np.bincount(cluster, of / size, self.clusters).astype(np.float64) for of in (won, pairs))
        won, pairs = shares
        return won, pairs

    def mean(self, of: Floats) -> Figure:
        """Return the mean over targets of a value per cell."""
        value, weights = of[self.cell], np.ones(self.n) if self.weights is None else self.weights
        sums, sizes = (
            np.bincount(self.cluster, weights=w, minlength=self.clusters) for w in (value * weights, weights)
        )
        return lambda w: divided(w.clusters @ sums, w.clusters @ sizes)

    @cached_property
    def varied(self) -> Codes:
        """Clusters that hold another whole score, of either source, than the reference's commonest.

        Shape (samples,), as of `holding`.
        """
        gold, whole, sample = self.gold_whole[self.cell], self.whole[self.cell], self.sample[self.cluster]
        levels, codes = np.unique(gold, return_inverse=True)
        counts = _tally(sample, self.samples, codes, levels.size)
        commonest = levels[counts.argmax(axis=1)][sample]
        return self.holding((gold != commonest) | (whole != commonest))

    def holding(self, targets: Mask) -> Codes:
        """Count the clusters of each sample that hold one of the targets, shape (n,) -> (samples,)."""
        return np.bincount(self.sample[np.unique(self.cluster[targets])], minlength=self.samples)

    @cached_property
    def by_user(self) -> Groups:
        """The targets by user."""
        return Groups(self, *self._codes("users"))

    @cached_property
    def by_block(self) -> Groups:
        """The targets by block."""
        return Groups(self, *self._codes("blocks"))

    def _codes(self, what: Literal["users", "blocks"]) -> tuple[Codes, int]:
        """Number the users, or the blocks, of all samples."""
        codes = [t.user_codes if what == "users" else t.block_codes for t in self._tables]
        known = [of for of in codes if of is not None]
        if len(known) < len(codes):
            msg = f"the table has no {what}"
            raise ValueError(msg)
        numbers, sample = _numbered(known)
        return numbers, sample.size

    @cached_property
    def categories(self) -> Categories:
        """The whole scores of the scale."""
        return Categories.of_scale(self.scale)

    @property
    def width(self) -> int:
        """Numbers of the widest array that is made of one row of weights."""
        return max(self.size, len(self.categories) ** 2 if "categories" in self.can else 0)

    @cached_property
    def _places(self) -> tuple[Codes, Codes, Codes]:
        """The cells in the order of their place in a table; the places taken, and where each starts."""
        gold, whole = self.categories.codes(np.stack([self.gold_whole, self.whole]))
        places = gold * len(self.categories) + whole
        order = np.argsort(places, kind="stable")
        return order, *np.unique(places[order], return_index=True)

    def tables(self, cells: Floats) -> Floats:
        """Return the whole scores as tables, (d, cells) -> (d, q, q); rows are the reference."""
        q, (order, places, starts) = len(self.categories), self._places
        tables = np.zeros((len(cells), q * q))
        tables[:, places] = np.add.reduceat(cells[:, order], starts, axis=1)
        return tables.reshape(-1, q, q)


class Groups:
    """The targets in groups: users, or blocks."""

    def __init__(self, pairs: Pairs, codes: Codes, groups: int) -> None:
        self._shape = (groups, pairs.size, pairs.clusters)
        self._samples, self._sample = pairs.samples, np.zeros(groups, dtype=np.intp)
        self._sample[codes] = pairs.sample[pairs.cluster]
        places = np.ravel_multi_index((codes, pairs.cell, pairs.cluster), self._shape)
        rows, of, times = np.unique(places, return_inverse=True, return_counts=True)
        self._n = (times if pairs.weights is None else np.bincount(of, pairs.weights)).astype(np.float64)
        self._group, self._cell, self._cluster = np.unravel_index(rows, self._shape)
        self.sizes = self._sums(self._n)

    @cached_property
    def counts(self) -> Floats:
        """Shape (groups, cells)."""
        groups, cells, _ = self._shape
        return _tally(self._group, groups, self._cell, cells, self._n)

    @cached_property
    def _by_cluster(self) -> Floats:
        groups, _, clusters = self._shape
        return _tally(self._cluster, clusters, self._group, groups, self._n)

    def known(self, values: Floats) -> Codes:
        """Count the groups of each sample with a value of their own, shape (groups,) -> (samples,)."""
        return np.bincount(self._sample[np.isfinite(values)], minlength=self._samples)

    def over(self, values: Floats) -> Figure:
        """Return the mean of a value per group, weighted by its targets; undefined ones take no part."""
        known = np.isfinite(values)
        weight = self._by_cluster * known
        sums, sizes = weight @ np.where(known, values, 0.0), weight.sum(axis=1)
        return lambda w: divided(w.clusters @ sums, w.clusters @ sizes)

    def centred(self, gold: Floats, score: Floats) -> tuple[Floats, Floats, Callable[[Weights], Floats]]:
        """Take each group's own means away.

        Args:
            gold: Shape (cells,).
            score: Shape (cells,).

        Returns:
            Both, shape (rows,), and the weights of the rows, shape (d, rows).
        """
        values = (of[self._cell] for of in (gold, score))
        g, s = (of - (self._sums(of * self._n) / self.sizes)[self._group] for of in values)
        return g, s, lambda w: w.clusters[:, self._cluster] * self._n

    def _sums(self, of_rows: Floats) -> Floats:
        return np.bincount(self._group, weights=of_rows, minlength=self._shape[0]).astype(np.float64)


Figure = Callable[[Weights], Floats]
"""Of a block of weights the figure of each, shape (d,); NaN where undefined."""


def pair_up(
    table: ScoreTable, source: Scores, reference: Scores, rule: DissatisfiedRule | None = None
) -> Pairs:
    """Lay a source beside a reference, target by target; arguments are those of `sample_of`."""
    return Pairs([sample_of(table, source, reference, rule)])


def sample_of(
    table: ScoreTable, source: Scores, reference: Scores, rule: DissatisfiedRule | None = None
) -> ScoreSample:
    """Return what a source and a reference say of a table's targets.

    The class of the dissatisfied is what a source names itself, else the rule: on the number of the reference
    (people's mean of 3.9 lies below 4), and on the whole score of the source (what it calls a 4 is a 4).

    Args:
        table: Of n targets.
        source: A judge, a rater, a control.
        reference: Mostly people.
        rule: What counts as dissatisfied; None leaves the classes out.
    """
    numbers = reference.numbers
    inside = (reference.values >= source.scale.low) & (reference.values <= source.scale.high)
    scale = numbers and bool(inside.all())
    can: dict[Need, bool] = {
        "numbers": numbers,
        "scale": scale,
        "categories": 0 < source.scale.high - source.scale.low < WIDEST,
        "classes": rule is not None and (scale or source.dissatisfied is not None),
        "ranking": rule is not None,
        "users": table.users is not None,
        "blocks": table.blocks is not None,
    }
    low_is_bad = source.scale.higher_is_better if rule is None or rule.category is not None else rule.lower
    return ScoreSample(
        table,
        source,
        reference,
        rule,
        frozenset(need for need, able in can.items() if able),
        low_is_bad,
        not np.array_equal(source.order, source.values),
    )


def _classes(scores: Scores, values: Floats, rule: DissatisfiedRule | None) -> Floats | None:
    if rule is None:
        return None
    return rule.classes(values) if scores.dissatisfied is None else scores.dissatisfied


def _tally(rows: Codes, n_rows: int, columns: Codes, n_columns: int, n: Floats | None = None) -> Floats:
    counts = np.bincount(rows * n_columns + columns, weights=n, minlength=n_rows * n_columns)
    return counts.reshape(n_rows, n_columns).astype(np.float64)


def _numbered(codes: Sequence[tuple[Codes, int]]) -> tuple[Codes, Codes]:
    """Number the groups of several samples one after the other; return the numbers, and each group's sample.

    Args:
        codes: Of each sample the group of each target, from 0, and how many groups there are.
    """
    sizes = [size for _, size in codes]
    starts = np.cumsum([0, *sizes])
    numbers = np.concatenate([of + start for (of, _), start in zip(codes, starts, strict=False)])
    return numbers, np.repeat(np.arange(len(codes)), sizes)
