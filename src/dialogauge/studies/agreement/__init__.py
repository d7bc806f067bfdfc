"""The agreement study (`meta`): how far judges agree with people, beside judges that know nothing."""

from dialogauge.data.ratings import Admission, admission_for
from dialogauge.studies.agreement.agreement import (
    COMPARED,
    SHOWN,
    AgreementResult,
    AgreementSettings,
    Contender,
    ControlFigures,
    JudgeAgreement,
    JudgeComparison,
    JudgedRun,
    ScoreBin,
    agreement,
    compare_judges,
    default_rule,
    score_table,
)
from dialogauge.studies.agreement.page import agreement_page
from dialogauge.studies.agreement.targets import (
    DimensionPair,
    RatedTarget,
    TargetCounts,
    TargetKey,
    TargetTable,
    collect_targets,
)

__all__ = [
    "COMPARED",
    "SHOWN",
    "Admission",
    "AgreementResult",
    "AgreementSettings",
    "Contender",
    "ControlFigures",
    "DimensionPair",
    "JudgeAgreement",
    "JudgeComparison",
    "JudgedRun",
    "RatedTarget",
    "ScoreBin",
    "TargetCounts",
    "TargetKey",
    "TargetTable",
    "admission_for",
    "agreement",
    "agreement_page",
    "collect_targets",
    "compare_judges",
    "default_rule",
    "score_table",
]
