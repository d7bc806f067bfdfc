"""Judge and people at each level: single targets, means of conversations, means of candidates."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.stats import Basis, Estimate, ScoreTable, cluster_labels, figures_of, scores_of
from dialogauge.stats.coefficients import kendall_without
from dialogauge.stats.estimate import parts_of
from dialogauge.stats.table import label_codes
from dialogauge.studies.agreement.sources import TargetKey
from dialogauge.studies.agreement.targets import RatedTarget, TargetTable, weights_of

RANKS: Final = ("pearson", "spearman")
_MOST: Final = 4000
"""Items up to which Kendall's tau is computed: each is compared with each."""
_LEVELS: Final[Mapping[str, Callable[[TargetKey], Hashable]]] = {
    "turn": lambda key: key,
    "conversation": lambda key: (key.conversation_id, key.candidate),
    "candidate": lambda key: key.candidate,
}
"""By level what makes one item: the scores of a conversation, or of a candidate, are averaged."""


@dataclass(frozen=True, slots=True)
class LevelFigures:
    """How judge and people order what is scored, at one level."""

    level: str
    """`turn`, `conversation`, `candidate`: what one item is."""
    n: int
    figures: Mapping[str, Estimate]


def levels_of_table(table: TargetTable) -> tuple[LevelFigures, ...]:
    """Return the correlations of judge and people at every level that has two items or more.

    Of people's and the judge's scores of a conversation, or of a candidate, the means are compared; of
    candidates a cluster is a candidate, so that fewer than five have a figure without an interval.
    """
    targets = [t for t in table.targets if not isinstance(t.people, str)]
    if len(targets) < len(table.targets) or not targets:
        return ()
    names = [level for level in _LEVELS if level != "turn" or table.level != "conversation"]
    if any(t.key.candidate is None for t in targets):
        names.remove("candidate")
    made = (_at(level, targets, table) for level in names)
    return tuple(level for level in made if level.n > 1)


def _at(level: str, targets: Sequence[RatedTarget], table: TargetTable) -> LevelFigures:
    items: dict[Hashable, list[RatedTarget]] = {}
    for target in targets:
        items.setdefault(_LEVELS[level](target.key), []).append(target)
    clusters, unit = tuple(items), "candidates"
    if level != "candidate":
        firsts = [of[0] for of in items.values()]
        clusters, unit = cluster_labels([t.user for t in firsts], [t.key.conversation_id for t in firsts])
    # Means lie between whole scores, and ratings may be on a scale of their own: only order is compared.
    columns = (([t.score for t in of], [float(t.people) for t in of]) for of in items.values())
    means = np.array([[np.mean(values) for values in both] for both in columns])
    judge, people = (scores_of(column, scale=table.scale) for column in means.T)
    sources = {"judge": judge, "people": people}
    of_items = [weights_of(of) for of in items.values()]
    known = [float(weights.mean()) for weights in of_items if weights is not None]
    # A candidate stands for itself.
    weights = np.array(known) if level != "candidate" and len(known) == len(items) else None
    scores = ScoreTable(sources, clusters, unit, weights=weights)
    figures = figures_of(scores, sources, "people", RANKS)["judge"].estimates
    codes, groups = label_codes(clusters)
    basis = Basis.of(np.bincount(codes).astype(np.float64), unit)
    weighted = weights is not None and bool(np.ptp(weights))
    if judge.values.size > _MOST or weighted:
        why = "it knows no weights" if weighted else f"more than {_MOST:,}: not computed"
        kendall = replace(basis.estimate(None, np.empty(0), (-1.0, 1.0)), reason=why)
    else:
        part = parts_of(groups)[codes]
        tau = kendall_without(judge.values, people.values, part, int(part.max()) + 1)
        value = float(tau[0]) if np.isfinite(tau[0]) else None
        kendall = basis.estimate(value, tau[1:], (-1.0, 1.0))
    return LevelFigures(level, len(items), {**figures, "kendall": kendall})
