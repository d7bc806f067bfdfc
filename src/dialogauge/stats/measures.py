"""The measures of one source against another, by name: what each needs, which way is better, its formula.

A measure is prepared once for a pair of sources and is then a function of how often each cluster counts, so
the figure itself (every cluster once) and the figures without some clusters come from the same lines. What
enters is tallied first: targets of which both sources say the same are one cell.

Sources: Cohen (1968) for quadratic weighted kappa; PersTurnBench, appendix C, for the figures by user and
within users; Sun et al. (2021) for `uar` and the F1 of their code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np

from dialogauge.core import Scale
from dialogauge.stats.coefficients import (
    auc_draws,
    auc_without,
    average_recall,
    cohen_kappa,
    divided,
    f1_draws,
    kappa_draws,
    pearson_draws,
    precision_draws,
    recall_draws,
    spearman_draws,
)
from dialogauge.stats.estimate import Range
from dialogauge.stats.table import Codes, DissatisfiedRule, Floats, Mask, Scores, ScoreTable, row_codes

Need = Literal["numbers", "scale", "classes", "ranking", "users", "blocks"]
Better = Literal["high", "low", "zero"]

MIN_TURNS: Final = 3
"""Targets below which a user has no figure of their own."""
_MOST: Final = 0.9999
"""Where a user's correlation is held before Fisher's z: nearer to 1, one user would outweigh all others."""
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
        drawn: Floats = self.clusters[:, self._pairs.cluster] if counts is None else self.clusters @ counts
        return drawn


class Pairs:
    """What a source and a reference say of the same n targets, tallied into cells. Made by `pair_up`."""

    def __init__(
        self,
        columns: Mapping[str, Floats],
        table: ScoreTable,
        scale: Scale,
        can: Set[Need],
        *,
        low_is_bad: bool,
    ) -> None:
        self.scale = scale
        self.can = can
        self.low_is_bad = low_is_bad
        self.n = table.n
        self.cluster, self.clusters = table.cluster_codes
        """Shape (n,), and how many clusters there are."""
        self._table = table
        every = np.column_stack(list(columns.values()))
        cells, self.cell = every, np.arange(self.n)
        self.counts: Floats | None = None
        """Shape (clusters, cells); None where each target is a cell of its own."""
        most = min(_DENSE * self.n, 1_000_000) // max(self.clusters, 1)
        if np.unique(columns["order"]).size <= most:  # there are as many cells at least
            codes, first = row_codes(list(columns.values()))
            if first.size <= most:
                cells, self.cell = every[first], codes
                self.counts = _tally(self.cluster, self.clusters, codes, first.size)
        by_name = dict(zip(columns, cells.T, strict=True))
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

    def mean(self, of: Floats) -> Figure:
        """Return the mean over targets of a value per cell."""
        value = of[self.cell]
        sums, sizes = (
            np.bincount(self.cluster, weights=w, minlength=self.clusters) for w in (value, np.ones(self.n))
        )
        return lambda w: divided(w.clusters @ sums, w.clusters @ sizes)

    @cached_property
    def by_user(self) -> Groups:
        """The targets by user."""
        return self._groups(self._table.user_codes, "users")

    @cached_property
    def by_block(self) -> Groups:
        """The targets by block."""
        return self._groups(self._table.block_codes, "blocks")

    def _groups(self, codes: tuple[Codes, int] | None, what: str) -> Groups:
        if codes is None:
            msg = f"the table has no {what}"
            raise ValueError(msg)
        return Groups(self, *codes)

    @cached_property
    def levels(self) -> tuple[Codes, Codes, int]:
        """Both whole scores of each cell as numbers from 0, the reference's first; and how many levels."""
        low = int(self.scale.low)
        gold, whole = (np.asarray(of, dtype=np.intp) - low for of in (self.gold_whole, self.whole))
        return gold, whole, int(self.scale.high) - low + 1

    def confusion(self, weights: Weights) -> Floats:
        """Return the whole scores of each draw as a table, (d, levels, levels); rows are the reference."""
        gold, whole, levels = self.levels
        onto = np.zeros((self.size, levels * levels))
        onto[np.arange(self.size), gold * levels + whole] = 1.0
        tables: Floats = (weights.cells @ onto).reshape(-1, levels, levels)
        return tables


