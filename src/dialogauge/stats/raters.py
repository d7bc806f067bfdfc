"""Agreement among raters: named raters, named targets, categories that are given, and every coefficient.

Raters are people, judges and controls alike. All coefficients of a grid come from the same tallies, with
the same clusters left out. Of a fraction they take the whole score (`Categories.codes`), alpha and Kendall's
tau-b too; only Pearson, Spearman and the intraclass correlations take the fraction itself.

What stands on pairs of raters (Cohen's kappa, the correlations, exact, within one) is the mean over pairs,
each weighted by the targets that both rated; a pair for which it is undefined takes no part. Where all rated
all, this is Light's (1971) mean of pairs.

Sources: those of `contingency`; Shrout and Fleiss (1979) for the intraclass correlations of one rater.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.core import InputError, UsageError
from dialogauge.core.values import Value
from dialogauge.stats.categories import Categories
from dialogauge.stats.coefficients import divided, pearson_draws, spearman_draws
from dialogauge.stats.contingency import BEYOND_CHANCE, PAIRED, POOLED
from dialogauge.stats.estimate import MIN_CLUSTERS, Basis, Estimate, Range, parts_of
from dialogauge.stats.table import Codes, Floats, Mask, label_codes
from dialogauge.stats.tallies import Ratings

_BLOCK: Final = 2_500_000
"""Numbers of the widest array of some draws: 20 MB."""
_ROUNDING: Final = 1e-9
_CACHED: Final = 250_000
"""Numbers of an array that is gone through many times: 2 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class RatingGrid:
    """n targets by s raters (people, judges, controls alike), both named."""

    values: Floats
    """Shape (n, s): a row a target, a column a rater. A number on the scale, or the place of a name among the
    categories; NaN: not rated."""
    targets: tuple[Hashable, ...]
    """Shape (n,), each once."""
    raters: tuple[str, ...]
    """Shape (s,), each once."""
    categories: Categories
    clusters: tuple[Hashable, ...]
    """Shape (n,): whole clusters are left out for every interval."""
    unit: str = "conversations"
    """What a cluster is, as messages say it."""

    def __post_init__(self) -> None:
        """Check the axes and every rating.

        Raises:
            UsageError: The names do not fit the rows and columns, or one comes twice.
            InputError: A rating is no category.
        """
        shape, n, s = np.shape(self.values), len(self.targets), len(self.raters)
        if shape != (n, s):
            turned = "; its axes are swapped" if shape == (s, n) else ""
            axes = f"a row for each of {n} targets and a column for each of {s} raters"
            msg = f"a grid of ratings has {axes}, not the shape {shape}{turned}"
            raise UsageError(msg, hint="name what rows and columns are")
        if len(self.clusters) != n:
            msg = f"{n} targets, and clusters for {len(self.clusters)}"
            raise UsageError(msg)
        named: dict[str, Sequence[Hashable]] = {"target": self.targets, "rater": self.raters}
        for what, names in named.items():
            if twice := [name for name, times in Counter(names).items() if times > 1]:
                msg = f"the {what} {twice[0]!r} comes twice"
                raise UsageError(msg, hint=f"name each {what} once")
        rated = ~np.isnan(self.values)
        for value in np.unique(self.values[rated]).tolist():
            if why := self.categories.fault(value):
                row, column = np.argwhere(self.values == value)[0]
                msg = f"target {self.targets[row]!r}, rater {self.raters[column]!r}: {why}"
                raise InputError(msg, hint="correct the rating, or the categories (--scale)")

    def take(self, raters: Iterable[str]) -> RatingGrid:
        """Return the grid of some raters, in that order.

        Raises:
            UsageError: One is not among them.
        """
        names = tuple(raters)
        if unknown := [name for name in names if name not in self.raters]:
            msg = f"there is no rater {unknown[0]!r}"
            raise UsageError(msg, hint=f"there are {', '.join(self.raters)}")
        return replace(self, values=self.values[:, [self.raters.index(name) for name in names]], raters=names)

    def only(self, kept: Mask) -> RatingGrid:
        """Return the grid of some targets, by a mask of shape (n,)."""

        def some(of: Sequence[Hashable]) -> tuple[Hashable, ...]:
            return tuple(label for label, k in zip(of, kept, strict=True) if k)

        return replace(
            self, values=self.values[kept], targets=some(self.targets), clusters=some(self.clusters)
        )


