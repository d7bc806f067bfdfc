"""The page as one HTML file that needs nothing else: nothing loaded, readable without script and colour."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dialogauge.report import svg
from dialogauge.report.blocks import (
    PLOT_DIGITS,
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
    LeaderboardRow,
    Matrix,
    Page,
    RowGroup,
    Section,
    StackedBar,
    TableColumn,
    TableRow,
    Tile,
    Tiles,
)
from dialogauge.report.cells import Cell, Count, Figure, Mix, Number, Prose, Span, Text
from dialogauge.report.elements import LATER, Html, element, filled, joined, quotable, text
from dialogauge.report.html_transcript import transcript, transcript_list
from dialogauge.report.transcripts import Transcript, TranscriptList
from dialogauge.report.words import (
    cell_words,
    counts_of,
    decimal,
    figure_value,
    interval,
    part_share,
    percent,
)

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
"""With the digest of our script behind it, on a page that has the script."""
_LONG_TABLE: Final = 30
"""Rows; in a longer one the names are not bold."""
_LEFT_COLUMNS: Final = 4
"""So many of its first columns may hold texts without saying so in each cell."""
_WIDE_TABLE: Final = 6
"""Columns; in a wider one the first stays in sight."""
_OUTSET_TABLE: Final = 10
"""Columns; a wider one is given more room than the text."""


def to_html(page: Page) -> str:
    """Write a page as one self-contained HTML document.

    All text is escaped, and its invisible characters are made visible. The document loads nothing and runs
    nothing; its policy forbids both. Where there is a list to search, it holds the script of `page.js`,
    always the same, and the policy names its digest: no other script is run.
    """
    return "".join(_chunks(page))


def html_bytes(page: Page) -> Iterator[bytes]:
    """Write a page as `to_html` does, in UTF-8, piece by piece."""
    return (chunk.encode("utf-8", "replace") for chunk in _chunks(page))


def _chunks(page: Page) -> Iterator[str]:
    writer = _Writer(page.blocks)
    head = [b for b in page.blocks if not isinstance(b, Section)]
    sections = [b for b in page.blocks if isinstance(b, Section)]
    script = _asset("page.js") if writer.has_lists else ""
    yield f'<!doctype html>\n<html lang="en">{_head(page, _asset("style.css"), script)}<body>'
    header = element(
        "header",
        element("p", " · ".join(filter(None, ("dialogauge", page.created))), class_="eyebrow"),
        element("h1", page.title, dir="auto"),
        element("p", writer.prose(page.lead), class_="by") if page.lead else None,
        writer.navigation(sections),
        writer.blocks(head),
    )
    yield from writer.with_lists(header)
    yield "<main>"
    for number, section in enumerate(sections):
        yield "\n" if number else ""
        yield from writer.with_lists(writer.blocks([section]))
    yield f"</main>{element('script', Html(script)) if script else ''}</body></html>\n"


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _head(page: Page, style: str, script: str) -> Html:
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"{_POLICY}; script-src 'sha256-{digest}'" if script else _POLICY
    named = {
        "viewport": "width=device-width, initial-scale=1",
        "color-scheme": "light dark",
        "referrer": "no-referrer",
        "generator": f"dialogauge {page.version}".strip(),
    }
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        [element("meta", name=key, content=value) for key, value in named.items()],
        element("title", f"{page.title} · dialogauge"),
        element("style", Html(style)),
    )


class _Writer:
    """Writes blocks; knows how deep it is, which anchors there are, and which ids are taken."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._depth = 0
        self._ids = 0
        self._anchors: dict[int, str] = {}
        self._known: set[str] = set()
        # Every section has an anchor of its own.
        walked = list(_walk(blocks))
        for block in walked:
            if not isinstance(block, TranscriptList) and block.anchor:
                self._known.add(block.anchor)
            if isinstance(block, Transcript) and block.anchor:
                self._known.update(f"{block.anchor}-{turn.number}" for turn in block.turns)
        for block in walked:
            if isinstance(block, Section):
                self._anchors[id(block)] = block.anchor or _free(_slug(block.title), self._known)
                self._known.add(self._anchors[id(block)])
        self.has_lists = any(isinstance(block, TranscriptList) for block in walked)
        """Whether there is something that a script can search."""
        self._writers: Mapping[type, Callable[[Any], Html]] = {
            Bars: self._bars,
            Callout: self._callout,
            Card: self._card,
            Cards: self._cards,
            Code: lambda b: element("pre", element("code", b.text)),
            Curve: self._curve,
            DataTable: self._table,
            Definitions: self._definitions,
            DotPlot: self._dots,
            Figure: lambda b: joined(_big(b), _counts(b)),
            Fold: self._fold,
            Items: self._items,
            Leaderboard: self._leaderboard,
            Matrix: self._matrix,
            Section: self._section,
            StackedBar: self._stacked,
            Tiles: self._tiles,
            Transcript: self._transcript,
            TranscriptList: self._list,
        }
        self._lists: list[Iterator[str]] = []

    def blocks(self, blocks: Iterable[Block]) -> Html:
        """Write blocks one after the other."""
        return Html("\n".join(self._writers[type(b)](b) for b in blocks))

    def with_lists(self, markup: Html) -> Iterator[str]:
        """Yield what was written last, with its lists of transcripts one by one."""
        lists, self._lists = self._lists, []
        return filled(markup, lists)

    def prose(self, prose: Prose) -> Html:
        """Write a sentence with what looks different in it."""
        pieces = (prose,) if isinstance(prose, str | Span) else prose
        return joined(piece if isinstance(piece, str) else self._span(piece) for piece in pieces)

    def navigation(self, sections: Sequence[Section]) -> Html | None:
        """Write the way to each section."""
        links = (element("a", s.short or s.title, href=f"#{self._anchors[id(s)]}") for s in sections)
        return element("nav", links, aria_label="Sections") if len(sections) > 1 else None

    def _id(self) -> str:
        self._ids += 1
        return f"g{self._ids}"

    def _span(self, span: Span) -> Html:
        tags = {"strong": "b", "code": "code", "quote": "q"}
        classes = {"soft": "soft", "tag": "tag", "warn": "tag warn"}
        if span.style in tags:
            words = self._linked(span.text, span.link)
            return element(tags[span.style], words, dir="auto" if span.style == "quote" else None)
        words = self._linked(span.text, span.link)
        return element("span", words, class_=classes[span.style]) if span.style else words

    def _linked(self, words: str, link: str) -> Html:
        return element("a", words, href=f"#{link}") if link in self._known else text(words)

    # prose

    def _callout(self, block: Callout) -> Html:
        paragraphs = (self.prose(p) for p in block.paragraphs)
        if block.tone == "plain":
            return joined(element("p", p, class_="small soft") for p in paragraphs)
        inside = (element("p", p) for p in paragraphs)
        tone = "" if block.tone == "info" else f" {block.tone}"
        return element("div", inside, class_=f"note{tone}", role="note")

    def _items(self, block: Items) -> Html:
        items = (element("li", self.prose(item), dir="auto") for item in block.items)
        more = element("p", f"and {block.left_out:,} more", class_="figure") if block.left_out else None
        return joined(element("ul", items, class_="why"), more)

    def _definitions(self, block: Definitions) -> Html:
        pairs = ((element("dt", n), element("dd", self.prose(v), dir="auto")) for n, v in block.pairs)
        return element("dl", pairs, class_="plain")

    # numbers

    def _tiles(self, block: Tiles) -> Html:
        return element("dl", map(_tile, block.tiles), class_="facts")

    def _table(self, block: DataTable) -> Html:
        first, rest = block.parts
        table = self._framed_table(block, first)
        if not rest:
            return table
        summary = element("summary", f"The other {sum(len(g.rows) for g in rest):,}")
        return joined(table, element("details", summary, self._framed_table(block, rest), class_="more"))

    def _framed_table(self, block: DataTable, groups: Sequence[RowGroup]) -> Html:
        rows = [r for g in groups for r in g.rows]
        mixed = any(r.emphasis == "strong" for r in rows)
        kinds: list[str] = [c.kind for c in block.columns]
        long = len(rows) > _LONG_TABLE
        # The cells of a long table say nothing that the table can say for them: that is a fifth of a page.
        left = [i for i in range(1, _LEFT_COLUMNS) if long and kinds[i : i + 1] == ["text"]]
        kinds = ["number" if i in left else kind for i, kind in enumerate(kinds)]
        caption = element("caption", block.title) if block.captioned and block.title else None
        bodies = [self._group(g, kinds, mixed=mixed, long=long) for g in groups]
        if not rows and not any(g.title for g in groups):
            bodies = [
                element("tbody", element("tr", element("td", "none", colspan=len(kinds), class_="l soft")))
            ]
        classes = {
            "long": long,
            **{f"l{i + 1}": True for i in left},
            "mixed": mixed,
            "pinned": len(kinds) >= _WIDE_TABLE,
            "tight": len(kinds) >= _OUTSET_TABLE,
        }
        table = element(
            "table",
            caption,
            element("thead", element("tr", (_column_head(c, i) for i, c in enumerate(block.columns))))
            if block.headed
            else None,
            bodies,
            class_=" ".join(c for c, used in classes.items() if used),
        )
        return _scrolling(table, block.title, outset=len(kinds) >= _OUTSET_TABLE)

    def _group(self, group: RowGroup, kinds: Sequence[str], *, mixed: bool, long: bool) -> Html:
        title = None
        if group.title:
            tag = element("span", group.tag, class_="tag") if group.tag else None
            note = element("span", group.note, class_="soft")
            words = element("span", group.title, " ", tag, " ", note)
            title = element("tr", element("th", words, scope="rowgroup", colspan=len(kinds)), class_="band")
        rows = Html("".join(self._row(r, kinds, mixed=mixed, long=long) for r in group.rows))
        return element("tbody", title, rows)

    def _row(self, row: TableRow, kinds: Sequence[str], *, mixed: bool, long: bool) -> str:
        # Closing tags of rows and cells are optional in HTML; a long table is a quarter smaller without.
        brief = mixed and row.emphasis != "strong"
        opening = "<th>" if long else '<th scope=row dir="auto">'
        first = f"{opening}{self._cell(row.cells[0])}"
        others = (
            f"<td{_cell_attributes(cell, kind, brief=brief)}>{self._cell(cell, brief=brief)}"
            for cell, kind in zip(row.cells[1:], kinds[1:], strict=True)
        )
        start = "<tr>" if row.emphasis == "plain" else f"<tr class={row.emphasis}>"
        note = ""
        if row.note:
            words = element("small", self.prose(row.note))
            note = f'<tr class=under><td class=l colspan="{len(kinds)}">{words}\n'
        return f"{start}{first}{''.join(others)}\n{note}"

    def _cell(self, cell: Cell, *, brief: bool = False) -> Html:
        if isinstance(cell, str):
            return text(cell)
        if isinstance(cell, Text):
            return self._text_cell(cell)
        main, beneath = cell_words(cell)
        if isinstance(cell, Mix) and cell.parts:
            return joined(element("small", f"{main} {' '.join(beneath)}"), svg.mix(self._id(), cell.parts))
        value = element("b", main) if isinstance(cell, Number) and cell.strong else text(main)
        return joined(value, None if brief else (element("small", line) for line in beneath))

    def _text_cell(self, cell: Text) -> Html:
        words = self._linked(cell.text, cell.link)
        return joined(
            element("i", class_=f"sw t-{cell.tone}") if cell.tone else None,
            words,
            (" ", element("span", cell.note, class_="soft")) if cell.note else None,
            joined((" ", self._span(t)) for t in cell.tags),
        )

    # charts

    def _stacked(self, block: StackedBar) -> Html:
        legend = (
            element(
                "li",
                element("i", class_=f"sw t-{p.tone}"),
                element(
                    "span",
                    p.name,
                    " ",
                    element("b", f"{p.n:,}"),
                    " ",
                    element("span", percent(part_share(p.n, block.total)), class_="soft"),
                ),
            )
            for p in block.parts
        )
        return joined(svg.stack(self._id(), block), element("ul", legend, class_="legend"))

    def _bars(self, block: Bars) -> Html:
        figure = block.figure
        return joined(
            None if figure is None else _big(figure),
            svg.bars(self._id(), block),
            element("p", block.label, class_="along") if block.label else None,
            None if figure is None else _counts(figure),
        )

    def _curve(self, block: Curve) -> Html:
        legend = (
            element("li", svg.key(looks), element("span", line.name, dir="auto"))
            for line, looks in svg.line_looks(block.lines)
        )
        return element(
            "div",
            element("p", f"↑ {block.y.label}", class_="along") if block.y.label else None,
            element("div", svg.curve(self._id(), block), class_="plot"),
            element("p", f"{block.x.label} →", class_="along across") if block.x.label else None,
            element("ul", legend, class_="legend") if block.lines else None,
            class_="chart square" if block.square else "chart",
        )

    def _dots(self, block: DotPlot) -> Html:
        axis = svg.with_room(block.axis)
        rows = (
            element(
                "tr",
                element("th", row.name, scope="row", title=row.name, dir="auto"),
                element("td", svg.track(row, axis, block.references), class_="draw"),
                element(
                    "td",
                    decimal(row.value, PLOT_DIGITS),
                    title=None if row.interval is None else interval(row.interval, PLOT_DIGITS),
                ),
                element("td", row.sign, title=row.sign_means, class_="sign"),
                class_="own" if row.emphasis == "strong" else None,
            )
            for row in block.rows
        )
        scale = svg.track_scale(axis, block.references)
        foot = element("tr", element("td"), element("td", scale, class_="draw"), element("td"), element("td"))
        return element("table", element("tbody", rows, foot), class_="dots", aria_label=block.title)

    def _matrix(self, block: Matrix) -> Html:
        labels = ((block.row_label, "↓"), (block.column_label, "→"))
        corner = [element("span", label, " ", arrow) for label, arrow in labels if label]
        totals = element("th", "n", scope="col") if block.totals else None
        columns = (
            element("th", c, scope="col", class_="edge" if j == block.column_edge else None)
            for j, c in enumerate(block.columns)
        )
        head = element("thead", element("tr", element("th", corner, class_="soft"), columns, totals))
        rows = (self._matrix_row(block, i) for i in range(len(block.rows)))
        table = element("table", head, element("tbody", rows), class_="matrix")
        return _scrolling(table, block.title, class_="bare")

    def _matrix_row(self, block: Matrix, i: int) -> Html:
        ring = block.rings[i] if block.rings else None
        at = None if ring is None else min(max(int(ring + 0.5), 0), len(block.columns) - 1)
        cells = (
            element(
                "td",
                text(cell_words(cell)[0]),
                element("i", class_="ring-at", style=f"left:{100 * (ring - j + 0.5):.0f}%")
                if j == at and ring is not None
                else None,
                class_="edge" if j == block.column_edge else None,
                style=f"--s:{block.shades[i][j]:.3f}",
            )
            for j, cell in enumerate(block.cells[i])
        )
        total = element("td", f"{block.totals[i]:,}", class_="total") if block.totals else None
        edge = "edge" if i == block.row_edge else None
        return element("tr", element("th", block.rows[i], scope="row"), cells, total, class_=edge)

    def _leaderboard(self, block: Leaderboard) -> Html:
        head = element(
            "tr",
            element("th", "", scope="col"),
            element("th", block.value_title, scope="col", colspan=2, class_="l"),
            element("th", block.mix_title, scope="col", class_="l") if block.mix_title else None,
            (_column_head(c, i + 1) for i, c in enumerate(block.columns)),
        )
        rows = (self._leaderboard_row(block, row) for row in block.rows)
        scale = element("td", svg.track_scale(block.axis, block.references), class_="draw")
        rest = [element("td")] * (1 + bool(block.mix_title) + len(block.columns))
        foot = element("tr", element("td"), scale, rest, class_="scale")
        parts = next((s.parts for s in block.rows if s.parts), ())
        items = [element("li", element("i", class_=f"sw t-{p.tone}"), element("span", p.name)) for p in parts]
        legend = element("ul", items, class_="legend") if block.mix_title and parts else None
        table = element("table", element("thead", head), element("tbody", rows, foot), class_="board")
        return joined(_scrolling(table, block.title), legend)

    def _leaderboard_row(self, block: Leaderboard, one: LeaderboardRow) -> Html:
        plot = DotRow(one.name, one.value, one.interval, one.emphasis)
        value = element(
            "td",
            element("b", decimal(one.value, block.digits)),
            element("small", interval(one.interval, block.digits)),
        )
        mixed = svg.mix(self._id(), one.parts, counted=True) if one.parts else None
        label = "; ".join(f"{p.name}: {p.n:,}" for p in one.parts)
        cells = (
            element("td", self._cell(cell), class_="l" if column.kind != "number" else None)
            for cell, column in zip(one.cells, block.columns, strict=True)
        )
        return element(
            "tr",
            element("th", one.name, scope="row", dir="auto"),
            element("td", svg.track(plot, block.axis, block.references), class_="draw"),
            value,
            element("td", mixed, class_="draw wide", title=label) if block.mix_title else None,
            cells,
            class_=one.emphasis if one.emphasis != "plain" else None,
        )

    def _transcript(self, block: Transcript) -> Html:
        verdict = None if block.verdict is None else self._text_cell(block.verdict)
        reason = self.prose(block.reason) if block.reason else None
        return transcript(block, self._linked(block.title, block.link), verdict, reason)

    def _list(self, block: TranscriptList) -> Html:
        self._lists.append(transcript_list(block, self._transcript))
        return LATER

    # arrangement

    def _card(self, card: Card) -> Html:
        tags = joined(self._span(t) for t in card.tags)
        aside = element("span", card.aside, class_="soft") if card.aside else tags
        header = (
            element("header", element("h3", card.title, dir="auto"), aside) if card.title or aside else None
        )
        foot = element("p", tags, class_="tags") if card.aside and tags else None
        blocks = self.blocks(card.blocks)
        return element("article", header, blocks, foot, class_="card")

    def _cards(self, block: Cards) -> Html:
        cards = self.blocks(block.cards)
        return element("div", cards, class_="cards wide" if block.wide else "cards")

    def _fold(self, block: Fold) -> Html:
        return element("details", element("summary", block.title), self.blocks(block.blocks), class_="more")

    def _section(self, section: Section) -> Html:
        self._depth += 1
        heading = f"h{min(self._depth + 1, 4)}"
        lead = element("p", self.prose(section.lead), class_="lead") if section.lead else None
        whole = element(
            "section",
            element(heading, section.title) if section.title else None,
            lead,
            self.blocks(section.blocks),
            id=self._anchors[id(section)],
            class_="sub" if self._depth > 1 else None,
        )
        self._depth -= 1
        return whole