class Groups:
    """The targets in groups: users, or blocks."""

    def __init__(self, pairs: Pairs, codes: Codes, groups: int) -> None:
        self._shape = (groups, pairs.size, pairs.clusters)
        places = np.ravel_multi_index((codes, pairs.cell, pairs.cluster), self._shape)
        rows, self._n = np.unique(places, return_counts=True)
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

    def _sums(self, of_rows: Floats | Codes) -> Floats:
        return np.bincount(self._group, weights=of_rows, minlength=self._shape[0]).astype(np.float64)


Figure = Callable[[Weights], Floats]
"""Of a block of weights the figure of each, shape (d,); NaN where undefined."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A measure of one pair of sources."""

    figure: Figure
    support: int | None = None
    """Clusters that the figure stands on, where others hold targets but tell nothing of it: of a mean over
    users those with the figure by themselves. None where all do."""
    without: Callable[[Codes], Floats] | None = None
    """Of the part of each cluster, shape (clusters,), the figure without each of the parts, shape (parts,);
    None where weights are as quick."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of agreement."""

    name: str
    title: str
    needs: frozenset[Need]
    """`numbers`: the reference is numbers. `scale`: they lie on the source's scale. `classes`: both name
    satisfied and dissatisfied. `ranking`: the reference does. `users`, `blocks`: the table has them."""
    better: Better
    """Which way is better: a high figure, a low one, or one near zero."""
    null: float | None
    """What a source that tells nothing has where its own figure is undefined; None where there is none."""
    chance: float | None
    """What agreement by chance gives, whatever the scores are; None where that depends on them."""
    prepare: Callable[[Pairs], Prepared]
    limits: Callable[[Scale], Range]
    """Of the source's scale the lowest and the highest figure that there can be."""


def pair_up(
    table: ScoreTable, source: Scores, reference: Scores, rule: DissatisfiedRule | None = None
) -> Pairs:
    """Lay a source beside a reference, target by target.

    The class of the dissatisfied is what a source names itself, else the rule: on the number of the reference
    (people's mean of 3.9 lies below 4), and on the whole score of the source (what it calls a 4 is a 4).

    Args:
        table: Of n targets.
        source: A judge, a rater, a control.
        reference: Mostly people.
        rule: What counts as dissatisfied; None leaves the classes out.
    """
    numbers = reference.numbers
    gold_class, own = _classes(reference, reference.values, rule), _classes(source, source.whole, rule)
    inside = (reference.values >= source.scale.low) & (reference.values <= source.scale.high)
    scale = numbers and bool(inside.all())
    can: dict[Need, bool] = {
        "numbers": numbers,
        "scale": scale,
        "classes": gold_class is not None and (scale or source.dissatisfied is not None),
        "ranking": gold_class is not None,
        "users": table.users is not None,
        "blocks": table.blocks is not None,
    }
    nothing = np.zeros(table.n)
    columns = {
        "gold": reference.values if numbers else nothing,
        "value": source.values,
        "gold_whole": reference.whole if numbers else nothing,
        "whole": source.whole,
        "order": source.order,
        "gold_class": nothing if gold_class is None else gold_class,
        "class": nothing if own is None else own,
    }
    low_is_bad = source.scale.higher_is_better if rule is None or rule.category is not None else rule.lower
    able = frozenset(need for need, ok in can.items() if ok)
    return Pairs(columns, table, source.scale, able, low_is_bad=low_is_bad)


def _classes(scores: Scores, values: Floats, rule: DissatisfiedRule | None) -> Floats | None:
    if rule is None:
        return None
    return rule.classes(values) if scores.dissatisfied is None else scores.dissatisfied


def _tally(rows: Codes, n_rows: int, columns: Codes, n_columns: int, n: Codes | None = None) -> Floats:
    counts = np.bincount(rows * n_columns + columns, weights=n, minlength=n_rows * n_columns)
    return counts.reshape(n_rows, n_columns).astype(np.float64)


