"""The judging study: what a run of judgements comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.bench.judging.figures import figures_of
    from dialogauge.bench.judging.gate import Gate, GateResult, parse_gate
    from dialogauge.bench.judging.page import view_of
    from dialogauge.bench.judging.run_summary import MAX_GROUPS, summarise
    from dialogauge.bench.judging.sampling import Limits
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

__getattr__ = loading(
    __name__,
    {
        "figures": ("figures_of",),
        "gate": (
            "Gate",
            "GateResult",
            "parse_gate",
        ),
        "page": ("view_of",),
        "sampling": ("Limits",),
        "run_summary": (
            "MAX_GROUPS",
            "summarise",
        ),
        "summary": (
            "Bin",
            "ConversationCounts",
            "CurvePoint",
            "DimensionSummary",
            "GroupSummary",
            "Spending",
            "Spread",
            "Summary",
            "VerdictSummary",
            "WindowDifference",
        ),
    },
)
