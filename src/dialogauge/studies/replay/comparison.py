"""A finished benchmark: every candidate in every view, beside ceiling and controls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dialogauge.core import PlainDimension
from dialogauge.core.json_keys import INSIDE, as_json, keys
from dialogauge.runs import versions
from dialogauge.stats import Ties
from dialogauge.studies.arena.controls import PositionBias
from dialogauge.studies.evidence import UNCHECKED, DimensionEvidence
from dialogauge.studies.judging.checking import checked_by_ratings
from dialogauge.studies.judging.people_tally import PeopleTally
from dialogauge.studies.replay.board import Board, Ground, View
from dialogauge.studies.replay.diagnostics import (
    LengthControl,
    LengthFigures,
    PositionMean,
    SelfPreference,
    SwappedPairs,
    by_position,
    constant_candidates,
    ladder,
    length_control,
    length_figures,
    scored_by_length,
    self_preference,
    shuffled,
)
from dialogauge.studies.replay.figures import (
    Aggregate,
    Pairing,
    aggregate,
    compare_candidates,
    corrected,
    pair_of,
)
from dialogauge.studies.replay.items import ORIGINAL, ItemSet
from dialogauge.studies.satisfaction.answers import SATISFACTION


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """How candidates are compared."""

    seed: int = 42
    ties: Ties = "mid"
    margin: float = 0.0
    """Differences up to this size are ties."""
    deals: int = 200
    unchecked: bool = False
    """Whether candidates are ranked although the evaluator is not checked."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What a candidate gets whose every reply is given the best score, and the next best ones."""

    user_macro: float | None
    within_the_interval_of: tuple[str, ...]
    """Candidates whose interval reaches it: this view cannot tell them from perfect ones.

    Of too few users for an interval the mean counts. Both are read as they are shown, to two places. On ranks
    an interval may lie above it: unequal scores spread over ranks that equal ones share.
    """
    constant: Mapping[str, Aggregate]
    """By the score of every reply, the best first."""


@dataclass(frozen=True, slots=True)
class ReplayControls:
    """Leaderboards that read no reply."""

    reply_length: LengthControl
    shuffled: tuple[SwappedPairs, ...]


@keys(
    view=None,
    on=None,
    aggregates="candidates",
    ladder=None,
    ceilings="ceiling",
    positions="by_position",
    left_as_they_are="blocks_left_as_they_are",
)
@dataclass(frozen=True, slots=True)
class ViewResult:
    """One view of all candidates."""

    view: View
    aggregates: Mapping[str, Aggregate]
    """The highest primary figure first; the original first, then by name, if the evaluator ranks nobody."""
    pairs: tuple[Pairing, ...]
    ladder: Mapping[float, Aggregate]
    """The constant candidates, the best first: it is the ceiling."""
    controls: ReplayControls
    positions: Mapping[str, Mapping[str, PositionMean]]
    self_preference: SelfPreference
    left_as_they_are: Mapping[str, int]
    """Blocks that the view's map leaves as they are, by reason."""
    on: Ground
    """What the scores are on."""

    @property
    def ceiling(self) -> float | None:
        """The user macro mean of a candidate whose every reply is given the best score."""
        return next(iter(self.ladder.values())).user_macro

    @property
    def at_the_ceiling(self) -> tuple[str, ...]:
        """Candidates whose interval reaches the ceiling; where a lower score is better, nobody."""
        top = self.ceiling
        ends = {name: a.primary.high or a.user_macro for name, a in self.aggregates.items()}
        if top is None or not self.on.scale.higher_is_better:
            return ()
        return tuple(n for n, end in ends.items() if end is not None and round(end, 2) >= round(top, 2))

    @property
    def ceilings(self) -> Ceiling:
        """What always saying the best would get."""
        constant = {str(level): figures for level, figures in self.ladder.items()}
        return Ceiling(self.ceiling, self.at_the_ceiling, constant)


@dataclass(frozen=True, slots=True)
class ReferenceCounts:
    """The original replies."""

    scored: int
    requested: int


