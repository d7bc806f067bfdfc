"""What a satisfaction study is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dialogauge.app.config import RoleSettings
from dialogauge.bench.satisfaction import HistoryCut, Part, StudyLevel
from dialogauge.calibrate import CalibrationName, Ties
from dialogauge.judge.personal import Sight

__all__ = ["SatisfactionOptions"]


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