# Over all targets ------------------------------------------------------------------------------------------

_Prepare = Callable[[Pairs], Prepared]
_CellFigure = Callable[[Pairs, Floats], Floats]
"""A figure as a function of how often each cell occurs, shape (rows, cells) -> (rows,)."""
_Coefficient = Callable[[Floats, Floats, Floats], Floats]
"""Of a source's column, the reference's, and weights (rows, n) the figure of each row, shape (rows,)."""


def _of_cells(figure: _CellFigure) -> _Prepare:
    return lambda pairs: Prepared(lambda w: figure(pairs, w.cells))


def _of_mean(value: Callable[[Pairs], Floats | Mask]) -> _Prepare:
    return lambda pairs: Prepared(pairs.mean(np.asarray(value(pairs), dtype=np.float64)))


def _of_confusion(figure: Callable[[Floats], Floats]) -> _Prepare:
    return lambda pairs: Prepared(lambda w: figure(pairs.confusion(w)))


def _rmse(pairs: Pairs) -> Prepared:
    square = pairs.mean(np.abs(pairs.value - pairs.gold) ** 2)
    return Prepared(lambda w: np.sqrt(square(w)))


def _far(pairs: Pairs) -> Mask:
    far: Mask = np.abs(pairs.value - pairs.gold) >= (pairs.scale.high - pairs.scale.low) / 2
    return far


def _sat(of: _Coefficient) -> _CellFigure:
    return lambda p, c: of(p.sat, p.gold_sat, c)


def _dsat(of: _Coefficient) -> _CellFigure:
    return lambda p, c: of(1 - p.sat, 1 - p.gold_sat, c)


def _of_both(figure: _CellFigure) -> _Prepare:
    """Prepare a figure that adds up both classes: without a hit that of the dissatisfied says nothing."""

    def prepare(pairs: Pairs) -> Prepared:
        hit = ((1 - pairs.sat) * (1 - pairs.gold_sat)).any()
        return Prepared(lambda w: figure(pairs, w.cells), None if hit else 0)

    return prepare


def _accuracy(pairs: Pairs, cells: Floats) -> Floats:
    return divided(cells @ (pairs.sat == pairs.gold_sat).astype(np.float64), cells.sum(axis=1))


def _macro_f1(pairs: Pairs, cells: Floats) -> Floats:
    return (_zero(_sat(f1_draws)(pairs, cells)) + _zero(_dsat(f1_draws)(pairs, cells))) / 2


def _auc(pairs: Pairs, cells: Floats) -> Floats:
    return auc_draws(pairs.ranking, pairs.gold_sat, cells)


def _ranking(pairs: Pairs) -> Prepared:
    """Prepare the AUC over all targets; where each is a cell of its own, weights would take long."""

    def without(part: Codes) -> Floats:
        return auc_without(pairs.ranking, pairs.gold_sat, part[pairs.cluster], int(part.max()) + 1)

    return Prepared(lambda w: _auc(pairs, w.cells), None, without if pairs.counts is None else None)


def _missed(called: Floats, positive: Floats, weights: Floats) -> Floats:
    return 1 - recall_draws(called, positive, weights)


def _published_f1(called: Floats, positive: Floats, weights: Floats) -> Floats:
    """2PR / max(P + R, 1): what the published code of USS computes in place of F1; never above it."""
    precision, recall = (_zero(of(called, positive, weights)) for of in (precision_draws, recall_draws))
    f1: Floats = 2 * precision * recall / np.maximum(precision + recall, 1)
    return f1


def _zero(values: Floats) -> Floats:
    return np.nan_to_num(values, nan=0.0)


# User by user ----------------------------------------------------------------------------------------------


def _per_user(values: Callable[[Pairs], Floats]) -> _Prepare:
    def prepare(pairs: Pairs) -> Prepared:
        own = values(pairs)
        return Prepared(pairs.by_user.over(own), int(np.isfinite(own).sum()))

    return prepare


