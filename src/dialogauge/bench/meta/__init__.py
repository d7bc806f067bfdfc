"""The meta study: how far judges agree with people, beside judges that know nothing."""

from dialogauge.bench.meta.admission import Admission, admission_for
from dialogauge.bench.meta.agreement import JudgedRun, agreement, default_rule
from dialogauge.bench.meta.columns import CONTROLS
from dialogauge.bench.meta.comparison import Contender, compare_judges
from dialogauge.bench.meta.measures import COMPARED, MEASURES, Measure, title_of
from dialogauge.bench.meta.page import meta_view
from dialogauge.bench.meta.result import (
    Bin,
    Comparison,
    Control,
    Estimate,
    JudgeAgreement,
    MetaResult,
    MetaSettings,
)
from dialogauge.bench.meta.rule import DissatisfiedRule, parse_rule
from dialogauge.bench.meta.targets import (
    DimensionPair,
    RatedTarget,
    TargetCounts,
    TargetKey,
    TargetTable,
    collect_targets,
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
    "collect_targets",
    "compare_judges",
    "default_rule",
    "meta_view",
    "parse_rule",
    "title_of",
]
