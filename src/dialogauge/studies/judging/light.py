"""What people said, and one light for the judge: it agrees with them, it does not, or we cannot tell.

The light stands on the AUC of dissatisfied: of a target that people were dissatisfied with and one that they
were not, how often the judge puts the first before the second. It is compared with every control, paired, on
the same clusters.

- *agrees*: above chance and above every control, each by its interval.
- *does not*: the interval lies at or below chance or a control, or leaves no room for a gain worth having; or
  the judge gives all of them the same score.
- *cannot tell*: everything else, and whatever stands on too little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.core import ONE_TO_FIVE, Level, Scale
from dialogauge.data.admission import DOWN, REWARD, UP, scale_by_name, thumb_of
from dialogauge.report import words
from dialogauge.stats import (
    MIN_CLUSTERS,
    Comparison,
    DissatisfiedRule,
    Estimate,
    Floats,
    Scores,
    ScoreTable,
    cluster_labels,
    compare_pairs,
    control_columns,
    controls_of,
    figures_of,
    mean_estimate,
    middle_rule,
    rectified_mean,
    scores_of,
    whole_scores,
)
from dialogauge.studies.judging.people import (
    Agreement,
    Light,
    People,
    PeopleFigure,
    Raters,
    Rectified,
    Weights,
)
from dialogauge.studies.judging.people_tally import LEVELS, MEAN, LevelTargets, PeopleTally
from dialogauge.studies.rated import UNRANKED, preference, scale_of
from dialogauge.text import counted

WORTH: Final = 0.02
"""A gain in AUC over a control below which the judge is of no use beside that control."""
CHANCE: Final = 0.55
"""An AUC below which it is of no use at all."""
CEILING: Final = 0.95
"""An AUC of a control above which it leaves nobody room to be better: so it shows nothing of a judge."""
LEAST_EACH: Final = 10
"""Dissatisfied targets, and satisfied ones, without which nothing is said."""
_MANY: Final = 2
"""From so many judged targets for each rated one on, the rectified mean is given."""
_NEARLY_ALL: Final = 0.9
"""Share of rated turns that are the first of their conversations, or the last, from which they all are."""
_NOTHING: Final = Estimate(None, None, None, 0.95, 0, 0, "none")
_JUDGE, _PEOPLE = "judge", "people"
_SATISFACTION: Final = "satisfaction"
_READING_ORDER: Final = "its reading order"
_NAMES: Final = "The ratings are names, and nothing says which one means dissatisfied (--dissatisfied NAME)"
_ALL_ONE: Final = (
    "Every rating is 1: that is a thumb up, or the worst of 5, and nothing says which "
    "(--dissatisfied '<1', or '<=3')"
)
_CONTROLS: Final = {
    "constant": "always giving the same score",
    "always dissatisfied": "always predicting dissatisfied",
    "reply length": "ranking by reply length",
    "position": "ranking by position in the conversation",
    "shuffled": "shuffling its own scores",
}


@dataclass(frozen=True, slots=True)
class _RatedTargets:
    """The targets of one level that people rated in one dimension."""

    dimension: str
    level: Level
    targets: LevelTargets
    places: tuple[int, ...]
    """Of the rated targets among those of the level."""
    scores: tuple[float | str, ...]
    scale: Scale | None
    rule: DissatisfiedRule | None
    raters: Raters

    @property
    def weights(self) -> Floats | None:
        """How many targets each stands for, shape (rated,); None where all stand for as many, or some for
        nobody knows how many."""
        known = self.targets.weights.get(self.dimension, {})
        weights = np.array([known.get(place, np.nan) for place in self.places])
        return weights if np.ptp(weights) > 0 else None

    @property
    def weighting(self) -> Weights:
        """Whether the weights are used."""
        if self.weights is not None:
            return "used"
        known = self.targets.weights.get(self.dimension, {})
        return "not of all" if 0 < sum(place in known for place in self.places) < len(self.places) else "none"

    @property
    def classes(self) -> Floats:
        """Shape (rated,), 1 where people were dissatisfied; there is a rule."""
        return np.array([self.rule is not None and self.rule.holds(s) for s in self.scores], dtype=np.float64)


def people_of(
    tally: PeopleTally, rule: DissatisfiedRule | None = None, *, unusable: str = ""
) -> People | None:
    """Return what people said and whether the judge agrees with them; None where they said nothing.

    Args:
        tally: Through which the run has passed.
        rule: What counts as dissatisfied, where it was asked for.
        unusable: What is wrong with ratings of which none counts.
    """
    rated = [
        _rated(tally, level, dimension, rule)
        for level in LEVELS
        for dimension in sorted(tally.levels[level].ratings, key=preference)
    ]
    if not rated and unusable:
        light = Light("cannot tell", unusable, "", "conversation", "", "auc", _NOTHING, "", _NOTHING)
        return People((), light)
    if not rated:
        return None
    first = _lights_on(tally, rated)
    ordered = sorted(rated, key=lambda one: (one is not first, LEVELS.index(one.level) != 0))
    rectified = (_rectified(tally, one) for one in ordered)
    return People(
        tuple(_figure(tally, one) for one in ordered),
        _light(tally, first),
        tuple(one for one in rectified if one is not None),
    )


def _rated(tally: PeopleTally, level: Level, dimension: str, asked: DissatisfiedRule | None) -> _RatedTargets:
    targets = tally.levels[level]
    ratings = targets.ratings[dimension]
    usual = scale_by_name(dimension)
    scale, ratings = _scaled(ratings, tally.scales.get((level, dimension), usual), asked)
    rule = _rule(_agreed_on(ratings, targets.apart.get(dimension, {}), scale), scale, asked)
    if scale is not None and rule is not None:
        scale = replace(scale, higher_is_better=rule.lower)
    who = tuple(tally.raters[level, dimension])
    raters: Raters = who[0] if len(who) == 1 else "people"
    return _RatedTargets(
        dimension, level, targets, tuple(ratings), tuple(ratings.values()), scale, rule, raters
    )


def _scaled(
    ratings: Mapping[int, float | str], own: Scale | None, asked: DissatisfiedRule | None
) -> tuple[Scale | None, dict[int, float | str]]:
    """Return the scale of ratings, and those that are on it; of names no scale.

    Nor of 1 alone, a thumb up or the worst of 5, unless the judge's scale or what was asked for says which.
    """
    numbers = {place: score for place, score in ratings.items() if not isinstance(score, str)}
    if len(numbers) < len(ratings):
        return None, {place: score for place, score in ratings.items() if isinstance(score, str)}
    if own is not None and all(own.low <= score <= own.high for score in numbers.values()):
        return own, dict(ratings)
    if set(numbers.values()) == {1}:
        if asked is None or asked.category is not None:
            return None, dict(ratings)
        return REWARD if asked.threshold <= 1 and not asked.holds(1) else ONE_TO_FIVE, dict(ratings)
    return scale_of(list(numbers.values())), dict(ratings)


def _agreed_on(
    ratings: Mapping[int, float | str], apart: Mapping[int, float], scale: Scale | None
) -> tuple[float | str, ...]:
    """Return ratings; in place of a mean of raters half the scale apart, the low end.

    Such a mean lies near the middle, and nobody said the middle.
    """
    if scale is None:
        return tuple(ratings.values())
    half = (scale.high - scale.low) / 2
    return tuple(scale.low if apart.get(place, 0) >= half else score for place, score in ratings.items())


def _rule(
    scores: Sequence[float | str], scale: Scale | None, asked: DissatisfiedRule | None
) -> DissatisfiedRule | None:
    """Return what counts as dissatisfied: as asked, where it fits these ratings; else by their scale.

    Of thumbs it is down, unless up was asked for.
    """
    if scale is None:
        return _rule_of_names(set(scores), None if asked is None else asked.category)
    if asked is not None and asked.category is None and scale.low <= asked.threshold <= scale.high:
        return asked
    return middle_rule([score for score in scores if not isinstance(score, str)], scale)


def _rule_of_names(names: Set[float | str], asked: str | None) -> DissatisfiedRule | None:
    if asked in names:
        return DissatisfiedRule("<=", 0.0, asked)
    if not names <= {UP, DOWN}:
        return None
    return DissatisfiedRule("<=", 0.0, DOWN if asked is None else thumb_of(asked) or DOWN)


def rule_words(rule: DissatisfiedRule | None) -> str:
    """Write a rule in words: `3 or less`, `below 3`."""
    if rule is None:
        return ""
    if rule.category is not None:
        return f"thumbs {rule.category}" if rule.category in (UP, DOWN) else rule.category
    number = f"{rule.threshold:g}"
    return {
        "<=": f"{number} or less",
        "<": f"below {number}",
        ">=": f"{number} or more",
        ">": f"above {number}",
    }[rule.sign]


def _lights_on(tally: PeopleTally, rated: Sequence[_RatedTargets]) -> _RatedTargets:
    """Return the ratings that the light stands on: of the level where most were given, the first by name.

    Those that say who was dissatisfied come first, and of these the ones of targets that the judge scored.
    """
    able = [one for one in rated if one.rule is not None] or list(rated)
    able = [one for one in able if np.isfinite(_judged_by(tally, one)[1][list(one.places)]).any()] or able
    return min(
        able,
        key=lambda one: (
            -max(len(o.places) for o in able if o.level == one.level),
            one.level != "turn",
            preference(one.dimension),
        ),
    )


def _clusters(
    tally: PeopleTally, one: _RatedTargets, places: Sequence[int]
) -> tuple[tuple[Hashable, ...], str]:
    numbers = [one.targets.conversations[place] for place in places]
    return cluster_labels([tally.users[n] for n in numbers], [tally.names[n] for n in numbers])


def _users(tally: PeopleTally, one: _RatedTargets) -> set[str | None]:
    return {tally.users[one.targets.conversations[place]] for place in one.places}


def _figure(tally: PeopleTally, one: _RatedTargets) -> PeopleFigure:
    clusters, unit = _clusters(tally, one, one.places)
    conversations, users = {one.targets.conversations[place] for place in one.places}, _users(tally, one)
    names, apart = one.scale is None, one.targets.apart.get(one.dimension)
    mean, scale = _NOTHING, one.scale
    if scale is not None:
        scores = [float(s) for s in one.scores]
        limits = scale.low, scale.high
        mean = mean_estimate(scores, clusters, weights=one.weights, limits=limits, unit=unit)
    return PeopleFigure(
        dimension=one.dimension,
        level=one.level,
        what=one.dimension.replace("_", " "),
        scale=scale,
        raters=one.raters,
        n=len(one.places),
        rated_conversations=len(conversations),
        users=None if None in users else len(users),
        mean=mean,
        dissatisfied=None
        if one.rule is None
        else mean_estimate(one.classes, clusters, weights=one.weights, unit=unit),
        rule=rule_words(one.rule),
        ratings=one.targets.counts[one.dimension],
        apart=float(np.mean(list(apart.values()))) if apart else None,
        cut="" if one.rule is None else str(one.rule),
        counts=dict(Counter(str(s) for s in one.scores).most_common()) if names else {},
        weights=one.weighting,
    )


# The light -------------------------------------------------------------------------------------------------


def _judged_by(tally: PeopleTally, one: _RatedTargets) -> tuple[str, Floats, Scale]:
    """Return the figure of the judge that is compared: in words, shape (all targets,), and its scale.

    A judge that finds and does not grade orders turns by a satisfaction that its rubric does not ask for.
    """
    places = np.array(one.places, dtype=np.intp)
    order = one.level == "turn" and (one.level, _SATISFACTION) not in tally.scales
    names = [_SATISFACTION] if order else []
    names += [one.dimension, *(["task_completion"] if one.dimension == "reward" else [])]
    names += [_SATISFACTION] if preference(one.dimension)[0] < UNRANKED else []
    for name in names:
        values = one.targets.column(name)
        if np.isfinite(values[places]).mean() >= 0.5:
            scale = tally.scales.get((one.level, name)) or tally.scales.get(("turn", name)) or ONE_TO_FIVE
            in_order = order and name == _SATISFACTION
            return (_READING_ORDER if in_order else _its(name)), values, scale
    column = one.targets.column(MEAN)
    return f"the mean of its scores of the {one.level}", column, Scale(0, 1, integer=False)


def _its(dimension: str) -> str:
    return f"its {dimension.replace('_', ' ')}"


_OPPOSITE: Final = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}


def _opposite(rule: DissatisfiedRule, scale: Scale) -> DissatisfiedRule:
    """Return what a rule becomes where a scale is read from its other end: of 1 to 5 `>=4` becomes `<=2`."""
    return DissatisfiedRule(_OPPOSITE[rule.sign], scale.low + scale.high - rule.threshold)


def _facing(one: _RatedTargets, judged: Scale) -> _RatedTargets:
    """Return ratings read from the end that is the better one on the judge's scale."""
    scale, rule = one.scale, one.rule
    if scale is None or rule is None or scale.higher_is_better == judged.higher_is_better:
        return one
    scores = tuple(scale.low + scale.high - s for s in one.scores if not isinstance(s, str))
    turned = replace(scale, higher_is_better=judged.higher_is_better)
    return replace(one, scores=scores, scale=turned, rule=_opposite(rule, scale))


