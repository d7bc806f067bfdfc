"""Sources among each other: people among people, or judges among judges, beside what knowing nothing gives.

Every coefficient stands beside the same coefficient with each source's scores dealt anew to the targets
that it rated, and beside a source that always says the same, put in the place of each of the others in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    coefficients_of,
    label_codes,
    mean_estimate,
    pearson,
    spearman,
    spearman_p,
)
from dialogauge.studies.agreement.closeness import (
    AmongEachOther,
    Closeness,
    always_the_same,
    best_of,
    closeness,
    compare_together,
    consensus_of,
    constants_of,
    means_of,
    permuted_values,
    settled,
    two_of,
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
class CandidateMeans:
    """How two sources order candidates, by the means over the targets that both rated."""

    n: int
    """Candidates."""
    pearson: float | None
    spearman: float | None
    p: float | None
    """Of Spearman's rho of so many candidates, as if they were a sample of candidates."""


@keys(of_candidates="of_candidates?")
@dataclass(frozen=True, slots=True)
class SourcePair:
    """Two sources on the targets that both rated."""

    a: str
    b: str
    n: int
    figures: Mapping[str, Estimate]
    of_candidates: CandidateMeans | None = None
    """Of the means of candidates; None for fewer than three."""


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
class Among(AmongEachOther):
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
    def names(self) -> tuple[str, ...]:
        """Of the categories."""
        return self.categories.names

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
    figures, permuted = coefficients_of(grid, names), permuted_values(grid, names, shuffles, seed)
    if len(everybody) > _MOST:
        nameless = [n for n in names if n in _NAMELESS]
        figures |= coefficients_of(pile, nameless)
        permuted |= permuted_values(pile, nameless, shuffles, seed)
    columns = [(own, always_the_same(own, categories)) for own in grid.values.T]
    constants = constants_of(grid, columns, names)
    return replace(
        about,
        figures=figures,
        permuted=permuted,
        constants=constants,
        pairs=_pairs(grid),
        # Each source against the consensus of the others; p adjusted by Holm over the sources.
        others=settled(
            closeness(grid, rater, own, "the others", others) for rater, own, others in beside_others(grid)
        ),
        answer=compare_together(pile, best_of(constants), columns),
    )


def _pairs(grid: RatingGrid) -> tuple[SourcePair, ...]:
    if len(grid.raters) > _MOST_PAIRED:
        return ()
    out = []
    numbers = grid.categories.values is not None
    names = [n for n in OF_PAIRS if numbers or not COEFFICIENTS[n].needs_numbers]
    for (a, of_a), (b, of_b) in combinations(zip(grid.raters, grid.values.T, strict=True), 2):
        two = two_of(grid, of_a, of_b)
        if two.targets:
            beside = _of_candidates(two) if numbers else None
            out.append(SourcePair(a, b, len(two.targets), coefficients_of(two, names), beside))
    return tuple(out)


def _of_candidates(two: RatingGrid) -> CandidateMeans | None:
    """Return how the two sources of a grid go together by candidate; its targets are `TargetKey`s."""
    candidates = [getattr(key, "candidate", None) for key in two.targets]
    codes, number = label_codes(candidates)
    if None in candidates or number < 3:
        return None
    x, y = (np.bincount(codes, of) / np.bincount(codes) for of in two.values.T)
    rho = spearman(x, y)
    return CandidateMeans(number, pearson(x, y), rho, spearman_p(rho, number))


def _strictness(grid: RatingGrid) -> tuple[Strictness, ...]:
    numbers = grid.categories.values is not None
    levels, names = grid.categories.steps.tolist(), grid.categories.names
    out = []
    for rater, own, others in beside_others(grid):
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


def beside_others(grid: RatingGrid) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield each source with its column and the consensus of the others, NaN where there is none."""
    rated = ~np.isnan(grid.values)
    sums, times = np.where(rated, grid.values, 0.0).sum(axis=1), rated.sum(axis=1)
    for place, rater in enumerate(grid.raters):
        own, mine = grid.values[:, place], rated[:, place]
        if grid.categories.values is None:
            yield rater, own, consensus_of(grid.take([name for name in grid.raters if name != rater]))
        else:
            yield rater, own, means_of(sums - np.where(mine, own, 0.0), times - mine, grid.categories)
