"""People and judges who choose between two: how far they agree, beside who always takes the first one shown.

A target is two candidates in one conversation, or turn, whichever way round they were shown: `first` is the
one whose name comes first. A tie is a choice like the others. What several people chose is the choice of most
of them; where no one choice has most, they are undecided, and nobody is held against them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.core import UsageError
from dialogauge.core.json_keys import keys
from dialogauge.data import Vote
from dialogauge.stats import (
    Categories,
    Comparison,
    Estimate,
    Floats,
    RatingGrid,
    coefficients_of,
    mean_estimate,
)
from dialogauge.studies.agreement.closeness import (
    AmongEachOther,
    Closeness,
    best_of,
    closeness,
    compare_together,
    consensus_of,
    constants_of,
    permuted_values,
    settled,
)
from dialogauge.studies.agreement.sources import CONSENSUS, UNNAMED, judge_name, natural
from dialogauge.text import counted

CHOICES: Final = Categories(("first", "tie", "second"), (-1.0, 0.0, 1.0))
_NAMES: Final = Categories(CHOICES.names, None)
OF_CHOICES: Final = ("ac1", "alpha_nominal", "alpha_interval", "randolph", "cohen", "exact")
"""The coefficients of choices, in the order in which tables show them."""
FIRST_SHOWN: Final = "the first shown"
SECOND_SHOWN: Final = "the second shown"
TIE: Final = "a tie"


@dataclass(frozen=True, slots=True)
class Leaning:
    """How a source chooses, whatever it is shown."""

    name: str
    n: int
    """Choices."""
    first_shown: Estimate
    """Share of its choices for the one that it was shown first."""
    ties: float
    """Share of ties."""
    decided: Estimate
    """Share for the one shown first of the choices that are no tie; a half is no leaning."""


@keys(
    unit="clustered_by",
    figures="coefficients",
    others="against_the_others",
    verdict="agree_more",
    answer=None,
    more="more_than_with_a_constant",
)
@dataclass(frozen=True, slots=True)
class PairAgreement(AmongEachOther):
    """What people and judges chose in one dimension."""

    dimension: str
    people: tuple[str, ...]
    judges: tuple[str, ...]
    candidates: tuple[str, ...]
    targets: int
    shared: int
    """Targets on which two or more people chose."""
    undecided: int
    """Of these, targets on which no one choice has most."""
    choices: int
    """Of people."""
    unit: str
    """What intervals are clustered by."""
    rates: Mapping[str, float]
    """Share of people's choices by what was chosen."""
    figures: Mapping[str, Estimate]
    """Of people among each other; empty where no target is shared."""
    permuted: Mapping[str, float | None]
    """The mean over deals in which each one's choices are dealt anew to the targets that they are of."""
    controls: Mapping[str, Mapping[str, float | None]]
    """By what is always chosen, and by coefficient: the mean over people of each beside such a one."""
    leanings: tuple[Leaning, ...]
    others: tuple[Closeness, ...]
    """Each person against what the others chose."""
    against_people: tuple[Closeness, ...]
    """Each judge against what people chose."""
    answer: Comparison | None = None
    """Whether people agree with each other more than with the best who always chooses alike; None where they
    share no target."""
    left_out: int = 0
    """Choices that name no conversation and come several times."""
    again: int = 0
    """Choices of what the same source, or somebody without a name, had chosen about before."""


def pair_agreement(
    people: Iterable[Vote], judges: Iterable[Vote] = (), *, shuffles: int = 20, seed: int = 0
) -> tuple[PairAgreement, ...]:
    """Compute how far people agree on pairs with each other, and judges with them, by dimension.

    Args:
        people: Their choices.
        judges: Choices of others, which are held against those of people.
        shuffles: Deals of the permuted figures.
        seed: Of the deals.

    Raises:
        UsageError: Nobody can be compared: no names, or one alone.
    """
    by_dimension: dict[str, tuple[list[Vote], list[Vote]]] = {}
    for place, votes in enumerate((people, judges)):
        for vote in votes:
            by_dimension.setdefault(vote.dimension, ([], []))[place].append(vote)
    raters = {vote.rater for of, _ in by_dimension.values() for vote in of}
    everybody = raters | {vote.rater for _, of in by_dimension.values() for vote in of}
    if raters == {None}:
        msg = "the choices name no rater"
        raise UsageError(msg, hint="name the column that holds them in a field map (--map)")
    if len(everybody) < 2:
        msg = f"one rater only: {', '.join(str(name) for name in everybody) or 'nobody'}"
        raise UsageError(msg, hint="agreement takes two: add another rater's or a judge's file")
    return tuple(
        _of_dimension(name, *of, shuffles=shuffles, seed=seed) for name, of in by_dimension.items() if of[0]
    )


