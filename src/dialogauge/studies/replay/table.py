"""Scores of all candidates on all items: one column of items, one row for each candidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from dialogauge.core import Scale
from dialogauge.core.json_keys import as_json, keys
from dialogauge.stats import (
    Basis,
    CalibrationName,
    CalibrationRun,
    Comparison,
    Estimate,
    RawScore,
    ScoreHistory,
    Ties,
    adjusted,
    calibrate,
    compare_gain,
    group_means,
    macro_estimate,
    macro_gain,
    macro_mean,
)
from dialogauge.studies.replay.ground import PLAIN, Floats, Ground
from dialogauge.studies.replay.items import ORIGINAL, ReplayItem
from dialogauge.studies.replay.scored import ReplyScore, ScoredReplies


@dataclass(frozen=True, slots=True)
class CandidateScores:
    """What each candidate got on each item; NaN where it has no score."""

    items: tuple[ReplayItem, ...]
    names: tuple[str, ...]
    whole: Floats
    """Whole scores, shape (candidates, items)."""
    value: Floats
    """The same with fractions."""
    again: Callable[[Sequence[str], Collection[str]], CandidateScores] | None = None
    """Shows candidates as if these items alone had been asked for; None where a score depends on no other."""
    on: Ground = PLAIN
    """What the scores are on."""
    skipped: npt.NDArray[np.bool_] | None = None
    """Where the dimension does not apply to a reply, shape (candidates, items); None where it always does.
    There is no score then, and no failure."""

    def applies(self, *names: str) -> npt.NDArray[np.bool_]:
        """Return the items to which the dimension applies for all of these candidates, shape (items,)."""
        if self.skipped is None:
            return np.ones(len(self.items), dtype=np.bool_)
        rows = [self.names.index(name) for name in names]
        some: npt.NDArray[np.bool_] = np.logical_or.reduce(self.skipped[rows], axis=0)
        return ~some

    def figures(self, name: str) -> Aggregate:
        """Return the figures of a candidate."""
        asked = self.applies(name)
        items = tuple(i for i, there in zip(self.items, asked, strict=True) if there)
        whole, exact = self.row(name)[asked], self.fractions(name)[asked]
        return aggregate(items, whole, fractions=exact, on=self.on)

    def row(self, name: str) -> Floats:
        """Return the whole scores of a candidate, shape (items,)."""
        row: Floats = self.whole[self.names.index(name)]
        return row

    def fractions(self, name: str) -> Floats:
        """Return its scores with fractions, shape (items,)."""
        row: Floats = self.value[self.names.index(name)]
        return row

    def shared(self, names: Sequence[str]) -> CandidateScores:
        """Return some candidates, fit to be compared on the items that all of them have a score for.

        Where a view ranks a candidate's scores among each other, one that failed has other ranks for all of
        its replies: on the shared items they are ranked anew, as if there were no others.
        """
        rows = [self.names.index(name) for name in names]
        whole, value = self.whole[rows], self.value[rows]
        known = ~np.isnan(whole)
        common = np.logical_and.reduce(known, axis=0)
        uneven = np.logical_or.reduce(known, axis=0) & ~common
        if self.again is not None and uneven.any():
            # Scores are ranked block by block: where nobody's is missing, or everybody's, ranks stay.
            blocks = {i.block for i, differs in zip(self.items, uneven, strict=True) if differs}
            moved = common & np.array([i.block in blocks for i in self.items])
            again = self.again(names, {i.id for i, moves in zip(self.items, moved, strict=True) if moves})
            whole, value = np.where(moved, again.whole, whole), np.where(moved, again.value, value)
        skipped = None if self.skipped is None else self.skipped[rows]
        return CandidateScores(self.items, tuple(names), whole, value, on=self.on, skipped=skipped)


_SATISFIED = 4


def _interval(estimate: Estimate | None) -> tuple[float, float] | None:
    return None if estimate is None else estimate.interval


@keys(
    primary=None,
    bounds="user_macro_bounds",
    fraction=None,
    gold_error="mean_distance_to_gold",
    user_macro="user_macro",
    user_macro_interval="user_macro_interval",
    fraction_user_macro="fraction_user_macro",
    fraction_user_macro_interval="fraction_user_macro_interval",
)
@dataclass(frozen=True, slots=True)
class Aggregate:
    """What a candidate got on the items, in one view. A mean over nothing is None."""

    requested: int
    n: int
    failed: int
    """Items without a score: the candidate or the evaluator failed."""
    users: int
    scenarios: int
    blocks: int
    micro: float | None
    primary: Estimate
    """The user macro mean: the mean over users of each user's mean. Its interval is 95 % by users."""
    bounds: tuple[float, float] | None
    """The user macro mean if every failure had been a 1, and a 5."""
    task_macro: float | None
    block_macro: float | None
    sat: float | None
    """Share of scores of 4 and more."""
    dsat: float | None
    """Share of scores of 3 and less."""
    counts: Mapping[str, int]
    """How often each whole score was given."""
    scenario_means: Mapping[str, float]
    fraction: Estimate
    """The user macro mean of the scores with their fractions."""
    gold_error: float | None
    """Mean distance to what the user gave the original: a diagnosis, not a quality."""

    @property
    def user_macro(self) -> float | None:
        """Mean over users of each user's mean: the primary figure."""
        return self.primary.value

    @property
    def user_macro_interval(self) -> tuple[float, float] | None:
        """95 % by users."""
        return _interval(self.primary)

    @property
    def fraction_user_macro(self) -> float | None:
        """The same of the scores with their fractions."""
        return self.fraction.value

    @property
    def fraction_user_macro_interval(self) -> tuple[float, float] | None:
        """95 % by users."""
        return _interval(self.fraction)


