"""The page of judges against people: one HTML file that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from dialogauge.report.meta_view import AgreementView, MetaView
from dialogauge.report.page import page_of

__all__ = ["render_meta"]

_CELL = 44.0
_LEFT = 46.0
_TOP = 26.0


def render_meta(view: MetaView) -> str:
    """Write the page as one self-contained HTML document; it holds no script and loads nothing."""
    return page_of("meta.html.j2", view, grid_of=_grid)


@dataclass(frozen=True, slots=True)
class _Cell:
    x: float
    y: float
    count: int
    share: float
    """Of the judge's row."""


@dataclass(frozen=True, slots=True)
class _Line:
    y: float
    label: str
    n: int
    mean_x: float | None


@dataclass(frozen=True, slots=True)
class _Grid:
    width: float
    height: float
    cells: tuple[_Cell, ...]
    lines: tuple[_Line, ...]
    columns: tuple[tuple[float, str], ...]


def _grid(judge: AgreementView) -> _Grid:
    """Lay out the judge's scores (rows) by people's (columns), and people's mean in each row."""
    cells, lines = [], []
    for i, row in enumerate(judge.confusion):
        y = _TOP + i * _CELL
        for j, count in enumerate(row.counts):
            cells.append(_Cell(_LEFT + j * _CELL, y, count, count / (row.n or 1)))
        lines.append(_Line(y + _CELL / 2, f"{row.score:g}", row.n, _place(judge.levels, row.people_mean)))
    columns = tuple((_LEFT + j * _CELL + _CELL / 2, f"{v:g}") for j, v in enumerate(judge.levels))
    width = _LEFT + len(judge.levels) * _CELL + 70
    return _Grid(width, _TOP + len(lines) * _CELL + 4, tuple(cells), tuple(lines), columns)


def _place(levels: tuple[float, ...], mean: float | None) -> float | None:
    """The x of a mean among columns of equal width, between the two levels that it lies between."""
    if mean is None or not levels:
        return None
    if mean <= levels[0]:
        return _LEFT + _CELL / 2
    for j, (low, high) in enumerate(pairwise(levels)):
        if mean <= high:
            return round(_LEFT + _CELL * (j + 0.5 + (mean - low) / (high - low)), 1)
    return _LEFT + _CELL * (len(levels) - 0.5)
