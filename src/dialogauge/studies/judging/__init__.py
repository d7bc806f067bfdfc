"""The judging study: what a run of judgements comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.studies.judging.gate import Gate, GateResult, parse_gate
    from dialogauge.studies.judging.page import figures_of, view_of
    from dialogauge.studies.judging.report import report_view, stored_view, summary_of
    from dialogauge.studies.judging.sampling import Limits, Sampler
    from dialogauge.studies.judging.study import JudgingResult, JudgingStudy, sampled
    from dialogauge.studies.judging.summary import (
        MAX_GROUPS,
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
        summarise,
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
    "JudgingResult",
    "JudgingStudy",
    "Limits",
    "Sampler",
    "Spending",
    "Spread",
    "Summary",
    "VerdictSummary",
    "WindowDifference",
    "figures_of",
    "parse_gate",
    "report_view",
    "sampled",
    "stored_view",
    "summarise",
    "summary_of",
    "view_of",
]

_HOMES = {
    "gate": ("Gate", "GateResult", "parse_gate"),
    "page": ("figures_of", "view_of"),
    "report": ("report_view", "stored_view", "summary_of"),
    "sampling": ("Limits", "Sampler"),
    "study": ("JudgingResult", "JudgingStudy", "sampled"),
    "summary": (
        "Bin",
        "ConversationCounts",
        "CurvePoint",
        "DimensionSummary",
        "GroupSummary",
        "MAX_GROUPS",
        "Spending",
        "Spread",
        "Summary",
        "VerdictSummary",
        "WindowDifference",
        "summarise",
    ),
}
__getattr__ = loading(__name__, _HOMES)
