"""What `compare --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from dialogauge.stats import Estimate
from dialogauge.studies.compare.comparison import Measured
from dialogauge.studies.judging.gate import GateResult


class ChangeJson(TypedDict):
    """A figure of both runs, and how far it moved."""

    a: Measured
    b: Measured
    delta: Estimate
    """The second run less the first."""
    bounds: tuple[float, float] | None
    """How far failures on either side could move the difference."""
    p: float | None
    p_holm: float | None
    answer: str
    detectable: float | None
    """The least true difference that such samples show in most cases."""
    by_length: float | None
    """What the change of reply length alone would give."""
    higher_is_better: bool | None
    compared: bool
    """Whether the judge was ever compared with people on it."""


class SideJson(TypedDict):
    """One of the two runs."""

    run: str
    conversations: int
    compared: int
    left_out: int
    unread: int
    failures: Mapping[str, int]


class TurnedJson(TypedDict):
    """A conversation of which the runs say different things."""

    a: str
    b: str
    verdict_a: str | None
    verdict_b: str | None
    steps: int
    quality: float


class ComparedGroupJson(TypedDict):
    """The conversations that share what `--by` names."""

    by: str
    name: str
    a: int
    b: int
    dimensions: Mapping[str, ChangeJson]


class TwoRunsJson(TypedDict):
    """Two runs of one rubric."""

    answer: list[str]
    """In sentences."""
    gates: list[GateResult]
    a: SideJson
    b: SideJson
    paired_by: str | None
    """Null where the runs are not on the same conversations."""
    pairs: int
    same_opening: int
    clusters: int
    clustered_by: str
    dimensions: Mapping[str, ChangeJson]
    verdicts: Mapping[str, ChangeJson]
    findings: Mapping[str, ChangeJson]
    ratings: Mapping[str, ChangeJson]
    controls: Mapping[str, ChangeJson]
    worse: list[TurnedJson]
    better: list[TurnedJson]
    groups: list[ComparedGroupJson]
    notes: list[str]