def _table(tally: PeopleTally, one: _RatedTargets, values: Floats, scale: Scale) -> ScoreTable:
    """Return the table of the rated targets that the judge scored."""
    seen = one.targets.seen
    kept = [k for k, place in enumerate(one.places) if np.isfinite(values[place]) and place not in seen]
    places = [one.places[k] for k in kept]
    clusters, unit = _clusters(tally, one, places)
    column = {
        name: np.array(getattr(one.targets, name), dtype=np.float64)[places] for name in ("turns", "lengths")
    }
    ratings = [one.scores[k] for k in kept]
    return ScoreTable(
        {_JUDGE: scores_of(values[places], scale=scale), _PEOPLE: _people_scores(ratings, one)},
        clusters,
        unit,
        positions=column["turns"] if one.level == "turn" else None,
        lengths=column["lengths"],
    )


def _people_scores(ratings: Sequence[float | str], one: _RatedTargets) -> Scores:
    if one.scale is None:
        classes = [one.rule is not None and one.rule.holds(score) for score in ratings]
        return scores_of(np.full(len(ratings), np.nan), dissatisfied=classes)
    values = np.array(ratings, dtype=np.float64)
    return scores_of(values, whole=whole_scores(values, one.scale), scale=one.scale)


def _light(tally: PeopleTally, one: _RatedTargets) -> Light:
    judged_by, values, scale = _judged_by(tally, one)
    facing = _facing(one, scale)
    table = _table(tally, facing, values, scale)
    opening = _opening(one, alone=table.unit == "conversations" and len(_users(tally, one) - {None}) == 1)
    if why := _too_little(table, facing):
        sentence = f"{opening}. {why}."
        about = (one.dimension, one.level, judged_by, "auc")
        return Light("cannot tell", sentence, *about, _NOTHING, "", _NOTHING)
    controls = controls_of(table, _JUDGE, _PEOPLE, rule=facing.rule)
    columns = {_JUDGE: (table.sources[_JUDGE],), **control_columns(controls)}
    figures = figures_of(table, columns, _PEOPLE, ["auc"], rule=facing.rule)
    judge = figures[_JUDGE].estimate("auc")
    pairs = compare_pairs(figures, [(_JUDGE, name) for name in controls], ["auc"])
    answer, closest = _answer(judge, pairs)
    clause = _clause(answer, closest, judge, judged_by, table, one)
    if _orders_nothing(table):
        answer = "does not"
        clause = (
            f"The judge gives all of these the same score (by {judged_by}), and so puts none of them first."
        )
    if fitted := len(one.targets.seen.intersection(one.places)):
        clause += f" This leaves out {counted(fitted, one.level)} that the judge was fitted to."
    return Light(
        answer,
        f"{opening}. {clause}",
        one.dimension,
        one.level,
        judged_by,
        "auc",
        judge,
        _CONTROLS.get(closest.b, closest.b),
        closest.difference,
        {_CONTROLS.get(name, name): figures[name].estimate("auc") for name in controls},
    )


