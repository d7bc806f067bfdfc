"""What a page says: a list of blocks, as plain frozen values.

A study lays its result out in these records. It writes no HTML, no template and no terminal line; the
renderers read the same records: `html` for a page, `terminal` for a screen, `to_json` for a file. A new kind
of block is a record here and one function in each renderer.

Text of users and models goes in as it is: each renderer makes it harmless in its own way.

Example:
    >>> from dialogauge.report.cells import Number
    >>> page = Page(
    ...     "Guest service",
    ...     (
    ...         Section(
    ...             "Scores",
    ...             (data_table("By dimension", ("dimension", "mean", "n"), [("tone", Number(4.125), 60)]),),
    ...         ),
    ...     ),
    ... )
    >>> to_json(page)["blocks"][0]["title"]
    'Scores'
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, Final, Literal

from dialogauge.core.values import Value
from dialogauge.report.cells import Cell, Emphasis, Ends, Figure, Part, Prose, Span
from dialogauge.report.transcripts import RECORDS, Transcript, TranscriptList

# Prose blocks


class Callout(Value):
    """Paragraphs: in a box (`info`, `warn`, `good`), or small beneath what they explain (`plain`)."""

    paragraphs: tuple[Prose, ...]
    tone: Literal["plain", "info", "warn", "good"] = "plain"


class Items(Value):
    """A list with bullets."""

    items: tuple[Prose, ...]
    left_out: int = 0
    """How many more there are."""


class Definitions(Value):
    """Names with what they mean or hold."""

    pairs: tuple[tuple[str, Prose], ...]


class Code(Value):
    """A command, or other text to copy."""

    text: str


# Numbers


class Tile(Value):
    """One number of a row of numbers."""

    label: str
    value: Cell
    note: str = ""


class Tiles(Value):
    """A row of numbers at the head of a section."""

    tiles: tuple[Tile, ...]


class TableColumn(Value):
    """A column; `number` stands to the right, `prose` is explanation and gives way first."""

    title: str
    kind: Literal["text", "number", "prose"] = "number"


class TableRow(Value):
    """Cells in the order of the columns; the first names the row."""

    cells: tuple[Cell, ...]
    emphasis: Emphasis = "plain"
    note: Prose = ""
    """A line beneath, across all columns."""


class RowGroup(Value):
    """Rows that belong together under a line of their own; a title without rows says why there are none."""

    rows: tuple[TableRow, ...]
    title: str = ""
    note: str = ""
    tag: str = ""


class DataTable(Value):
    """A table.

    Raises:
        ValueError: A row has not one cell for each column.
    """

    title: str
    """What it shows; read out, and printed above it where `captioned`."""
    columns: tuple[TableColumn, ...]
    groups: tuple[RowGroup, ...]
    captioned: bool = True
    headed: bool = True
    """Whether the titles of the columns are shown."""
    shown: int | None = None
    """So many rows; the others fold away."""

    @property
    def parts(self) -> tuple[tuple[RowGroup, ...], tuple[RowGroup, ...]]:
        """The groups with the rows that are shown, and with those that fold away."""
        if self.shown is None:
            return self.groups, ()
        first: list[RowGroup] = []
        rest: list[RowGroup] = []
        room = self.shown
        for group in self.groups:
            head, tail = group.rows[:room], group.rows[room:]
            first += [replace(group, rows=head)] if head or not tail else []
            rest += [replace(group, rows=tail)] if tail else []
            room -= len(head)
        return tuple(first), tuple(rest)

    def __post_init__(self) -> None:
        for group in self.groups:
            for row in group.rows:
                if len(row.cells) != len(self.columns):
                    counts = f"{len(row.cells)} cells for {len(self.columns)} columns"
                    message = f"table {self.title!r}: a row has {counts}"
                    raise ValueError(message)


Column = str | TableColumn
"""A `str` is the title of a column: the first of texts, the others of numbers."""


def data_table(
    title: str,
    columns: Iterable[Column],
    rows: Iterable[Sequence[Cell] | TableRow],
    *,
    captioned: bool = True,
    headed: bool = True,
    shown: int | None = None,
) -> DataTable:
    """Return a table of one group of rows; a plain sequence of cells is a row without emphasis."""
    wide = tuple(
        TableColumn(c, "number" if i else "text") if isinstance(c, str) else c for i, c in enumerate(columns)
    )
    whole = tuple(r if isinstance(r, TableRow) else TableRow(tuple(r)) for r in rows)
    return DataTable(title, wide, (RowGroup(whole),), captioned=captioned, headed=headed, shown=shown)


# Charts. The title of a chart is read out, and printed where no heading says it.

PLOT_DIGITS: Final = 3
"""Decimals of the values of dot plots and leaderboards."""


class Axis(Value):
    """The range that is drawn, and what it is."""

    low: float
    high: float
    label: str = ""
    whole: bool = False
    """Whether only whole numbers are marked, such as turns."""


class Reference(Value):
    """A value to compare with: a line across a chart."""

    value: float
    label: str = ""


class StackedBar(Value):
    """One whole in its parts, with a legend of counts and shares."""

    title: str
    parts: tuple[Part, ...]

    @property
    def total(self) -> int:
        """All parts together."""
        return sum(p.n for p in self.parts)


class Bars(Value):
    """A distribution.

    Raises:
        ValueError: There is not one count for each label.
    """

    title: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    axis: Axis | None = None
    """What the bars span from the left edge of the first to the right edge of the last."""
    at_edges: bool = False
    """Whether a label names the left edge of its bar, not its middle."""
    figure: Figure | None = None
    """The mean of what is counted; where there is an axis it is drawn beneath."""
    reference: Reference | None = None
    """On the axis."""
    label: str = ""
    """What stands along the axis."""

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.labels):
            message = f"bars {self.title!r}: {len(self.counts)} counts for {len(self.labels)} labels"
            raise ValueError(message)


class Point(Value):
    """A place in a chart."""

    x: float
    y: float
    interval: Ends | None = None
    """Of y."""
    n: int | None = None
    label: str = ""
    """What it is, for who points at it; the coordinates are said where it is empty."""


class CurveLine(Value):
    """One line of several; a `quiet` one is a control, dashed and without its intervals."""

    name: str
    points: tuple[Point, ...]
    emphasis: Emphasis = "plain"


class Curve(Value):
    """A line, or several, along turns or positions; or points on two axes."""

    title: str
    points: tuple[Point, ...]
    x: Axis
    y: Axis
    square: bool = False
    """Whether both axes are the same scale: a diagonal is drawn then, and no line through the points."""
    sized: bool = False
    """Whether the area of a point is its share of all `n`."""
    lines: tuple[CurveLine, ...] = ()
    """In place of `points`, lines with names, their intervals as bands."""


class DotRow(Value):
    """One value with its interval; None for both where it is undefined."""

    name: str
    value: float | None
    interval: Ends | None = None
    emphasis: Emphasis = "plain"
    sign: str = ""
    """A sign such as `▲` behind it."""
    sign_means: str = ""


class DotPlot(Value):
    """Dots with intervals on one axis, a row each (a forest plot)."""

    title: str
    rows: tuple[DotRow, ...]
    references: tuple[Reference, ...] = ()

    @property
    def axis(self) -> Axis:
        """The range of all values, intervals and references."""
        values = [v for r in self.rows for v in (r.value, *(r.interval or ())) if v is not None]
        values += [r.value for r in self.references]
        return Axis(min(values, default=0.0), max(values, default=1.0))


class Matrix(Value):
    """Counts or numbers by row and column: a confusion matrix, pairwise wins.

    Raises:
        ValueError: `cells` is not rows by columns, or `rings` and `totals` are not one a row.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    shades: tuple[tuple[float, ...], ...]
    """From 0 to 1, how dark each cell is."""
    row_label: str = ""
    column_label: str = ""
    row_edge: int | None = None
    """A line is drawn above the row of this index."""
    column_edge: int | None = None
    """A line is drawn left of the column of this index."""
    rings: tuple[float | None, ...] = ()
    """For each row a place along the columns (0 is the middle of the first), such as the row's mean."""
    totals: tuple[int, ...] = ()
    """For each row, how many."""

    def __post_init__(self) -> None:
        shape = (len(self.rows), len(self.columns))
        for name in ("cells", "shades"):
            grid: tuple[tuple[object, ...], ...] = getattr(self, name)
            if len(grid) != shape[0] or any(len(row) != shape[1] for row in grid):
                message = f"matrix {self.title!r}: {name} are not {shape[0]} rows of {shape[1]}"
                raise ValueError(message)
        if any(len(column) not in (0, shape[0]) for column in (self.rings, self.totals)):
            message = f"matrix {self.title!r}: rings and totals are one for each of {shape[0]} rows"
            raise ValueError(message)


