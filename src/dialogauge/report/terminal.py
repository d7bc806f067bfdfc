"""Blocks as lines for a terminal: tables that fit its width, plain text where there is no terminal.

Nothing is printed here: the command line prints what `to_text` returns. Text of users and models is made
harmless, so that it is shown and never obeyed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import chain, groupby
from typing import Any, Final, Literal, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text as Line

from dialogauge.report.blocks import (
    PLOT_DIGITS,
    Axis,
    Bars,
    Block,
    Callout,
    Card,
    Cards,
    Code,
    Curve,
    DataTable,
    Definitions,
    DotPlot,
    DotRow,
    Fold,
    Items,
    Leaderboard,
    Matrix,
    Page,
    RowGroup,
    Section,
    StackedBar,
    TableColumn,
    TableRow,
    Tiles,
    data_table,
)
from dialogauge.report.cells import Cell, Emphasis, Figure, Mix, Number
from dialogauge.report.elements import plain
from dialogauge.report.transcripts import (
    Finding,
    Scored,
    Transcript,
    TranscriptCall,
    TranscriptList,
    TranscriptTurn,
)
from dialogauge.report.words import (
    cell_words,
    decimal,
    figure_line,
    mix_words,
    name,
    part_share,
    percent,
    prose_words,
)

_GAP: Final = 2
_LEAST: Final = {"text": 12, "prose": 20}
"""Columns of words are not made narrower than this, nor than a word of up to twice as much, before the table
is cut."""
_TRACK: Final = 32
_MOST_POINTS: Final = 24
_MARKS: Final = {
    "plain": ("", ""),
    "info": ("note:", ""),
    "warn": ("WARNING:", "yellow"),
    "good": ("OK:", "green"),
}
_STYLES: Final[Mapping[Emphasis, str]] = {"strong": "bold", "plain": "", "quiet": "italic dim"}


def to_text(
    blocks: Page | Iterable[Block], *, width: int = 110, colour: bool = False, wrapped: bool = True
) -> str:
    """Return a page or blocks as lines of at most `width` columns, each ended by a line break.

    Args:
        blocks: What is shown.
        width: Of the terminal, in columns; a Chinese character takes two. Only the text of a `Code` may
            run over it.
        colour: Whether the lines may hold escape sequences for bold and colours.
        wrapped: Whether a sentence is broken where the width ends. For a file or a pipe it stays in one line,
            so that it can be searched for; tables have the width in any case.
    """
    writer = _Lines(max(width, 40), colour=colour, wrapped=wrapped)
    if isinstance(blocks, Page):
        writer.heading(blocks.title)
        if blocks.lead:
            writer.paragraph(prose_words(blocks.lead))
        blocks = blocks.blocks
    writer.write(blocks)
    return writer.text()


class _Lines:
    """Writes blocks as lines."""

    def __init__(self, width: int, *, colour: bool, wrapped: bool) -> None:
        self._out = StringIO()
        self._width = width
        self._wrapped = wrapped
        self._named = False
        """Whether the heading above already says what a chart or table is."""
        self._console = Console(
            file=self._out,
            width=width,
            color_system="standard" if colour else None,
            force_terminal=colour,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )
        self._writers: Mapping[type, Callable[[Any], None]] = {
            Bars: self._bars,
            Callout: self._callout,
            Card: self._card,
            Cards: lambda b: self.write(b.cards),
            Code: self._code,
            Curve: self._curve,
            DataTable: self._data_table,
            Definitions: self._definitions,
            DotPlot: self._dots,
            Figure: self._figure,
            Fold: self._fold,
            Items: self._items,
            Leaderboard: self._leaderboard,
            Matrix: self._matrix,
            Section: self._section,
            StackedBar: self._stacked,
            Tiles: self._tiles,
            Transcript: self._transcript,
            TranscriptList: self._transcript_list,
        }

    def text(self) -> str:
        """Return what was written."""
        return "".join(f"{line.rstrip()}\n" for line in self._out.getvalue().split("\n")[:-1])

    def write(self, blocks: Iterable[Block]) -> None:
        """Write blocks one after the other."""
        for block in blocks:
            self._writers[type(block)](block)

    def heading(self, words: str) -> None:
        """Write a heading, apart from what is above it."""
        self._apart()
        self.paragraph(words, "bold")

    def paragraph(self, words: str, style: str = "", mark: str = "") -> None:
        """Write a paragraph; what is wrapped stands beneath its beginning, right of the mark."""
        line = Line(plain(words), style=style, overflow="fold")
        if not self._wrapped:
            start = Line(f"{plain(mark)} " if mark else "", style=style or "bold")
            self._console.print(start, line, sep="", soft_wrap=True)
            return
        if not mark:
            self._console.print(line)
            return
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Line(plain(mark), style=style or "bold"), line)
        self._console.print(grid)

    def _apart(self) -> None:
        written = self._out.getvalue()
        if written and not written.endswith("\n\n"):
            self._out.write("\n")

    # prose

    def _callout(self, block: Callout) -> None:
        mark, style = _MARKS[block.tone]
        for paragraph in block.paragraphs:
            self.paragraph(prose_words(paragraph), style, mark)

    def _items(self, block: Items) -> None:
        for item in block.items:
            self.paragraph(prose_words(item), mark="-")
        if block.left_out:
            self.paragraph(f"  and {block.left_out:,} more")

    def _definitions(self, block: Definitions) -> None:
        self._pairs([(n, prose_words(p)) for n, p in block.pairs])

    def _pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        longest = max((cell_len(n) for n, _ in pairs), default=0)
        if not self._wrapped:
            for left, right in pairs:
                self.paragraph(right, mark=plain(left) + " " * (longest - cell_len(left) + _GAP - 1))
            return
        grid.add_column(width=min(longest, 2 * self._width // 5), overflow="fold")
        grid.add_column(overflow="fold")
        for left, right in pairs:
            grid.add_row(Line(plain(left), style="dim"), Line(plain(right)))
        self._console.print(grid)

    def _code(self, block: Code) -> None:
        for line in block.text.split("\n"):
            self._out.write(f"  {plain(line)}\n")

    # numbers

    def _tiles(self, block: Tiles) -> None:
        self._pairs([(t.label, " ".join(filter(None, (_in_line(t.value), t.note)))) for t in block.tiles])

    def _figure(self, block: Figure) -> None:
        self.paragraph(figure_line(block))

    def _data_table(self, block: DataTable) -> None:
        if block.captioned and block.title and not self._named:
            self.heading(block.title)
        elif block.headed:
            self._apart()
        groups, rest = block.parts
        if not any(g.rows or g.title for g in groups):
            self.paragraph("  none")
            return
        for number, piece in enumerate(_pieces(_strips(block.columns, groups), self._width)):
            if number:
                self._apart()
            if block.headed:
                table = piece.table()
                table.add_row(*(Line(s.title, style="bold", overflow="fold") for s in piece.strips))
                table.add_row(*(Line("─" * w, style="dim") for w in piece.widths))
                self._console.print(table)
            words = piece.rows()
            for group in groups:
                if group.title:
                    tag = f"({group.tag})" if group.tag else ""
                    self.paragraph(" ".join(filter(None, (group.title, tag, group.note))), "bold")
                self._rows(piece, zip(group.rows, words, strict=False))
        if rest:
            self.paragraph(f"and {sum(len(g.rows) for g in rest):,} more")

    def _rows(self, piece: _TablePiece, rows: Iterable[tuple[TableRow, Iterable[str]]]) -> None:
        table = piece.table()
        for row, words in rows:
            style = _STYLES[row.emphasis]
            table.add_row(*(Line(cell, style=style, overflow="fold") for cell in words))
            if row.note:
                self._console.print(table)
                self.paragraph(prose_words(row.note), "dim", " ")
                table = piece.table()
        if table.row_count:
            self._console.print(table)

    # charts

    def _stacked(self, block: StackedBar) -> None:
        parts = (f"{p.name} {p.n:,} ({percent(part_share(p.n, block.total))})" for p in block.parts)
        self.paragraph(", ".join(parts), mark=f"{block.title}:" if block.title else "")

    def _bars(self, block: Bars) -> None:
        if block.figure is not None:
            self._figure(block.figure)
        tallest = max(block.counts, default=0) or 1
        columns = (TableColumn(block.label, "text"), "", TableColumn("", "text"))
        rows = [
            (label, n, "█" * round(24 * n / tallest))
            for label, n in zip(block.labels, block.counts, strict=True)
        ]
        self._data_table(data_table(block.title, columns, rows, headed=bool(block.label)))

    def _curve(self, block: Curve) -> None:
        if block.square:
            self._points(block)
            return
        if block.lines:
            self._several(block)
            return
        step = -(-len(block.points) // _MOST_POINTS) or 1
        rows = [
            (f"{p.x:g}", Number(p.y, interval=p.interval, notes=() if p.n is None else (f"n {p.n:,}",)))
            for p in block.points[::step]
        ]
        heads = (block.x.label or "at", block.y.label or "value")
        self._data_table(data_table(block.title, heads, rows))

    def _several(self, block: Curve) -> None:
        places = sorted({p.x for line in block.lines for p in line.points})
        places = places[:: -(-len(places) // _MOST_POINTS) or 1]
        rows = []
        for line in block.lines:
            known = {p.x: Number(p.y, PLOT_DIGITS, p.interval) for p in line.points}
            rows.append(TableRow((line.name, *(known.get(x) for x in places)), line.emphasis))
        heads = (block.x.label or "at", *(f"{x:g}" for x in places))
        self._data_table(data_table(block.title, heads, rows))

    def _points(self, block: Curve) -> None:
        columns = ("", block.x.label or "x", block.y.label or "y", "n")
        rows = [(p.label, Number(p.x), Number(p.y, interval=p.interval), p.n) for p in block.points]
        self._data_table(data_table(block.title, columns, rows, shown=_MOST_POINTS))

    def _dots(self, block: DotPlot) -> None:
        columns = ("", TableColumn("", "text"), "", "")
        references = [one.value for one in block.references]
        rows = [
            (r.name, _track(r, block.axis, references), Number(r.value, PLOT_DIGITS, r.interval), r.sign)
            for r in block.rows
        ]
        self._data_table(data_table(block.title, columns, rows, headed=False))

    def _matrix(self, block: Matrix) -> None:
        head = " / ".join(filter(None, (block.row_label, block.column_label)))
        columns = [head, *block.columns, *(["n"] if block.totals else [])]
        rows = [
            (row, *cells, *([block.totals[i]] if block.totals else []))
            for i, (row, cells) in enumerate(zip(block.rows, block.cells, strict=True))
        ]
        self._data_table(data_table(block.title, columns, rows))

    def _leaderboard(self, block: Leaderboard) -> None:
        mixed = [TableColumn(block.mix_title)] if block.mix_title else []
        rows = []
        for s in block.rows:
            parts: list[Cell] = [mix_words(Mix(s.parts))] if block.mix_title else []
            rows.append(TableRow((s.name, Number(s.value, block.digits, s.interval), *parts, *s.cells)))
        columns = [TableColumn("", "text"), TableColumn(block.value_title), *mixed, *block.columns]
        self._data_table(data_table(block.title, columns, rows))
        for one in block.references:
            if one.label:
                self.paragraph(f"{one.label}: {decimal(one.value, block.digits)}")

    # conversations

    def _transcript(self, block: Transcript) -> None:
        verdict = "" if block.verdict is None else _in_line(block.verdict)
        self.heading(" · ".join(filter(None, (block.title, verdict, *block.facts))))
        for words, mark in (
            (prose_words(block.reason), ""),
            (block.context, ""),
            (block.failure, "not judged:"),
            (block.rationale, ""),
        ):
            if words:
                self.paragraph(words, mark=mark)
        self._said(block.scores, block.findings)
        for turn in block.turns:
            self._turn(turn)
        if block.turns_left_out:
            self.paragraph(f"not shown: {block.turns_left_out:,} more", "dim")
        if block.note:
            self.paragraph(block.note, "dim")

    def _transcript_list(self, block: TranscriptList) -> None:
        self.write(block.transcripts[: block.shown])
        if len(block.transcripts) > block.shown:
            self.paragraph(f"and {len(block.transcripts) - block.shown:,} more")

    def _turn(self, turn: TranscriptTurn) -> None:
        number = "" if turn.number is None else f"turn {turn.number}"
        words = ", ".join(filter(None, (number, *turn.facts, turn.tag)))
        if words:
            self.paragraph(words, "bold")
        for message in turn.messages:
            if isinstance(message, TranscriptCall):
                if message.name:
                    self._lines("call:", f"{message.name}({message.arguments})")
                if message.result is not None:
                    self._lines("  ->", message.result or "(empty)")
                if message.wrong:
                    self.paragraph(message.wrong, mark="    !")
            else:
                self._lines(f"{message.role}:", message.text)
        if turn.without_reply:
            self.paragraph("no reply", "dim", " ")
        if turn.failure:
            self.paragraph(turn.failure, mark="  not judged:")
        self._said(turn.scores, turn.findings, turn.rationale)

    def _lines(self, who: str, text: str) -> None:
        for line in text.split("\n"):
            self.paragraph(line, mark=f"  {who}")
            who = " " * cell_len(who)

    def _said(self, scores: Sequence[Scored], findings: Sequence[Finding], rationale: str = "") -> None:
        for by, group in groupby(scores, key=lambda score: score.by):
            several = tuple(group)
            if by or not any(score.reason for score in several):
                self.paragraph(", ".join(map(_scored, several)), mark=" ")
                continue
            for score in several:
                end = ":" if score.reason else ""
                self.paragraph(score.reason, mark=f"  {_scored(score)}{end}")
        if rationale:
            self.paragraph(rationale, mark=" ")
        for finding in findings:
            turn = "" if finding.turn is None else f"turn {finding.turn}"
            where = ", ".join(filter(None, (name(finding.source), turn)))
            words = f"“{finding.text}”" if finding.quoted else finding.text
            words += f" “{finding.quote}”" if finding.quote else ""
            self.paragraph(f"{where}: {words}" if where else words, mark="  -")

    # arrangement

    def _section(self, section: Section) -> None:
        if section.title:
            self.heading(section.title)
        else:
            self._apart()
        if section.lead:
            self.paragraph(prose_words(section.lead), "dim")
        self.write(section.blocks)

    def _card(self, card: Card) -> None:
        words = [card.title, *(t.text for t in card.tags), card.aside]
        self.heading(" · ".join(filter(None, words)))
        self._named = bool(card.title)
        self.write(card.blocks)
        self._named = False

    def _fold(self, block: Fold) -> None:
        self.heading(block.title)
        self.write(block.blocks)


class _Strip(NamedTuple):
    """A column of a table as words."""

    title: str
    kind: str
    cells: list[tuple[str, ...]]
    """By row, the lines of the cell."""

    def width(self, *, wrapped: bool, in_line: bool) -> int:
        """Return what it needs, with its title in one line or wrapped."""
        lines = map(_one_line, self.cells) if in_line else chain.from_iterable(self.cells)
        return max(map(cell_len, chain(self.title.split() if wrapped else [self.title], lines)), default=0)

    @property
    def longest_word(self) -> int:
        """The width of the longest word in it."""
        words = (word for cell in self.cells for line in cell for word in line.split())
        return max(map(cell_len, words), default=0)


class _TablePiece(NamedTuple):
    """Columns of a table that stand side by side."""

    strips: Sequence[_Strip]
    widths: Sequence[int]
    in_line: bool
    """Whether an interval stands beside its number, and not beneath."""

    def table(self) -> Table:
        """Return a table of these columns without rows."""
        table = Table.grid(padding=(0, _GAP, 0, 0))
        for strip, width in zip(self.strips, self.widths, strict=True):
            justify: Literal["right", "left"] = "right" if strip.kind == "number" else "left"
            table.add_column(justify=justify, width=max(width, 1), overflow="fold")
        return table

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield what stands in each row, the rows of all groups one after the other."""
        join: Callable[[Sequence[str]], str] = _one_line if self.in_line else "\n".join
        return zip(*(map(join, strip.cells) for strip in self.strips), strict=True)


