"""A finished benchmark: every candidate in every view, beside ceiling and controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dialogauge.core.json_keys import as_json, keys
from dialogauge.stats import Ties, adjusted
from dialogauge.studies.evidence import UNCHECKED, DimensionEvidence
from dialogauge.studies.replay.checking import evaluator_evidence
from dialogauge.studies.replay.diagnostics import (
    LengthControl,
    LengthFigures,
    PositionMean,
    SelfPreference,
    SwappedPairs,
    by_position,
    ladder,
    length_control,
    length_figures,
    self_preference,
    shuffled,
)
from dialogauge.studies.replay.ground import Ground
from dialogauge.studies.replay.items import ORIGINAL
from dialogauge.studies.replay.table import (
    Aggregate,
    EvaluatorScores,
    Pairing,
    View,
    Viewer,
    aggregate,
    compare_candidates,
    pair_of,
)


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
    checked="checked",
    checked_by="checked_by",
    unchecked_because="unchecked_because",
    ranks="ranked",
    names_of_gamed="gamed_by",
)
@dataclass(frozen=True, slots=True)
class ReplayComparison:
    """What candidates got from one evaluator; of a rubric, on one dimension."""

    views: Mapping[View, ViewResult]
    """`raw`; of judges of satisfaction `mean-shift` and `reference-cdf` too."""
    lengths: Mapping[str, LengthFigures]
    settings: CompareSettings
    scores: EvaluatorScores
    """What it is made of."""
    people: Aggregate | None
    """What the users themselves gave the original replies of the items; None of scores by a rubric."""
    planted: tuple[Pairing, ...] = ()
    """Each planted candidate against the original replies, in the raw view; p adjusted over them."""
    evidence: DimensionEvidence = UNCHECKED
    """Whether the evaluator is checked."""

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
        return ReferenceCounts(len(self.scores.original.scores), len(self.scores.original.lengths))

    @property
    def checked(self) -> bool:
        """Whether the evaluator agrees with the users and prefers no planted candidate."""
        return self.evidence.checked

    @property
    def checked_by(self) -> str:
        """What shows it; empty where nothing does."""
        return self.evidence.by

    @property
    def unchecked_because(self) -> str:
        """Why it is not checked; empty where it is."""
        return self.evidence.why

    @property
    def ranks(self) -> bool:
        """Whether candidates are ranked: the evaluator is checked, or `--unchecked` was given."""
        return self.evidence.checked or self.settings.unchecked

    @property
    def names(self) -> tuple[str, ...]:
        """All candidates and the original replies, in the order of the raw view."""
        return tuple(self.views["raw"].aggregates)

    def to_json(self) -> dict[str, Any]:
        """Write the figures."""
        return dict(as_json(self))


def compare_all(
    by_dimension: Mapping[str, EvaluatorScores], settings: CompareSettings, *, family: str | None = None
) -> dict[str, ReplayComparison]:
    """Compare candidates on every dimension; p is adjusted by Holm over all pairs of all dimensions.

    A dimension that applies to no reply is left out. Arguments as of `compare`.
    """
    used = {name: scores for name, scores in by_dimension.items() if not scores.idle}
    done = {name: compare(scores, settings, family=family) for name, scores in used.items()}
    if len(done) < 2:
        return done
    pairs = iter(adjusted([p.comparison for one in done.values() for p in one.views["raw"].pairs]))
    planted = iter(adjusted([p.comparison for one in done.values() for p in one.planted]))
    out = {}
    for name, one in done.items():
        raw = one.views["raw"]
        again = tuple(replace(pair, comparison=next(pairs)) for pair in raw.pairs)
        tests = tuple(replace(pair, comparison=next(planted)) for pair in one.planted)
        out[name] = replace(one, views={"raw": replace(raw, pairs=again)}, planted=tests)
    return out


def compare(
    scores: EvaluatorScores, settings: CompareSettings, *, family: str | None = None
) -> ReplayComparison:
    """Compare candidates with the original replies and with each other, in every view.

    Args:
        scores: Of one evaluator; candidates may say of which `family` of models they are.
        settings: How.
        family: The evaluator's; None when it has none.
    """
    families = {name: of.about.get("family") for name, of in scores.candidates.items()}
    viewer = scores.viewer(settings.ties)
    tables = scores.tables(settings.ties)
    steps = ladder(viewer)
    by_length = length_control(viewer, scores)
    planted = _planted(scores, viewer, settings.margin)
    evidence = evaluator_evidence(scores, planted)
    ranks = evidence.checked or settings.unchecked
    views: dict[View, ViewResult] = {}
    for view, table in tables.items():
        figures = {name: table.figures(name) for name in table.names}
        views[view] = ViewResult(
            view=view,
            aggregates=dict(
                sorted(figures.items(), key=lambda of: _worth(of[1], scores.on) if ranks else _by_name(of[0]))
            ),
            pairs=tuple(replace(p, ranked=ranks) for p in compare_candidates(table, margin=settings.margin)),
            ladder=steps[view],
            controls=ReplayControls(
                by_length[view], shuffled(table, deals=settings.deals, seed=settings.seed)
            ),
            positions=by_position(table),
            self_preference=self_preference(table, family, families),
            left_as_they_are=viewer.left_as_they_are(view),
            on=scores.on,
        )
    people = None
    if scores.by == "user":
        people = aggregate(scores.items, np.array([item.gold for item in scores.items], dtype=np.float64))
    return ReplayComparison(
        views,
        length_figures(tables["raw"], scores),
        settings,
        scores,
        people,
        planted,
        evidence,
    )


def _by_name(name: str) -> tuple[bool, str]:
    """Return what candidates are ordered by where nobody is ranked: the original replies, then names."""
    return name != ORIGINAL, name


def _worth(figures: Aggregate, on: Ground) -> float:
    """Return what candidates are ordered by, the best first."""
    return 1.0 if figures.user_macro is None else -on.scale.quality(figures.user_macro)


def _planted(scores: EvaluatorScores, viewer: Viewer, margin: float) -> tuple[Pairing, ...]:
    table = scores.skipping(viewer.tables({name: of.scores for name, of in scores.planted.items()})["raw"])
    pairs = [pair_of(table.shared((name, ORIGINAL)), margin) for name in scores.planted]
    over_all = adjusted([pair.comparison for pair in pairs])
    return tuple(replace(pair, comparison=one) for pair, one in zip(pairs, over_all, strict=True))
