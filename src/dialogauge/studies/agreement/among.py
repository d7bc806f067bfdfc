"""Sources among each other: people among people, or judges among judges, beside what knowing nothing gives.

Every coefficient stands beside the same coefficient with each source's scores dealt anew to the targets
that it rated, and beside a source that always says the same, put in the place of each of the others in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

import numpy as np

from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import (
    COEFFICIENTS,
    Categories,
    Comparison,
    Estimate,
    Floats,
    RatingGrid,
    adjusted,
    coefficients_of,
    mean_estimate,
)
from dialogauge.studies.agreement.closeness import (
    Closeness,
    MoreThanConstant,
    Verdict,
    best_of,
    closeness,
    compare_together,
    consensus_of,
    levels_of,
    means_of,
    settled,
    verdict_of,
)
from dialogauge.studies.agreement.sources import Answers, Question, grid_of, pile_of, sources_of

SHOWN: Final = (
    *("ac1", "ac2", "randolph", "brennan_prediger", "fleiss", "cohen", "cohen_linear", "cohen_quadratic"),
    *("alpha_nominal", "alpha_ordinal", "alpha_interval", "icc1", "icc2"),
    *("exact", "within_one", "pearson", "spearman", "kendall"),
)
"""The coefficients of the study, in the order in which tables show them."""
_NAMELESS: Final = (
    *("ac1", "ac2", "randolph", "brennan_prediger", "fleiss"),
    *("alpha_nominal", "alpha_ordinal", "alpha_interval", "icc1"),
)
"""Those for which it does not matter who rated."""
OF_PAIRS: Final = ("ac1", "alpha_interval", "alpha_nominal", "exact", "spearman")
_MOST: Final = 100
"""Sources that are compared at most: those that rated most."""
_MOST_ALONE: Final = 30
"""Of those who share no target, so many are shown."""
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


@keys(
    question=INSIDE,
    categories=None,
    names="categories",
    sources="raters",
    unit="clustered_by",
    figures="coefficients",
    others="against_the_others",
    verdict="agree_more",
    answer=None,
    more="more_than_with_a_constant",
)
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
    strictness: tuple[Strictness, ...]
    """Of those that rated most, where there are very many."""
    figures: Mapping[str, Estimate] = field(default_factory=dict)
    """Nothing where no target was rated by two."""
    permuted: Mapping[str, float | None] = field(default_factory=dict)
    """By coefficient the mean over deals in which each source's scores are dealt anew to its targets."""
    constants: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """By category, and by coefficient: the mean over the sources of each beside one that always says it."""
    pairs: tuple[SourcePair, ...] = ()
    others: tuple[Closeness, ...] = ()
    """Each source against the consensus of the others, and against the best constant."""
    answer: Comparison | None = None
    """Whether they agree with each other more than with the constant closest to them; None where they share
    no target."""

    @property
    def verdict(self) -> Verdict:
        """Whether they agree with each other more than with the best constant."""
        return "cannot tell" if self.answer is None else verdict_of(self.answer)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the categories."""
        return self.categories.names

    @property
    def more(self) -> MoreThanConstant | None:
        """The comparison behind the verdict."""
        return None if self.answer is None else MoreThanConstant.of(self.answer)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before the figures."""
        out = []
        if self.shared and len(self.sources) > _MOST:
            most = f"the {_MOST} of {len(self.sources):,} who rated most"
            out.append(f"Each against the others: {most}. AC1, alpha and their like take all.")
        if self.shared and len(self.sources) > _MOST_PAIRED:
            out.append(f"Pairs are shown of up to {_MOST_PAIRED}; there are {len(self.sources):,} here.")
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


