"""What a run of judgements comes to: frozen figures, each with the counts that it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dialogauge.core import Level, Scale
from dialogauge.metrics import Bounds, ClusteredMean

__all__ = [
    "Bin",
    "ConversationCounts",
    "CurvePoint",
    "DimensionSummary",
    "GroupSummary",
    "Spending",
    "Spread",
    "Summary",
    "VerdictSummary",
    "WindowDifference",
]


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a histogram; `low` equals `high` for a whole number."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The mean at one turn number, over the first repeat; one value per conversation."""

    turn: int
    mean: ClusteredMean


@dataclass(frozen=True, slots=True)
class Spread:
    """How far repeats of one target lie apart."""

    targets: int
    """Targets with at least two scores."""
    mean_sd: float | None
    """Mean over the targets of their standard deviation (n - 1)."""


@dataclass(frozen=True, slots=True)
class DimensionSummary:
    """One dimension over all targets of its level. `requested = mean.n + n_na + n_failed`."""

    name: str
    level: Level
    scale: Scale
    requested: int
    mean: ClusteredMean
    """Clustered by conversation, the interval cut at the ends of the scale; failures and n/a take no part."""
    n_na: int
    n_failed: int
    bounds: Bounds
    bins: tuple[Bin, ...]
    curve: tuple[CurvePoint, ...] = ()
    spread: Spread | None = None
    """None without repeats."""
    uncalibrated: bool = False
    """The judge says that it was never compared with people on this dimension."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why it is n/a, with how often the judge said so; the first few."""

    @property
    def n(self) -> int:
        """How many scores."""
        return self.mean.n

    def to_json(self) -> dict[str, Any]:
        """Write the dimension as it stands in `summary.json`."""
        return {
            "level": self.level,
            "scale": {
                "low": self.scale.low,
                "high": self.scale.high,
                "integer": self.scale.integer,
                "higher_is_better": self.scale.higher_is_better,
            },
            "requested": self.requested,
            **_mean_json(self.mean),
            "n_na": self.n_na,
            "n_failed": self.n_failed,
            "bounds": None if self.bounds.worst is None else [self.bounds.worst, self.bounds.best],
            "histogram": [asdict(b) for b in self.bins],
            "by_turn": [{"turn": p.turn, **_mean_json(p.mean)} for p in self.curve],
            "uncalibrated": self.uncalibrated,
            "na_reasons": dict(self.reasons),
            "repeats": None if self.spread is None else asdict(self.spread),
        }


@dataclass(frozen=True, slots=True)
class ConversationCounts:
    """Conversations (of one candidate each); the parts sum to `requested`."""

    requested: int
    judged: int
    """At least one of its targets was judged."""
    failed: int
    """Every target failed."""
    without_reply: int
    unreadable: int
    pending: int
    """Not done yet."""


