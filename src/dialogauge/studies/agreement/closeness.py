"""How close a source is to a reference, and whether it is closer than one that always says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from dialogauge.core.json_keys import keys
from dialogauge.stats import (
    COEFFICIENTS,
    Basis,
    Categories,
    Comparison,
    Estimate,
    Floats,
    Gain,
    RatingGrid,
    adjusted,
    coefficient_draws,
    coefficients_of,
    compare_gain,
    mean_estimate,
)
from dialogauge.stats.estimate import parts_of
from dialogauge.stats.table import label_codes
from dialogauge.studies.agreement.sources import scale_of

MAIN: Final = "ac1"
"""The measure by which a source is compared with one that always says the same. Chance-corrected coefficients
such as alpha are 0 for any such source, so that by them nearly every judge is better than it."""
OF_NUMBERS: Final = ("ac1", "alpha_interval", "exact", "spearman")
OF_NAMES: Final = ("ac1", "alpha_nominal", "exact")

Verdict = Literal["yes", "no", "cannot tell"]


@keys(best="best_constant", best_figures="best_constant_figures", verdict="agrees_more", answer="comparison")
@dataclass(frozen=True, slots=True)
class Closeness:
    """A source against a reference, beside the best constant: the one closest to the reference."""

    source: str
    reference: str
    n: int
    """Targets that both rated."""
    figures: Mapping[str, Estimate]
    best: str
    """The category that the best constant always says."""
    best_figures: Mapping[str, Estimate]
    answer: Comparison
    """The source against the best constant by `MAIN`, paired."""

    @property
    def verdict(self) -> Verdict:
        """Whether the source agrees with the reference more than the best constant."""
        return verdict_of(self.answer)


@dataclass(frozen=True, slots=True)
class MoreThanConstant:
    """Whether sources agree with each other more than with one that always says the same."""

    constant: str
    measure: str
    each_other: float | None
    with_the_constant: float | None
    more_by: Estimate
    p: float | None

    @classmethod
    def of(cls, answer: Comparison) -> MoreThanConstant:
        """Take it from what `compare_together` made."""
        figures = answer.figure_a, answer.figure_b
        return cls(answer.b, answer.measure, *figures, answer.difference, answer.p)


def verdict_of(answer: Comparison) -> Verdict:
    """Return whether the first source is better, worse, or neither can be told."""
    return {"above": "yes", "below": "no"}.get(answer.side, "cannot tell")  # type: ignore[return-value]


def closeness(
    grid: RatingGrid, source: str, values: Floats, reference: str, people: Floats
) -> Closeness | None:
    """Hold a source against a reference; None where they have no target in common.

    Args:
        grid: Of the targets: it lends clusters and categories.
        source: What it is called.
        values: Shape (n,), NaN where it did not rate.
        reference: What the reference is called.
        people: Shape (n,), likewise.
    """
    both = ~np.isnan(values) & ~np.isnan(people)
    if not both.any():
        return None
    categories = grid.categories
    shared = replace(grid, values=np.column_stack([values, people]), raters=("source", "reference")).only(
        both
    )
    constants = [f"always {name}" for name in categories.names]
    columns = {
        name: _with_constant(shared, level)
        for name, level in zip(constants, levels_of(categories), strict=True)
    }
    main = {name: coefficients_of(of, (MAIN,), intervals=False)[MAIN].value for name, of in columns.items()}
    best = max(constants, key=lambda name: -np.inf if (value := main[name]) is None else value)
    names = OF_NAMES if categories.values is None else OF_NUMBERS
    figures = coefficients_of(shared, names)
    if categories.values is not None:
        scale = scale_of(categories)
        reach, apart = scale.high - scale.low, shared.values[:, 0] - shared.values[:, 1]
        figures["bias"] = mean_estimate(apart, shared.clusters, limits=(-reach, reach), unit=grid.unit)
    answer = compare_grids(source, shared, best, columns[best], MAIN)
    beside = coefficients_of(columns[best], names)
    return Closeness(source, reference, len(shared.targets), figures, best, beside, answer)


def compare_grids(a: str, of_a: RatingGrid, b: str, of_b: RatingGrid, coefficient: str) -> Comparison:
    """Compare two sources, each in a grid with the reference of the same targets, by a coefficient."""
    drawn = _PartByPart.of(of_a)
    return drawn.compared(
        (a, b), drawn.figures(of_a, coefficient), drawn.figures(of_b, coefficient), coefficient
    )


def compare_together(grid: RatingGrid, best: str, beside: Sequence[RatingGrid]) -> Comparison:
    """Compare, by `MAIN`, what raters say of each other with what they say of one who always says the same.

    Args:
        grid: Of all raters.
        best: What the other is called.
        beside: Each rater beside the other, on the targets of `grid`; the mean over them counts.
    """
    drawn = _PartByPart.of(grid)
    several = np.array([drawn.figures(of, MAIN) for of in beside])
    known = np.isfinite(several)
    sums, times = np.where(known, several, 0.0).sum(axis=0), known.sum(axis=0)
    means = np.divide(sums, times, out=np.full(sums.shape, np.nan), where=times > 0)
    shared = (~np.isnan(grid.values)).sum(axis=1) > 1  # a target of one rater says nothing of the first
    support = len({cluster for cluster, both in zip(grid.clusters, shared, strict=True) if both})
    return drawn.compared(("each other", best), drawn.figures(grid, MAIN), means, MAIN, support)


def best_of(beside: Mapping[str, Mapping[str, float | None]]) -> str:
    """Return which of those who always say the same is closest by `MAIN`."""
    return max(beside, key=lambda name: -np.inf if (value := beside[name][MAIN]) is None else value)


@dataclass(frozen=True, eq=False)
class _PartByPart:
    """Coefficients of the whole and with each part of the targets left out, the same parts for all."""

    grid: RatingGrid
    parts: tuple[int, ...]
    """Of each target."""
    weights: Floats
    basis: Basis

    @classmethod
    def of(cls, grid: RatingGrid) -> _PartByPart:
        codes, clusters = label_codes(grid.clusters)
        parts = tuple(parts_of(clusters)[codes].tolist())
        number = len(set(parts))
        weights = np.vstack([np.ones((1, number)), 1 - np.eye(number)])
        return cls(grid, parts, weights, Basis.of(np.bincount(codes).astype(np.float64), grid.unit))

    def figures(self, grid: RatingGrid, coefficient: str) -> Floats:
        """Return a coefficient of other ratings of the same targets, the whole first."""
        return coefficient_draws(replace(grid, clusters=self.parts), self.weights, (coefficient,))[
            coefficient
        ]

    def compared(
        self, names: tuple[str, str], a: Floats, b: Floats, coefficient: str, support: int | None = None
    ) -> Comparison:
        low, high = COEFFICIENTS[coefficient].limits(self.grid.categories)
        values = tuple(float(of[0]) if np.isfinite(of[0]) else None for of in (a, b))
        gain = a - b
        value = float(gain[0]) if np.isfinite(gain[0]) else None
        whole = Gain(value, gain[1:], high - low, support)
        return compare_gain(names, coefficient, (values[0], values[1]), whole, self.basis)


def levels_of(categories: Categories) -> Sequence[float]:
    """Return the number of each category; of a name its place."""
    return categories.values or [float(place) for place in range(len(categories.names))]


def _with_constant(shared: RatingGrid, level: float) -> RatingGrid:
    values = shared.values.copy()
    values[:, 0] = level
    return replace(shared, values=values)


def settled(made: Sequence[Closeness]) -> tuple[Closeness, ...]:
    """Adjust the p-values of answers that are shown together."""
    answers = adjusted([one.answer for one in made])
    return tuple(replace(one, answer=answer) for one, answer in zip(made, answers, strict=True))


def means_of(sums: Floats, times: Floats, categories: Categories) -> Floats:
    """Return means of ratings as ratings, NaN of none.

    A sum less one of its parts is off in its last digits, which are rounded away: 5.000000000000001 is no
    rating. Two categories may have a whole number between them that is none: of 3 and 5 the mean counts as
    the upper one.

    Args:
        sums: Shape (n,), of the ratings of each target.
        times: Shape (n,), how many there are.
        categories: Numbers.
    """
    means: Floats = np.divide(sums, times, out=np.full(sums.shape, np.nan), where=times > 0).round(9)
    none = (means == np.floor(means)) & ~np.isin(means, np.array(categories.values))
    return np.where(none, np.nextafter(means, np.inf), means)


def consensus_of(grid: RatingGrid) -> Floats:
    """Return what the raters of each target say together, shape (n,); NaN where nobody rated it.

    The mean of numbers; of names the one that most chose, NaN where there are several.
    """
    values = grid.values
    rated = ~np.isnan(values)
    if grid.categories.values is not None:
        return means_of(np.where(rated, values, 0.0).sum(axis=1), rated.sum(axis=1), grid.categories)
    codes = np.arange(len(grid.categories.names))
    votes = (values[:, :, None] == codes).sum(axis=1)
    most = votes.max(axis=1, initial=0)
    alone = (votes == most[:, None]).sum(axis=1) == 1
    return np.where((most > 0) & alone, votes.argmax(axis=1).astype(np.float64), np.nan)