def aggregate(
    items: Sequence[ReplayItem], whole: Floats, *, fractions: Floats | None = None, on: Ground = PLAIN
) -> Aggregate:
    """Compute the figures of one candidate.

    Source: PersTurnBench, section 5.1 and appendix G.1.

    Args:
        items: The items asked for.
        whole: Its whole scores, shape (items,); NaN where there is none.
        fractions: The same with fractions; the whole scores when None.
        on: What the scores are on.
    """
    users = [i.user for i in items]
    scored = whole[~np.isnan(whole)]
    with_score = [i for i, score in zip(items, whole, strict=True) if not np.isnan(score)]
    by_user = group_means(whole, users)
    by_scenario = group_means(whole, [i.scenario for i in items])
    exact = group_means(whole if fractions is None else fractions, users)
    gold = np.array([i.gold for i in with_score if i.gold is not None])
    n = int(scored.size)
    return Aggregate(
        requested=len(items),
        n=n,
        failed=len(items) - n,
        users=len(by_user),
        scenarios=len(by_scenario),
        blocks=len({i.block for i in with_score}),
        micro=float(scored.mean()) if n else None,
        primary=macro_estimate(by_user, n=n, limits=on.limits, unit=on.unit),
        bounds=_bounds(whole, users, on.scale),
        task_macro=macro_mean(by_scenario),
        block_macro=macro_mean(group_means(whole, [i.block for i in items])),
        sat=float((scored >= _SATISFIED).mean()) if n else None,
        dsat=float((scored < _SATISFIED).mean()) if n else None,
        counts={str(s): int((np.rint(scored) == s).sum()) for s in on.levels},
        scenario_means=by_scenario,
        fraction=macro_estimate(exact, n=n, limits=on.limits, unit=on.unit),
        gold_error=float(np.abs(scored - gold).mean()) if n and gold.size == n else None,
    )


def _bounds(whole: Floats, users: Sequence[str], scale: Scale) -> tuple[float, float] | None:
    if not np.isnan(whole).any():
        return None
    ends = [macro_mean(group_means(np.nan_to_num(whole, nan=end), users)) for end in (scale.low, scale.high)]
    low, high = ends
    return None if low is None or high is None else (low, high)


