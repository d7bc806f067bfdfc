"""Pixel geometry of the charts of judge against users: from figures to coordinates, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialogauge.report.charts import Tick
from dialogauge.report.satisfaction_view import ForestPanel, ReliabilityPoint, UserDot
from dialogauge.text import counted

__all__ = ["FOREST_WIDTH", "SQUARE", "confusion", "correlations", "forest", "reliability", "scatter"]

FOREST_WIDTH = 340
SQUARE = 300
MOST_DOTS = 600
"""Users drawn; of more, evenly spread ones."""

_LEFT, _RIGHT, _TOP, _BASE = 34.0, 292.0, 10.0, 262.0


@dataclass(frozen=True, slots=True)
class ForestLine:
    """One row: its label, its mark and its interval."""

    y: float
    label: str
    value: float | None
    x: float | None
    low: float | None
    high: float | None
    judge: bool
    side: str | None


@dataclass(frozen=True, slots=True)
class Forest:
    """Dots and intervals of judge and controls on one axis."""

    height: float
    lines: tuple[ForestLine, ...]
    ticks: tuple[Tick, ...]
    zero: float | None
    base: float


def forest(panel: ForestPanel) -> Forest:
    """Lay out a panel over 340 units of width: labels, plot, values."""
    left, right, step, top = 122.0, 268.0, 23.0, 8.0
    held = [v for r in panel.rows for v in (r.value, *(r.interval or ())) if v is not None]
    low, high = min([0.0, *held]), max([*held, 0.1])
    low, high = (low - 0.02 * (high - low) if low < 0 else low), high + 0.02 * (high - low)

    def place(value: float | None) -> float | None:
        return None if value is None else round(left + (right - left) * (value - low) / (high - low), 1)

    lines = []
    for i, row in enumerate(panel.rows):
        ends = row.interval or (None, None)
        y = top + step * (i + 0.5)
        lines.append(
            ForestLine(
                y, row.name, row.value, place(row.value), place(ends[0]), place(ends[1]), row.judge, row.side
            )
        )
    base = top + step * len(lines)
    ticks = tuple(Tick(place(v) or left, f"{v:g}") for v in _round_ticks(low, high))
    return Forest(base + 22, tuple(lines), ticks, place(0.0), base)


def _round_ticks(low: float, high: float) -> list[float]:
    span = high - low
    step = next((s for s in (0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0) if span / s <= 4.2), 5.0)
    first = -int(-low // step) if low < 0 else int(-(-low // step))
    found = [round((first + i) * step, 10) for i in range(-2, 12)]
    return [v for v in found if low <= v <= high]


@dataclass(frozen=True, slots=True)
class Dot:
    """A point with its interval, in the units of the chart."""

    x: float
    y: float
    radius: float
    top: float | None
    bottom: float | None
    words: str


@dataclass(frozen=True, slots=True)
class Square:
    """A chart whose two axes are the same scale."""

    dots: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    left_out: int = 0


def _square(low: float, high: float) -> tuple[tuple[Tick, ...], tuple[Tick, ...]]:
    values = [v / 2 for v in range(2, 11) if low - 1e-9 <= v / 2 <= high + 1e-9]
    if len(values) > 5:
        values = [v for v in values if v == int(v)]
    return (
        tuple(Tick(_across(v, low, high), f"{v:g}") for v in values),
        tuple(Tick(_up(v, low, high), f"{v:g}") for v in values),
    )


def _lowest(values: Sequence[float]) -> float:
    """Where the axes begin: half a point or less below the lowest value, and at least 1 below the end."""
    if not values:
        return 1.0
    return min(4.0, max(1.0, -(-(min(values) - 0.5) * 2 // 1) / 2))


def _across(value: float, low: float, high: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low), 1)


def _up(value: float, low: float, high: float) -> float:
    return round(_BASE - (_BASE - _TOP) * (value - low) / (high - low), 1)


def reliability(points: Sequence[ReliabilityPoint]) -> Square:
    """Lay out people's mean over the judge's; the area of a dot is its share of the turns."""
    low, high = _lowest([v for p in points for v in (p.said, p.people, *(p.interval or ()))]), 5.0
    total = max(sum(p.n for p in points), 1)
    dots = tuple(
        Dot(
            _across(p.said, low, high),
            _up(p.people, low, high),
            round(2.5 + 9 * (p.n / total) ** 0.5, 1),
            None if p.interval is None else _up(p.interval[1], low, high),
            None if p.interval is None else _up(p.interval[0], low, high),
            f"judge {p.said:z.2f}, people {p.people:z.2f}, {counted(p.n, 'turn')}",
        )
        for p in points
    )
    return Square(dots, *_square(low, high))


def scatter(users: Sequence[UserDot]) -> Square:
    """Lay out each user's mean over the judge's mean for this user."""
    step = -(-len(users) // MOST_DOTS) or 1
    drawn = users[::step]
    low, high = _lowest([v for u in drawn for v in (u.gold, u.said)]), 5.0
    dots = tuple(
        Dot(
            _across(u.said, low, high),
            _up(u.gold, low, high),
            5.0 if len(drawn) < 60 else 3.2,
            None,
            None,
            f"{u.name}: rated {u.gold:z.2f} on average, judged {u.said:z.2f}, {counted(u.n, 'turn')}",
        )
        for u in drawn
    )
    return Square(dots, *_square(low, high), left_out=len(users) - len(drawn))


@dataclass(frozen=True, slots=True)
class ConfusionCell:
    """One pair of scores."""

    x: float
    y: float
    count: int
    share: float
    """Of the turns that people gave this score."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Scores of people across, of the judge upwards."""

    cells: tuple[ConfusionCell, ...]
    size: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    edge_x: float
    """Between 3 and 4."""
    edge_y: float


