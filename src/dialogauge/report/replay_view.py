"""What the page of a replay benchmark shows, as plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CandidateRow",
    "ControlRow",
    "LengthRow",
    "PairRow",
    "PositionRow",
    "ReplayAbout",
    "ReplayPageView",
    "ReplayViewSection",
]

Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ReplayAbout:
    """How the page came about."""

    version: str
    created: str
    judge: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate in one view."""

    name: str
    original: bool
    user_macro: float | None
    interval: Interval
    bounds: Interval
    micro: float | None
    task_macro: float | None
    block_macro: float | None
    sat: float | None
    dsat: float | None
    counts: tuple[int, ...]
    n: int
    requested: int
    failed: int
    failures: tuple[tuple[str, int], ...]
    fraction: float | None
    columns: tuple[str, ...]
    """Organisation, version, licence, context; empty where nothing is known."""
    at_ceiling: bool


@dataclass(frozen=True, slots=True)
class PairRow:
    """A candidate against another in one view."""

    a: str
    b: str
    n: int
    wins: int
    ties: int
    losses: int
    delta: float | None
    interval: Interval
    bounds: Interval
    """How far the missing scores of both could move the difference; None where none is missing."""
    p: float | None
    words: str


@dataclass(frozen=True, slots=True)
class ControlRow:
    """What the controls say of a candidate's difference from the original replies."""

    name: str
    delta: float | None
    by_length: float | None
    by_length_interval: Interval
    shuffled: Interval
    p: float | None


@dataclass(frozen=True, slots=True)
class PositionRow:
    """A candidate's mean score by the place of the reply."""

    name: str
    cells: tuple[tuple[float | None, int], ...]


@dataclass(frozen=True, slots=True)
class LengthRow:
    """How long a candidate's replies are, and what length has to do with its scores."""

    name: str
    mean: float | None
    ratio: float | None
    within: float | None
    against_original: float | None


@dataclass(frozen=True, slots=True)
class ReplayViewSection:
    """One view."""

    name: str
    meaning: str
    low: float
    high: float
    """Ends of the axis."""
    ceiling: float | None
    constants: tuple[tuple[int, float | None], ...]
    rows: tuple[CandidateRow, ...]
    pairs: tuple[PairRow, ...]
    controls: tuple[ControlRow, ...]
    positions: tuple[PositionRow, ...]
    preference: str
    preference_delta: float | None
    preference_interval: Interval
    untouched: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ReplayPageView:
    """Everything on the page."""

    about: ReplayAbout
    items: int
    users: int
    blocks: int
    warnings: tuple[str, ...]
    card: tuple[tuple[str, str], ...]
    gold: tuple[int, ...]
    gold_of_all: tuple[int, ...]
    columns: tuple[str, ...]
    """The heads of `CandidateRow.columns`."""
    sections: tuple[ReplayViewSection, ...]
    lengths: tuple[LengthRow, ...]
    positions: tuple[str, ...]
    draws: int
    seed: int
    deals: int
    ties: str
    margin: float
