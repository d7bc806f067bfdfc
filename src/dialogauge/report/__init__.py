"""Pages as blocks, and what writes them: HTML, terminal, JSON. Computes nothing but places on charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.report.blocks import Axis as Axis
    from dialogauge.report.blocks import Bars as Bars
    from dialogauge.report.blocks import Block as Block
    from dialogauge.report.blocks import Callout as Callout
    from dialogauge.report.blocks import Card as Card
    from dialogauge.report.blocks import Cards as Cards
    from dialogauge.report.blocks import Code as Code
    from dialogauge.report.blocks import Column as Column
    from dialogauge.report.blocks import Curve as Curve
    from dialogauge.report.blocks import DataTable as DataTable
    from dialogauge.report.blocks import Definitions as Definitions
    from dialogauge.report.blocks import DotPlot as DotPlot
    from dialogauge.report.blocks import DotRow as DotRow
    from dialogauge.report.blocks import Finding as Finding
    from dialogauge.report.blocks import Fold as Fold
    from dialogauge.report.blocks import Items as Items
    from dialogauge.report.blocks import Leaderboard as Leaderboard
    from dialogauge.report.blocks import LeaderboardRow as LeaderboardRow
    from dialogauge.report.blocks import Matrix as Matrix
    from dialogauge.report.blocks import Page as Page
    from dialogauge.report.blocks import Point as Point
    from dialogauge.report.blocks import Reference as Reference
    from dialogauge.report.blocks import RowGroup as RowGroup
    from dialogauge.report.blocks import Scored as Scored
    from dialogauge.report.blocks import Section as Section
    from dialogauge.report.blocks import StackedBar as StackedBar
    from dialogauge.report.blocks import TableColumn as TableColumn
    from dialogauge.report.blocks import TableRow as TableRow
    from dialogauge.report.blocks import Tile as Tile
    from dialogauge.report.blocks import Tiles as Tiles
    from dialogauge.report.blocks import Transcript as Transcript
    from dialogauge.report.blocks import TranscriptMessage as TranscriptMessage
    from dialogauge.report.blocks import TranscriptTurn as TranscriptTurn
    from dialogauge.report.blocks import data_table as data_table
    from dialogauge.report.blocks import shares_of_columns as shares_of_columns
    from dialogauge.report.blocks import shares_of_rows as shares_of_rows
    from dialogauge.report.blocks import to_json as to_json
    from dialogauge.report.cells import Cell as Cell
    from dialogauge.report.cells import Count as Count
    from dialogauge.report.cells import Emphasis as Emphasis
    from dialogauge.report.cells import Ends as Ends
    from dialogauge.report.cells import Figure as Figure
    from dialogauge.report.cells import Interval as Interval
    from dialogauge.report.cells import Missing as Missing
    from dialogauge.report.cells import Mix as Mix
    from dialogauge.report.cells import Number as Number
    from dialogauge.report.cells import Part as Part
    from dialogauge.report.cells import Percent as Percent
    from dialogauge.report.cells import Prose as Prose
    from dialogauge.report.cells import Span as Span
    from dialogauge.report.cells import Text as Text
    from dialogauge.report.cells import Tone as Tone
    from dialogauge.report.cells import ordinal_tones as ordinal_tones
    from dialogauge.report.html import html_bytes as html_bytes
    from dialogauge.report.html import to_html as to_html
    from dialogauge.report.terminal import to_text as to_text
    from dialogauge.report.visible import plain as plain

__getattr__ = loading(__name__)
