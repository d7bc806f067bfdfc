"""How far judges agree with people, always beside controls, and how far with each other's figures.

The table of a judge has two sources, the judge and people; its controls are further sources on the same
targets, with the same clusters left out. All figures, intervals and comparisons are those of `stats`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Final

import numpy as np

from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.data.admission import DOWN, thumb_of
from dialogauge.stats import (
    MEASURES,
    Categories,
    Comparison,
    DissatisfiedRule,
    Estimate,
    Scores,
    ScoreTable,
    adjusted,
    cluster_labels,
    compare,
    compare_pairs,
    control_columns,
    controls_of,
    figures_of,
    measures_for,
    middle_rule,
    scores_of,
)
from dialogauge.studies.agreement.closeness import Closeness, Verdict, best_of, verdict_of
from dialogauge.studies.agreement.levels import LevelFigures
from dialogauge.studies.agreement.sources import Level
from dialogauge.studies.agreement.targets import (
    DimensionPair,
    JudgedRun,
    TargetCounts,
    TargetTable,
    weights_of,
)
from dialogauge.studies.rated import usual_rule
from dialogauge.text import counted

SHOWN: Final = (
    *("ac1", "ac2", "randolph", "brennan_prediger", "kappa", "kappa_linear", "qwk"),
    *("alpha_nominal", "alpha_ordinal", "alpha_interval", "exact", "within_one"),
    *("pearson", "spearman", "kendall", "precision_dsat", "recall_dsat", "f1_dsat", "auc", "mae", "bias"),
)
"""The measures of the study, in the order in which tables show them."""
TESTED: Final = ("ac1", "alpha_interval", "qwk", "spearman", "auc")
"""The measures by which a judge is tested against its controls: few, for each test costs power."""
NAMED: Final = ("ac1", "randolph", "kappa", "alpha_nominal", "exact")
"""Those of names, which have no order."""
COMPARED: Final = ("ac1", "alpha_interval", "spearman", "qwk", "auc")
"""The measures by which two judges are compared: few, for each test costs power."""
_JUDGE, _PEOPLE = "judge", "people"


@dataclass(frozen=True, slots=True)
class AgreementSettings:
    """How controls are made."""

    shuffles: int = 20
    """Deals of the shuffled control, which is their mean."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ControlFigures:
    """One control beside a judge."""

    name: str
    description: str
    figures: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """The targets to which a judge gave one whole score."""

    score: float
    n: int
    people_mean: float | None
    people: Mapping[float, int]
    """How often people gave each whole score."""


@keys(comparison=INSIDE)
@dataclass(frozen=True, slots=True)
class BestConstant:
    """The judge against the best of those that always say the same."""

    agrees_more: Verdict
    comparison: Comparison