def _too_little(table: ScoreTable, one: _RatedTargets) -> str:
    """Say what is missing for a comparison; nothing where nothing is."""
    bad_word, good_word = _kinds(one)
    if one.rule is None:
        return _ALL_ONE if set(one.scores) == {1} else _NAMES
    if not table.n:
        fitted = " that it was not fitted to" if one.targets.seen else ""
        return f"The judge scored none of these{fitted}"
    if len(one.scores) > 1 == len(set(one.scores)):
        alike = one.scores[0] if isinstance(one.scores[0], str) else f"{one.scores[0]:g}"
        what = (
            f"{one.level}, by the mean of its raters," if one.targets.apart.get(one.dimension) else "rating"
        )
        return f"Every {what} is {alike}: no order can be measured"
    people, clusters = table.sources[_PEOPLE], table.cluster_codes[1]
    classes = one.rule.classes(people.values) if people.dissatisfied is None else people.dissatisfied
    bad = int(classes.sum())
    fewer, word = (bad, bad_word) if bad <= table.n - bad else (table.n - bad, good_word)
    if fewer < LEAST_EACH:
        some = f"Only {fewer:,}" if fewer else "None"
        word = word if word == "failed" else f"{'is' if fewer < 2 else 'are'} {word}"
        those = "these" if table.n == len(one.places) else f"the {table.n:,} that the judge scored"
        return f"{some} of {those} {word}, and {LEAST_EACH} are needed"
    if clusters < MIN_CLUSTERS:
        return f"They come from {_units(table)}, and {MIN_CLUSTERS} are needed"
    return ""


