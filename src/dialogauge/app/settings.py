"""What a judging run is asked to do, after command line and configuration file are merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dialogauge.app.config import RoleSettings
from dialogauge.core.protocols import Sight
from dialogauge.stats import CalibrationName, Ties
from dialogauge.studies.satisfaction import HistoryCut, Part, StudyLevel
from dialogauge.studies.trust import TrustThresholds


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The settings of `dialogauge judge`; see the command reference for each."""

    inputs: tuple[str, ...]
    rubric: str = "card"
    judge: Literal["local", "llm", "fitted"] = "local"
    mode: Literal["hindsight", "foresight"] = "hindsight"
    language: Literal["auto", "en", "zh"] = "auto"
    format: str | None = None
    map_file: str | None = None
    ratings_file: str | None = None
    role: RoleSettings | None = None
    """The judge's model; None with the local judge."""
    local_model: str | None = None
    """A file of coefficients for the local judge, as `dialogauge fit` writes it."""
    fitted_model: str | None = None
    """A model of ratings for the judge `fitted`: a run of `dialogauge fit`, or its `model.json`."""
    source_file: str | None = None
    """A text that the rubric checks claims against."""
    prices_file: str | None = None
    out: str | None = None
    limit: int | None = None
    sample: int | None = None
    repeats: int = 1
    seed: int = 0
    window: int = 6
    max_concurrency: int = 64
    max_calls: int | None = None
    max_cost: float | None = None
    max_failed: float = 0.05
    gates: tuple[str, ...] = ()
    retry_failed: bool = False
    fresh: bool = False
    cache: bool = True
    strict: bool = False
    redact: bool = False
    """Replace what looks like personal data by marks before anything is stored or sent."""
    hash_ids: bool = False
    """Replace the ids of users and conversations by keyed digests, likewise."""
    trust: TrustThresholds = field(default_factory=TrustThresholds)
    """From which figure on the checks of the judge are flagged."""
    command: str = ""
    """The command line that asked for this, without secrets; for the manifest and the page."""


@dataclass(frozen=True, slots=True)
class SatisfactionOptions:
    """The settings of `dialogauge satisfaction`; see the command reference for each."""

    inputs: tuple[str, ...]
    judge: str
    level: StudyLevel = "turn"
    """Whether replies are judged, or sessions as a whole."""
    part: Part = "test"
    split_file: str | None = None
    calibrate: CalibrationName = "none"
    ties: Ties = "mid"
    reference: str | None = None
    """The satisfaction run of the blocks' original replies; None where these are judged themselves."""
    history: HistoryCut = "all"
    mode: Sight = "foresight"
    strategy: str | None = None
    k: int | None = None
    encoder: str | None = None
    signals: tuple[str, ...] = ()
    """Satisfaction runs of judges that read no rating, whose scores `local-user` reads too."""
    dimension: str = "satisfaction"
    ratings_file: str | None = None
    format: str | None = None
    map_file: str | None = None
    out: str | None = None
    draws: int = 1000
    seed: int = 0
    roles: Mapping[str, RoleSettings] = field(default_factory=dict)
    """The models of `judge` and `memory_builder`; empty with a judge that asks none."""
    language: Literal["auto", "en", "zh"] = "auto"
    prices_file: str | None = None
    max_concurrency: int = 64
    max_calls: int | None = None
    max_cost: float | None = None
    max_failed: float = 0.05
    retry_failed: bool = False
    fresh: bool = False
    cache: bool = True
    redact: bool = False
    hash_ids: bool = False
    command: str = ""