@keys(about=INSIDE, pair=INSIDE, answer=None, better="better_than_the_best_constant")
@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """One run, one pair of dimensions."""

    about: JudgedRun
    pair: DimensionPair
    counts: TargetCounts
    conversations: int
    users: int | None
    """None where the user of some target is unknown."""
    clustered_by: str
    """What the intervals are clustered by: `users`, `conversations`, `users and conversations`."""
    languages: Mapping[str, int]
    fractions: bool
    """Whether the judge's fractions were used where order and distance count."""
    dissatisfied_if: str | None
    """What counts as dissatisfied; None where nothing does."""
    dissatisfied: int | None
    same_scale: bool
    figures: Mapping[str, Estimate]
    controls: tuple[ControlFigures, ...]
    against_controls: tuple[Comparison, ...]
    """The judge against each control by the measures `TESTED`; p adjusted by Holm over all of them."""
    bins: tuple[ScoreBin, ...]
    level: Level | None = None
    """Of the targets; None where turns and conversations were not kept apart."""
    low_shares: Mapping[str, float] = field(default_factory=dict)
    """By source the share of the dissatisfied among its scores; that of people is the base rate. Nothing of a
    source on another scale than people that names no classes: it has no score of the rule."""
    constants: tuple[ControlFigures, ...] = ()
    """A judge that always says the same, for every category."""
    answer: Comparison | None = None
    """The judge against the best of the constants; None where ratings are not on a scale."""
    raters: tuple[Closeness, ...] = ()
    """The judge against each rater by itself."""
    levels: tuple[LevelFigures, ...] = ()
    """The order of judge and people by turn, conversation and candidate."""

    @property
    def better(self) -> BestConstant | None:
        """The judge against the best of the constants."""
        return None if self.answer is None else BestConstant(verdict_of(self.answer), self.answer)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before the figures."""
        if not self.about.fitted_to:
            return ()
        return (
            f"The judge was fitted to {counted(self.about.fitted_to, 'rated conversation')} of this run: "
            "its figures here tend to be better than on conversations it has not seen. Look at its left-out "
            "figures in place of them, or hold it against other ratings.",
        )

    def sides(self, measure: str) -> dict[str, str]:
        """Say by control where the judge stands: `above`, `below`, ...; see `Comparison.side`."""
        return {c.b: c.side for c in self.against_controls if c.measure == measure}


@keys(pair=None, comparison=INSIDE, rated="rated")
@dataclass(frozen=True, slots=True)
class JudgeComparison:
    """Two judges on the targets that both scored."""

    pair: DimensionPair
    conversations: int
    comparison: Comparison
    level: Level | None = None

    @property
    def rated(self) -> str:
        """The dimension that people rated."""
        return self.pair.rated


def default_rule(table: TargetTable) -> DissatisfiedRule | None:
    """Return the rule where none is given: that of the judge's scale.

    Ratings that lie off it are cut at the middle of what was given; names have no rule.
    """
    ratings = [t.people for t in table.targets if not isinstance(t.people, str)]
    if not ratings or len(ratings) < len(table.targets):
        return None
    scale = table.scale
    if min(ratings) < scale.low or max(ratings) > scale.high:
        scale = replace(scale, low=min(ratings), high=max(ratings))
    return usual_rule(table.pair.rated, ratings, scale)


def rule_for(table: TargetTable, asked: DissatisfiedRule | None) -> DissatisfiedRule | None:
    """Return what counts as dissatisfied: as asked, else the `default_rule`.

    Of thumbs it is down, unless up was asked for by name.
    """
    if table.admission.kind != "thumbs":
        return asked or default_rule(table)
    named = None if asked is None or asked.category is None else thumb_of(asked.category)
    return DissatisfiedRule("<=", 0.0, named or DOWN)


def score_table(judges: Mapping[str, TargetTable], rule: DissatisfiedRule | None) -> ScoreTable:
    """Return the table of judges and people.

    Args:
        judges: By name the targets that a judge scored. All have the same targets in the same order.
        rule: What counts as dissatisfied.
    """
    first = next(iter(judges.values()))
    targets = first.targets
    lengths = [t.length for t in targets]
    clusters, unit = cluster_labels([t.user for t in targets], [t.key.conversation_id for t in targets])
    turns = [t.key.turn for t in targets]
    people = [t.people for t in targets]
    names = any(isinstance(p, str) for p in people)  # where some named categories, the names count
    values = np.array([np.nan if names else p for p in people], dtype=np.float64)
    classes = [rule is not None and rule.holds(p) for p in people] if names else None
    # Ratings may lie off the judge's scale, so they are not cut to it.
    whole = np.floor(values + 0.5)
    theirs = scores_of(values, whole=whole, scale=first.scale, dissatisfied=classes)
    return ScoreTable(
        {**{name: _judge_scores(table, rule) for name, table in judges.items()}, _PEOPLE: theirs},
        clusters,
        unit,
        positions=None if None in turns else np.array(turns, dtype=np.float64),
        lengths=None if None in lengths else np.array(lengths, dtype=np.float64),
        weights=weights_of(targets),
    )


def _judge_scores(table: TargetTable, rule: DissatisfiedRule | None) -> Scores:
    """Return the column of a judge.

    Where the rule is a name, its class is the one that it names; beside thumbs, which it never gives, the
    dissatisfied ones are those of the middle of its scale or less.
    """
    targets, category, scale = table.targets, None if rule is None else rule.category, table.scale
    values, whole = [t.score for t in targets], [t.whole for t in targets]
    classes = None if category is None else [t.named_class == category for t in targets]
    if table.admission.kind == "thumbs":
        classes = middle_rule((), scale).classes(np.array(whole, dtype=np.float64)).tolist()
    return scores_of(values, whole=whole, scale=scale, dissatisfied=classes)


def agreement(
    table: TargetTable,
    rule: DissatisfiedRule | None,
    settings: AgreementSettings,
    only: Collection[str] = SHOWN,
    categories: Categories | None = None,
) -> JudgeAgreement:
    """Compute every measure that the ratings allow, for the judge and its controls.

    Args:
        table: The targets that people rated and the judge scored.
        rule: What counts as dissatisfied; None leaves the classes out.
        settings: Shuffles and seed.
        only: The measures to compute.
        categories: All that could be said, for a constant judge of each; None leaves these out.
    """
    targets, scale = table.targets, table.scale
    scores = score_table({_JUDGE: table}, rule)
    people = scores.sources[_PEOPLE]
    able = measures_for(scores, _JUDGE, _PEOPLE, rule=rule)
    named = categories is not None and categories.values is None and people.numbers
    measures = [name for name in SHOWN if name in able and name in (NAMED if named else only)]
    controls = controls_of(scores, _JUDGE, _PEOPLE, rule=rule, shuffles=settings.shuffles, seed=settings.seed)
    columns = {_JUDGE: (scores.sources[_JUDGE],), **control_columns(controls)}
    known = categories if "ac1" in measures else None
    levels = () if known is None else zip(known.names, known.steps.tolist(), strict=True)
    constants = {f"always {name}": scores_of(np.full(scores.n, level), scale=scale) for name, level in levels}
    flat = figures_of(scores, constants, _PEOPLE, measures, rule=rule, intervals=False)
    best = best_of({name: of.values for name, of in flat.items()}) if flat else None
    columns |= {name: (of,) for name, of in constants.items() if name == best}
    figures = figures_of(scores, columns, _PEOPLE, measures, rule=rule)
    answer = None if best is None else compare(table.about.name, figures[_JUDGE], best, figures[best], "ac1")
    same_scale = bool(((people.values >= scale.low) & (people.values <= scale.high)).all())
    shares = _low_shares(scores, constants, rule, same_scale=same_scale)
    tested = [name for name in measures if name in TESTED]
    users = {t.user for t in targets}
    return JudgeAgreement(
        about=table.about,
        pair=table.pair,
        counts=table.counts,
        conversations=table.conversations,
        users=None if None in users or not users else len(users),
        clustered_by=scores.unit,
        languages=dict(table.languages.most_common()),
        fractions=table.fractions,
        dissatisfied_if=None if rule is None else str(rule),
        dissatisfied=None if rule is None else round(shares[_PEOPLE] * len(targets)),
        same_scale=same_scale,
        figures=figures[_JUDGE].estimates,
        controls=tuple(
            ControlFigures(name, c.description, figures[name].estimates) for name, c in controls.items()
        ),
        against_controls=compare_pairs(figures, [(_JUDGE, name) for name in controls], tested),
        bins=() if named else _bins(scores.sources[_JUDGE], people),
        level=table.level,
        low_shares=shares,
        constants=tuple(
            ControlFigures(name, "always says the same", of.estimates) for name, of in flat.items()
        ),
        answer=None if answer is None else adjusted([answer])[0],
    )


def _low_shares(
    table: ScoreTable, constants: Mapping[str, Scores], rule: DissatisfiedRule | None, *, same_scale: bool
) -> dict[str, float]:
    if rule is None or not table.n:
        return {}
    people = table.sources[_PEOPLE]
    sources = {**table.sources, **constants}
    classes = {
        name: of.dissatisfied
        if of.dissatisfied is not None
        else rule.classes(of.values if of is people else of.whole)
        for name, of in sources.items()
        if same_scale or of is people or of.dissatisfied is not None
    }
    return {name: float(np.average(of, weights=table.weights)) for name, of in classes.items()}


def _bins(judge: Scores, people: Scores) -> tuple[ScoreBin, ...]:
    """Return what people gave where the judge gave each whole score; nothing of named categories."""
    if not people.numbers:
        return ()
    out = []
    for score in np.unique(judge.whole):
        here = judge.whole == score
        counts = Counter(people.whole[here].tolist())
        mean = float(people.values[here].mean())
        out.append(ScoreBin(float(score), int(here.sum()), mean, dict(sorted(counts.items()))))
    return tuple(out)


def compare_judges(
    tables: Sequence[TargetTable],
    rule: DissatisfiedRule | None,
    only: Sequence[str] = COMPARED,
) -> tuple[JudgeComparison, ...]:
    """Compare every two judges on the targets that both scored.

    p is adjusted by Holm over all pairs and measures.
    """
    made = []
    for a, b in combinations(tables, 2):
        by_key = {t.key: t for t in b.targets}
        shared = [t for t in a.targets if t.key in by_key]
        if not shared:
            continue
        both = {"a": replace(a, targets=shared), "b": replace(b, targets=[by_key[t.key] for t in shared])}
        scores = score_table(both, rule)
        able = measures_for(scores, "a", _PEOPLE, rule=rule)
        # Two judges on different scales are compared by rank alone.
        measures = [m for m in only if m in able and (a.scale == b.scale or "scale" not in MEASURES[m].needs)]
        columns = {name: scores.sources[name] for name in both}
        figures = figures_of(scores, columns, _PEOPLE, measures, rule=rule)
        for measure in measures:
            comparison = compare(a.about.name, figures["a"], b.about.name, figures["b"], measure)
            made.append(JudgeComparison(a.pair, both["a"].conversations, comparison, a.level))
    over_all = adjusted([c.comparison for c in made])
    return tuple(replace(c, comparison=one) for c, one in zip(made, over_all, strict=True))
