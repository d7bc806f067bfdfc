"""What `replay compare --json` and `replay run --json` print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from dialogauge.studies.arena.controls import PositionBias
from dialogauge.studies.replay.comparison import CompareSettings
from dialogauge.studies.replay.diagnostics import LengthFigures, SwappedPairs
from dialogauge.studies.replay.table import Outcomes

Interval = tuple[float, float] | None


class AggregateJson(TypedDict):
    """What a candidate got on the items, in one view. A mean over nothing is null."""

    requested: int
    n: int
    failed: int
    users: int
    scenarios: int
    blocks: int
    micro: float | None
    user_macro: float | None
    user_macro_interval: Interval
    user_macro_bounds: Interval
    """If every failure had been a 1, and a 5."""
    task_macro: float | None
    block_macro: float | None
    sat: float | None
    dsat: float | None
    counts: Mapping[str, int]
    scenario_means: Mapping[str, float | None]
    fraction_user_macro: float | None
    fraction_user_macro_interval: Interval
    mean_distance_to_gold: float | None


@dataclass(frozen=True, kw_only=True)
class OutcomesJson(Outcomes):
    """Wins, ties and losses of a candidate against another."""

    win_rate: float | None
    tie_rate: float | None
    lose_rate: float | None
    non_tie_win_rate: float | None


class PairingJson(TypedDict):
    """A candidate against another."""

    candidate: str
    against: str
    only_candidate: int
    only_against: int
    items: OutcomesJson
    users: OutcomesJson
    scenarios: OutcomesJson
    blocks: OutcomesJson
    user_macro_delta: float | None
    user_macro_delta_interval: Interval
    user_macro_delta_bounds: Interval
    p: float | None
    p_holm: float | None
    least_p: float | None
    side: str
    fraction_user_macro_delta: float | None
    fraction_user_macro_delta_interval: Interval


class BoardJson(TypedDict):
    """A leaderboard, and each candidate against another."""

    candidates: Mapping[str, AggregateJson]
    pairs: list[PairingJson]


class CeilingJson(TypedDict):
    """What always saying 5 would get."""

    user_macro: float | None
    within_the_interval_of: list[str]
    constant: Mapping[str, AggregateJson]


class ReplayControlsJson(TypedDict):
    """Leaderboards that read no reply."""

    reply_length: BoardJson
    shuffled: list[SwappedPairs]


class PositionMeanJson(TypedDict):
    """Of the items at one place of a conversation."""

    mean: float | None
    n: int


class SelfPreferenceJson(TypedDict):
    """Candidates of the judge's family against the others."""

    judge_family: str | None
    own: list[str]
    others: list[str]
    user_macro_delta: float | None
    interval: Interval
    in_words: str


class ViewJson(BoardJson):
    """One view of the scores."""

    ceiling: CeilingJson
    controls: ReplayControlsJson
    by_position: Mapping[str, Mapping[str, PositionMeanJson]]
    self_preference: SelfPreferenceJson
    blocks_left_as_they_are: Mapping[str, int]


class ItemSetJson(TypedDict):
    """What the candidates were asked."""

    digest: str
    rule: str
    selected_on_gold: bool
    present: int
    card: Mapping[str, Any]


class ReferenceJson(TypedDict):
    """The original replies."""

    scored: int
    requested: int


class FailuresJson(TypedDict):
    """Why replies have no score."""

    failures: Mapping[str, int]


class FiguresJson(TypedDict):
    """What candidates got from one evaluator; of a rubric, on one dimension."""

    settings: CompareSettings
    views: Mapping[str, ViewJson]
    """`raw`; of judges of satisfaction `mean-shift` and `reference-cdf` too."""
    reference: ReferenceJson
    length: Mapping[str, LengthFigures]
    people: AggregateJson | None
    """What users gave the original replies; null of a rubric."""
    planted: list[PairingJson]
    checked: bool
    """Whether the evaluator agrees with the users and prefers no planted candidate."""
    checked_by: str
    unchecked_because: str
    ranked: bool
    """Whether candidates are ranked: the evaluator is checked, or `--unchecked` was given."""
    gamed_by: list[str]


class _ComparedJson(TypedDict):
    items: ItemSetJson
    evaluator: Mapping[str, Any]
    candidates: Mapping[str, Mapping[str, Any]]
    """What each is, and its failures by kind."""
    original: FailuresJson
    usage: Mapping[str, float]
    versions: Mapping[str, str | None]


class ReplayJson(_ComparedJson, FiguresJson):
    """Candidates on fixed points of rated conversations, scored for their users."""


class RubricReplayJson(_ComparedJson):
    """Candidates on fixed points of any conversations, scored by a rubric."""

    dimensions: Mapping[str, FiguresJson]
    position: NotRequired[PositionBias]
    """Of a rubric of pairs: what it said in the other order."""
