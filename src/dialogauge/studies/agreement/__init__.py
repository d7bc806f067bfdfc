"""The meta study: how far judges agree with people, beside judges that know nothing."""

from dialogauge.data.ratings import Admission, admission_for
from dialogauge.studies.agreement.agreement import (
    COMPARED,
    CONTROLS,
    MEASURES,
    JudgedRun,
    Measure,
    agreement,
    default_rule,
    title_of,
)
from dialogauge.studies.agreement.comparison import Contender, compare_judges
from dialogauge.studies.agreement.page import agreement_page
from dialogauge.studies.agreement.result import (
    Bin,
    Comparison,
    Control,
    Estimate,
    JudgeAgreement,
    MetaResult,
    MetaSettings,
)
from dialogauge.studies.agreement.targets import (
    DimensionPair,
    DissatisfiedRule,
    RatedTarget,
    TargetCounts,
    TargetKey,
    TargetTable,
    collect_targets,
    parse_rule,
)

__all__ = [
    "COMPARED",
    "CONTROLS",
    "MEASURES",
    "Admission",
    "Bin",
    "Comparison",
    "Contender",
    "Control",
    "DimensionPair",
    "DissatisfiedRule",
    "Estimate",
    "JudgeAgreement",
    "JudgedRun",
    "Measure",
    "MetaResult",
    "MetaSettings",
    "RatedTarget",
    "TargetCounts",
    "TargetKey",
    "TargetTable",
    "admission_for",
    "agreement",
    "agreement_page",
    "collect_targets",
    "compare_judges",
    "default_rule",
    "parse_rule",
    "title_of",
]