@dataclass(frozen=True, eq=False)
class _Choices:
    """Choices as targets by sources."""

    grid: RatingGrid
    shown: Floats
    """Shape as of the grid: what somebody says who always takes the one that this source is shown first."""
    left_out: int
    again: int

    @classmethod
    def of(cls, votes: Sequence[Vote]) -> _Choices:
        """Lay out choices; what names no conversation is of the two candidates as such, the latest counts."""
        times = Counter((v.rater, v.first, v.second) for v in votes if v.conversation_id is None)
        kept = [v for v in votes if v.conversation_id or times[v.rater, v.first, v.second] == 1]
        sources = sorted({v.rater or UNNAMED for v in kept}, key=natural)
        targets: dict[tuple[Hashable, ...], int] = {}
        for v in kept:
            targets.setdefault((v.conversation_id, v.turn, v.first, v.second), len(targets))
        values, shown = np.full((2, len(targets), len(sources)), np.nan)
        columns = {source: place for place, source in enumerate(sources)}
        for v in kept:
            place = targets[v.conversation_id, v.turn, v.first, v.second], columns[v.rater or UNNAMED]
            values[place], shown[place] = v.outcome, v.position
        clusters = tuple(t if t[0] is None else t[0] for t in targets)
        grid = RatingGrid(values, tuple(targets), tuple(sources), CHOICES, clusters)
        again = len(kept) - int((~np.isnan(values)).sum())
        return cls(grid, shown, len(votes) - len(kept), again)

    def of_source(self, source: str, candidates: Sequence[str]) -> tuple[Floats, dict[str, Floats]]:
        """Return what a source chose, shape (n,), and by name what those choose who always choose alike.

        NaN where it was asked nothing.
        """
        place = self.grid.raters.index(source)
        values, shown = self.grid.values[:, place], self.shown[:, place]
        asked = np.where(np.isnan(values), np.nan, 0.0)
        always = {FIRST_SHOWN: asked + shown, SECOND_SHOWN: asked - shown, TIE: asked}
        if len(candidates) == 2:  # of many, whose name comes first means nothing
            always |= {candidates[0]: asked - 1, candidates[1]: asked + 1}
        return values, always


def _of_dimension(
    name: str, people: Sequence[Vote], judges: Sequence[Vote], *, shuffles: int, seed: int
) -> PairAgreement:
    theirs = {vote.rater or UNNAMED for vote in people}
    marked = [replace(v, rater=judge_name(v.rater or UNNAMED, theirs)) for v in judges]
    choices = _Choices.of([*people, *marked])
    grid, own = choices.grid, choices.grid.take([n for n in choices.grid.raters if n in theirs])
    mine = [n for n in grid.raters if n not in theirs]
    times = (~np.isnan(own.values)).sum(axis=1)
    candidates = sorted({v.first for v in people} | {v.second for v in people}, key=natural)
    by_source = {source: choices.of_source(source, candidates) for source in grid.raters}
    raters = [by_source[source] for source in own.raters]
    shared, controls = int((times > 1).sum()), constants_of(grid, raters, OF_CHOICES)
    hits: Counter[str] = Counter()
    for values, always in raters:
        hits.update({what: int((values == column).sum()) for what, column in always.items()})

    def against(sources: Sequence[str], what: str) -> tuple[Closeness, ...]:
        """Hold sources against people without themselves; p adjusted by Holm over the sources."""
        made = []
        for source in sources:
            if rest := [n for n in own.raters if n != source]:
                (values, always), reference = by_source[source], consensus(grid.take(rest))
                made.append(closeness(grid, source, values, what, reference, always))
        return settled(made)

    return PairAgreement(
        name,
        own.raters,
        tuple(mine),
        tuple(candidates),
        targets=int((times > 0).sum()),
        shared=shared,
        undecided=int(np.isnan(consensus(own)[times > 1]).sum()),
        choices=int(times.sum()),
        unit=grid.unit,
        rates={what: n / int(times.sum()) for what, n in hits.items()},
        figures=coefficients_of(own, OF_CHOICES) if shared else {},
        permuted=permuted_values(own, OF_CHOICES, shuffles, seed) if shared else {},
        controls=controls,
        leanings=tuple(_leaning(choices, source) for source in grid.raters),
        others=against(own.raters, "the others"),
        against_people=against(mine, CONSENSUS),
        answer=compare_together(own, best_of(controls), raters) if shared else None,
        left_out=choices.left_out,
        again=choices.again,
    )


def _leaning(choices: _Choices, source: str) -> Leaning:
    place = choices.grid.raters.index(source)
    values, shown = choices.grid.values[:, place], choices.shown[:, place]
    rated = ~np.isnan(values)
    clusters = [cluster for cluster, here in zip(choices.grid.clusters, rated, strict=True) if here]
    first, tie = (values == shown)[rated], values[rated] == 0
    of_decided = [cluster for cluster, t in zip(clusters, tie, strict=True) if not t]
    unit = choices.grid.unit
    return Leaning(
        source,
        int(rated.sum()),
        mean_estimate(first.astype(np.float64), clusters, unit=unit),
        float(tie.mean()),
        mean_estimate(first[~tie].astype(np.float64), of_decided, unit=unit),
    )


def consensus(grid: RatingGrid) -> Floats:
    """Return what most chose, shape (n,); NaN where nobody chose, or no one choice has most."""
    return consensus_of(replace(grid, values=grid.values + 1, categories=_NAMES)) - 1


def remarks_on(result: PairAgreement) -> Iterator[str]:
    """Say which choices do not count."""
    if result.left_out:
        yield (
            f"{counted(result.left_out, 'choice')} name no conversation and come several times from one "
            "rater: nobody can say which are of the same two replies, so they are left out here"
        )
    if result.again:
        yield (
            f"{counted(result.again, 'choice')} of what the same one, or somebody without a name, chose "
            "about before: the latest counts"
        )