def _walk(blocks: Iterable[Block]) -> Iterator[Section | Transcript | TranscriptList]:
    for block in blocks:
        if isinstance(block, Section | Transcript | TranscriptList):
            yield block
        if isinstance(block, Section | Card | Fold):
            yield from _walk(block.blocks)
        elif isinstance(block, Cards):
            yield from _walk(block.cards)
        elif isinstance(block, TranscriptList):
            yield from block.transcripts


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "part"


def _free(slug: str, known: set[str]) -> str:
    number, free = 1, slug
    while free in known:
        number += 1
        free = f"{slug}-{number}"
    return free


def _tile(tile: Tile) -> Html:
    main, beneath = cell_words(tile.value)
    lines = [element("small", line, class_="under") for line in (*beneath, tile.note) if line]
    whole = None
    if isinstance(tile.value, Count) and tile.value.of is not None:
        main, whole = f"{tile.value.n:,}", element("small", f" of {tile.value.of:,}")
    return element("div", element("dt", tile.label), element("dd", main, whole, lines))


def _big(figure: Figure) -> Html:
    value, ends = figure_value(figure)
    if not figure.n:
        value, ends = cell_words(None)[0], value
    return element("p", value, " ", element("span", ends), class_="big")


def _counts(figure: Figure) -> Html:
    parts = [element("span", part, class_="whole") for part in counts_of(figure)]
    return element("p", Html(" · ".join(parts)), class_="figure")


def _column_head(column: TableColumn, place: int) -> Html:
    left = place and column.kind != "number"
    return element("th", column.title, scope="col", class_="l" if left else None)


def _cell_attributes(cell: Cell, kind: str, *, brief: bool) -> str:
    out = "" if kind == "number" else " class=l" if kind == "text" else ' class="l prose"'
    if brief and (beneath := cell_words(cell)[1]):
        out += f' title="{quotable(", ".join(beneath))}"'
    return out


def _scrolling(table: Html, title: str, *, outset: bool = False, class_: str = "") -> Html:
    classes = " ".join(filter(None, ("scroll", "outset" if outset else "", class_)))
    return element("div", table, class_=classes, tabindex=0, role="region", aria_label=title)
