"""The satisfaction study: how satisfied will this user be with this reply, held against what they said."""

from dialogauge.bench.satisfaction.answers import Answer, answers_of, histories_of
from dialogauge.bench.satisfaction.blocks import collect_blocks, kept_sessions
from dialogauge.bench.satisfaction.controls import CEILING, CONTROLS
from dialogauge.bench.satisfaction.drift import Drift, drift_of
from dialogauge.bench.satisfaction.evaluation import (
    Evaluation,
    EvaluationSettings,
    UnderCalibration,
    evaluate,
)
from dialogauge.bench.satisfaction.figures import FIGURES, ORDINAL, Figures, Scored, figures_of
from dialogauge.bench.satisfaction.page import finding, satisfaction_view
from dialogauge.bench.satisfaction.paired import PairedComparison, compare_pairs
from dialogauge.bench.satisfaction.ratings import unnamed_together
from dialogauge.bench.satisfaction.rationale import check_rationales
from dialogauge.bench.satisfaction.rationale_result import KINDS, RationaleCheck
from dialogauge.bench.satisfaction.reference import reference_answers
from dialogauge.bench.satisfaction.sessions import StudyLevel, rated_as_session
from dialogauge.bench.satisfaction.several import (
    Predictions,
    SeveralJudges,
    collect_predictions,
    compare_runs,
)
from dialogauge.bench.satisfaction.several_page import several_view
from dialogauge.bench.satisfaction.signals import (
    JoinedScores,
    StoredScores,
    collect_scores,
    join_scores,
    refuse_strangers,
    signal_words,
)
from dialogauge.bench.satisfaction.study import HistoryCut, Part, Study, plan_study

__all__ = [
    "CEILING",
    "CONTROLS",
    "FIGURES",
    "KINDS",
    "ORDINAL",
    "Answer",
    "Drift",
    "Evaluation",
    "EvaluationSettings",
    "Figures",
    "HistoryCut",
    "JoinedScores",
    "PairedComparison",
    "Part",
    "Predictions",
    "RationaleCheck",
    "Scored",
    "SeveralJudges",
    "StoredScores",
    "Study",
    "StudyLevel",
    "UnderCalibration",
    "answers_of",
    "check_rationales",
    "collect_blocks",
    "collect_predictions",
    "collect_scores",
    "compare_pairs",
    "compare_runs",
    "drift_of",
    "evaluate",
    "figures_of",
    "finding",
    "histories_of",
    "join_scores",
    "kept_sessions",
    "plan_study",
    "rated_as_session",
    "reference_answers",
    "refuse_strangers",
    "satisfaction_view",
    "several_view",
    "signal_words",
    "unnamed_together",
]