def confusion(rows: Sequence[Sequence[int]]) -> Confusion:
    """Lay out the matrix with 5 on top; a cell is shaded by its share of the column."""
    n = len(rows)
    size = (_RIGHT - _LEFT) / n
    sums = [sum(row[j] for row in rows) or 1 for j in range(n)]
    cells = tuple(
        ConfusionCell(round(_LEFT + j * size, 1), round(_TOP + (n - 1 - i) * size * 0.976, 1), c, c / sums[j])
        for i, row in enumerate(rows)
        for j, c in enumerate(row)
    )
    return Confusion(
        cells,
        size,
        tuple(Tick(round(_LEFT + (j + 0.5) * size, 1), str(j + 1)) for j in range(n)),
        tuple(Tick(round(_TOP + (n - i - 0.5) * size * 0.976, 1), str(i + 1)) for i in range(n)),
        round(_LEFT + 3 * size, 1),
        round(_TOP + (n - 3) * size * 0.976, 1),
    )


@dataclass(frozen=True, slots=True)
class CorrelationBar:
    """Users whose own correlation lies between two values."""

    x: float
    y: float
    width: float
    height: float
    count: int
    low: float


@dataclass(frozen=True, slots=True)
class Correlations:
    """How many users the judge follows, and how many it does not."""

    bars: tuple[CorrelationBar, ...]
    ticks: tuple[Tick, ...]
    zero: float
    below: int
    undefined: int


def correlations(users: Sequence[UserDot]) -> Correlations:
    """Lay out a histogram of the correlation within each user, from -1 to 1 in steps of 0.2."""
    left, right, top, base = 8.0, 292.0, 22.0, 176.0
    known = [u.pearson for u in users if u.pearson is not None]
    counts = [0] * 10
    for r in known:
        counts[min(9, max(0, int((r + 1) * 5)))] += 1
    tallest, slot = max([*counts, 1]), (right - left) / 10
    bars = tuple(
        CorrelationBar(
            round(left + i * slot + 1.5, 1),
            round(base - (base - top) * c / tallest, 1),
            round(slot - 3, 1),
            round((base - top) * c / tallest, 1),
            c,
            round(-1 + i * 0.2, 1),
        )
        for i, c in enumerate(counts)
    )
    ticks = tuple(
        Tick(round(left + (v + 1) / 2 * (right - left), 1), f"{v:g}") for v in (-1, -0.5, 0, 0.5, 1)
    )
    return Correlations(bars, ticks, ticks[2].at, sum(r < 0 for r in known), len(users) - len(known))
