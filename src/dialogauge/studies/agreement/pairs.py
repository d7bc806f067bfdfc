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
    adjusted,
    coefficients_of,
    mean_estimate,
)
from dialogauge.studies.agreement.closeness import (
    MAIN,
    Closeness,
    MoreThanConstant,
    Verdict,
    best_of,
    compare_grids,
    compare_together,
    consensus_of,
    settled,
    verdict_of,
)
from dialogauge.studies.agreement.sources import CONSENSUS, UNNAMED, judge_name, natural
from dialogauge.text import counted

CHOICES: Final = Categories(("first", "tie", "second"), (-1.0, 0.0, 1.0))
_NAMES: Final = Categories(CHOICES.names, None)
OF_CHOICES: Final = ("ac1", "alpha_nominal", "alpha_interval", "randolph", "cohen", "exact")
"""The coefficients of choices, in the order in which tables show them."""
BESIDE_PEOPLE: Final = ("ac1", "alpha_nominal", "exact")
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
class PairAgreement:
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

    @property
    def verdict(self) -> Verdict:
        """Whether people agree with each other more than with the best who always chooses alike."""
        return "cannot tell" if self.answer is None else verdict_of(self.answer)

    @property
    def more(self) -> MoreThanConstant | None:
        """The comparison behind the verdict."""
        return None if self.answer is None else MoreThanConstant.of(self.answer)


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
    _expect_names(by_dimension)
    return tuple(
        _of_dimension(name, *of, shuffles=shuffles, seed=seed) for name, of in by_dimension.items() if of[0]
    )


def _expect_names(votes: Mapping[str, tuple[Sequence[Vote], Sequence[Vote]]]) -> None:
    people = {vote.rater for of, _ in votes.values() for vote in of}
    everybody = people | {vote.rater for _, of in votes.values() for vote in of}
    if people == {None}:
        msg = "the choices name no rater"
        raise UsageError(msg, hint="name the column that holds them in a field map (--map)")
    if len(everybody) < 2:
        msg = f"one rater only: {', '.join(str(name) for name in everybody) or 'nobody'}"
        raise UsageError(msg, hint="agreement takes two: add another rater's or a judge's file")


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

    def column(self, source: str) -> tuple[Floats, Floats]:
        """Return what a source chose, and what it was shown first, shape (n,) each."""
        place = self.grid.raters.index(source)
        return self.grid.values[:, place], self.shown[:, place]


def _of_dimension(
    name: str, people: Sequence[Vote], judges: Sequence[Vote], *, shuffles: int, seed: int
) -> PairAgreement:
    theirs = _names(people)
    marked = [replace(v, rater=judge_name(v.rater or UNNAMED, theirs)) for v in judges]
    choices = _Choices.of([*people, *marked])
    grid, own = choices.grid, choices.grid.take([n for n in choices.grid.raters if n in theirs])
    mine = [n for n in choices.grid.raters if n not in theirs]
    times = (~np.isnan(own.values)).sum(axis=1)
    candidates = sorted({v.first for v in people} | {v.second for v in people}, key=natural)
    deals = [_dealt(own, np.random.default_rng([seed, k])) for k in range(shuffles)]
    shared = int((times > 1).sum())
    controls = _controls(choices, own.raters, candidates)
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
        rates=_rates(choices, own.raters, candidates),
        figures=coefficients_of(own, OF_CHOICES) if shared else {},
        permuted=_means(deals) if shared else {},
        controls=controls,
        leanings=tuple(_leaning(choices, source) for source in grid.raters),
        others=_against(choices, own.raters, own.raters, candidates, "the others"),
        against_people=_against(choices, mine, own.raters, candidates, CONSENSUS),
        answer=_answer(choices, own, candidates, controls) if shared else None,
        left_out=choices.left_out,
        again=choices.again,
    )


def _answer(
    choices: _Choices,
    own: RatingGrid,
    candidates: Sequence[str],
    controls: Mapping[str, Mapping[str, float | None]],
) -> Comparison:
    """Compare people among each other with the best of those who always choose alike, beside each of them."""
    best = best_of(controls)
    beside = []
    for source in own.raters:
        values, shown = choices.column(source)
        both = np.column_stack([values, _always(values, shown, candidates)[best]])
        beside.append(replace(own, values=both, raters=("source", "control")))
    (answer,) = adjusted([compare_together(own, f"always {best}", beside)])
    return answer


