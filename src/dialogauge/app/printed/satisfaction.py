"""What `satisfaction --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from dialogauge.app.printed.figures import ComparisonJson, MetricsJson
from dialogauge.app.printed.judging import SummaryJson
from dialogauge.studies.judging.gate import GateResult
from dialogauge.studies.satisfaction.behaviour import Behaviour, Drift, ReliabilityBin, UserPoint
from dialogauge.studies.satisfaction.evaluation import GuardCounts
from dialogauge.studies.satisfaction.rationale import RationaleCheck, TermUse


class UsersAndTurnsJson(TypedDict):
    """So many users, and rated turns of theirs."""

    users: int
    turns: int


class StudyJson(UsersAndTurnsJson):
    """What the figures stand on."""

    blocks: int
    """Of one user and one scenario."""
    population: UsersAndTurnsJson
    """The training users."""
    without_history: UsersAndTurnsJson
    left_out: Mapping[str, int]
    rating_faults: int


class SignalJson(TypedDict):
    """What became of the scores of a stored run that `local-user` reads."""

    run: str
    judge: str
    weight: float | None
    """By how many points the expected rating moves with one point of a score."""
    targets: Mapping[str, int]
    training: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class BehaviourJson(Behaviour):
    """Stability and recovery, of users and of the judge on the same turns."""

    after_dissatisfaction: MetricsJson  # type: ignore[assignment] # each under its name


class CalibrationJson(TypedDict):
    """What a calibration changed."""

    method: str
    ties: str
    blocks: int
    calibrated_blocks: int
    calibrated: int
    identity: Mapping[str, int]


class UnderCalibrationJson(TypedDict):
    """The figures under one calibration."""

    calibration: CalibrationJson
    metrics: MetricsJson
    controls: Mapping[str, MetricsJson]
    ceiling: MetricsJson


@dataclass(frozen=True, kw_only=True)
class DriftJson(Drift):
    """Targets against histories."""

    warnings: list[str]  # type: ignore[assignment] # a property there


@dataclass(frozen=True, kw_only=True)
class TermUseJson(TermUse):
    """Terms of rationales by where they occur, summed over rationales."""

    contamination: float | None
    contamination_of_sources: float | None
    off_task_share: float | None


@dataclass(frozen=True, kw_only=True)
class RationaleJson(RationaleCheck):
    """What the judge's rationales stand on."""

    terms: TermUseJson
    terms_by_chance: TermUseJson | None


class SatisfactionJson(SummaryJson):
    """What came of judging each reply for its own user."""

    study: StudyJson
    signals: list[SignalJson]
    metrics: MetricsJson
    """Under the calibration that was asked for."""
    controls: Mapping[str, MetricsJson]
    ceiling: MetricsJson
    metrics_of_fractions: MetricsJson
    against_controls: list[ComparisonJson]
    behaviour: BehaviourJson
    confusion: list[list[int]]
    """Rows: the judge's whole score 1 to 5. Columns: the user's."""
    reliability: list[ReliabilityBin]
    users: list[UserPoint]  # type: ignore[misc] # in place of their number
    without_history: MetricsJson
    metrics_by: Mapping[str, Mapping[str, MetricsJson]]
    calibrations: Mapping[str, UnderCalibrationJson]
    boundary_only: list[str] | None
    """The figures that say nothing of a judge that only knows satisfied and dissatisfied."""
    rationale: RationaleJson | None
    drift: DriftJson
    gates: list[GateResult]
    guard: NotRequired[GuardCounts]