@keys(win_rate="win_rate", tie_rate="tie_rate", lose_rate="lose_rate", non_tie_win_rate="non_tie_win_rate")
@dataclass(frozen=True, slots=True)
class Outcomes:
    """Wins, ties and losses of a candidate against another, over items or over groups of them."""

    n: int
    wins: int
    ties: int
    losses: int
    mean_delta: float | None

    @property
    def win_rate(self) -> float | None:
        """Null over nothing, like the other rates."""
        return self.wins / self.n if self.n else None

    @property
    def tie_rate(self) -> float | None:
        """Share of ties."""
        return self.ties / self.n if self.n else None

    @property
    def lose_rate(self) -> float | None:
        """Share of losses."""
        return self.losses / self.n if self.n else None

    @property
    def non_tie_win_rate(self) -> float | None:
        """Share of wins in what is no tie."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else None

    def to_json(self) -> dict[str, Any]:
        """Write counts and rates."""
        return dict(as_json(self))


@keys(
    a="candidate",
    b="against",
    only_a="only_candidate",
    only_b="only_against",
    comparison=None,
    p="p",
    p_holm="p_holm",
    least_p="least_p",
    bounds="user_macro_delta_bounds",
    fraction=None,
    ranked=None,
    side="side",
    user_macro_delta="user_macro_delta",
    user_macro_delta_interval="user_macro_delta_interval",
    fraction_user_macro_delta="fraction_user_macro_delta",
    fraction_user_macro_delta_interval="fraction_user_macro_delta_interval",
)
@dataclass(frozen=True, slots=True)
class Pairing:
    """A candidate against another."""

    a: str
    b: str
    only_a: int
    """Items that only the first has a score for; they take no part."""
    only_b: int
    items: Outcomes
    users: Outcomes
    scenarios: Outcomes
    blocks: Outcomes
    comparison: Comparison
    """By the mean over users of the mean difference: the primary figure. p adjusted by Holm over all pairs of
    the view."""
    bounds: tuple[float, float] | None
    """The difference over all items if every missing score had been a 1 for the first and a 5 for the
    second, and the other way round; None where none is missing."""
    fraction: Estimate | None = None
    """The same difference of the scores with their fractions."""
    ranked: bool = True
    """Whether the evaluator is checked, or asked all the same: else it does not say which is above."""

    @property
    def side(self) -> str:
        """Where the first stands against the second; not said by an evaluator that is not checked."""
        return self.comparison.side if self.ranked else "not ranked"

    @property
    def p(self) -> float | None:
        """Two-sided."""
        return self.comparison.p

    @property
    def p_holm(self) -> float | None:
        """Adjusted over all pairs."""
        return self.comparison.p_holm

    @property
    def least_p(self) -> float | None:
        """The lowest that so few clusters can give."""
        return self.comparison.least_p

    @property
    def difference(self) -> Estimate:
        """How much more the first gets, with its paired interval by users."""
        return self.comparison.difference

    @property
    def user_macro_delta(self) -> float | None:
        """How much more the first gets, by the mean over users."""
        return self.difference.value

    @property
    def user_macro_delta_interval(self) -> tuple[float, float] | None:
        """95 %, paired, by users."""
        return _interval(self.difference)

    @property
    def fraction_user_macro_delta(self) -> float | None:
        """The same of the scores with their fractions."""
        return None if self.fraction is None else self.fraction.value

    @property
    def fraction_user_macro_delta_interval(self) -> tuple[float, float] | None:
        """95 %, paired, by users."""
        return _interval(self.fraction)

    @property
    def gain(self) -> Estimate | None:
        """The difference that lies above 0 by its interval, with fractions where only that one does."""
        both = (self.difference, self.fraction)
        return next((d for d in both if d is not None and d.low is not None and d.low > 0), None)


def compare_candidates(table: CandidateScores, *, margin: float = 0.0) -> tuple[Pairing, ...]:
    """Compare every candidate with the original replies, and with every other candidate.

    p-values are adjusted by Holm over all pairs together.
    """
    others = [name for name in table.names if name != ORIGINAL]
    named = [(name, ORIGINAL) for name in others if ORIGINAL in table.names] + list(combinations(others, 2))
    pairs = []
    for a, b in named:
        two = table.shared((a, b))
        pairs.append(pair_of(two, margin))
    over_all = adjusted([f.comparison for f in pairs])
    return tuple(replace(f, comparison=comparison) for f, comparison in zip(pairs, over_all, strict=True))


def pair_of(two: CandidateScores, margin: float = 0.0) -> Pairing:
    """Compare the two candidates of a table on the items to which the dimension applies for both."""
    a, b = two.names
    asked = two.applies(a, b)
    items = tuple(i for i, there in zip(two.items, asked, strict=True) if there)
    whole, exact = two.whole[:, asked], two.value[:, asked]
    return compare_pair((a, b), items, (whole[0], whole[1]), margin, (exact[0], exact[1]), on=two.on)


def compare_pair(
    names: tuple[str, str],
    items: Sequence[ReplayItem],
    scores: tuple[Floats, Floats],
    margin: float = 0.0,
    fractions: tuple[Floats, Floats] | None = None,
    *,
    on: Ground = PLAIN,
) -> Pairing:
    """Compare two candidates item by item.

    Source: PersTurnBench, appendix G.2; the paired interval is ours.

    Args:
        names: Of the two.
        items: The items asked for.
        scores: Whole scores of both, each of shape (items,); NaN where there is none.
        margin: A difference of no more than this is a tie.
        fractions: The same with fractions.
        on: What the scores are on; differences say how much better, also where a lower score is.
    """
    a, b = scores
    both = ~np.isnan(a) & ~np.isnan(b)
    delta = np.where(both, on.better(a, b), np.nan)
    users = [i.user for i in items]
    by_user = group_means(delta, users)
    fraction = None
    if fractions is not None and by_user:
        exact = group_means(np.where(both, on.better(*fractions), np.nan), users)
        fraction, _ = Basis(int(both.sum()), len(exact), on.unit).difference(macro_gain(exact, on.width))
    macros = [macro_mean(group_means(np.where(both, of, np.nan), users)) for of in (a, b)]
    basis = Basis(int(both.sum()), len(by_user), on.unit)
    gain = macro_gain(by_user, on.width)
    comparison = compare_gain(names, "user_macro", (macros[0], macros[1]), gain, basis)
    return Pairing(
        names[0],
        names[1],
        int((~np.isnan(a) & np.isnan(b)).sum()),
        int((np.isnan(a) & ~np.isnan(b)).sum()),
        items=_outcomes(delta[both], margin),
        users=_outcomes(_differences(items, delta, "user"), margin),
        scenarios=_outcomes(_differences(items, delta, "scenario"), margin),
        blocks=_outcomes(_differences(items, delta, "block"), margin),
        comparison=comparison,
        bounds=None if both.all() else _difference_bounds(a, b, users, on),
        fraction=fraction,
    )


def _differences(items: Sequence[ReplayItem], delta: Floats, group: str) -> Floats:
    """Return the mean difference in each group."""
    means = group_means(delta, [str(getattr(i, group)) for i in items])
    return np.array(list(means.values()), dtype=np.float64)


def _outcomes(delta: Floats, margin: float) -> Outcomes:
    # Means of groups differ by rounding alone where the scores are equal.
    wins, losses = int((delta > margin + 1e-12).sum()), int((delta < -margin - 1e-12).sum())
    n = int(delta.size)
    return Outcomes(n, wins, n - wins - losses, losses, float(delta.mean()) if n else None)


def _difference_bounds(a: Floats, b: Floats, users: Sequence[str], on: Ground) -> tuple[float, float] | None:
    worst, best = on.scale.worst, on.scale.best
    low, high = (
        macro_mean(group_means(on.better(np.nan_to_num(a, nan=mine), np.nan_to_num(b, nan=other)), users))
        for mine, other in ((worst, best), (best, worst))
    )
    return None if low is None or high is None else (low, high)


EvaluatorKind = Literal["user", "rubric", "pair"]
"""Who scores: a judge of one user's satisfaction, a rubric, or a rubric that compares with the original."""