def _strips(columns: Sequence[TableColumn], groups: Sequence[RowGroup]) -> list[_Strip]:
    rows = [r for g in groups for r in g.rows]
    mixed = any(r.emphasis == "strong" for r in rows)
    briefs = [mixed and r.emphasis != "strong" for r in rows]
    return [
        _Strip(
            plain(column.title),
            column.kind,
            [_words(row.cells[i], brief=brief) for row, brief in zip(rows, briefs, strict=True)],
        )
        for i, column in enumerate(columns)
    ]


def _pieces(strips: list[_Strip], width: int) -> list[_TablePiece]:
    """Cut a table into pieces that fit, each with the column of names; words are broken at the last."""
    if (whole := _fitted(strips, width)) is not None:
        return [whole]
    parts = [strips[:1]]
    for strip in strips[1:]:
        if len(parts[-1]) > 1 and _fitted([*parts[-1], strip], width) is None:
            parts.append(strips[:1])
        parts[-1].append(strip)
    return [_fitted(part, width) or _broken(part, width) for part in parts]


def _fitted(strips: Sequence[_Strip], width: int) -> _TablePiece | None:
    """Return the widest way to show columns that fits; None where none does.

    At the last, room is taken from the columns of words, explanations first.
    """
    room = width - _GAP * (len(strips) - 1)
    for in_line in (True, False):
        for wrapped in (False, True):
            widths = [s.width(wrapped=wrapped, in_line=in_line) for s in strips]
            if sum(widths) <= room:
                return _TablePiece(strips, widths, in_line)
    for kind in ("prose", "text"):
        for i, _ in sorted(enumerate(widths), key=lambda pair: -pair[1]):
            if strips[i].kind == kind:
                least = max(_LEAST[kind], min(strips[i].longest_word, 2 * _LEAST[kind]))
                widths[i] = max(min(widths[i], least), widths[i] - max(sum(widths) - room, 0))
    return _TablePiece(strips, widths, in_line=False) if sum(widths) <= room else None


