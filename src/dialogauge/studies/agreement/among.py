"""Sources among each other: people among people, or judges among judges, beside what knowing nothing gives.

Every coefficient stands beside the same coefficient with each source's scores dealt anew to the targets
that it rated, and beside a source that always says the same, put in the place of each of the others in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from dialogauge.stats import (
    COEFFICIENTS,
    Categories,
    Estimate,
    RatingGrid,
    coefficients_of,
    mean_estimate,
)
from dialogauge.stats.table import Mask
from dialogauge.studies.agreement.closeness import Closeness, closeness, consensus_of, levels_of, settled
from dialogauge.studies.agreement.sources import Answers, Question, grid_of, scale_of

SHOWN: Final = (
    *("ac1", "ac2", "randolph", "brennan_prediger", "fleiss", "cohen", "cohen_linear", "cohen_quadratic"),
    *("alpha_nominal", "alpha_ordinal", "alpha_interval", "icc1", "icc2"),
    *("exact", "within_one", "pearson", "spearman", "kendall"),
)
"""The coefficients of the study, in the order in which tables show them."""
OF_PAIRS: Final = ("ac1", "alpha_interval", "alpha_nominal", "exact", "spearman")
_MOST_PAIRED: Final = 30
"""Sources up to which every pair is computed."""


@dataclass(frozen=True, slots=True)
class SourcePair:
    """Two sources on the targets that both rated."""

    a: str
    b: str
    n: int
    figures: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Strictness:
    """How a source uses the scale."""

    name: str
    n: int
    """Targets that it rated."""
    mean: float | None
    """None for names."""
    spread: float | None
    """Standard deviation of its scores."""
    shared: int
    """Targets that others rated too."""
    difference: Estimate | None
    """Its score less the mean of the others, on the targets that others rated too."""
    only: str | None
    """The one category that it uses, where it uses one alone."""


@dataclass(frozen=True, slots=True)
class Among:
    """What sources say of each other's targets."""

    question: Question
    categories: Categories
    sources: tuple[str, ...]
    targets: int
    shared: int
    """Targets that two or more rated."""
    ratings: int
    unit: str
    figures: Mapping[str, Estimate]
    permuted: Mapping[str, float | None]
    """By coefficient the mean over deals in which each source's scores are dealt anew to its targets."""
    constants: Mapping[str, Mapping[str, float | None]]
    """By category, and by coefficient: the mean over the sources of each beside one that always says it."""
    pairs: tuple[SourcePair, ...]
    strictness: tuple[Strictness, ...]
    others: tuple[Closeness, ...]
    """Each source against the consensus of the others, and against the best constant."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before the figures."""
        out = []
        if not self.shared:
            out.append(
                f"No target was rated by two of the {len(self.sources)}: agreement cannot be measured."
            )
        if len({s.only for s in self.strictness}) == 1 and self.strictness[0].only is not None:
            only = self.strictness[0].only
            out.append(
                f"All ratings are {only}: coefficients that correct for chance are undefined or say 1."
            )
        else:
            out += [
                f"{s.name} uses one score alone: {s.only}." for s in self.strictness if s.only and s.n > 1
            ]
        return tuple(out)

    def to_json(self) -> dict[str, Any]:
        """Write the figures."""
        return {
            "dimension": self.question.dimension,
            "level": self.question.level,
            "categories": list(self.categories.names),
            "raters": list(self.sources),
            **{name: getattr(self, name) for name in ("targets", "shared", "ratings")},
            "clustered_by": self.unit,
            "coefficients": {name: of.to_json() for name, of in self.figures.items()},
            "permuted": dict(self.permuted),
            "constants": {name: dict(of) for name, of in self.constants.items()},
            "pairs": [asdict(pair) for pair in self.pairs],
            "strictness": [asdict(one) for one in self.strictness],
            "against_the_others": [one.to_json() for one in self.others],
        }


