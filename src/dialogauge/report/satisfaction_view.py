"""What the page shows of a judge against the users themselves, as plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from dialogauge.report.rationale_view import RationaleView

__all__ = [
    "BehaviourLine",
    "CalibrationBlock",
    "FigureCell",
    "ForestPanel",
    "ForestRow",
    "GroupFigures",
    "PairLine",
    "ReliabilityPoint",
    "SatisfactionView",
    "SeveralView",
    "TableRow",
    "UserDot",
]

Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A judge or a control in one figure."""

    name: str
    value: float | None
    interval: Interval
    judge: bool
    side: str | None
    """Of a control: is the judge `above`, `below`, `not distinguishable` or `undefined`?"""


@dataclass(frozen=True, slots=True)
class ForestPanel:
    """One figure of the judge and all controls."""

    title: str
    what: str
    rows: tuple[ForestRow, ...]
    ceiling: float | None
    lower_is_better: bool


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """Turns of about the same judge's score."""

    said: float
    people: float
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class UserDot:
    """One user."""

    name: str
    n: int
    gold: float
    said: float
    pearson: float | None


@dataclass(frozen=True, slots=True)
class FigureCell:
    """A figure in a table."""

    value: float | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class TableRow:
    """A judge, a control or the ceiling under one calibration."""

    name: str
    kind: str
    """`judge`, `control` or `ceiling`."""
    n: int
    n_failed: int
    cells: tuple[FigureCell, ...]


@dataclass(frozen=True, slots=True)
class CalibrationBlock:
    """All rows under one calibration."""

    name: str
    note: str
    """How many blocks were calibrated, and what became of the others."""
    chosen: bool
    same_as: str | None
    """The calibration above whose figures these equal in every row; the rows are then left out."""
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """The figures of the judge in groups of turns."""

    title: str
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, slots=True)
class BehaviourLine:
    """What users did and what the judge says of it."""

    title: str
    what: str
    people: FigureCell
    judge: FigureCell
    n: int


@dataclass(frozen=True, slots=True)
class SatisfactionView:
    """Everything that is known of the judge against the users."""

    judge: str
    calibration: str
    users: int
    blocks: int
    turns: int
    n: int
    n_failed: int
    population: tuple[int, int]
    """Training users and their turns."""
    apart: tuple[int, float | None]
    """Turns of users without a history, and the mean absolute error there."""
    warnings: tuple[str, ...]
    signals: tuple[str, ...]
    """What was there of each signal that the judge was given, and what it made of it."""
    finding: str
    """What the controls say of the judge, in a sentence."""
    panels: tuple[ForestPanel, ...]
    reliability: tuple[ReliabilityPoint, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Rows: the judge's 1 to 5; columns: people's."""
    dots: tuple[UserDot, ...]
    columns: tuple[str, ...]
    """Titles of the table's figures."""
    table: tuple[CalibrationBlock, ...]
    controls: tuple[tuple[str, str], ...]
    """Name and what it does."""
    behaviour: tuple[BehaviourLine, ...]
    group_columns: tuple[str, ...]
    groups: tuple[GroupFigures, ...]
    fractions: bool = False
    """Whether the points of `reliability` are expected ratings, which are not the whole scores."""
    boundary_only: bool = False
    """Whether the judge knows two scores, and the figures marked with * read more into them."""
    rationale: RationaleView | None = None
    """None for a judge that gives neither reasons nor rationales."""


@dataclass(frozen=True, slots=True)
class PairLine:
    """Two judges on the same turns, by one figure."""

    title: str
    a: str
    b: str
    figure_a: float | None
    figure_b: float | None
    difference: float | None
    """Above 0: a is better."""
    interval: Interval
    p: float | None
    side: str
    """`above`, `below`, `not distinguishable` or `undefined`: a against b."""
    words: str


@dataclass(frozen=True, slots=True)
class SeveralView:
    """Several judges of the same users."""

    judges: tuple[tuple[str, str, str], ...]
    """Run, judge and calibration."""
    n: int
    users: int
    notes: tuple[str, ...]
    columns: tuple[str, ...]
    table: tuple[CalibrationBlock, ...]
    panels: tuple[ForestPanel, ...]
    pairs: tuple[PairLine, ...]
