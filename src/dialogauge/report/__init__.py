"""Pages as blocks, and what writes them: HTML, terminal, JSON. Computes nothing but places on charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.report.blocks import (
        Axis,
        Bars,
        Block,
        Callout,
        Card,
        Cards,
        Code,
        Column,
        Curve,
        CurveLine,
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
        Point,
        Reference,
        RowGroup,
        Section,
        StackedBar,
        TableColumn,
        TableRow,
        Tile,
        Tiles,
        data_table,
        shares_of_columns,
        shares_of_rows,
        to_json,
    )
    from dialogauge.report.cells import (
        Cell,
        Count,
        Emphasis,
        Ends,
        Figure,
        Interval,
        Missing,
        Mix,
        Number,
        Part,
        Percent,
        Prose,
        Span,
        Text,
        Tone,
        ordinal_tones,
        p_value,
    )
    from dialogauge.report.elements import page_bytes, plain
    from dialogauge.report.html import html_bytes, to_html
    from dialogauge.report.terminal import to_text
    from dialogauge.report.transcripts import (
        Finding,
        Mark,
        Scored,
        Transcript,
        TranscriptCall,
        TranscriptList,
        TranscriptMessage,
        TranscriptTurn,
    )

__getattr__ = loading(__name__)
