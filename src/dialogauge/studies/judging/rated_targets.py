"""The targets of one level that people rated in one dimension, and which figure of the judge is theirs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from dialogauge.core import ONE_TO_FIVE, Level, Scale
from dialogauge.core.values import Value
from dialogauge.data.admission import DOWN, REWARD, UP, scale_by_name, thumb_of
from dialogauge.stats import DissatisfiedRule, Estimate, Floats, cluster_labels
from dialogauge.studies.judging.people import Raters, Weights
from dialogauge.studies.judging.people_tally import MEAN, LevelTargets, PeopleTally
from dialogauge.studies.rated import UNRANKED, preference, scale_of, usual_rule

NOTHING: Final = Estimate(None, None, None, 0.95, 0, 0, "none")
SATISFACTION: Final = "satisfaction"
READING_ORDER: Final = "its reading order"
LEAST_EACH: Final = 10
"""Dissatisfied targets, and satisfied ones, without which nothing is said."""


class RatedTargets(Value):
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


def rated_targets(
    tally: PeopleTally, level: Level, dimension: str, asked: DissatisfiedRule | None
) -> RatedTargets:
    """Return the targets of a level that people rated in a dimension, which somebody did.

    Args:
        tally: Through which the run has passed.
        level: Of the targets.
        dimension: That people rated.
        asked: What counts as dissatisfied, where it was asked for.
    """
    targets = tally.levels[level]
    ratings = targets.ratings[dimension]
    usual = scale_by_name(dimension)
    scale, ratings = _scaled(ratings, tally.scales.get((level, dimension), usual), asked)
    # What counts as dissatisfied is as asked, where it fits these ratings; else by their scale. Of
    # thumbs it is down, unless up was asked for.
    scores = _agreed_on(ratings, targets.apart.get(dimension, {}), scale)
    if scale is None:
        rule = _rule_of_names(set(scores), None if asked is None else asked.category)
    elif asked is not None and asked.category is None and scale.low <= asked.threshold <= scale.high:
        rule = asked
    else:
        rule = usual_rule(dimension, [score for score in scores if not isinstance(score, str)], scale)
    if scale is not None and rule is not None:
        scale = replace(scale, higher_is_better=rule.lower)
    who = tuple(tally.raters[level, dimension])
    raters: Raters = who[0] if len(who) == 1 else "people"
    return RatedTargets(
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


def clusters_of(
    tally: PeopleTally, one: RatedTargets, places: Sequence[int]
) -> tuple[tuple[Hashable, ...], str]:
    """Return the cluster of each of the targets at some places, and what a cluster is."""
    numbers = [one.targets.conversations[place] for place in places]
    return cluster_labels([tally.users[n] for n in numbers], [tally.names[n] for n in numbers])


def users_of(tally: PeopleTally, one: RatedTargets) -> set[str | None]:
    """Return the users of the rated targets; None among them where one is not known."""
    return {tally.users[one.targets.conversations[place]] for place in one.places}


class JudgeFigure(NamedTuple):
    """A figure of the judge that is compared with people."""

    words: str
    """Which it is: `its satisfaction`."""
    values: Floats
    """Shape (all targets of the level,), NaN where it says nothing."""
    scale: Scale


def judged_by(tally: PeopleTally, one: RatedTargets) -> JudgeFigure:
    """Return the figure of the judge that is compared with these ratings where nobody names one.

    A judge that finds and does not grade orders turns by a satisfaction that its rubric does not ask for.
    """
    places = np.array(one.places, dtype=np.intp)
    names = [SATISFACTION] if _orders(tally, one.level) else []
    names += [one.dimension, *(["task_completion"] if one.dimension == "reward" else [])]
    names += [SATISFACTION] if preference(one.dimension)[0] < UNRANKED else []
    for name in names:
        figure = figure_named(tally, one, name)
        if np.isfinite(figure.values[places]).mean() >= 0.5:
            return figure
    column = one.targets.column(MEAN)
    return JudgeFigure(f"the mean of its scores of the {one.level}", column, Scale(0, 1, integer=False))


def figure_named(tally: PeopleTally, one: RatedTargets, name: str) -> JudgeFigure:
    """Return what the judge says of the targets in a dimension."""
    scale = tally.scales.get((one.level, name)) or tally.scales.get(("turn", name)) or ONE_TO_FIVE
    in_order = name == SATISFACTION and _orders(tally, one.level)
    return JudgeFigure(READING_ORDER if in_order else its(name), one.targets.column(name), scale)


def _orders(tally: PeopleTally, level: Level) -> bool:
    return level == "turn" and (level, SATISFACTION) not in tally.scales


def its(dimension: str) -> str:
    """Say that a dimension is the judge's."""
    return f"its {dimension.replace('_', ' ')}"