@keys(
    lengths="length",
    scores=None,
    evidence=None,
    reference="reference",
    ranks="ranked",
    names_of_gamed="gamed_by",
    **{"evidence.checked": "checked", "evidence.by": "checked_by", "evidence.why": "unchecked_because"},
)
@dataclass(frozen=True, slots=True)
class ReplayComparison:
    """What candidates got from one evaluator; of a rubric, on one dimension."""

    views: Mapping[View, ViewResult]
    """`raw`; of judges of satisfaction `mean-shift` and `reference-cdf` too."""
    lengths: Mapping[str, LengthFigures]
    settings: CompareSettings
    scores: Board
    """What it is made of."""
    people: Aggregate | None
    """What the users themselves gave the original replies of the items; None of scores by a rubric."""
    planted: tuple[Pairing, ...] = ()
    """Each planted candidate against the original replies, in the raw view; p adjusted over them."""
    evidence: DimensionEvidence = UNCHECKED
    """Whether the evaluator agrees with the users and prefers no planted candidate."""

    @property
    def gamed_by(self) -> tuple[Pairing, ...]:
        """The planted candidates that the evaluator puts above the original replies, by an interval."""
        return tuple(pair for pair in self.planted if pair.gain is not None)

    @property
    def names_of_gamed(self) -> tuple[str, ...]:
        """Planted candidates that it likes better than the original replies."""
        return tuple(pair.a for pair in self.gamed_by)

    @property
    def reference(self) -> ReferenceCounts:
        """How many of the original replies have a score."""
        return ReferenceCounts(len(self.scores.reference.scores), len(self.scores.reference.lengths))

    @property
    def ranks(self) -> bool:
        """Whether candidates are ranked: the evaluator is checked, or `--unchecked` was given."""
        return self.evidence.checked or self.settings.unchecked


def compare_all(
    by_dimension: Mapping[str, Board], settings: CompareSettings, *, family: str | None = None
) -> dict[str, ReplayComparison]:
    """Compare candidates on every dimension; p is adjusted by Holm over all pairs of all dimensions.

    A dimension that applies to no reply is left out. Arguments as of `compare`.
    """
    done = {n: compare(b, settings, family=family) for n, b in by_dimension.items() if not b.idle}
    if len(done) < 2:
        return done
    pairs = iter(corrected([pair for of in done.values() for pair in of.views["raw"].pairs]))
    planted = iter(corrected([pair for of in done.values() for pair in of.planted]))
    for name, of in done.items():
        raw = of.views["raw"]
        raw = replace(raw, pairs=tuple(next(pairs) for _ in raw.pairs))
        done[name] = replace(of, views={"raw": raw}, planted=tuple(next(planted) for _ in of.planted))
    return done


def compare(scores: Board, settings: CompareSettings, *, family: str | None = None) -> ReplayComparison:
    """Compare candidates with the original replies and with each other, in every view.

    Args:
        scores: Of one evaluator, the raw view; candidates may say of which `family` of models they are.
        settings: How.
        family: The evaluator's; None when it has none.
    """
    scores = replace(scores, ties=settings.ties)
    board = scores.leaderboard
    constant, blind = constant_candidates(board), scored_by_length(board)
    planted = corrected([pair_of(scores, name, ORIGINAL, settings.margin) for name in scores.planted])
    evidence = evaluator_evidence(scores, planted)
    ranks, scale = evidence.checked or settings.unchecked, scores.on.scale

    def place(of: tuple[str, Aggregate]) -> tuple[float, str]:
        """Return a candidate's place: the best first; where nobody is ranked the original, then names."""
        if not ranks:
            return float(of[0] != ORIGINAL), of[0]
        mean = of[1].user_macro
        return 1.0 if mean is None else -scale.quality(mean), ""

    views: dict[View, ViewResult] = {}
    for view in scores.views:
        viewed = board.viewed_as(view)
        figures = {name: aggregate(viewed, name) for name in viewed.names}
        pairs = compare_candidates(viewed, settings.margin)
        views[view] = ViewResult(
            view=view,
            aggregates=dict(sorted(figures.items(), key=place)),
            pairs=tuple(replace(pair, ranked=ranks) for pair in pairs),
            ladder=ladder({level: of.viewed_as(view) for level, of in constant.items()}),
            controls=ReplayControls(
                length_control(blind.viewed_as(view)),
                shuffled(viewed, deals=settings.deals, seed=settings.seed),
            ),
            positions=by_position(viewed),
            self_preference=self_preference(viewed, family),
            left_as_they_are=board.left_as_they_are(view),
            on=scores.on,
        )
    people = None
    if scores.by == "user":
        gold = np.array([[np.nan if item.gold is None else item.gold for item in scores.items]])
        people = aggregate(replace(scores.with_scores((ORIGINAL,), gold), on=Ground()), ORIGINAL)
    return ReplayComparison(views, length_figures(board), settings, scores, people, planted, evidence)


