"""The satisfaction study: how satisfied will this user be with this reply, held against what they said."""

from dialogauge.studies.satisfaction.answers import Answer, answers_of, histories_of, reference_answers
from dialogauge.studies.satisfaction.behaviour import Drift, drift_of
from dialogauge.studies.satisfaction.blocks import (
    HistoryCut,
    Part,
    StudyData,
    StudyLevel,
    collect_blocks,
    kept_sessions,
    rated_as_session,
    study_data,
    unnamed_together,
)
from dialogauge.studies.satisfaction.comparison import (
    PairedComparison,
    Predictions,
    SeveralJudges,
    collect_predictions,
    compare_pairs,
    compare_runs,
)
from dialogauge.studies.satisfaction.evaluation import (
    CEILING,
    CONTROLS,
    Evaluation,
    EvaluationSettings,
    UnderCalibration,
    evaluate,
)
from dialogauge.studies.satisfaction.figures import FIGURES, ORDINAL, Figures, Scored, figures_of
from dialogauge.studies.satisfaction.page import finding, users_sections
from dialogauge.studies.satisfaction.rationale import KINDS, RationaleCheck, check_rationales
from dialogauge.studies.satisfaction.signals import (
    JoinedScores,
    StoredScores,
    collect_scores,
    join_scores,
    refuse_strangers,
    signal_words,
)

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
    "StudyData",
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
    "rated_as_session",
    "reference_answers",
    "refuse_strangers",
    "signal_words",
    "study_data",
    "unnamed_together",
    "users_sections",
]