def _per_user_correlation(of: _Coefficient, score: Callable[[Pairs], Floats]) -> _Prepare:
    def prepare(pairs: Pairs) -> Prepared:
        users = pairs.by_user
        own = np.where(users.sizes >= MIN_TURNS, of(score(pairs), pairs.gold, users.counts), np.nan)
        mean = users.over(np.arctanh(np.clip(own, -_MOST, _MOST)))

        def back(w: Weights) -> Floats:
            # Where every user was held at the bound, the correlation is a whole one.
            r: Floats = np.tanh(mean(w))
            return np.where(np.abs(r) > _MOST - 1e-9, np.sign(r), r)

        return Prepared(back, int(np.isfinite(own).sum()))

    return prepare


def _user_kappa(pairs: Pairs) -> Floats:
    users = pairs.by_user
    levels = np.array([np.unique(pairs.gold_whole[row > 0]).size for row in users.counts], dtype=np.intp)
    known = (users.sizes >= MIN_TURNS) & (levels > 1)
    return np.where(known, kappa_draws(pairs.whole, pairs.gold_whole, users.counts), np.nan)


def correlated_users(pairs: Pairs) -> int:
    """Count the users with a Pearson correlation of their own."""
    users = pairs.by_user
    r = pearson_draws(pairs.value, pairs.gold, users.counts)
    return int(((users.sizes >= MIN_TURNS) & np.isfinite(r)).sum())


def two_sided_users(pairs: Pairs) -> Mask:
    """Say of each user whether they have both classes, and targets enough for figures of their own."""
    users = pairs.by_user
    high, low = users.counts @ pairs.gold_sat, users.counts @ (1 - pairs.gold_sat)
    used: Mask = (high > 0) & (low > 0) & (high + low >= MIN_TURNS)
    return used


def _user_class(figure: _CellFigure) -> Callable[[Pairs], Floats]:
    return lambda pairs: np.where(two_sided_users(pairs), figure(pairs, pairs.by_user.counts), np.nan)


# Within groups ---------------------------------------------------------------------------------------------


def _within(of: Callable[[Pairs], tuple[Groups, Floats, Floats]], figure: _Coefficient) -> _Prepare:
    """Prepare a figure of what is left of score and reference without each group's own means."""

    def prepare(pairs: Pairs) -> Prepared:
        groups, gold, score = of(pairs)
        g, s, weights = groups.centred(gold, score)
        return Prepared(lambda w: figure(s, g, weights(w)))

    return prepare


def _centred_spearman(score: Floats, gold: Floats, weights: Floats) -> Floats:
    # Two users' equal distances from their means may differ by a rounding error: they are ties.
    return spearman_draws(score.round(9), gold.round(9), weights)


def _mae_draws(score: Floats, gold: Floats, weights: Floats) -> Floats:
    return divided(weights @ np.abs(score - gold), weights.sum(axis=1))


def _rmse_draws(score: Floats, gold: Floats, weights: Floats) -> Floats:
    root: Floats = np.sqrt(divided(weights @ np.abs(score - gold) ** 2, weights.sum(axis=1)))
    return root


def _confidence(pairs: Pairs) -> Floats:
    """Return the confidence in satisfied that the published evaluation makes of a score: .1 to .9."""
    low, high = pairs.scale.low, pairs.scale.high
    sure: Floats = (np.floor(pairs.value) - low) / (high - low) * 0.8 + 0.1
    return sure if pairs.low_is_bad else 1 - sure


# The registry ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """What many measures have in common."""

    better: Better
    null: float | None
    limits: Callable[[Scale], Range]


_SHARE: Final = _Kind("high", None, lambda _: (0.0, 1.0))
_FAULTS: Final = _Kind("low", None, lambda _: (0.0, 1.0))
_F1: Final = _Kind("high", 0.0, lambda _: (0.0, 1.0))
_AUC: Final = _Kind("high", 0.5, lambda _: (0.0, 1.0))
_CORRELATION: Final = _Kind("high", 0.0, lambda _: (-1.0, 1.0))
_ERROR: Final = _Kind("low", None, lambda scale: (0.0, scale.high - scale.low))
_BIAS: Final = _Kind("zero", None, lambda scale: (scale.low - scale.high, scale.high - scale.low))


