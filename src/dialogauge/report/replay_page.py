"""The page of a replay benchmark: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dialogauge.report.page import page_of
from dialogauge.report.replay_view import CandidateRow, ReplayPageView, ReplayViewSection

__all__ = ["render_replay"]

_LEFT = 160.0
_WIDTH = 385.0
_ROW = 30.0
_TOP = 24.0
_BAR_LEFT = 610.0
_BAR_WIDTH = 300.0
_TOTAL = 960.0


def render_replay(view: ReplayPageView) -> str:
    """Write the page as one self-contained HTML document; it holds no script and loads nothing."""
    return page_of("replay.html.j2", view, board_of=_board)


@dataclass(frozen=True, slots=True)
class _Part:
    x: float
    width: float
    level: int
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class _Line:
    y: float
    name: str
    original: bool
    mean: float | None
    low: float | None
    high: float | None
    told: str
    parts: tuple[_Part, ...]
    dsat: float | None


@dataclass(frozen=True, slots=True)
class _Board:
    width: float
    height: float
    lines: tuple[_Line, ...]
    ticks: tuple[tuple[float, str], ...]
    ceiling: float | None
    top: float
    bottom: float
    bar_left: float
    bar_right: float


def _board(section: ReplayViewSection) -> _Board:
    """Lay out means with intervals on the left, the shares of 1 to 5 on the right, the ceiling across."""
    low, high = section.low, section.high

    def place(value: float | None) -> float | None:
        if value is None:
            return None
        inside = min(max(value, low), high)
        return round(_LEFT + (_WIDTH) * (inside - low) / (high - low or 1), 1)

    lines = tuple(_line(row, _TOP + (i + 0.5) * _ROW, place) for i, row in enumerate(section.rows))
    bottom = _TOP + len(lines) * _ROW
    steps = _steps(low, high)
    ticks = tuple((place(v) or 0.0, f"{v:g}") for v in steps)
    return _Board(
        _TOTAL,
        bottom + 22,
        lines,
        ticks,
        place(section.ceiling),
        _TOP,
        bottom,
        _BAR_LEFT,
        _BAR_LEFT + _BAR_WIDTH,
    )


def _steps(low: float, high: float) -> list[float]:
    step = 0.1 if high - low <= 0.8 else 0.25 if high - low <= 1.5 else 0.5 if high - low <= 3 else 1.0
    first = -(-low // step) * step
    count = int((high - first) / step + 1e-9) + 1
    return [round(first + i * step, 2) for i in range(count)]


def _line(row: CandidateRow, y: float, place: Callable[[float | None], float | None]) -> _Line:
    total = sum(row.counts) or 1
    parts, x = [], _BAR_LEFT
    for level, count in enumerate(row.counts, 1):
        width = _BAR_WIDTH * count / total
        parts.append(_Part(round(x, 2), round(width, 2), level, count, count / total))
        x += width
    told = "–" if row.user_macro is None else f"{row.user_macro:z.3f}"
    ends = row.interval or (None, None)
    return _Line(
        y,
        row.name,
        row.original,
        place(row.user_macro),
        place(ends[0]),
        place(ends[1]),
        told,
        tuple(parts),
        row.dsat,
    )
