"""What tables of categories by categories say of agreement: every coefficient as one function of tables.

A table of two raters counts how often one gave category k and the other l. What many raters say is pooled:
the pairs of ratings of each target, and how often each category is chosen. Every function takes any number of
tables at once, such as those of many draws, and gives NaN where a coefficient is undefined.

Sources: Cohen (1960, 1968) for kappa; Fleiss (1971); Brennan and Prediger (1981), of which Randolph (2005) is
the nominal case; Gwet (2008, 2014) for AC1 and AC2; Krippendorff (2019, chapter 12) for alpha; Kendall (1945)
for tau-b. What each does with missing ratings is in `raters`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from dialogauge.core.values import Value
from dialogauge.stats.coefficients import divided
from dialogauge.stats.estimate import Range
from dialogauge.stats.table import Floats, Whole

_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """What pairs of ratings of the same targets say, over q categories. Leading axes are the draws."""

    agreed: Floats
    """Shape (..., q, q), symmetric: the pairs of ratings of a target, each target counting once."""
    coincidences: Floats
    """Shape (..., q, q), symmetric: the same, each target counting as often as it was rated."""
    shares: Floats
    """Shape (..., q): how often each category is chosen, each rated target counting once."""
    values: Floats
    """Shape (q,), the numbers of the categories in rising order; of names their places."""

    @classmethod
    def of(cls, tables: Floats, values: Floats) -> Pooled:
        """Pool the tables of two raters, shape (..., q, q)."""
        both = tables + np.swapaxes(tables, -1, -2)
        return cls(both, both, both.sum(axis=-1), values)


def confusion(gold: Whole, called: Whole, classes: int) -> Floats:
    """Return the table of counts, shape (classes, classes): rows are gold; classes count from 0."""
    if gold.shape != called.shape:
        msg = f"columns of different length: {gold.size} and {called.size}"
        raise ValueError(msg)
    cells = np.bincount(gold * classes + called, minlength=classes * classes)
    table: Floats = cells.reshape(classes, classes).astype(np.float64)
    return table


def average_recall(tables: Floats) -> Floats:
    """Return the mean recall over all classes, shape (..., c, c) -> (...); that of an absent class is 0.

    So it is in the published evaluations of USS (Sun et al., 2021): the mean is over all five ratings.
    """
    rows = tables.sum(axis=-1)
    recall: Floats = divided(np.diagonal(tables, axis1=-2, axis2=-1), rows, otherwise=0.0)
    mean: Floats = recall.mean(axis=-1)
    return mean


def nominal(values: Floats) -> Floats:
    """Return how much two categories agree, shape (q,) -> (q, q): wholly, or not at all."""
    return np.eye(values.size)


def linear(values: Floats) -> Floats:
    """Return how much two categories agree by their distance: 1 for the same, 0 for both ends."""
    gap: Floats = np.abs(values[:, None] - values) / (values[-1] - values[0])
    return 1 - gap


def quadratic(values: Floats) -> Floats:
    """Return how much two categories agree by the square of their distance."""
    return 1 - (1 - linear(values)) ** 2


_Kind = Callable[[Floats], Floats]


def beyond_chance(observed: Floats, chance: Floats) -> Floats:
    """Return agreement beyond chance: 1 for all that can be; NaN where chance is all."""
    return divided(observed - chance, np.where(1 - chance > _ROUNDING, 1 - chance, 0.0))


def cohen_kappa(tables: Floats, agree: Floats | None = None) -> Floats:
    """Return Cohen's kappa, shape (..., q, q) -> (...): chance is what each rater's own shares give.

    Args:
        tables: Of two raters.
        agree: How much two categories agree, shape (q, q); None: only with themselves.
    """
    agree = np.eye(tables.shape[-1]) if agree is None else agree
    total = tables.sum(axis=(-2, -1))
    chance = ((tables.sum(axis=-1) @ agree) * tables.sum(axis=-2)).sum(axis=-1)
    return beyond_chance(_share(tables, agree), divided(chance, total**2))


def fleiss(of: Pooled) -> Floats:
    """Return Fleiss' kappa: chance is two ratings from the shares of all."""
    shares = _shares(of)
    return beyond_chance(_share(of.agreed, nominal(of.values)), (shares**2).sum(axis=-1))


def brennan_prediger(of: Pooled, kind: _Kind) -> Floats:
    """Return the coefficient for which chance makes all categories alike; nominal: Randolph's kappa."""
    agree = kind(of.values)
    return beyond_chance(_share(of.agreed, agree), np.full(of.shares.shape[:-1], agree.mean()))


