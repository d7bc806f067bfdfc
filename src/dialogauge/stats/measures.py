"""The measures of one source against another, by name: what each needs, which way is better, its formula.

A measure is prepared once for a pair of sources and is then a function of how often each cluster counts, so
the figure itself (every cluster once) and the figures without some clusters come from the same lines.

Sources: those of `contingency`; PersTurnBench, appendix C, for the figures by user and
within users; Sun et al. (2021) for `uar` and the F1 of their code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

import numpy as np

from dialogauge.core import Scale
from dialogauge.core.values import Value
from dialogauge.stats.categories import Categories
from dialogauge.stats.coefficients import (
    auc_draws,
    auc_without,
    divided,
    f1_draws,
    kappa_draws,
    pearson_draws,
    precision_draws,
    recall_draws,
    spearman_draws,
)
from dialogauge.stats.contingency import BEYOND_CHANCE, PAIRED, POOLED, Pooled, average_recall
from dialogauge.stats.estimate import MIN_CLUSTERS, Range
from dialogauge.stats.pairs import Figure, Groups, Need, Pairs, Weights
from dialogauge.stats.table import Codes, Floats, Mask

Better = Literal["high", "low", "zero"]

MIN_TURNS: Final = 3
"""Targets below which a user has no figure of their own."""
_MOST: Final = 0.9999
"""Where a user's correlation is held before Fisher's z: nearer to 1, one user would outweigh all others."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A measure of one pair of sources."""

    figure: Figure
    support: Codes | None = None
    """Of each sample the clusters that the figure stands on, where others hold targets but tell nothing of
    it: of a mean over users those with the figure by themselves. None where all do."""
    without: Callable[[Codes], Floats] | None = None
    """Of the part of each cluster, shape (clusters,), the figure without each of the parts, shape (parts,);
    None where weights are as quick, and of several samples."""


class Measure(Value):
    """One measure of agreement."""

    name: str
    title: str
    needs: frozenset[Need]
    """`numbers`: the reference is numbers. `scale`: they lie on the source's scale. `categories`: it has few
    enough whole scores for tables. `classes`: both name satisfied and dissatisfied. `ranking`: the reference
    does. `users`, `blocks`: the table has them."""
    better: Better
    """Which way is better: a high figure, a low one, or one near zero."""
    null: float | None
    """What a source that tells nothing has where its own figure is undefined; None where there is none."""
    chance: float | None
    """What agreement by chance gives, whatever the scores are; None where that depends on them."""
    prepare: Callable[[Pairs], Prepared]
    limits: Callable[[Scale], Range]
    """Of the source's scale the lowest and the highest figure that there can be."""


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


def _of_tables(figure: Callable[[Floats, Floats], Floats]) -> _Prepare:
    """Prepare a figure of tables (d, q, q) and the numbers of the categories."""
    return lambda pairs: Prepared(lambda w: figure(w.tables, pairs.categories.steps))


def _beyond_chance(prepare: _Prepare) -> _Prepare:
    """Prepare a coefficient that takes chance away by how often each score is given.

    Where few clusters hold another score than the commonest, these make the figure, and how far it moves
    without one of them does not say how sure it is.
    """

    def prepared(pairs: Pairs) -> Prepared:
        every = np.bincount(pairs.sample)
        return replace(prepare(pairs), support=np.where(pairs.varied < MIN_CLUSTERS, pairs.varied, every))

    return prepared


def _of_pooled(figure: Callable[[Pooled], Floats]) -> _Prepare:
    return _of_tables(lambda tables, values: figure(Pooled.of(tables, values)))


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
        hits = pairs.holding(((pairs.sat == 0) & (pairs.gold_sat == 0))[pairs.cell])
        return Prepared(lambda w: figure(pairs, w.cells), np.where(hits > 0, np.bincount(pairs.sample), 0))

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

    quick = pairs.counts is None and pairs.weights is None and pairs.samples == 1
    return Prepared(lambda w: _auc(pairs, w.cells), None, without if quick else None)


def _ranking_within(what: Literal["users", "blocks"]) -> _Prepare:
    """Prepare the AUC over pairs of one group: what a source that gives each group one score has is .5."""

    def prepare(pairs: Pairs) -> Prepared:
        won, of = pairs.won_within(what)
        support = np.bincount(pairs.sample[of > 0], minlength=pairs.samples)
        return Prepared(lambda w: divided(w.clusters @ won, w.clusters @ of), support)

    return prepare


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
        return Prepared(pairs.by_user.over(own), pairs.by_user.known(own))

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

        return Prepared(back, users.known(own))

    return prepare


