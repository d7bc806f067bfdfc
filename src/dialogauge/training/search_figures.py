"""What a lookahead search comes to: who won, scores by candidate, margins, and usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dialogauge.core import Usage
from dialogauge.core.json_keys import as_json
from dialogauge.runs import Row
from dialogauge.stats import Estimate, mean_estimate
from dialogauge.training.trajectories import search_details


@dataclass(frozen=True, slots=True)
class PoolMember:
    """The segments of one candidate."""

    name: str
    drawn: int
    """Steps in which it was drawn: those that have a score, and the failed ones."""
    won: int
    failed_rollouts: int
    failed_judgements: int
    score: Estimate
    """The mean score of its segments, with an interval by scenario."""
    replies: int
    truncated: int
    """Replies that the limit of tokens cut off."""


@dataclass(frozen=True, slots=True)
class StepFigures:
    """One step over all scenarios that came to it."""

    number: int
    scenarios: int
    won: Mapping[str, int]
    """By candidate, in the order of names."""
    without_pair: int
    """One candidate was left, or all losers lie within the margin."""
    none_left: int


@dataclass(frozen=True, slots=True)
class MarginFigures:
    """How far winners lay ahead of those whom they beat."""

    min_margin: float
    compared: int
    """Losers with a score."""
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
class _SearchTally:
    """Counts, and values by scenario."""

    counts: Counter[str] = field(default_factory=Counter)
    won: Counter[str] = field(default_factory=Counter)
    values: list[float] = field(default_factory=list)
    scenarios: list[str] = field(default_factory=list)

    def add(self, value: float, scenario: str) -> None:
        self.values.append(value)
        self.scenarios.append(scenario)

    def mean(self, low: float, high: float) -> Estimate:
        return mean_estimate(self.values, self.scenarios, limits=(low, high), unit="scenarios")


def search_result(rows: Iterable[Row], search: Mapping[str, Any], pending: int = 0) -> SearchResult:
    """Bring the rows of a search to figures.

    Args:
        rows: One for each scenario.
        search: What the manifest says under `search`: `min_margin` and the ends of the `scale`.
        pending: Scenarios that are left.
    """
    (low, high), least = search["scale"], search["min_margin"]
    members, steps, margins = dict[str, _SearchTally](), dict[int, _SearchTally](), _SearchTally()
    ended, failures, usage = Counter[str](), Counter[str](), dict[str, Usage]()
    for row in rows:
        details, scenario = search_details(row), str(row["conversation_id"])
        ended[details["ended"]] += 1
        for role, used in row["usage"]["by_role"].items():
            usage[role] = usage.get(role, Usage()) + Usage(**used)
        for step in details["steps"]:
            of_step = steps.setdefault(step.number, _SearchTally())
            pairs = len(step.pairs(least))
            margins.counts["pairs"] += pairs
            of_step.counts.update(
                scenarios=1,
                without_pair=step.winner is not None and not pairs,
                none_left=step.winner is None,
            )
            for segment in step.candidates:
                member, won = members.setdefault(segment.name, _SearchTally()), segment.name == step.winner
                failed = segment.failure is not None
                member.counts.update(
                    drawn=1,
                    won=won,
                    failed_rollouts=failed and not segment.played,
                    failed_judgements=failed and segment.played,
                    replies=segment.turns,
                    truncated=segment.truncated,
                )
                if segment.score is not None:
                    member.add(segment.score, scenario)
                if segment.failure is not None:
                    failures[segment.failure.kind] += 1
                if won:
                    of_step.won[segment.name] += 1
                elif (margin := step.margin(segment)) is not None:
                    margins.add(margin, scenario)
    compared, equal = len(margins.values), margins.values.count(0.0)
    return SearchResult(
        ended.total(),
        dict(ended.most_common()),
        dict(failures.most_common()),
        [PoolMember(name, score=of.mean(low, high), **of.counts) for name, of in sorted(members.items())],
        [
            StepFigures(number, won=dict(sorted(of.won.items())), **of.counts)
            for number, of in sorted(steps.items())
        ],
        MarginFigures(least, compared, margins.counts["pairs"], equal, margins.mean(0.0, high - low)),
        usage,
        pending,
    )
