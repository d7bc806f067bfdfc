"""How close a source is to a reference, and whether it is closer than one that always says the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    divided,
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


class AmongEachOther:
    """What is asked of sources among each other; records inherit it."""

    __slots__ = ()
    answer: Comparison | None

    @property
    def verdict(self) -> Verdict:
        """Whether they agree with each other more than with the best who always says the same."""
        return "cannot tell" if self.answer is None else verdict_of(self.answer)

    @property
    def more(self) -> MoreThanConstant | None:
        """The comparison behind the verdict."""
        return None if self.answer is None else MoreThanConstant.of(self.answer)


def values_of(grid: RatingGrid, names: Sequence[str]) -> dict[str, float | None]:
    """Return coefficients without intervals."""
    return {name: of.value for name, of in coefficients_of(grid, names, intervals=False).items()}


def mean_values(several: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of each figure over those that are defined; None where none is."""
    names = several[0] if several else ()
    known = {name: [v for of in several if (v := of[name]) is not None] for name in names}
    return {name: float(np.mean(values)) if values else None for name, values in known.items()}


def permuted_values(
    grid: RatingGrid, names: Sequence[str], shuffles: int, seed: int
) -> dict[str, float | None]:
    """Return coefficients with each source's scores dealt anew to its targets, the mean over deals."""
    deals = []
    for k in range(shuffles):
        rng, values = np.random.default_rng([seed, k]), grid.values.copy()
        for column in values.T:
            rated = ~np.isnan(column)
            column[rated] = rng.permutation(column[rated])
        deals.append(values_of(replace(grid, values=values), names))
    return mean_values(deals)


def always_the_same(values: Floats, categories: Categories) -> dict[str, Floats]:
    """Return by category what somebody says who always says it, NaN where `values`, shape (n,), are NaN."""
    levels = zip(categories.names, categories.steps.tolist(), strict=True)
    return {name: np.where(np.isnan(values), np.nan, level) for name, level in levels}


def two_of(grid: RatingGrid, values: Floats, reference: Floats) -> RatingGrid:
    """Return a source beside a reference, shape (n,) each, on the targets of the grid that both rated."""
    both = ~np.isnan(values) & ~np.isnan(reference)
    two = replace(grid, values=np.column_stack([values, reference]), raters=("source", "reference"))
    return two.only(both)


def closeness(
    grid: RatingGrid,
    source: str,
    values: Floats,
    reference: str,
    people: Floats,
    always: Mapping[str, Floats] | None = None,
) -> Closeness | None:
    """Hold a source against a reference; None where they have no target in common.

    Args:
        grid: Of the targets: it lends clusters and categories.
        source: What it is called.
        values: Shape (n,), NaN where it did not rate.
        reference: What the reference is called.
        people: Shape (n,), likewise.
        always: What those say who always say the same, on the targets of the source, of choices between two;
            None for one of each category.
    """
    categories, own = grid.categories, two_of(grid, values, people)
    if not own.targets:
        return None
    numbers = categories.values is not None and always is None
    always = always_the_same(values, categories) if always is None else always
    beside = {name: two_of(grid, column, people) for name, column in always.items()}
    best = best_of({name: values_of(of, (MAIN,)) for name, of in beside.items()})
    names = OF_NUMBERS if numbers else OF_NAMES
    figures = coefficients_of(own, names)
    if numbers:
        scale = scale_of(categories)
        reach, apart = scale.high - scale.low, own.values[:, 0] - own.values[:, 1]
        figures["bias"] = mean_estimate(apart, own.clusters, limits=(-reach, reach), unit=grid.unit)
    answer = compare_grids(source, own, f"always {best}", beside[best], MAIN)
    its = coefficients_of(beside[best], names)
    return Closeness(source, reference, len(own.targets), figures, f"always {best}", its, answer)


def compare_grids(a: str, of_a: RatingGrid, b: str, of_b: RatingGrid, coefficient: str) -> Comparison:
    """Compare two sources, each in a grid with the reference of the same targets, by a coefficient."""
    drawn = _PartByPart.of(of_a)
    return drawn.compared(
        (a, b), drawn.figures(of_a, coefficient), drawn.figures(of_b, coefficient), coefficient
    )


Beside = Sequence[tuple[Floats, Mapping[str, Floats]]]
"""What each source says, shape (n,), and by name what those say who always say the same; NaN where it rated
nothing."""


def constants_of(
    grid: RatingGrid, sources: Beside, names: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    """Return by who always says the same, and by coefficient, the mean over sources beside such a one."""
    made: dict[str, list[dict[str, float | None]]] = {}
    for values, always in sources:
        for name, column in always.items():
            made.setdefault(name, []).append(values_of(two_of(grid, values, column), names))
    return {name: mean_values(of) for name, of in made.items()}


def compare_together(grid: RatingGrid, best: str, sources: Beside) -> Comparison:
    """Compare, by `MAIN`, what raters say of each other with what they say of one who always says the same.

    Args:
        grid: Of all raters.
        best: What the other always says.
        sources: Each rater, on the targets of `grid`; the mean over them counts.
    """
    drawn = _PartByPart.of(grid)
    columns = (np.column_stack([values, always[best]]) for values, always in sources)
    beside = (replace(grid, values=both, raters=("source", "constant")) for both in columns)
    several = np.array([drawn.figures(of, MAIN) for of in beside])
    known = np.isfinite(several)
    means = divided(np.where(known, several, 0.0).sum(axis=0), known.sum(axis=0))
    shared = (~np.isnan(grid.values)).sum(axis=1) > 1  # a target of one rater says nothing of the first
    support = len({cluster for cluster, both in zip(grid.clusters, shared, strict=True) if both})
    own = drawn.figures(grid, MAIN)
    (answer,) = adjusted([drawn.compared(("each other", f"always {best}"), own, means, MAIN, support)])
    return answer


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


def settled(made: Iterable[Closeness | None]) -> tuple[Closeness, ...]:
    """Adjust the p-values of answers that are shown together; None is left out."""
    shown = [one for one in made if one is not None]
    answers = adjusted([one.answer for one in shown])
    return tuple(replace(one, answer=answer) for one, answer in zip(shown, answers, strict=True))


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
    means: Floats = divided(sums, times).round(9)
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
