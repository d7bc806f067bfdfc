"""What a satisfaction study is asked to do."""

from __future__ import annotations

from dataclasses import dataclass

from dialogauge.bench.satisfaction import HistoryCut, Part
from dialogauge.calibrate import CalibrationName, Ties
from dialogauge.judge.personal import Sight

__all__ = ["SatisfactionOptions"]


@dataclass(frozen=True, slots=True)
class SatisfactionOptions:
    """The settings of `dialogauge satisfaction`; see the command reference for each."""

    inputs: tuple[str, ...]
    judge: str
    part: Part = "test"
    split_file: str | None = None
    calibrate: CalibrationName = "none"
    ties: Ties = "mid"
    history: HistoryCut = "all"
    mode: Sight = "foresight"
    strategy: str | None = None
    k: int | None = None
    encoder: str | None = None
    dimension: str = "satisfaction"
    ratings_file: str | None = None
    format: str | None = None
    map_file: str | None = None
    out: str | None = None
    draws: int = 1000
    seed: int = 0
    command: str = ""