def among(question: Question, answers: Answers, categories: Categories, *, shuffles: int, seed: int) -> Among:
    """Compute how far sources agree with each other.

    Args:
        question: What they were asked.
        answers: Theirs.
        categories: All that they could say.
        shuffles: Deals of the permuted figures.
        seed: Of the deals.
    """
    pile = pile_of(answers, categories)
    times = (~np.isnan(pile.values)).sum(axis=1)
    shared, everybody = int((times > 1).sum()), sources_of(answers)
    grid = grid_of(answers, categories, sources_of(answers, _MOST if shared else _MOST_ALONE))
    about = Among(
        question,
        categories,
        everybody,
        targets=int((times > 0).sum()),
        shared=shared,
        ratings=int(times.sum()),
        unit=grid.unit,
        strictness=_strictness(grid),
    )
    if not shared:
        return about
    names = [n for n in SHOWN if categories.values is not None or not COEFFICIENTS[n].needs_numbers]
    figures, permuted = _together(grid, names, shuffles, seed)
    if len(everybody) > _MOST:
        further = _together(pile, [n for n in names if n in _NAMELESS], shuffles, seed)
        figures, permuted = figures | further[0], permuted | further[1]
    constants = {
        name: _mean_figures([_beside_constant(grid, rater, float(level), names) for rater in grid.raters])
        for name, level in zip(categories.names, levels_of(categories), strict=True)
    }
    return replace(
        about,
        figures=figures,
        permuted=permuted,
        constants=constants,
        pairs=_pairs(grid),
        others=_others(grid),
        answer=_answer(pile, grid, constants),
    )


def _together(
    grid: RatingGrid, names: Sequence[str], shuffles: int, seed: int
) -> tuple[dict[str, Estimate], dict[str, float | None]]:
    """Return coefficients, and the means of the same with the scores of each column dealt anew."""
    deals = (_dealt(grid, names, np.random.default_rng([seed, k])) for k in range(shuffles))
    return coefficients_of(grid, names), _mean_figures(list(deals))


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
    both = _with_constant(grid, rater, level)
    both = both.only(~np.isnan(both.values[:, 0]))
    return _values(coefficients_of(both, names, intervals=False))


def _with_constant(grid: RatingGrid, rater: str, level: float) -> RatingGrid:
    """Return a rater beside one who says the same of all its targets."""
    own = grid.take([rater]).values[:, 0]
    values = np.column_stack([own, np.where(np.isnan(own), np.nan, level)])
    return replace(grid, values=values, raters=(rater, f"always {level:g}"))


def _answer(
    pile: RatingGrid, grid: RatingGrid, constants: Mapping[str, Mapping[str, float | None]]
) -> Comparison:
    """Compare sources among each other with the best constant beside each of them."""
    best = best_of(constants)
    level = float(levels_of(grid.categories)[grid.categories.names.index(best)])
    beside = [_with_constant(grid, rater, level) for rater in grid.raters]
    (answer,) = adjusted([compare_together(pile, f"always {best}", beside)])
    return answer


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


def _strictness(grid: RatingGrid) -> tuple[Strictness, ...]:
    numbers = grid.categories.values is not None
    levels, names = list(levels_of(grid.categories)), grid.categories.names
    out = []
    for rater, own, others in _beside_others(grid):
        rated = ~np.isnan(own)
        both = rated & ~np.isnan(others)
        used = np.unique(own[rated])
        only = names[levels.index(used[0])] if used.size == 1 and used[0] in levels else None
        mean, spread = (
            (float(own[rated].mean()), float(own[rated].std())) if numbers and rated.any() else (None, None)
        )
        difference = None
        if numbers:
            reach = levels[-1] - levels[0]
            clusters = [cluster for cluster, here in zip(grid.clusters, both, strict=True) if here]
            difference = mean_estimate((own - others)[both], clusters, limits=(-reach, reach), unit=grid.unit)
        out.append(Strictness(rater, int(rated.sum()), mean, spread, int(both.sum()), difference, only))
    return tuple(out)


def _others(grid: RatingGrid) -> tuple[Closeness, ...]:
    """Hold each source against the consensus of the others; p adjusted by Holm over the sources."""
    made = [closeness(grid, rater, own, "the others", others) for rater, own, others in _beside_others(grid)]
    return settled([one for one in made if one is not None])


def _beside_others(grid: RatingGrid) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield each source with its column and the consensus of the others, NaN where there is none."""
    rated = ~np.isnan(grid.values)
    sums, times = np.where(rated, grid.values, 0.0).sum(axis=1), rated.sum(axis=1)
    for place, rater in enumerate(grid.raters):
        own, mine = grid.values[:, place], rated[:, place]
        if grid.categories.values is None:
            yield rater, own, consensus_of(grid.take([name for name in grid.raters if name != rater]))
        else:
            yield rater, own, means_of(sums - np.where(mine, own, 0.0), times - mine, grid.categories)