def among(question: Question, answers: Answers, categories: Categories, *, shuffles: int, seed: int) -> Among:
    """Compute how far sources agree with each other.

    Args:
        question: What they were asked.
        answers: Theirs.
        categories: All that they could say.
        shuffles: Deals of the permuted figures.
        seed: Of the deals.
    """
    grid = grid_of(answers, categories)
    names = [n for n in SHOWN if categories.values is not None or not COEFFICIENTS[n].needs_numbers]
    times = (~np.isnan(grid.values)).sum(axis=1)
    return Among(
        question,
        categories,
        grid.raters,
        targets=int((times > 0).sum()),
        shared=int((times > 1).sum()),
        ratings=int(times.sum()),
        unit=grid.unit,
        figures=coefficients_of(grid, names),
        permuted=_mean_figures(
            [_dealt(grid, names, np.random.default_rng([seed, k])) for k in range(shuffles)]
        ),
        constants={
            name: _mean_figures([_beside_constant(grid, rater, float(level), names) for rater in grid.raters])
            for name, level in zip(categories.names, levels_of(categories), strict=True)
        },
        pairs=_pairs(grid),
        strictness=tuple(_strictness(grid, rater) for rater in grid.raters),
        others=_others(grid),
    )


def _values(figures: Mapping[str, Estimate]) -> dict[str, float | None]:
    return {name: of.value for name, of in figures.items()}


def _dealt(grid: RatingGrid, names: Sequence[str], rng: np.random.Generator) -> dict[str, float | None]:
    values = grid.values.copy()
    for column in values.T:
        rated = ~np.isnan(column)
        column[rated] = rng.permutation(column[rated])
    return _values(coefficients_of(replace(grid, values=values), names, intervals=False))


def _beside_constant(
    grid: RatingGrid, rater: str, level: float, names: Sequence[str]
) -> dict[str, float | None]:
    own = grid.take([rater])
    own = own.only(~np.isnan(own.values[:, 0]))
    values = np.column_stack([own.values[:, 0], np.full(len(own.targets), level)])
    both = replace(own, values=values, raters=(rater, f"always {level:g}"))
    return _values(coefficients_of(both, names, intervals=False))


def _mean_figures(several: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of each figure over those that are defined; None where none is."""
    names = several[0] if several else ()
    known = {name: [v for of in several if (v := of[name]) is not None] for name in names}
    return {name: float(np.mean(values)) if values else None for name, values in known.items()}


def _pairs(grid: RatingGrid) -> tuple[SourcePair, ...]:
    if len(grid.raters) > _MOST_PAIRED:
        return ()
    out = []
    numbers = grid.categories.values is not None
    names = [n for n in OF_PAIRS if numbers or not COEFFICIENTS[n].needs_numbers]
    for a, b in combinations(grid.raters, 2):
        two = grid.take([a, b])
        two = two.only(~np.isnan(two.values[:, 0]) & ~np.isnan(two.values[:, 1]))
        if two.targets:
            out.append(SourcePair(a, b, len(two.targets), coefficients_of(two, names)))
    return tuple(out)


def _strictness(grid: RatingGrid, rater: str) -> Strictness:
    own = grid.take([rater]).values[:, 0]
    rated = ~np.isnan(own)
    others = grid.take([r for r in grid.raters if r != rater]).values
    both: Mask = rated & ~np.isnan(others).all(axis=1)
    used = np.unique(own[rated])
    levels = list(levels_of(grid.categories))
    only = grid.categories.names[levels.index(used[0])] if used.size == 1 and used[0] in levels else None
    mean = spread = difference = None
    if grid.categories.values is not None:
        mean, spread = float(own[rated].mean()), float(own[rated].std())
        scale = scale_of(grid.categories)
        apart = own[both] - np.nanmean(others[both], axis=1)
        clusters = [cluster for cluster, here in zip(grid.clusters, both, strict=True) if here]
        reach = scale.high - scale.low
        difference = mean_estimate(apart, clusters, limits=(-reach, reach), unit=grid.unit)
    return Strictness(rater, int(rated.sum()), mean, spread, int(both.sum()), difference, only)


def _others(grid: RatingGrid) -> tuple[Closeness, ...]:
    """Hold each source against the consensus of the others; p adjusted by Holm over the sources."""
    made = []
    for rater in grid.raters:
        rest = grid.take([r for r in grid.raters if r != rater])
        if not rest.raters:
            continue
        made.append(closeness(grid, rater, grid.take([rater]).values[:, 0], "the others", consensus_of(rest)))
    return settled([one for one in made if one is not None])