@dataclass(frozen=True, slots=True)
class VerdictSummary:
    """Verdicts of conversations (times repeats)."""

    requested: int
    """Conversations asked for; those that failed, were unreadable or are pending included."""
    counts: Mapping[str, int]
    basis: Mapping[str, int]
    compared: int
    """Conversations for which the model gave a verdict of its own."""
    mismatched: int
    """... that differs from the computed one."""

    @property
    def missing(self) -> int:
        """Conversations without a verdict."""
        return self.requested - sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class WindowDifference:
    """Turns that two overlapping windows judged."""

    dimension: str
    n: int
    mean_absolute: float


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls were made and what they took."""

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """In the currency of the price table; None as soon as one call has no known price."""
    prompt_chars: int = 0
    """Of the prompts sent, where the client counts them."""
    repeated_chars: int = 0
    """Of these, what repeats the beginning of the previous prompt to the same endpoint."""

    @property
    def repeated_share(self) -> float | None:
        """What a prefix cache can save at the least, as a share of the prompts; None without any."""
        return self.repeated_chars / self.prompt_chars if self.prompt_chars else None

    def to_json(self) -> dict[str, Any]:
        """Write the spending as it stands in `summary.json`."""
        return {**asdict(self), "repeated_share": self.repeated_share}


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """The conversations that share a language, a scenario or a candidate."""

    name: str | None
    """None for conversations that do not say."""
    conversations: int
    means: Mapping[str, ClusteredMean]
    n_na: Mapping[str, int]
    n_failed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run; `to_json()` is `summary.json`."""

    requested: int
    """Targets; `scored + not_applicable + failed`."""
    scored: int
    not_applicable: int
    failed: int
    failures: Mapping[str, int]
    """By kind."""
    conversations: ConversationCounts
    dimensions: tuple[DimensionSummary, ...]
    verdicts: VerdictSummary | None
    """None when the judge gives no verdicts."""
    weakest_named: int
    windows: tuple[WindowDifference, ...]
    labels: Mapping[str, Mapping[str, int]]
    """Per question how often each option was chosen; `class` for SAT/DSAT and the like."""
    marks: Mapping[str, int]
    """What was mended or cut in the judge's replies; keys of `MARKS`."""
    repeats: int
    total: Spending
    by_role: Mapping[str, Spending]
    by: Mapping[str, tuple[GroupSummary, ...]]
    """Breakdowns by `language`, `scenario`, `candidate`; absent when no conversation says."""
    groups_left_out: Mapping[str, int]
    unreadable: tuple[str, ...] = ()
    """The first messages about records that could not be read."""

    @property
    def failed_share(self) -> float | None:
        """Failed targets over those that had a reply to judge; None when there were none."""
        idle = self.failures.get("no_reply", 0)
        asked = self.requested - idle
        return (self.failed - idle) / asked if asked else None

    def dimension(self, name: str) -> DimensionSummary | None:
        """Return the dimension of that name, if there is one."""
        return next((d for d in self.dimensions if d.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """Write the summary as plain JSON values; what is undefined is null."""
        return {
            "requested": self.requested,
            "scored": self.scored,
            "not_applicable": self.not_applicable,
            "failed": self.failed,
            "failed_share": self.failed_share,
            "failures": dict(self.failures),
            "conversations": asdict(self.conversations),
            "dimensions": {d.name: d.to_json() for d in self.dimensions},
            "verdicts": None if self.verdicts is None else _verdict_json(self.verdicts),
            "weakest_turns_named": self.weakest_named,
            "windows": [asdict(w) for w in self.windows],
            "labels": {name: dict(counts) for name, counts in self.labels.items()},
            "marks": dict(self.marks),
            "repeats": self.repeats,
            "usage": {
                "total": self.total.to_json(),
                "by_role": {role: s.to_json() for role, s in self.by_role.items()},
            },
            "by": {field: self._groups_json(field) for field in self.by},
            "unreadable": list(self.unreadable),
        }

    def _groups_json(self, field: str) -> dict[str, Any]:
        groups = [
            {
                "name": g.name,
                "conversations": g.conversations,
                "dimensions": {
                    k: {**_mean_json(m), "n_na": g.n_na[k], "n_failed": g.n_failed[k]}
                    for k, m in g.means.items()
                },
            }
            for g in self.by[field]
        ]
        return {"groups": groups, "left_out": self.groups_left_out.get(field, 0)}


def _mean_json(mean: ClusteredMean) -> dict[str, Any]:
    interval = None if mean.interval is None else list(mean.interval)
    return {"mean": mean.mean, "n": mean.n, "clusters": mean.clusters, "interval95": interval}


def _verdict_json(verdicts: VerdictSummary) -> dict[str, Any]:
    return {
        "requested": verdicts.requested,
        "counts": dict(verdicts.counts),
        "missing": verdicts.missing,
        "basis": dict(verdicts.basis),
        "model_verdicts": {"compared": verdicts.compared, "mismatched": verdicts.mismatched},
    }
