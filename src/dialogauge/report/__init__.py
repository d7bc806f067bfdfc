"""Results into tables, SVG and one self-contained HTML file. Computes nothing but pixels."""

from dialogauge.report.page import render_report
from dialogauge.report.text import summary_lines
from dialogauge.report.view import (
    About,
    ConversationLine,
    ConversationTotals,
    CostLine,
    CurvePointView,
    DimensionView,
    Figure,
    GroupRow,
    GroupTable,
    HistogramBar,
    Quote,
    ReportView,
    RunFigures,
    ScoreView,
    Transcript,
    TranscriptTurn,
    VerdictCount,
    VerdictFigures,
    WeakTurn,
    WindowNote,
)
from dialogauge.report.words import figure_line, visible

__all__ = [
    "About",
    "ConversationLine",
    "ConversationTotals",
    "CostLine",
    "CurvePointView",
    "DimensionView",
    "Figure",
    "GroupRow",
    "GroupTable",
    "HistogramBar",
    "Quote",
    "ReportView",
    "RunFigures",
    "ScoreView",
    "Transcript",
    "TranscriptTurn",
    "VerdictCount",
    "VerdictFigures",
    "WeakTurn",
    "WindowNote",
    "figure_line",
    "render_report",
    "summary_lines",
    "visible",
]