View = Literal["raw", "mean-shift", "reference-cdf"]
VIEWS: Final[tuple[View, ...]] = get_args(View)
"""`raw`: as the evaluator says. `mean-shift`: moved by what brings the block's original replies to the mean
of the user's history. `reference-cdf`: the rank among the block's original replies, as a score of the
history; the published score."""

_METHODS: Final[Mapping[View, CalibrationName]] = {
    "mean-shift": "reference-mean-shift",
    "reference-cdf": "reference-cdf",
}


@dataclass(frozen=True, slots=True)
class ShownItem:
    """What was said to one item."""

    title: str
    """The item's id as it is shown."""
    request: str
    original: str
    replies: dict[str, str] = field(default_factory=dict)
    """By candidate."""


@dataclass(slots=True)
class EvaluatorScores:
    """What one evaluator gave, on one dimension."""

    items: tuple[ReplayItem, ...]
    """Those that are in the data."""
    original: ScoredReplies
    """The original replies of the touched blocks, all of them."""
    candidates: dict[str, ScoredReplies]
    histories: Mapping[str, ScoreHistory]
    """By block."""
    planted: dict[str, ScoredReplies] = field(default_factory=dict)
    """The same of planted candidates, which test the evaluator and take no part in the leaderboard."""
    shown: dict[str, ShownItem] = field(default_factory=dict)
    """By item: some of them with every candidate's reply."""
    on: Ground = PLAIN
    views: tuple[View, ...] = VIEWS
    """Those that there are: of a rubric's scores the raw one alone."""
    by: EvaluatorKind = "user"

    def failures(self) -> dict[str, dict[str, int]]:
        """Count why items have no score, by candidate (the original replies are one) and kind."""
        ids = {i.id for i in self.items}
        every = {ORIGINAL: self.original, **self.candidates}
        kinds = {name: Counter(k for i, k in of.missing.items() if i in ids) for name, of in every.items()}
        return {name: dict(counts.most_common()) for name, counts in kinds.items()}

    def viewer(self, ties: Ties) -> Viewer:
        """Return what shows these scores in each view."""
        reference = tuple(self.original.scores.values())
        return Viewer(self.items, reference, self.histories, ties, self.on, self.views)

    def tables(self, ties: Ties) -> dict[View, CandidateScores]:
        """Return a table of each view, the original replies beside all candidates."""
        tables = self.viewer(ties).tables({name: of.scores for name, of in self.candidates.items()})
        return {view: self.skipping(table) for view, table in tables.items()}

    @property
    def idle(self) -> bool:
        """Whether the dimension applies to no original reply."""
        return not self.original.scores and bool(self.original.skipped)

    def skipping(self, table: CandidateScores) -> CandidateScores:
        """Return a table of these scores that knows to which replies the dimension does not apply."""
        every = {ORIGINAL: self.original, **self.candidates, **self.planted}
        if not any(of.skipped for of in every.values()):
            return table
        skipped = np.array([[i.id in every[name].skipped for i in table.items] for name in table.names])
        return replace(table, skipped=skipped)