def _broken(strips: Sequence[_Strip], width: int) -> _TablePiece:
    """Fit columns by breaking what stands in them."""
    each = max((width - _GAP * (len(strips) - 1)) // len(strips), 1)
    return _TablePiece(
        strips, [min(s.width(wrapped=True, in_line=False), each) for s in strips], in_line=False
    )


def _words(cell: Cell, *, brief: bool = False) -> tuple[str, ...]:
    main, beneath = cell_words(cell)
    return tuple(plain(line) for line in ((main,) if brief else (main, *beneath)))


def _one_line(lines: Sequence[str]) -> str:
    """Put what stands beneath a value behind it."""
    return " ".join(filter(None, (lines[0], ", ".join(lines[1:]))))


def _in_line(cell: Cell) -> str:
    return _one_line(_words(cell))


def _scored(score: Scored) -> str:
    return " ".join(
        filter(None, (f"{score.by}:" if score.by else "", name(score.name), _in_line(score.value)))
    )


def _track(row: DotRow, axis: Axis, references: Sequence[float]) -> str:
    """Draw a value with its interval in characters."""

    def place(value: float) -> int:
        inside = min(max(value, axis.low), axis.high)
        return round((_TRACK - 1) * (inside - axis.low) / ((axis.high - axis.low) or 1))

    drawn = [" "] * _TRACK
    for value in references:
        drawn[place(value)] = "┊"
    if row.interval is not None:
        low, high = map(place, row.interval)
        drawn[low : high + 1] = "─" * (high + 1 - low)
    if row.value is not None:
        drawn[place(row.value)] = "●" if row.emphasis == "strong" else "○"
    return "".join(drawn)