def _answer(judge: Estimate, pairs: Sequence[Comparison]) -> tuple[Agreement, Comparison]:
    """Return the answer and the control that it hangs on."""
    closest = min(pairs, key=lambda pair: pair.difference.value or 0.0)
    if judge.low is None or judge.high is None or any(p.difference.low is None for p in pairs):
        return "cannot tell", closest
    beaten = [p for p in pairs if _worthless(p)]
    if beaten or judge.high < CHANCE:
        return "does not", min(beaten or pairs, key=lambda pair: pair.difference.value or 0.0)
    if judge.low > 0.5 and all((p.difference.low or 0.0) > 0 for p in pairs):
        return "agrees", closest
    return "cannot tell", min(pairs, key=lambda pair: pair.difference.low or 0.0)


def _orders_nothing(table: ScoreTable) -> bool:
    """Say whether the judge gives every target the same score: it is a control, whatever an interval says."""
    order = table.sources[_JUDGE].order
    return bool((order == order[0]).all())


def _worthless(pair: Comparison) -> bool:
    """Say whether a judge is of no use beside a control: below it, or no better where better was possible."""
    high, control = pair.difference.high, pair.figure_b or 0.0
    return high is not None and high < (WORTH if control <= CEILING else 0.0)


# In words --------------------------------------------------------------------------------------------------


