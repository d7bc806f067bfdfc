"""What people said, as figures: means, shares, and the mean over all targets of which they rated some."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from dialogauge.stats import mean_estimate, rectified_mean
from dialogauge.studies.judging.people import PeopleFigure, Rectified
from dialogauge.studies.judging.people_tally import PeopleTally
from dialogauge.studies.judging.rated_targets import (
    LEAST_EACH,
    NOTHING,
    READING_ORDER,
    SATISFACTION,
    RatedTargets,
    clusters_of,
    its,
    judged_by,
    rule_words,
    users_of,
)
from dialogauge.studies.rated import UNRANKED, preference

_MANY: Final = 2
"""From so many judged targets for each rated one on, the rectified mean is given."""
_NEARLY_ALL: Final = 0.9
"""Share of rated turns that are the first of their conversations, or the last, from which they all are."""


def figure_of(tally: PeopleTally, one: RatedTargets) -> PeopleFigure:
    """Return what people said of the targets."""
    clusters, unit = clusters_of(tally, one, one.places)
    conversations, users = {one.targets.conversations[place] for place in one.places}, users_of(tally, one)
    names, apart = one.scale is None, one.targets.apart.get(one.dimension)
    mean, scale = NOTHING, one.scale
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


def _at_one_end(one: RatedTargets) -> bool:
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


def rectified_of(tally: PeopleTally, one: RatedTargets) -> Rectified | None:
    """Return people's mean over all targets of a level.

    None of names, where few are unrated, and where the rated ones are plainly no random part of all.
    """
    if one.scale is None or _at_one_end(one):
        return None
    figure = judged_by(tally, one)
    values, scale = figure.values, figure.scale
    ratings, weights = np.full((2, values.size), np.nan)
    ratings[list(one.places)] = np.array(one.scores, dtype=np.float64)
    if one.weights is not None:
        weights[list(one.places)] = one.weights
    scored = np.flatnonzero(np.isfinite(values))
    rated = int(np.isfinite(ratings[scored]).sum())
    if not rated or scored.size < _MANY * rated:
        return None
    clusters, unit = clusters_of(tally, one, scored.tolist())
    ranges = (one.scale.low, one.scale.high), (scale.low, scale.high)
    fitted = np.isin(scored, list(one.targets.seen))
    columns = (ratings[scored], values[scored], clusters)
    weighted = None if one.weights is None else weights[scored]
    mean = rectified_mean(*columns, *ranges, weights=weighted, fitted=fitted, unit=unit)
    alike = (READING_ORDER, its(SATISFACTION)) if preference(one.dimension)[0] < UNRANKED else ()
    same = figure.words in (*alike, its(one.dimension))
    same = same and (scale.worst, scale.best) == (one.scale.worst, one.scale.best)
    return Rectified(
        one.dimension,
        one.level,
        int(scored.size),
        mean.judge if same else NOTHING,
        mean.rated_only,
        mean.rectified,
        int((fitted & np.isfinite(ratings[scored])).sum()),
        one.weighting,
    )