def _measure(name: str, title: str, needs: str, prepare: _Prepare, kind: _Kind = _SHARE) -> Measure:
    need = frozenset(n for n in get_args(Need) if n in needs.split())
    chance = kind.null if kind in (_CORRELATION, _AUC) else None
    return Measure(name, title, need, kind.better, kind.null, chance, prepare, kind.limits)


def _pooled() -> Iterable[Measure]:
    """Yield the measures of numbers, over all targets."""
    pearson = _of_cells(lambda p, c: pearson_draws(p.value, p.gold, c))
    spearman = _of_cells(lambda p, c: spearman_draws(p.order, p.gold, c))
    kappa = _of_cells(lambda p, c: kappa_draws(p.whole, p.gold_whole, c))
    exact = _of_mean(lambda p: p.whole == p.gold_whole)
    within_one = _of_mean(lambda p: np.abs(p.whole - p.gold_whole) <= 1)
    error = _of_mean(lambda p: np.abs(p.value - p.gold))
    over, under = _of_mean(lambda p: p.value > p.gold), _of_mean(lambda p: p.value < p.gold)
    yield from _correlations("", "{}", "numbers", pearson, spearman)
    yield _measure("qwk", "quadratic weighted kappa", "scale", kappa, _CORRELATION)
    yield _measure("kappa", "Cohen’s kappa", "scale", _of_confusion(cohen_kappa), _CORRELATION)
    yield _measure("uar", "mean recall over the levels", "scale", _of_confusion(average_recall))
    yield _measure("exact", "exact", "scale", exact)
    yield _measure("within_one", "within one", "scale", within_one)
    yield from _errors("", "{}", "scale", error, _rmse)
    yield _measure("bias", "bias", "scale", _of_mean(lambda p: p.value - p.gold), _BIAS)
    yield _measure("over_rated", "rated too high", "scale", over, _FAULTS)
    yield _measure("under_rated", "rated too low", "scale", under, _FAULTS)
    yield _measure("far_off", "off by half the scale or more", "scale", _of_mean(_far), _FAULTS)


_CLASSES: Final[Mapping[str, tuple[str, _Kind, _CellFigure]]] = {
    "accuracy": ("accuracy", _SHARE, _accuracy),
    "f1_macro": ("macro F1", _SHARE, _macro_f1),
    "f1_sat": ("F1 of satisfied", _F1, _sat(f1_draws)),
    "f1_dsat": ("F1 of dissatisfied", _F1, _dsat(f1_draws)),
    "precision_sat": ("precision of satisfied", _SHARE, _sat(precision_draws)),
    "recall_sat": ("recall of satisfied", _SHARE, _sat(recall_draws)),
    "precision_dsat": ("precision of dissatisfied", _SHARE, _dsat(precision_draws)),
    "recall_dsat": ("recall of dissatisfied", _SHARE, _dsat(recall_draws)),
    "boundary_kappa": ("kappa of the boundary", _CORRELATION, _sat(kappa_draws)),
    "auc": ("AUC of dissatisfied", _AUC, _auc),
    "false_sat": ("dissatisfied called satisfied", _FAULTS, _dsat(_missed)),
    "false_dsat": ("satisfied called dissatisfied", _FAULTS, _sat(_missed)),
}
"""The figures of the two classes: title, kind, formula."""
_OF_BOTH: Final = ("f1_macro", "boundary_kappa")
"""Those to which both classes add a part."""
_BY_USER: Final = ("accuracy", "f1_macro", "f1_sat", "f1_dsat", "precision_sat", "recall_sat")


