"""What the page of judges against people shows, as plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from dialogauge.report.satisfaction_view import SeveralView

__all__ = [
    "AgreementView",
    "ComparisonView",
    "ConfusionRow",
    "ControlCell",
    "MeasureRow",
    "MetaAbout",
    "MetaView",
]

Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class MetaAbout:
    """How the page came about."""

    version: str
    created: str
    ratings: str
    """Where people's ratings are from."""
    draws: int
    shuffles: int
    seed: int


@dataclass(frozen=True, slots=True)
class ControlCell:
    """A control's figure, and whether the judge is above it."""

    value: float | None
    side: str
    """`above`, `below`, `not distinguishable`, `too few to tell` or `undefined`: the judge against it."""


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One measure of agreement."""

    title: str
    value: float | None
    interval: Interval
    controls: tuple[ControlCell, ...]


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """What people gave where the judge gave one score."""

    score: float
    n: int
    people_mean: float | None
    counts: tuple[int, ...]
    """In the order of `AgreementView.levels`."""


@dataclass(frozen=True, slots=True)
class AgreementView:
    """One judge against people."""

    name: str
    judge: str
    mode: str
    pair: str
    counts: tuple[tuple[str, int], ...]
    conversations: int
    users: int | None
    unit: str
    """What is drawn for the intervals: `users`, `conversations`."""
    languages: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    measures: tuple[MeasureRow, ...]
    controls: tuple[tuple[str, str], ...]
    """Name and what it does."""
    levels: tuple[float, ...]
    """People's scores, ascending."""
    confusion: tuple[ConfusionRow, ...]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """Two judges on the same targets."""

    a: str
    b: str
    title: str
    n: int
    figure_a: float | None
    figure_b: float | None
    difference: float | None
    interval: Interval
    p: float | None
    words: str


@dataclass(frozen=True, slots=True)
class MetaView:
    """Everything on the page."""

    about: MetaAbout
    judges: tuple[AgreementView, ...]
    comparisons: tuple[ComparisonView, ...]
    satisfaction: SeveralView | None = None
    """The judges of satisfaction runs under every calibration; None for other runs."""