def gwet(of: Pooled, kind: _Kind) -> Floats:
    """Return Gwet's AC1 (nominal) or AC2: chance is a rating at random on a target that is hard to rate."""
    agree, shares, q = kind(of.values), _shares(of), of.values.size
    chance = agree.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=-1)
    return beyond_chance(_share(of.agreed, agree), chance)


def alpha_nominal(of: Pooled) -> Floats:
    """Return Krippendorff's alpha of names."""
    return _alpha(of, 1 - nominal(of.values))


def alpha_ordinal(of: Pooled) -> Floats:
    """Return Krippendorff's alpha of an order: the distance of two categories is that of their mid-ranks."""
    counts = of.coincidences.sum(axis=-1)
    return _alpha_of(of.coincidences, _mid_ranks(counts))


def alpha_interval(of: Pooled) -> Floats:
    """Return Krippendorff's alpha of distances."""
    return _alpha_of(of.coincidences, of.values - of.values.mean())


def alpha_ratio(of: Pooled) -> Floats:
    """Return Krippendorff's alpha of ratios; NaN where a category is below 0, of which there are none."""
    if of.values[0] < 0:
        return np.full(of.shares.shape[:-1], np.nan)
    gaps, sums = of.values[:, None] - of.values, of.values[:, None] + of.values
    return _alpha(of, divided(gaps, sums, otherwise=0.0) ** 2)


def _alpha(of: Pooled, distances: Floats) -> Floats:
    """Return alpha by the distances of categories, shape (q, q)."""
    counts = of.coincidences.sum(axis=-1)
    observed, chance = _sum(of.coincidences, distances), ((counts @ distances) * counts).sum(axis=-1)
    return _alpha_by(observed, chance, counts.sum(axis=-1))


def _alpha_of(coincidences: Floats, places: Floats) -> Floats:
    """Return alpha where distances are the squares of those between places, shape (q,) or (..., q)."""
    counts = coincidences.sum(axis=-1)
    total, squares = counts.sum(axis=-1), (counts * places**2).sum(axis=-1)
    observed = 2 * (squares - _product(coincidences, places, places))
    chance = 2 * (total * squares - (counts * places).sum(axis=-1) ** 2)
    return _alpha_by(observed, chance, total)


def _alpha_by(observed: Floats, chance: Floats, total: Floats) -> Floats:
    return 1 - divided(observed * (total - 1), np.where(chance > _ROUNDING * total**2, chance, 0.0))


def pearson(tables: Floats, values: Floats) -> Floats:
    """Return Pearson's r of the numbers of the categories, shape (..., q, q) -> (...)."""
    return _correlation(tables, values, values)


def spearman(tables: Floats, _: Floats) -> Floats:
    """Return Spearman's rho: ranks are taken anew in each table."""
    return _correlation(tables, *(_mid_ranks(tables.sum(axis=axis)) for axis in (-1, -2)))


def kendall(tables: Floats, _: Floats) -> Floats:
    """Return Kendall's tau-b, shape (..., q, q) -> (...); NaN where one of the two never varies."""
    lower = np.cumsum(np.cumsum(tables, axis=-2), axis=-1)[..., :-1, :]
    # Of what is lower for one: what is lower for the other too, less what is higher.
    order = np.zeros_like(tables[..., 1:, :])
    order[..., 1:] += lower[..., :-1]
    order -= lower[..., -1:] - lower
    total = tables.sum(axis=(-2, -1))
    untied = [(total**2 - (tables.sum(axis=axis) ** 2).sum(axis=-1)) / 2 for axis in (-1, -2)]
    apart = np.where((untied[0] > _ROUNDING) & (untied[1] > _ROUNDING), untied[0] * untied[1], 0.0)
    return divided((tables[..., 1:, :] * order).sum(axis=(-2, -1)), np.sqrt(apart))


def exact(tables: Floats, _: Floats) -> Floats:
    """Return the share of targets on which both say the same."""
    return _share(tables, np.eye(tables.shape[-1]))


def within_one(tables: Floats, values: Floats) -> Floats:
    """Return the share of targets on which both are at most 1 apart."""
    return _share(tables, (np.abs(values[:, None] - values) <= 1).astype(np.float64))


def _correlation(tables: Floats, x: Floats, y: Floats) -> Floats:
    """Return the correlation of scores of the categories, shape (q,) or (..., q)."""
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    total = rows.sum(axis=-1, keepdims=True)
    dx, dy = (
        score - divided((counts * score).sum(axis=-1, keepdims=True), total, otherwise=0.0)
        for score, counts in ((x, rows), (y, columns))
    )
    xx, yy = (rows * dx**2).sum(axis=-1), (columns * dy**2).sum(axis=-1)
    floor = _ROUNDING * total[..., 0]
    return divided(_product(tables, dx, dy), np.sqrt(np.where((xx > floor) & (yy > floor), xx * yy, 0.0)))