def shares_of_rows(counts: Sequence[Sequence[int]]) -> tuple[tuple[float, ...], ...]:
    """Return for each count its share of its row, as the shades of a matrix; 0 in an empty row."""
    return tuple(tuple(n / (sum(row) or 1) for n in row) for row in counts)


def shares_of_columns(counts: Sequence[Sequence[int]]) -> tuple[tuple[float, ...], ...]:
    """Return for each count its share of its column, as the shades of a matrix; 0 in an empty column."""
    sums = [sum(column) or 1 for column in zip(*counts, strict=True)]
    return tuple(tuple(n / total for n, total in zip(row, sums, strict=True)) for row in counts)


class LeaderboardRow(Value):
    """One candidate of a leaderboard."""

    name: str
    value: float | None
    interval: Ends | None = None
    parts: tuple[Part, ...] = ()
    """How often it got each score."""
    cells: tuple[Cell, ...] = ()
    """In the order of the board's further columns."""
    emphasis: Emphasis = "plain"


class Leaderboard(Value):
    """Candidates from the best to the worst, with intervals and the mix of their scores.

    Raises:
        ValueError: A row has not one cell for each further column.
    """

    title: str
    rows: tuple[LeaderboardRow, ...]
    value_title: str
    """What the value is, with its interval: `user macro mean, 95 % by users`."""
    axis: Axis
    references: tuple[Reference, ...] = ()
    columns: tuple[TableColumn, ...] = ()
    mix_title: str = ""
    """What the parts are; empty where there are none."""
    digits: int = PLOT_DIGITS
    """Decimals of the values."""

    def __post_init__(self) -> None:
        for one in self.rows:
            if len(one.cells) != len(self.columns):
                message = f"leaderboard {self.title!r}: {one.name!r} has {len(one.cells)} further cells"
                raise ValueError(message)