def _boundary() -> Iterable[Measure]:
    """Yield the measures of the two classes: over all targets, user by user, within users."""
    for name, (title, kind, figure) in _CLASSES.items():
        needs = "ranking" if name == "auc" else "classes"
        prepare = _ranking if name == "auc" else (_of_both if name in _OF_BOTH else _of_cells)(figure)
        yield _measure(name, title, needs, prepare, kind)
    published = "2PR / max(P + R, 1) of dissatisfied"
    yield _measure("f1_dsat_published", published, "classes", _of_cells(_dsat(_published_f1)), _F1)
    for name in (*_BY_USER, "boundary_kappa", "auc"):
        title, kind, figure = _CLASSES[name]
        needs = "ranking users" if name == "auc" else "classes users"
        yield _measure(f"per_user_{name}", f"{title}, by user", needs, _per_user(_user_class(figure)), kind)

    def confidence(p: Pairs) -> tuple[Groups, Floats, Floats]:
        return p.by_user, p.gold_sat, _confidence(p)

    prefix, title, needs = "within_user_boundary_", "{} of the boundary within users", "classes scale users"
    figures = _within(confidence, pearson_draws), _within(confidence, _centred_spearman)
    yield from _correlations(prefix, title, needs, *figures)
    errors = _within(confidence, _mae_draws), _within(confidence, _rmse_draws)
    yield from _errors(prefix, title, needs, *errors)


def _grouped() -> Iterable[Measure]:
    """Yield the measures of numbers: user by user, within users, within blocks."""

    def values(p: Pairs) -> tuple[Groups, Floats, Floats]:
        return p.by_user, p.gold, p.value

    pearson = _per_user_correlation(pearson_draws, lambda p: p.value)
    spearman = _per_user_correlation(spearman_draws, lambda p: p.order)
    yield from _correlations("per_user_", "{}, by user", "numbers users", pearson, spearman)
    title = "quadratic weighted kappa, by user"
    yield _measure("per_user_qwk", title, "scale users", _per_user(_user_kappa), _CORRELATION)
    mae = _per_user(lambda p: _mae_draws(p.value, p.gold, p.by_user.counts))
    rmse = _per_user(lambda p: _rmse_draws(p.value, p.gold, p.by_user.counts))
    yield from _errors("per_user_", "{}, by user", "scale users", mae, rmse)
    pearson = _within(values, pearson_draws)
    spearman = _within(lambda p: (p.by_user, p.gold, p.order), _centred_spearman)
    yield from _correlations("within_user_", "{} within users", "numbers users", pearson, spearman)
    errors = _within(values, _mae_draws), _within(values, _rmse_draws)
    yield from _errors("within_user_", "{} within users", "scale users", *errors)
    pearson = _within(lambda p: (p.by_block, p.gold, p.value), pearson_draws)
    spearman = _within(lambda p: (p.by_block, p.gold, p.order), _centred_spearman)
    yield from _correlations("within_block_", "{} within blocks", "numbers blocks", pearson, spearman)


def _correlations(
    prefix: str, title: str, needs: str, pearson: _Prepare, spearman: _Prepare
) -> Iterable[Measure]:
    for name, of, prepare in (("pearson", "Pearson", pearson), ("spearman", "Spearman", spearman)):
        yield _measure(f"{prefix}{name}", title.format(of), needs, prepare, _CORRELATION)


def _errors(prefix: str, title: str, needs: str, mae: _Prepare, rmse: _Prepare) -> Iterable[Measure]:
    for name, of, prepare in (("mae", "mean absolute error", mae), ("rmse", "root mean squared error", rmse)):
        yield _measure(f"{prefix}{name}", title.format(of), needs, prepare, _ERROR)


MEASURES: Final[Mapping[str, Measure]] = {m.name: m for of in (_pooled, _boundary, _grouped) for m in of()}
"""Every measure by name."""


def title_of(name: str, rule: str | None) -> str:
    """Return the title of a measure; of one that needs classes, with what counts as dissatisfied.

    Args:
        name: Of the measure.
        rule: What counts as dissatisfied, such as `<3`; None where nothing does.
    """
    measure = MEASURES[name]
    return f"{measure.title} ({rule})" if rule and measure.needs & {"classes", "ranking"} else measure.title