def _names(votes: Iterable[Vote]) -> set[str]:
    return {vote.rater or UNNAMED for vote in votes}


def _always(values: Floats, shown: Floats, candidates: Sequence[str]) -> dict[str, Floats]:
    """Return what those choose who always choose alike, shape (n,) each, NaN where nothing is asked."""
    asked = np.where(np.isnan(values), np.nan, 0.0)
    out = {FIRST_SHOWN: asked + shown, SECOND_SHOWN: asked - shown, TIE: asked}
    if len(candidates) == 2:  # of many, whose name comes first means nothing
        out |= {candidates[0]: asked - 1, candidates[1]: asked + 1}
    return out


def _rates(choices: _Choices, people: Sequence[str], candidates: Sequence[str]) -> dict[str, float]:
    """Return the share of choices that fall on each of what could always be chosen."""
    hits: Counter[str] = Counter()
    total = 0
    for source in people:
        values, shown = choices.column(source)
        total += int((~np.isnan(values)).sum())
        for name, column in _always(values, shown, candidates).items():
            hits[name] += int((values == column).sum())
    return {name: n / total for name, n in hits.items()}


def _dealt(grid: RatingGrid, rng: np.random.Generator) -> dict[str, float | None]:
    values = grid.values.copy()
    for column in values.T:
        rated = ~np.isnan(column)
        column[rated] = rng.permutation(column[rated])
    return _values(replace(grid, values=values))


def _values(grid: RatingGrid) -> dict[str, float | None]:
    return {name: of.value for name, of in coefficients_of(grid, OF_CHOICES, intervals=False).items()}


def _means(several: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    known = {name: [v for of in several if (v := of[name]) is not None] for name in OF_CHOICES}
    return {name: float(np.mean(values)) if values else None for name, values in known.items()}


def _controls(
    choices: _Choices, people: Sequence[str], candidates: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    made: dict[str, list[dict[str, float | None]]] = {}
    for source in people:
        values, shown = choices.column(source)
        for name, column in _always(values, shown, candidates).items():
            made.setdefault(name, []).append(_values(_two(choices.grid, values, column)))
    return {name: _means(of) for name, of in made.items()}


def _two(grid: RatingGrid, values: Floats, reference: Floats) -> RatingGrid:
    """Return the grid of a source beside a reference, on the targets of both."""
    both = ~np.isnan(values) & ~np.isnan(reference)
    return replace(grid, values=np.column_stack([values, reference]), raters=("source", "reference")).only(
        both
    )


def _leaning(choices: _Choices, source: str) -> Leaning:
    values, shown = choices.column(source)
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


def _against(
    choices: _Choices, sources: Sequence[str], people: Sequence[str], candidates: Sequence[str], name: str
) -> tuple[Closeness, ...]:
    """Hold sources against people without themselves; p adjusted by Holm over the sources."""
    made = []
    for source in sources:
        rest = [n for n in people if n != source]
        if not rest:
            continue
        reference = consensus(choices.grid.take(rest))
        values, shown = choices.column(source)
        own = _two(choices.grid, values, reference)
        if own.targets:
            beside = {
                n: _two(choices.grid, column, reference)
                for n, column in _always(values, shown, candidates).items()
            }
            made.append(_closeness(source, name, own, beside))
    return settled(made)


def _closeness(source: str, reference: str, own: RatingGrid, beside: Mapping[str, RatingGrid]) -> Closeness:
    main = {n: coefficients_of(of, (MAIN,), intervals=False)[MAIN].value for n, of in beside.items()}
    best = max(main, key=lambda n: -np.inf if (value := main[n]) is None else value)
    answer = compare_grids(source, own, f"always {best}", beside[best], MAIN)
    figures, its = coefficients_of(own, BESIDE_PEOPLE), coefficients_of(beside[best], BESIDE_PEOPLE)
    return Closeness(source, reference, len(own.targets), figures, f"always {best}", its, answer)


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