# Arrangement


class Card(Value):
    """A few blocks in a frame; cards stand side by side where there is room."""

    title: str
    blocks: tuple[Block, ...]
    aside: str = ""
    tags: tuple[Span, ...] = ()


class Cards(Value):
    """Cards, or transcripts of a turn, in a grid; `wide` for those that need more room."""

    cards: tuple[Card, ...] | tuple[Transcript, ...]
    wide: bool = False


class Fold(Value):
    """Blocks that are hidden until they are asked for."""

    title: str
    blocks: tuple[Block, ...]


class Section(Value):
    """A part of the page with a heading; sections in a section have smaller ones."""

    title: str
    """Without one the blocks are only set apart."""
    blocks: tuple[Block, ...]
    lead: Prose = ""
    short: str = ""
    """How the navigation calls it; its title where this is empty."""
    anchor: str = ""
    """Made of the title where this is empty."""


Block = (
    Callout
    | Items
    | Definitions
    | Code
    | Tiles
    | Figure
    | DataTable
    | StackedBar
    | Bars
    | Curve
    | DotPlot
    | Matrix
    | Leaderboard
    | Transcript
    | TranscriptList
    | Card
    | Cards
    | Fold
    | Section
)


class Page(Value):
    """Everything on a page; blocks before the first section stand at its head."""

    title: str
    blocks: tuple[Block, ...]
    lead: Prose = ""
    created: str = ""
    """The day, as it shall be shown."""
    version: str = ""
    """Of dialogauge."""


# JSON


def to_json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return a page, a block or a cell as plain JSON values.

    A record is an object with its `kind` (`data_table`, `dot_plot`) and its fields; what is no finite number
    is null.

    Raises:
        TypeError: The value is no part of a page.
    """
    if isinstance(value, (Value, *RECORDS)):
        kind = re.sub(r"(?<!^)(?=[A-Z])", "_", type(value).__name__).lower()
        return {"kind": kind, **{f.name: to_json(getattr(value, f.name)) for f in fields(value)}}
    if isinstance(value, tuple | list):
        return [to_json(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    message = f"{type(value).__name__} is no part of a page"
    raise TypeError(message)