@dataclass(frozen=True, slots=True)
class Viewer:
    """Shows raw scores in each view."""

    items: tuple[ReplayItem, ...]
    reference: Sequence[ReplyScore]
    """The original replies of the touched blocks, all of them."""
    histories: Mapping[str, ScoreHistory]
    """By block."""
    ties: Ties = "mid"
    on: Ground = PLAIN
    views: tuple[View, ...] = VIEWS

    def tables(
        self, columns: Mapping[str, Mapping[str, ReplyScore]], *, original: bool = True
    ) -> dict[View, CandidateScores]:
        """Return a table of each view.

        Args:
            columns: By candidate and item; an item without a score is left out.
            original: Whether the original replies are shown as one more candidate, through the same map.
        """
        wanted = {i.id for i in self.items}
        own = {ORIGINAL: {g.id: g for g in self.reference if g.id in wanted}} if original else {}
        every = {**own, **columns}
        return {view: self._table(view, every) for view in self.views}

    def left_as_they_are(self, view: View) -> dict[str, int]:
        """Return how many touched blocks a view leaves as they are, by reason."""
        if view == "raw":
            return {}
        blocks = dict.fromkeys(i.block for i in self.items)
        probes = [RawScore("", 3.0, 0, block, "") for block in blocks]
        return dict(self._calibrated(view, probes).identity)

    def _table(self, view: View, columns: Mapping[str, Mapping[str, ReplyScore]]) -> CandidateScores:
        shape = (len(columns), len(self.items))
        whole, value = np.full(shape, np.nan), np.full(shape, np.nan)
        for row, column in enumerate(columns.values()):
            places = [i for i, item in enumerate(self.items) if item.id in column]
            replies = [column[self.items[i].id] for i in places]
            shown = self._shown(view, replies)
            for place, (score, fraction) in zip(places, shown, strict=True):
                whole[row, place], value[row, place] = score, fraction
        again = partial(self._again, view, columns) if view == "reference-cdf" else None
        return CandidateScores(self.items, tuple(columns), whole, value, again, self.on)

    def _again(
        self,
        view: View,
        columns: Mapping[str, Mapping[str, ReplyScore]],
        names: Sequence[str],
        items: Collection[str],
    ) -> CandidateScores:
        return self._table(view, {name: {i: columns[name][i] for i in items} for name in names})

    def _shown(self, view: View, replies: Sequence[ReplyScore]) -> list[tuple[float, float]]:
        if view == "raw":
            return [(float(g.whole), g.value) for g in replies]
        return [(float(c.rounded), c.value) for c in self._calibrated(view, _raw(replies)).scores]

    def _calibrated(self, view: View, scores: Sequence[RawScore]) -> CalibrationRun:
        reference = _raw(self.reference)
        return calibrate(scores, self.histories, _METHODS[view], ties=self.ties, reference=reference)


def _raw(replies: Sequence[ReplyScore]) -> list[RawScore]:
    return [RawScore(g.id, g.value, g.position, g.block) for g in replies]
