"""The judging study: what a run of judgements comes to."""

from dialogauge.bench.judging.figures import figures_of
from dialogauge.bench.judging.gate import Gate, GateResult, parse_gate
from dialogauge.bench.judging.page import view_of
from dialogauge.bench.judging.sampling import Limits
from dialogauge.bench.judging.summarise import MAX_GROUPS, summarise
from dialogauge.bench.judging.summary import (
    Bin,
    ConversationCounts,
    CurvePoint,
    DimensionSummary,
    GroupSummary,
    Spending,
    Spread,
    Summary,
    VerdictSummary,
    WindowDifference,
)

__all__ = [
    "MAX_GROUPS",
    "Bin",
    "ConversationCounts",
    "CurvePoint",
    "DimensionSummary",
    "Gate",
    "GateResult",
    "GroupSummary",
    "Limits",
    "Spending",
    "Spread",
    "Summary",
    "VerdictSummary",
    "WindowDifference",
    "figures_of",
    "parse_gate",
    "summarise",
    "view_of",
]