def _kinds(one: _RatedTargets) -> tuple[str, str]:
    return ("failed", "successful") if one.dimension == "reward" else ("poorly rated", "well rated")


def _opening(one: _RatedTargets, *, alone: bool = False) -> str:
    """Say what people said: `Your users rated 2,873 turns; 18 % of these were rated poorly (3 or less)`.

    Args:
        one: The rated targets.
        alone: Whether they are all of one user.
    """
    targets = counted(len(one.places), one.level)
    if one.dimension == "reward":
        opening, how = f"{targets} {'carries' if len(one.places) == 1 else 'carry'} a reward", "failed"
    else:
        of_all = preference(one.dimension)[0] < UNRANKED  # a name that says nothing beyond `rated`
        what = "" if of_all else f" in {one.dimension.replace('_', ' ')}"
        opening, how = (
            f"{'Your users' if one.raters == 'users' else 'People'} rated {targets}{what}",
            "were rated poorly",
        )
    if one.rule is None:
        return opening
    opening += f"; {words.percent(float(one.classes.mean()))} of these {how} ({rule_words(one.rule)})"
    return f"{opening}. One user gave all of them, so intervals are by conversation" if alone else opening


def _clause(
    answer: Agreement,
    closest: Comparison,
    judge: Estimate,
    judged_by: str,
    table: ScoreTable,
    one: _RatedTargets,
) -> str:
    bad, good = _kinds(one)
    first = (
        f"Given one {bad} and one {good} {one.level}, the judge ranks the {bad} one worse in "
        f"{_pairs(judge)} (by {judged_by})"
    )
    control = _CONTROLS.get(closest.b, closest.b)
    reached = f"{control}, reaches {_share(closest.figure_b)}"
    if answer == "agrees":
        return f"{first}. That beats chance, 50 %, and every control; the closest, {reached}."
    if answer == "does not" and closest.b in ("constant", "always dissatisfied", "shuffled"):
        return f"{first}. That is hardly better than chance, 50 %."
    if answer == "does not" and judge.high is not None and judge.high < CHANCE:
        return f"{first}. Chance is 50 %, and the closest control, {reached}.{_turned_round(judge, one)}"
    if answer == "does not":
        worse = closest.difference.high is not None and closest.difference.high < 0
        beside = "worse than" if worse else "no better than"
        return f"{first}. That is {beside} {control}, {_share(closest.figure_b)}."
    return (
        f"{first}. The closest control, {reached}; ratings from {_units(table)} do not show which is better."
    )


