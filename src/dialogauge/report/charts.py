"""Pixel geometry of the charts: from figures to coordinates, nothing else.

Every chart is drawn in its own units (the SVG's viewBox) and scales with the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dialogauge.report.view import DimensionView, VerdictFigures

__all__ = ["Bar", "CurveChart", "Histogram", "Segment", "Tick", "Whisker", "curve", "histogram", "segments"]

HISTOGRAM_SIZE = (300, 122)
CURVE_SIZE = (340, 172)
BAR_WIDTH = 1000


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a histogram with the words at it."""

    x: float
    y: float
    width: float
    height: float
    middle: float
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis with its label."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Whisker:
    """Where mean, interval and bounds stand; None for what is undefined."""

    mean: float | None
    interval: tuple[float, float] | None
    bounds: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Histogram:
    """A distribution with the mean beneath it."""

    bars: tuple[Bar, ...]
    whisker: Whisker
    baseline: float


@dataclass(frozen=True, slots=True)
class CurvePointPixels:
    """One turn of a curve."""

    x: float
    y: float
    top: float | None
    bottom: float | None


@dataclass(frozen=True, slots=True)
class CurveChart:
    """Means along the turns."""

    points: tuple[CurvePointPixels, ...]
    path: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar."""

    name: str
    x: float
    width: float


def histogram(dimension: DimensionView) -> Histogram:
    """Lay out the bars of a dimension over 300 x 122 units."""
    left, right, top, base = 8.0, HISTOGRAM_SIZE[0] - 8.0, 18.0, 82.0
    tallest = max([b.count for b in dimension.bars], default=0) or 1
    slot = (right - left) / max(len(dimension.bars), 1)
    gap = min(8.0, slot * 0.18)
    bars = []
    for i, bar in enumerate(dimension.bars):
        height = (base - top) * bar.count / tallest
        if bar.count:
            height = max(height, 1.5)
        x = left + i * slot
        label = f"{bar.low:g}" if bar.low == bar.high else f"{bar.low:g}{'+' if i else ''}"
        bars.append(Bar(x + gap / 2, base - height, slot - gap, height, x + slot / 2, label, bar.count))
    half = 0.5 if dimension.integer else 0.0
    low, high = dimension.low - half, dimension.high + half

    def place(value: float) -> float:
        inside = min(max(value, low), high)
        return round(left + (right - left) * (inside - low) / (high - low or 1), 1)

    figure = dimension.figure
    whisker = Whisker(
        None if figure.mean is None else place(figure.mean),
        None if figure.interval is None else (place(figure.interval[0]), place(figure.interval[1])),
        None if figure.bounds is None or not figure.n_failed else _pair(figure.bounds, place),
    )
    return Histogram(tuple(bars), whisker, base)


def _pair(ends: tuple[float, float], place: Callable[[float], float]) -> tuple[float, float]:
    first, second = place(ends[0]), place(ends[1])
    return min(first, second), max(first, second)


def curve(dimension: DimensionView) -> CurveChart:
    """Lay out the means of a dimension by turn number over 340 x 172 units."""
    left, right, top, base = 26.0, CURVE_SIZE[0] - 10.0, 12.0, CURVE_SIZE[1] - 30.0
    low, high = dimension.low, dimension.high
    last = max(len(dimension.curve) - 1, 1)

    def across(i: int) -> float:
        return round((left + 12) + (right - left - 24) * i / last, 1)

    def up(value: float) -> float:
        inside = min(max(value, low), high)
        return round(base - (base - top) * (inside - low) / (high - low or 1), 1)

    points = tuple(
        CurvePointPixels(
            across(i),
            up(p.mean),
            None if p.interval is None else up(p.interval[1]),
            None if p.interval is None else up(p.interval[0]),
        )
        for i, p in enumerate(dimension.curve)
    )
    path = " ".join(f"{'L' if i else 'M'}{p.x:g} {p.y:g}" for i, p in enumerate(points))
    step = -(-len(points) // 12) or 1
    x_ticks = tuple(Tick(points[i].x, str(dimension.curve[i].turn)) for i in range(0, len(points), step))
    return CurveChart(points, path, x_ticks, tuple(Tick(up(v), f"{v:g}") for v in _ticks(low, high)))


def _ticks(low: float, high: float) -> Sequence[float]:
    span = high - low
    if span == int(span) and 1 < span <= 5:
        return [low + i for i in range(int(span) + 1)]
    return [low, (low + high) / 2, high]


def segments(verdicts: VerdictFigures) -> tuple[Segment, ...]:
    """Lay out the shares of the verdicts along 1,000 units, 3 units apart."""
    held = [v for v in verdicts.counts if v.count]
    gap = 3.0
    room = BAR_WIDTH - gap * max(len(held) - 1, 0)
    out, x = [], 0.0
    for v in held:
        width = room * v.share
        out.append(Segment(v.name or "none", round(x, 1), round(width, 1)))
        x += width + gap
    return tuple(out)