def _user_kappa(pairs: Pairs) -> Floats:
    users = pairs.by_user
    lowest = np.where(users.counts > 0, pairs.gold_whole, np.inf).min(axis=1)
    highest = np.where(users.counts > 0, pairs.gold_whole, -np.inf).max(axis=1)
    known = (users.sizes >= MIN_TURNS) & (lowest < highest)
    return np.where(known, kappa_draws(pairs.whole, pairs.gold_whole, users.counts), np.nan)


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


class _Kind(Value):
    """What many measures have in common."""

    better: Better
    null: float | None
    limits: Callable[[Scale], Range]
    chance: float | None = None


_SHARE: Final = _Kind("high", None, lambda _: (0.0, 1.0))
_FAULTS: Final = _Kind("low", None, lambda _: (0.0, 1.0))
_F1: Final = _Kind("high", 0.0, lambda _: (0.0, 1.0))
_AUC: Final = _Kind("high", 0.5, lambda _: (0.0, 1.0), 0.5)
_CORRELATION: Final = _Kind("high", 0.0, lambda _: (-1.0, 1.0), 0.0)
_ERROR: Final = _Kind("low", None, lambda scale: (0.0, scale.high - scale.low))
_BIAS: Final = _Kind("zero", None, lambda scale: (scale.low - scale.high, scale.high - scale.low))


def _measure(name: str, title: str, needs: str, prepare: _Prepare, kind: _Kind = _SHARE) -> Measure:
    need = frozenset(n for n in get_args(Need) if n in needs.split())
    return Measure(name, title, need, kind.better, kind.null, kind.chance, prepare, kind.limits)


def _pooled() -> Iterable[Measure]:
    """Yield the measures of numbers, over all targets."""
    pearson = _of_cells(lambda p, c: pearson_draws(p.value, p.gold, c))
    spearman = _of_cells(lambda p, c: spearman_draws(p.order, p.gold, c))
    kappa = _beyond_chance(_of_cells(lambda p, c: kappa_draws(p.whole, p.gold_whole, c)))
    exact = _of_mean(lambda p: p.whole == p.gold_whole)
    within_one = _of_mean(lambda p: np.abs(p.whole - p.gold_whole) <= 1)
    error = _of_mean(lambda p: np.abs(p.value - p.gold))
    over, under = _of_mean(lambda p: p.value > p.gold), _of_mean(lambda p: p.value < p.gold)
    yield from _correlations("", "{}", "numbers", pearson, spearman)
    yield _measure("qwk", "quadratic weighted kappa", "scale", kappa, _CORRELATION)
    # The coefficients of agreement of a source and the reference, on whole scores.
    needs = "scale categories"
    for name, formula in ((name, PAIRED[of]) for name, of in _TABLED.items()):
        yield _measure(name, formula.title, needs, _beyond_chance(_of_tables(formula.figure)), _CORRELATION)
    for name, formula in ((name, POOLED[name]) for name in _POOLED):
        kind = _Kind("high", 0.0, _limits_of(formula.limits))
        prepare = _of_pooled(formula.figure)
        yield _measure(
            name, formula.title, needs, _beyond_chance(prepare) if name in BEYOND_CHANCE else prepare, kind
        )
    recall = _of_tables(lambda tables, _: average_recall(tables))
    yield _measure("uar", "mean recall over the levels", "scale categories", recall)
    yield _measure("exact", "exact", "scale", exact)
    yield _measure("within_one", "within one", "scale", within_one)
    yield from _errors("", "{}", "scale", error, _rmse)
    yield _measure("bias", "bias", "scale", _of_mean(lambda p: p.value - p.gold), _BIAS)
    yield _measure("over_rated", "rated too high", "scale", over, _FAULTS)
    yield _measure("under_rated", "rated too low", "scale", under, _FAULTS)
    yield _measure("far_off", "off by half the scale or more", "scale", _of_mean(_far), _FAULTS)


_TABLED: Final = {"kappa": "cohen", "kappa_linear": "cohen_linear", "kendall": "kendall"}
"""The measures that are coefficients of two raters, with their names among those."""
_POOLED: Final = tuple(name for name in POOLED if name not in ("ac2_linear", "fleiss"))
"""The measures that are coefficients of pooled ratings."""


def _limits_of(limits: Callable[[Floats], Range]) -> Callable[[Scale], Range]:
    return lambda scale: limits(Categories.of_scale(scale).steps)


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

    for of, needs in (("user", "ranking users"), ("block", "ranking blocks")):
        title, kind, _ = _CLASSES["auc"]
        prepare = _ranking_within("users" if of == "user" else "blocks")
        yield _measure(f"within_{of}_auc", f"{title} within {of}s", needs, prepare, kind)

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
