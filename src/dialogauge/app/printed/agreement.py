"""What `agreement --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from dialogauge.app.printed.figures import ComparisonJson, MetricsJson
from dialogauge.core import Level
from dialogauge.stats import Estimate, PowerPoint
from dialogauge.studies.agreement.agreement import AgreementSettings, ControlFigures
from dialogauge.studies.agreement.among import SourcePair, Strictness
from dialogauge.studies.agreement.closeness import Verdict
from dialogauge.studies.agreement.levels import LevelFigures
from dialogauge.studies.agreement.pairs import Leaning
from dialogauge.studies.agreement.ranks import SameOrder
from dialogauge.studies.agreement.targets import TargetCounts

Figures = Mapping[str, Estimate]
"""By coefficient."""
Means = Mapping[str, float | None]
"""By coefficient, a mean without an interval."""


class BestConstantJson(ComparisonJson):
    """The judge against the best of those that always say the same."""

    agrees_more: Verdict


class ScoreBinJson(TypedDict):
    """The targets to which a judge gave one whole score."""

    score: float
    n: int
    people_mean: float | None
    people: Mapping[str, int]
    """How often people gave each whole score."""


class ClosenessJson(TypedDict):
    """A source against a reference, beside the best constant."""

    source: str
    reference: str
    n: int
    """Targets that both rated."""
    figures: Figures
    best_constant: str
    best_constant_figures: Figures
    agrees_more: Verdict
    comparison: ComparisonJson


class JudgeGateJson(TypedDict):
    """Whether a judge agrees with people well enough."""

    status: str
    sentence: str


class JudgeAgreementJson(TypedDict):
    """One judge and people, in one dimension."""

    name: str
    """Of the run, and of the dimension where it has several."""
    run: str
    judge: str
    mode: str
    fitted_to: int | None
    """Rated conversations whose very words the judge was fitted to; null for a judge that does not say."""
    dimension: str
    """The judge's."""
    rated: str
    """The dimension that people rated."""
    level: Level | None
    better_than_the_best_constant: BestConstantJson | None
    counts: TargetCounts
    conversations: int
    users: int | None
    """Null where the user of some target is unknown."""
    clustered_by: str
    languages: Mapping[str, int]
    fractions: bool
    """Whether the judge's fractions were used where order and distance count."""
    dissatisfied_if: str | None
    """What counts as dissatisfied; null where nothing does."""
    dissatisfied: int | None
    same_scale: bool
    figures: Figures
    controls: list[ControlFigures]
    against_controls: list[ComparisonJson]
    bins: list[ScoreBinJson]
    low_shares: Mapping[str, float]
    """By source the share of the dissatisfied among its scores."""
    constants: list[ControlFigures]
    raters: list[ClosenessJson]
    """The judge against each rater by itself."""
    levels: list[LevelFigures]
    gate: JudgeGateJson | None


class TwoJudgesJson(ComparisonJson):
    """Two judges on the targets that both scored."""

    rated: str
    level: Level | None
    conversations: int


class MoreThanConstantJson(TypedDict):
    """Whether sources agree with each other more than with one that always says the same."""

    constant: str
    measure: str
    each_other: float | None
    with_the_constant: float | None
    more_by: Estimate
    p: float | None


class AmongJson(TypedDict):
    """What sources say of each other's targets."""

    dimension: str
    level: Level | None
    categories: list[str]
    raters: list[str]
    targets: int
    shared: int
    """Targets that two or more rated."""
    ratings: int
    clustered_by: str
    coefficients: Figures
    permuted: Means
    """Where each source's scores are dealt anew to its targets."""
    constants: Mapping[str, Means]
    """By category: of each source beside one that always says it."""
    pairs: list[SourcePair]
    strictness: list[Strictness]
    against_the_others: list[ClosenessJson]
    agree_more: Verdict
    more_than_with_a_constant: MoreThanConstantJson | None


class RanksJson(TypedDict):
    """The candidates by what each source says of them, on the targets that all sources scored."""

    dimension: str
    level: Level | None
    candidates: list[str]
    targets: int
    means: Mapping[str, Mapping[str, Estimate]]
    """By source and candidate."""
    ranks: Mapping[str, Mapping[str, float]]
    """By source and candidate, 1 the best."""
    alike: list[SameOrder]


class GroupFiguresJson(TypedDict):
    """One group of what was asked for with `--by`."""

    by: str
    group: str
    dimension: str
    level: Level | None
    targets: int
    shared: int
    people: Figures
    judges: list[ClosenessJson]


class AskedComparisonJson(ComparisonJson):
    """The two sources of `--compare`, against the consensus of people without either."""

    dimension: str
    level: Level | None
    n: int


class PairAgreementJson(TypedDict):
    """Choices between two, in one dimension."""

    dimension: str
    people: list[str]
    judges: list[str]
    candidates: list[str]
    targets: int
    shared: int
    undecided: int
    choices: int
    left_out: int
    again: int
    clustered_by: str
    rates: Mapping[str, float]
    coefficients: Figures
    permuted: Means
    controls: Mapping[str, Means]
    """By what is always chosen."""
    leanings: list[Leaning]
    against_the_others: list[ClosenessJson]
    agree_more: Verdict
    more_than_with_a_constant: MoreThanConstantJson | None
    against_people: list[ClosenessJson]


class NeededJson(TypedDict):
    """How many targets a study needs."""

    raters: float
    """For each target."""
    targets: float | None
    """Null where more than were simulated."""


class PowerJson(TypedDict):
    """What it takes to tell two sources apart."""

    dimension: str
    level: Level | None
    observed: ComparisonJson
    points: list[PowerPoint]
    here: PowerPoint | None
    """Studies as large as the data."""
    needed: list[NeededJson]
    share: float
    """Of studies that shall tell them apart."""
    studies: int
    why_not: str | None


class SatisfactionRunJson(TypedDict):
    """One satisfaction run under one calibration."""

    name: str
    judge: str
    calibration: str
    failed: int
    without_history: int
    scored: int


class SatisfactionRunsJson(TypedDict):
    """Satisfaction runs on the turns that all of them scored."""

    runs: list[SatisfactionRunJson]
    n: int
    n_users: int
    left_out: Mapping[str, int]
    metrics: Mapping[str, MetricsJson]
    """By run."""
    comparisons: list[ComparisonJson]


class AgreementJson(TypedDict):
    """Judges against people, beside controls that know nothing."""

    settings: AgreementSettings
    judges: list[JudgeAgreementJson]
    comparisons: list[TwoJudgesJson]
    """Which of two judges is nearer to people."""
    people: list[AmongJson]
    """People among each other."""
    between: list[AmongJson]
    """Judges among each other."""
    ranks: list[RanksJson]
    groups: list[GroupFiguresJson]
    asked: list[AskedComparisonJson]
    pairs: list[PairAgreementJson]
    power: list[PowerJson]
    satisfaction: NotRequired[SatisfactionRunsJson]