def _mid_ranks(counts: Floats) -> Floats:
    """Return the ranks of categories that occur so often, shape (..., q), from the middle of all."""
    ranks: Floats = np.cumsum(counts, axis=-1) - (counts + counts.sum(axis=-1, keepdims=True)) / 2
    return ranks


def _product(tables: Floats, x: Floats, y: Floats) -> Floats:
    """Return the sum of x y over tables, shape (..., q, q); x and y have the shape (q,) or (..., q)."""
    product: Floats = ((tables @ y[..., None])[..., 0] * x).sum(axis=-1)
    return product


def _sum(tables: Floats, weights: Floats) -> Floats:
    """Return the weighted sum over tables, shape (..., q, q), (q, q) -> (...)."""
    total: Floats = tables.reshape(*tables.shape[:-2], weights.size) @ weights.ravel()
    return total


def _share(tables: Floats, agree: Floats) -> Floats:
    return divided(_sum(tables, agree), tables.sum(axis=(-2, -1)))


def _shares(of: Pooled) -> Floats:
    return divided(of.shares, of.shares.sum(axis=-1, keepdims=True))


# By name ---------------------------------------------------------------------------------------------------


def _both(_: Floats) -> Range:
    return (-1.0, 1.0)


def _parts(_: Floats) -> Range:
    return (0.0, 1.0)


def _beyond(kind: _Kind) -> Callable[[Floats], Range]:
    """Return the range where chance is at most what equal shares give, and nothing is agreed on at worst."""
    return lambda values: (float(1 - 1 / (1 - kind(values).mean())), 1.0)


class Formula(Value):
    """One coefficient."""

    title: str
    figure: Callable[..., Floats]
    """Of `Pooled`; or of tables, shape (..., q, q), and the numbers of the categories, shape (q,)."""
    limits: Callable[[Floats], Range] = _both
    """Of the numbers of the categories the lowest and the highest figure."""
    numbers: bool = True
    """Whether it needs them; else categories may be names."""


def _gwet(title: str, kind: _Kind) -> Formula:
    return Formula(f"Gwet’s {title}", lambda p: gwet(p, kind), _beyond(kind), kind is not nominal)


def _equal(title: str, kind: _Kind) -> Formula:
    return Formula(title, lambda p: brennan_prediger(p, kind), _beyond(kind), kind is not nominal)


def _cohen(title: str, kind: _Kind) -> Formula:
    return Formula(title, lambda t, v: cohen_kappa(t, kind(v)), numbers=kind is not nominal)


POOLED: Final[Mapping[str, Formula]] = {
    "ac1": _gwet("AC1", nominal),
    "ac2": _gwet("AC2, quadratic", quadratic),
    "ac2_linear": _gwet("AC2, linear", linear),
    "randolph": _equal("Randolph’s kappa", nominal),
    "brennan_prediger": _equal("Brennan-Prediger, quadratic", quadratic),
    "fleiss": Formula("Fleiss’ kappa", fleiss, numbers=False),
    "alpha_nominal": Formula("Krippendorff’s alpha, nominal", alpha_nominal, numbers=False),
    "alpha_ordinal": Formula("Krippendorff’s alpha, ordinal", alpha_ordinal),
    "alpha_interval": Formula("Krippendorff’s alpha, interval", alpha_interval),
    "alpha_ratio": Formula("Krippendorff’s alpha, ratio", alpha_ratio),
}
"""The coefficients of pooled ratings."""

BEYOND_CHANCE: Final = frozenset({"fleiss", *(name for name in POOLED if name.startswith("alpha"))})
"""Those that take chance away by how often each score is given."""

PAIRED: Final[Mapping[str, Formula]] = {
    "cohen": _cohen("Cohen’s kappa", nominal),
    "cohen_linear": _cohen("Cohen’s kappa, linear", linear),
    "cohen_quadratic": _cohen("Cohen’s kappa, quadratic", quadratic),
    "exact": Formula("exact", exact, _parts, numbers=False),
    "within_one": Formula("within one", within_one, _parts),
    "pearson": Formula("Pearson", pearson),
    "spearman": Formula("Spearman", spearman),
    "kendall": Formula("Kendall’s tau-b", kendall),
}
"""The coefficients of two raters."""