class Coefficient(Value):
    """One coefficient of agreement among raters."""

    name: str
    title: str
    missing: str
    """What it does with missing ratings, in one sentence."""
    limits: Callable[[Categories], Range]
    """The lowest and the highest figure that there can be."""
    needs_numbers: bool = True
    """Whether it is undefined for categories that are names."""
    complete: bool = False
    """Whether it stands on the targets that every rater rated; the others on those that two or more did."""


_GWET: Final = (
    "Targets with two or more ratings give agreement, and all rated ones how often a category is chosen."
)
_ALPHA: Final = "Targets with two or more ratings count, each as often as it was rated."
_PAIRS: Final = (
    "A mean over pairs of raters, each on the targets that both rated and weighted by their number."
)
_ONE_WAY: Final = "Every rated target counts; who rated it does not."
_TWO_WAY: Final = "Only targets that every rater rated count."
_ICC: Final = {
    "icc1": ("ICC(1), any raters", _ONE_WAY),
    "icc2": ("ICC(2), absolute agreement", _TWO_WAY),
    "icc3": ("ICC(3), consistency", _TWO_WAY),
}
_ORDER: Final = (
    *("ac1", "ac2", "ac2_linear", "randolph", "brennan_prediger", "cohen", "cohen_linear", "cohen_quadratic"),
    *("fleiss", "alpha_nominal", "alpha_ordinal", "alpha_interval", "alpha_ratio", "icc1", "icc2", "icc3"),
    *("exact", "within_one", "pearson", "spearman", "kendall"),
)


def _coefficient(name: str) -> Coefficient:
    if name in _ICC:
        title, missing = _ICC[name]
        return Coefficient(name, title, missing, lambda _: (-1.0, 1.0), complete=name != "icc1")
    formula = POOLED.get(name) or PAIRED[name]
    missing = _PAIRS if name in PAIRED else _ALPHA if name.startswith("alpha") else _GWET
    limits = formula.limits
    return Coefficient(
        name, formula.title, missing, lambda of: limits(of.steps), needs_numbers=formula.numbers
    )


COEFFICIENTS: Final[Mapping[str, Coefficient]] = {name: _coefficient(name) for name in _ORDER}
"""Every coefficient by name."""


def coefficients_of(
    grid: RatingGrid, names: Sequence[str] | None = None, *, intervals: bool = True
) -> dict[str, Estimate]:
    """Compute coefficients of a grid, with the intervals of the house.

    Args:
        grid: Of targets by raters.
        names: Of `COEFFICIENTS`; None: all.
        intervals: Whether they are wanted; figures alone are quicker.

    Returns:
        By name the estimate. Where it is undefined its value is None and `reason` says why.

    Raises:
        UsageError: A name is none of a coefficient.
    """
    wanted = _wanted(names)
    cluster, clusters = label_codes(grid.clusters)
    part = parts_of(clusters)
    parts = int(part.max(initial=-1)) + 1
    ratings, weights, over_pairs = _ratings(grid, part[cluster], parts), np.ones((1, parts)), _over_pairs
    if intervals and parts > 1:
        weights, over_pairs = np.vstack([weights, 1 - np.eye(parts)]), _over_pairs_without
    figures = _figures(ratings, weights, _able(grid, wanted), over_pairs)
    bases = {complete: _basis(grid, ratings, cluster, complete=complete) for complete in (False, True)}
    # How many clusters hold another rating than the commonest.
    known = ~np.isnan(grid.values)
    levels, counts = np.unique(grid.values[known], return_counts=True)
    other = known & (grid.values != levels[counts.argmax()]) if levels.size else known
    undefined, few = np.full(len(weights), np.nan), int(np.unique(cluster[other.any(axis=1)]).size)
    return {
        name: _estimate(
            grid, bases[COEFFICIENTS[name].complete], name, figures.get(name, undefined),
            support=few if few < MIN_CLUSTERS and name in _BEYOND_CHANCE else None,
        )
        for name in wanted
    }  # fmt: skip


