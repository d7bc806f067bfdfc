"""What `judge --json`, `success --json` and `trust --json` print: the run's `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from dialogauge.core import Level, Scale, Usage
from dialogauge.stats import Estimate
from dialogauge.studies.judging.agents import AgentFacts
from dialogauge.studies.judging.findings import FindingExample, ReadFirst
from dialogauge.studies.judging.gate import GateResult
from dialogauge.studies.judging.people import People
from dialogauge.studies.judging.repeats import Spread
from dialogauge.studies.judging.summary import Bin, WindowDifference
from dialogauge.studies.judging.worst import WorstGroup
from dialogauge.studies.success.figures import SuccessFigures
from dialogauge.studies.trust.result import Calibration, Status, TrustCase, TrustFigure, TrustThresholds


class MeanJson(TypedDict):
    """A mean with its clustered interval."""

    mean: float | None
    """Null over nothing; then n is 0."""
    n: int
    clusters: int
    interval95: tuple[float, float] | None
    no_interval: NotRequired[str]
    """Why there is none."""


class CurvePointJson(MeanJson):
    """The mean at one turn number."""

    turn: int


class DimensionJson(MeanJson):
    """One dimension over all targets of its level: requested = n + n_na + n_failed."""

    level: Level
    scale: Scale
    requested: int
    n_na: int
    n_failed: int
    bounds: tuple[float, float] | None
    """The mean if every failure had been the worst score, and the best."""
    histogram: list[Bin]
    by_turn: list[CurvePointJson]
    uncalibrated: bool
    """The judge was never compared with people on this dimension."""
    na_reasons: Mapping[str, int]
    repeats: Spread | None


class ConversationCountsJson(TypedDict):
    """Conversations; the parts sum to requested."""

    requested: int
    judged: int
    failed: int
    without_reply: int
    unreadable: int
    pending: int
    absent: NotRequired[int]
    """Runs that failed at their source: they hold no message."""


class ModelVerdictsJson(TypedDict):
    """The model's own verdicts."""

    compared: int
    mismatched: int
    """So many differ from the computed one."""


class VerdictsJson(TypedDict):
    """Verdicts of conversations."""

    requested: int
    counts: Mapping[str, int]
    missing: int
    basis: Mapping[str, int]
    model_verdicts: ModelVerdictsJson


class GroupDimensionJson(MeanJson):
    """One dimension in one group."""

    n_na: int
    n_failed: int
    histogram: NotRequired[list[int]]


class GroupJson(TypedDict):
    """The conversations that share a language, a scenario or a candidate."""

    name: str | None
    """Null for conversations that do not say."""
    scenario: NotRequired[str]
    conversations: int
    absent: NotRequired[int]
    dimensions: Mapping[str, GroupDimensionJson]


class GroupsJson(TypedDict):
    """One breakdown."""

    groups: list[GroupJson]
    left_out: int


@dataclass(frozen=True, kw_only=True)
class UsageJson(Usage):
    """What calls were made and what they took."""

    repeated_share: float | None
    """What a prefix cache can save at the least, as a share of the prompts."""


class UsagesJson(TypedDict):
    """What the calls took."""

    total: UsageJson
    by_role: Mapping[str, UsageJson]


class KindEvidenceJson(TypedDict):
    """What was measured of a kind of finding where people rated."""

    source: str
    mode: str
    language: str
    fires: int
    share: float
    base: float
    chosen_on: bool
    lift: Estimate


class FindingKindJson(TypedDict):
    """One kind of finding."""

    kind: str
    title: str
    turns: int
    conversations: int
    evidence: KindEvidenceJson | None
    example: FindingExample


class FindingsJson(TypedDict):
    """What a judge that names kinds of findings saw."""

    conversations: int
    with_finding: int
    not_judged: Mapping[str, int]
    """By language: conversations in one that the judge was not checked on."""
    kinds: list[FindingKindJson]
    first: list[ReadFirst]
    """The turns to read first."""


class TrustCheckJson(TypedDict):
    """One way in which a judge can go wrong, and whether this one does."""

    title: str
    status: Status
    sentence: str
    n: int
    threshold: float | None
    threshold_name: str | None
    figures: list[TrustFigure]
    cases: list[TrustCase]
    cases_total: int


class TrustJson(TypedDict):
    """The checks of the judge."""

    checks: Mapping[str, TrustCheckJson]
    thresholds: TrustThresholds
    calibration: Calibration | None


class SummaryJson(TypedDict):
    """Counts and figures over the rows of a run."""

    requested: int
    """Targets: scored + not_applicable + failed."""
    scored: int
    not_applicable: int
    failed: int
    failed_share: float | None
    failures: Mapping[str, int]
    """By kind."""
    conversations: ConversationCountsJson
    clustered_by: str
    users: int | None
    dimensions: Mapping[str, DimensionJson]
    verdicts: VerdictsJson | None
    weakest_turns_named: int
    windows: list[WindowDifference]
    labels: Mapping[str, Mapping[str, int]]
    """Per question how often each option was chosen."""
    marks: Mapping[str, int]
    """What was mended or cut in the judge's replies."""
    repeats: int
    usage: UsagesJson
    by: Mapping[str, GroupsJson]
    unreadable: list[str]


class JudgeJson(SummaryJson):
    """What came of judging a log."""

    people: People | None
    """What people said, and the judge beside it; null without ratings."""
    findings: NotRequired[FindingsJson]
    agents: NotRequired[list[AgentFacts]]
    worst_group: WorstGroup | None
    gates: list[GateResult]
    trust: TrustJson


class SuccessJson(JudgeJson):
    """What came of checking task success."""

    success: NotRequired[SuccessFigures]
