"""The satisfaction study: how satisfied will this user be with this reply, held against what they said."""

from dialogauge.bench.satisfaction.answers import Answer, answers_of, histories_of
from dialogauge.bench.satisfaction.blocks import collect_blocks, kept_sessions
from dialogauge.bench.satisfaction.controls import CEILING, CONTROLS
from dialogauge.bench.satisfaction.evaluation import (
    Evaluation,
    EvaluationSettings,
    UnderCalibration,
    evaluate,
)
from dialogauge.bench.satisfaction.figures import FIGURES, ORDINAL, Figures, Scored, figures_of
from dialogauge.bench.satisfaction.rationale import check_rationales
from dialogauge.bench.satisfaction.rationale_result import KINDS, RationaleCheck
from dialogauge.bench.satisfaction.study import HistoryCut, Part, Study, plan_study

__all__ = [
    "CEILING",
    "CONTROLS",
    "FIGURES",
    "KINDS",
    "ORDINAL",
    "Answer",
    "Evaluation",
    "EvaluationSettings",
    "Figures",
    "HistoryCut",
    "Part",
    "RationaleCheck",
    "Scored",
    "Study",
    "UnderCalibration",
    "answers_of",
    "check_rationales",
    "collect_blocks",
    "evaluate",
    "figures_of",
    "histories_of",
    "kept_sessions",
    "plan_study",
]