def coefficient_draws(
    grid: RatingGrid, weights: Floats, names: Sequence[str] | None = None
) -> dict[str, Floats]:
    """Compute coefficients with clusters weighted: a bootstrap, a sample of fewer targets.

    Args:
        grid: Of targets by raters.
        weights: Shape (draws, clusters), how often each cluster counts; clusters as they first come.
        names: Of `COEFFICIENTS`; None: all.

    Returns:
        By name the figures, shape (draws,); NaN where undefined.

    Raises:
        UsageError: A name is none of a coefficient.
        ValueError: The weights do not fit the clusters.
    """
    cluster, clusters = label_codes(grid.clusters)
    if weights.ndim != 2 or weights.shape[1] != clusters:
        msg = f"weights of the shape {weights.shape} for {clusters} clusters"
        raise ValueError(msg)
    ratings, wanted, step = (
        _ratings(grid, cluster, clusters),
        _wanted(names),
        max(1, _BLOCK // len(grid.categories) ** 2),
    )
    out = {name: np.full(len(weights), np.nan) for name in wanted}
    for start in range(0, len(weights), step):
        some = slice(start, start + step)
        for name, figure in _figures(ratings, weights[some], _able(grid, wanted), _over_pairs).items():
            out[name][some] = figure
    return out


def _wanted(names: Sequence[str] | None) -> Sequence[str]:
    if names is None:
        return tuple(COEFFICIENTS)
    if unknown := [name for name in names if name not in COEFFICIENTS]:
        msg = f"there is no coefficient {unknown[0]!r}"
        raise UsageError(msg, hint=f"there are {', '.join(COEFFICIENTS)}")
    return names


def _able(grid: RatingGrid, names: Sequence[str]) -> list[str]:
    """Return the coefficients that such raters and categories can have."""
    numbers = grid.categories.values is not None
    return [n for n in names if len(grid.raters) > 1 and (numbers or not COEFFICIENTS[n].needs_numbers)]


def _ratings(grid: RatingGrid, cluster: Codes, clusters: int) -> Ratings:
    return Ratings(grid.values, grid.categories.codes(grid.values), grid.categories.steps, cluster, clusters)


_OverPairs = Callable[[Ratings, Floats, Sequence[str]], Mapping[str, Floats]]


def _figures(
    ratings: Ratings, weights: Floats, names: Sequence[str], over_pairs: _OverPairs
) -> dict[str, Floats]:
    """Compute coefficients for each row of weights, shape (draws,) each."""
    out: dict[str, Floats] = {}
    if pooled := [name for name in names if name in POOLED]:
        sums = ratings.pooled(weights)
        out |= {name: POOLED[name].figure(sums) for name in pooled}
    if "icc1" in names:
        out["icc1"] = ratings.one_way(weights)
    if "icc2" in names or "icc3" in names:
        out["icc2"], out["icc3"] = ratings.two_way(weights)
    if paired := [name for name in names if name in PAIRED]:
        out |= over_pairs(ratings, weights, paired)
    return {name: out[name] for name in names}


def _over_pairs(ratings: Ratings, weights: Floats, names: Sequence[str]) -> dict[str, Floats]:
    """Return the means over the pairs of raters."""
    sums = {name: np.zeros((2, len(weights))) for name in names}
    for one, others, tables in ratings.tables(weights):
        shared = tables.sum(axis=(-2, -1))
        for name in names:
            figures = PAIRED[name].figure(tables, ratings.steps)
            for place, other in _fractions(ratings, name, one, others):
                figures[:, place] = _by_value(ratings, weights, (one, other), name)
            known = np.isfinite(figures)
            sums[name] += [np.where(known, of, 0.0).sum(axis=1) for of in (shared * figures, shared)]
    return {name: divided(top, bottom) for name, (top, bottom) in sums.items()}


def _over_pairs_without(ratings: Ratings, weights: Floats, names: Sequence[str]) -> dict[str, Floats]:
    """Return the same where the first row of weights counts all clusters, and each other leaves one out.

    Two raters who share few targets are in few clusters: without any other one their figure is the same.
    """
    sums = {name: np.zeros((2, len(weights))) for name in names}
    for of in ratings.without():
        shared, pairs = of.tables.sum(axis=(-2, -1)), of.others.size
        for name in names:
            figures = PAIRED[name].figure(of.tables, ratings.steps)
            for place, other in _fractions(ratings, name, of.one, of.others):
                values, left = _by_value(ratings, weights, (of.one, other), name), of.pair == place
                figures[place], figures[pairs:][left] = values[0], values[1 + of.cluster[left]]
            known = np.isfinite(figures)
            for total, part in zip(sums[name], (shared * figures, shared), strict=True):
                whole, left_out = np.split(np.where(known, part, 0.0), [pairs])
                total += whole.sum()
                total[1:] += np.bincount(of.cluster, left_out - whole[of.pair], ratings.clusters)
    return {name: divided(top, bottom) for name, (top, bottom) in sums.items()}


_BEYOND_CHANCE: Final = BEYOND_CHANCE | {"cohen", "cohen_linear", "cohen_quadratic"}
_BY_VALUE: Final = {"pearson": pearson_draws, "spearman": spearman_draws}


def _fractions(ratings: Ratings, name: str, one: int, others: Codes) -> list[tuple[int, int]]:
    """Return the places of the others with whom a coefficient reads fractions."""
    if name not in _BY_VALUE:
        return []
    whole = ratings.whole
    return [(place, of) for place, of in enumerate(others.tolist()) if not (whole[one] and whole[of])]


def _by_value(ratings: Ratings, weights: Floats, pair: tuple[int, int], name: str) -> Floats:
    """Return a correlation of two raters, of whom one gives fractions, shape (draws,)."""
    values = ratings.values[:, list(pair)]
    both = ~np.isnan(values).any(axis=1)
    (x, y), cluster = values[both].T, ratings.cluster[both]
    step = max(1, _CACHED // max(cluster.size, 1))
    blocks = (weights[start : start + step, cluster] for start in range(0, len(weights), step))
    return np.concatenate([_BY_VALUE[name](x, y, block) for block in blocks])


def _basis(grid: RatingGrid, ratings: Ratings, cluster: Codes, *, complete: bool) -> Basis:
    counts = ratings.complete & (ratings.times > 1) if complete else ratings.times > 1
    sizes = np.bincount(cluster[counts]).astype(np.float64)
    return Basis.of(sizes[sizes > 0], grid.unit)


def _estimate(grid: RatingGrid, basis: Basis, name: str, figures: Floats, *, support: int | None) -> Estimate:
    value = float(figures[0])
    if not np.isfinite(value):
        coefficient, raters = COEFFICIENTS[name], ", ".join(grid.raters)
        by = f"all {len(grid.raters)} raters" if coefficient.complete else "two raters"
        reasons = {
            f"one rater only: {raters}" if raters else "no raters": len(grid.raters) < 2,
            f"the categories {grid.categories} are names, which have no order": coefficient.needs_numbers
            and grid.categories.values is None,
            f"no target was rated by {by}": not basis.n,
            "ratios take categories of 0 and above": name == "alpha_ratio" and grid.categories.steps[0] < 0,
            f"one target alone was rated by {by}": coefficient.complete and basis.n == 1,
            "all ratings are the same": np.unique(grid.values[~np.isnan(grid.values)]).size == 1,
            "of any two raters, one gives all common targets the same": name in PAIRED,
        }
        few = "the ratings do not vary enough to tell"
        reason = next((why for why, holds in reasons.items() if holds), few)
        return replace(basis.estimate(None, figures[1:], (-1.0, 1.0)), reason=reason)
    low, high = COEFFICIENTS[name].limits(grid.categories)
    # Few targets, or prevalence of targets that one rater rated, can take a coefficient below its range.
    limits = (low if value > low - _ROUNDING else 2 * value, high)
    return basis.estimate(value, figures[1:], limits, support=support)