def evaluator_evidence(scores: Board, planted: Sequence[Pairing]) -> DimensionEvidence:
    """Say whether an evaluator agrees with the users on their original replies, and cannot be gamed.

    Args:
        scores: Of the evaluator, on one dimension.
        planted: Each planted candidate against the original replies.
    """
    if liked := [pair.a.partition(": ")[2] for pair in planted if pair.gain is not None]:
        why = f"it likes planted replies better than the original ones: {', '.join(liked)}"
        return DimensionEvidence(checked=False, why=why)
    if not planted:
        return DimensionEvidence(checked=False, why="no planted candidates were scored (--no-planted)")
    spec = PlainDimension(SATISFACTION, "turn", scores.on.scale)
    tally, numbers = PeopleTally((spec,)), dict[str, int]()
    targets = tally.levels["turn"]
    for item, score in zip(scores.items, scores.value[scores.at(ORIGINAL)].tolist(), strict=True):
        if item.gold is None or math.isnan(score):
            continue
        if item.conversation not in numbers:
            numbers[item.conversation] = len(numbers)
            tally.users.append(item.user)
            tally.names.append(item.conversation)
        length = scores.reference.lengths.get(item.id, 0)
        figures = {SATISFACTION: score}
        place = targets.add(numbers[item.conversation], item.position + 1, length, figures)
        targets.ratings.setdefault(SATISFACTION, {})[place] = item.gold
        targets.counts[SATISFACTION] += 1
    if not numbers:
        return DimensionEvidence(checked=False, why="nobody rated the original replies of these items")
    tally.raters["turn", SATISFACTION] = {"users"}
    return checked_by_ratings(tally, (spec,))[SATISFACTION]


@dataclass(frozen=True, slots=True)
class ItemSetFacts:
    """What the candidates were asked."""

    digest: str
    rule: str
    selected_on_gold: bool
    present: int
    card: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class OriginalFailures:
    """Why original replies have no score."""

    failures: Mapping[str, int]


@keys(
    comparisons=None,
    position=None,
    facts="items",
    candidates="candidates",
    original="original",
    versions="versions",
)
@dataclass(frozen=True)
class Compared:
    """What was compared, and by whom it was scored."""

    comparisons: Mapping[str, ReplayComparison]
    """By dimension; a judge of satisfaction has one."""
    items: ItemSet
    evaluator: Mapping[str, Any]
    """Who scored."""
    usage: Mapping[str, float] = field(default_factory=dict)
    position: PositionBias | None = None
    """Of a rubric of pairs: what it said in the other order."""

    @property
    def first(self) -> ReplayComparison:
        """That of the first dimension."""
        return next(iter(self.comparisons.values()))

    @property
    def for_users(self) -> bool:
        """Whether each reply was scored for the user of its item."""
        return self.first.scores.by == "user"

    @property
    def idle(self) -> tuple[str, ...]:
        """Dimensions that apply to no original reply."""
        known = self.evaluator.get("dimensions") or ()
        return tuple(one["name"] for one in known if one["name"] not in self.comparisons)

    @property
    def facts(self) -> ItemSetFacts:
        """What the candidates were asked."""
        items, present = self.items, len(self.first.scores.items)
        return ItemSetFacts(items.digest, items.rule, items.selected_on_gold, present, items.card)

    @property
    def candidates(self) -> Mapping[str, Mapping[str, Any]]:
        """What each is, and its failures by kind."""
        scores = self.first.scores
        failures = scores.failures()
        return {name: {**scores.about[name], "failures": failures[name]} for name in scores.candidates}

    @property
    def original(self) -> OriginalFailures:
        """Why original replies have no score."""
        return OriginalFailures(self.first.scores.failures()[ORIGINAL])

    @property
    def versions(self) -> Mapping[str, str | None]:
        """What it was computed with."""
        return versions()

    def to_json(self) -> dict[str, Any]:
        """Write the summary as `summary.json` holds it."""
        return dict(as_json(self))


@keys(first=INSIDE)
@dataclass(frozen=True)
class ReplaySummary(Compared):
    """Candidates on fixed points of rated conversations, scored for their users."""


@keys(comparisons="dimensions", position="position?")
@dataclass(frozen=True)
class RubricReplaySummary(Compared):
    """Candidates on fixed points of any conversations, scored by a rubric."""
