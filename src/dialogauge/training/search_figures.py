"""What a lookahead search comes to: who won, scores by candidate and step, margins, and usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dialogauge.core import Usage
from dialogauge.core.json_keys import as_json
from dialogauge.runs import Row
from dialogauge.stats import Estimate, mean_estimate
from dialogauge.training.trajectories import CandidateSegment, SearchStep, search_details


@dataclass(frozen=True, slots=True)
class PoolMember:
    """The segments of one candidate."""

    name: str
    drawn: int
    """Steps in which it was drawn: `scored + failed_rollouts + failed_judgements`."""
    won: int
    scored: int
    failed_rollouts: int
    failed_judgements: int
    score: Estimate
    """The mean score of its segments, with an interval by scenario."""
    replies: int
    truncated: int
    """Replies that the limit of tokens cut off."""


@dataclass(frozen=True, slots=True)
class StepFigures:
    """One step over all scenarios."""

    number: int
    scenarios: int
    """Those that came to it."""
    won: Mapping[str, int]
    """By candidate, in the order of names."""
    without_pair: int
    """Steps in which one candidate was left, or whose losers all lie within the margin."""
    failed: int
    """Steps in which none was left."""
    score: Estimate
    """The mean score of the winners."""


@dataclass(frozen=True, slots=True)
class MarginFigures:
    """How far winners lay ahead of those whom they beat."""

    min_margin: float
    compared: int
    """Losers with a score of their own."""
    pairs: int
    """Those that lie at least `min_margin` behind."""
    equal: int
    """Those that have the winner's score: truncated replies or names decided."""
    mean: Estimate
    """The mean margin, with an interval by scenario."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a lookahead search comes to. Nobody has shown that its scores agree with people."""

    scenarios: int
    """Those that came to an end, one way or another."""
    ended: Mapping[str, int]
    """By how: `turns` (all segments), `user` (left before), `failed` (no candidate was left)."""
    failures: Mapping[str, int]
    """Of segments, by kind."""
    candidates: Sequence[PoolMember]
    """In the order of names."""
    steps: Sequence[StepFigures]
    margins: MarginFigures
    usage: Mapping[str, Usage]
    """By role; user personas count for the simulator."""
    pending: int = 0
    """Scenarios that are not searched to the end: the budget was spent, or the run was interrupted."""

    @property
    def failed_share(self) -> float:
        """Share of the scenarios in which no candidate was left."""
        return self.ended.get("failed", 0) / self.scenarios if self.scenarios else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return `summary.json`."""
        written: dict[str, Any] = as_json(self)
        return written


@dataclass(slots=True)
class _Means:
    """Values by scenario."""

    values: list[float] = field(default_factory=list)
    scenarios: list[str] = field(default_factory=list)

    def add(self, value: float, scenario: str) -> None:
        self.values.append(value)
        self.scenarios.append(scenario)

    def estimate(self, limits: tuple[float, float]) -> Estimate:
        return mean_estimate(self.values, self.scenarios, limits=limits, unit="scenarios")


@dataclass(slots=True)
class _Tally:
    """Counts of one candidate, or of one step."""

    counts: Counter[str] = field(default_factory=Counter)
    won: Counter[str] = field(default_factory=Counter)
    score: _Means = field(default_factory=_Means)


def search_result(rows: Iterable[Row], search: Mapping[str, Any], pending: int = 0) -> SearchResult:
    """Bring the rows of a search to figures.

    Args:
        rows: One for each scenario.
        search: What the manifest says under `search`: `min_margin` and the ends of the `scale`.
        pending: Scenarios that are left.
    """
    low, high = search["scale"]
    candidates, steps = dict[str, _Tally](), dict[int, _Tally]()
    ended, failures, margins, usage = Counter[str](), Counter[str](), _Means(), dict[str, Usage]()
    pairs = 0
    for row in rows:
        details, scenario = search_details(row), str(row["conversation_id"])
        ended[details["ended"]] += 1
        for role, used in row["usage"]["by_role"].items():
            usage[role] = usage.get(role, Usage()) + Usage(**used)
        for step in details["steps"]:
            better = len(step.pairs(search["min_margin"]))
            pairs += better
            _count_step(steps.setdefault(step.number, _Tally()), step, scenario, paired=better > 0)
            for segment in step.candidates:
                _count_segment(candidates.setdefault(segment.name, _Tally()), segment, step, scenario)
                if segment.failure is not None:
                    failures[segment.failure.kind] += 1
                elif segment.name != step.winner and (margin := step.margin(segment)) is not None:
                    margins.add(margin, scenario)
    return SearchResult(
        ended.total(),
        dict(ended.most_common()),
        dict(failures.most_common()),
        [_member(name, candidates[name], (low, high)) for name in sorted(candidates)],
        [_step_figures(number, steps[number], (low, high)) for number in sorted(steps)],
        MarginFigures(
            search["min_margin"],
            len(margins.values),
            pairs,
            sum(value == 0 for value in margins.values),
            margins.estimate((0.0, high - low)),
        ),
        usage,
        pending,
    )


def _count_step(tally: _Tally, step: SearchStep, scenario: str, *, paired: bool) -> None:
    best = step.committed
    tally.counts["scenarios"] += 1
    tally.counts["failed"] += best is None
    tally.counts["without_pair"] += best is not None and not paired
    if best is not None:
        tally.won[best.name] += 1
        if best.score is not None:
            tally.score.add(best.score, scenario)


def _count_segment(tally: _Tally, segment: CandidateSegment, step: SearchStep, scenario: str) -> None:
    tally.counts["drawn"] += 1
    tally.counts["won"] += segment.name == step.winner
    tally.counts["replies"] += segment.turns
    tally.counts["truncated"] += segment.truncated
    if segment.score is not None:
        tally.score.add(segment.score, scenario)
    else:
        tally.counts["failed_judgements" if segment.played else "failed_rollouts"] += 1


def _member(name: str, tally: _Tally, limits: tuple[float, float]) -> PoolMember:
    counts = tally.counts
    return PoolMember(
        name,
        counts["drawn"],
        counts["won"],
        len(tally.score.values),
        counts["failed_rollouts"],
        counts["failed_judgements"],
        tally.score.estimate(limits),
        counts["replies"],
        counts["truncated"],
    )


def _step_figures(number: int, tally: _Tally, limits: tuple[float, float]) -> StepFigures:
    won = {name: tally.won[name] for name in sorted(tally.won)}
    counts = tally.counts
    score = tally.score.estimate(limits)
    return StepFigures(number, counts["scenarios"], won, counts["without_pair"], counts["failed"], score)