def _turned_round(judge: Estimate, one: _RatedTargets) -> str:
    """Say how to read the ratings the other way round, where the judge puts the liked ones first."""
    rule, scale = one.rule, one.scale
    if judge.high is None or judge.high >= 0.5 or rule is None or scale is None or one.dimension == "reward":
        return ""
    which = "low" if rule.lower else "high"
    return (
        f" If a {which} number is the better one in these ratings, say so: --dissatisfied "
        f"'{_opposite(rule, scale)}'."
    )


def _units(table: ScoreTable) -> str:
    """Count the clusters: `20 users`, `31 users and conversations`."""
    clusters, unit = table.cluster_codes[1], table.unit
    return f"{clusters:,} {unit}" if " " in unit else counted(clusters, unit.removesuffix("s"))


def _share(value: float | None) -> str:
    return "nothing" if value is None else f"{100 * value:.0f} %"


def _pairs(judge: Estimate) -> str:
    interval = judge.interval
    between = "" if interval is None else f" [{100 * interval[0]:.0f}, {100 * interval[1]:.0f}]"
    return f"{_share(judge.value)} of pairs{between}"


# The rectified mean ----------------------------------------------------------------------------------------


def _at_one_end(one: _RatedTargets) -> bool:
    """Say whether people rated only first turns, or only last ones: these stand for no others."""
    if one.level != "turn":
        return False
    conversations, turns = np.array(one.targets.conversations), np.array(one.targets.turns)
    first, last = np.full(conversations.max() + 1, np.inf), np.zeros(conversations.max() + 1)
    np.minimum.at(first, conversations, turns)
    np.maximum.at(last, conversations, turns)
    mine, at = conversations[list(one.places)], turns[list(one.places)]
    longer = first[mine] < last[mine]
    ends = [(at == end[mine])[longer] for end in (first, last)]
    return int(longer.sum()) >= LEAST_EACH and max(float(end.mean()) for end in ends) >= _NEARLY_ALL


def _rectified(tally: PeopleTally, one: _RatedTargets) -> Rectified | None:
    """Return people's mean over all targets of a level.

    None of names, where few are unrated, and where the rated ones are plainly no random part of all.
    """
    if one.scale is None or _at_one_end(one):
        return None
    judged_by, values, scale = _judged_by(tally, one)
    ratings, weights = np.full((2, values.size), np.nan)
    ratings[list(one.places)] = np.array(one.scores, dtype=np.float64)
    if one.weights is not None:
        weights[list(one.places)] = one.weights
    scored = np.flatnonzero(np.isfinite(values))
    rated = int(np.isfinite(ratings[scored]).sum())
    if not rated or scored.size < _MANY * rated:
        return None
    clusters, unit = _clusters(tally, one, scored.tolist())
    ranges = (one.scale.low, one.scale.high), (scale.low, scale.high)
    fitted = np.isin(scored, list(one.targets.seen))
    columns = (ratings[scored], values[scored], clusters)
    weighted = None if one.weights is None else weights[scored]
    mean = rectified_mean(*columns, *ranges, weights=weighted, fitted=fitted, unit=unit)
    alike = (_READING_ORDER, _its(_SATISFACTION)) if preference(one.dimension)[0] < UNRANKED else ()
    same = judged_by in (*alike, _its(one.dimension))
    same = same and (scale.worst, scale.best) == (one.scale.worst, one.scale.best)
    return Rectified(
        one.dimension,
        one.level,
        int(scored.size),
        mean.judge if same else _NOTHING,
        mean.rated_only,
        mean.rectified,
        int((fitted & np.isfinite(ratings[scored])).sum()),
        one.weighting,
    )
