"""Two judges on the same targets: which agrees better with people, if that can be told at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dialogauge.core import Scale
from dialogauge.stats import draw_p, holm
from dialogauge.studies.agreement.agreement import (
    COMPARED,
    Draws,
    Measure,
    Several,
    draw_all,
    estimates_of,
    judge_column,
    measures_for,
    people_column,
    point_of,
    signed_gain,
    user_clusters,
)
from dialogauge.studies.agreement.result import Comparison, MetaSettings
from dialogauge.studies.agreement.targets import DissatisfiedRule, RatedTarget, TargetTable

Floats = npt.NDArray[np.float64]

_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Contender:
    """A judge with its targets of one rated dimension."""

    name: str
    table: TargetTable
    scale: Scale


def compare_judges(
    contenders: Sequence[Contender], rule: DissatisfiedRule | None, settings: MetaSettings
) -> tuple[Comparison, ...]:
    """Compare every two judges on the targets that both scored, by the measures `COMPARED`.

    P-values come from the paired bootstrap by conversation and are adjusted by Holm over the pairs of
    one measure. "Agrees better" takes an adjusted p of at most .05; anything else is not distinguishable.
    """
    found = [c for a, b in combinations(contenders, 2) for c in _pair(a, b, rule, settings)]
    adjusted: dict[int, float | None] = {}
    for measure in COMPARED:
        of_measure = [i for i, c in enumerate(found) if c.measure == measure]
        adjusted.update(zip(of_measure, holm([found[i].p for i in of_measure]), strict=True))
    return tuple(replace(c, p_holm=adjusted[i], words=_words(c, adjusted[i])) for i, c in enumerate(found))


def _pair(
    a: Contender, b: Contender, rule: DissatisfiedRule | None, settings: MetaSettings
) -> list[Comparison]:
    mine, theirs = _shared(a.table.targets, b.table.targets)
    if not mine:
        return []
    people = people_column(mine, a.scale, rule)
    readers: dict[str, Several] = {
        "a": (judge_column(mine, rule, a.name),),
        "b": (judge_column(theirs, rule, b.name),),
    }
    named = rule is not None and rule.category is not None
    # two judges on different scales are compared by rank alone
    same = people.on_scale and a.scale == b.scale
    able = [m for m in measures_for(people, named_classes=named) if m.name in COMPARED]
    measures = [m for m in able if same or m.need != "scale"]
    clusters = [t.key.conversation_id for t in mine]
    users = user_clusters(mine)
    by_conversation = draw_all(readers, people, measures, clusters, settings)
    by_user = None if users is None else draw_all(readers, people, measures, users, settings)

    def comparison(measure: Measure) -> Comparison:
        def gain(draws: Draws) -> Floats:
            return signed_gain(measure, draws.found["a"][measure.name], draws.found["b"][measure.name])

        values = [point_of(readers[r], people, measure) for r in ("a", "b")]
        point = float(signed_gain(measure, _one(values[0]), _one(values[1]))[0])
        draws = gain(by_conversation)
        difference = estimates_of(
            point if np.isfinite(point) else None,
            (draws, by_conversation.clusters),
            None if by_user is None else (gain(by_user), by_user.clusters),
            settings,
        )
        p = draw_p(draws) if by_conversation.clusters > 1 else None
        return Comparison(
            a.name,
            b.name,
            a.table.pair,
            measure.name,
            len(mine),
            by_conversation.clusters,
            values[0],
            values[1],
            difference,
            p,
            None,
            "",
        )

    return [comparison(m) for m in measures]


def _shared(
    a: Sequence[RatedTarget], b: Sequence[RatedTarget]
) -> tuple[list[RatedTarget], list[RatedTarget]]:
    of_b = {t.key: t for t in b}
    mine = [t for t in a if t.key in of_b]
    return mine, [of_b[t.key] for t in mine]


def _one(value: float | None) -> Floats:
    return np.array([np.nan if value is None else value])


def _words(c: Comparison, p: float | None) -> str:
    value = c.difference.value
    if p is None or value is None or p > _ALPHA:
        return f"{c.a} and {c.b} are not distinguishable"
    return f"{c.a if value > 0 else c.b} agrees better with people"
