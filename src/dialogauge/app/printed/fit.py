"""What `fit --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

from dialogauge.judges.local.model import CoefficientsFile
from dialogauge.studies.fit.figures import FIGURES

FigureJson = TypedDict(  # type: ignore[misc] # the names stand there
    "FigureJson", dict.fromkeys(FIGURES, float | None)
)


class FitMetricsJson(FigureJson):
    """The figures of the model or of a control."""

    intervals: Mapping[str, tuple[float | None, float | None]]
    n: int
    clusters: int
    gold: list[int]
    """How often people gave 1 to 5."""
    called: list[int]
    """How often it says so."""


class FitViewJson(TypedDict):
    """The model beside controls that read nothing."""

    metrics: FitMetricsJson
    controls: Mapping[str, FitMetricsJson]


class FitPartJson(TypedDict):
    """One way to cut the examples into parts."""

    what: str
    split_conversations: int
    ridges: list[float]
    all: NotRequired[FitViewJson]
    without_whole: NotRequired[FitViewJson]
    whole_only: NotRequired[FitViewJson]


class FitRunJson(TypedDict):
    """A model of ratings, measured out of fold: with a run directory as `-o`."""

    study: Literal["fit"]
    dimension: str
    two_sided: NotRequired[Literal[True]]
    examples: int
    conversations: int
    whole_conversations: int
    nothing_said: int
    votes: int
    folds: int
    figures: Mapping[str, str]
    """What each figure means."""
    controls_are: Mapping[str, str]
    parts: Mapping[str, FitPartJson]
    metrics: FitMetricsJson | None
    controls: Mapping[str, FitMetricsJson] | None
    ridge_grid: list[float]
    seconds: float
    faults: list[str]


class FitFileJson(CoefficientsFile):
    """Coefficients of the local judge: with FILE.json as `-o`."""

    format: str
    faults: list[str]
