"""The judging study: what a run of judgements comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialogauge.core.facade import loading

if TYPE_CHECKING:
    from dialogauge.studies.judging.gate import Gate, GateResult, parse_gate
    from dialogauge.studies.judging.page import report_page
    from dialogauge.studies.judging.report import stored_page, summary_of
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
    from dialogauge.studies.judging.transcripts import Sample, read_sample

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
    "Sample",
    "Sampler",
    "Spending",
    "Spread",
    "Summary",
    "VerdictSummary",
    "WindowDifference",
    "parse_gate",
    "read_sample",
    "report_page",
    "sampled",
    "stored_page",
    "summarise",
    "summary_of",
]

_HOMES = {
    "gate": ("Gate", "GateResult", "parse_gate"),
    "page": ("report_page",),
    "report": ("stored_page", "summary_of"),
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
    "transcripts": ("Sample", "read_sample"),
}
__getattr__ = loading(__name__, _HOMES)
