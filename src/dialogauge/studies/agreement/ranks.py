"""Candidates across judges: does another judge, or do people, put them in another order?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from dialogauge.core import Scale
from dialogauge.core.json_keys import INSIDE, keys
from dialogauge.stats import Estimate, cluster_labels, mean_estimate, spearman
from dialogauge.stats.coefficients import mid_ranks
from dialogauge.studies.agreement.order import Personas
from dialogauge.studies.agreement.sources import Answers, Question


@dataclass(frozen=True, slots=True)
class SameOrder:
    """Whether two sources put the candidates in one order, however far their scores lie apart."""

    a: str
    b: str
    spearman: float | None
    """Of the means."""
    swapped: tuple[tuple[str, str], ...]
    """Pairs of candidates of which one source puts the first above, the other the second."""
    above: tuple[float, float]
    """The least and the greatest difference of a candidate's means, `a` less `b`."""
    distance: float
    """The mean over candidates of how far their means lie apart."""
    figures: Mapping[str, Estimate]
    """Rank accuracy by what ties say, normalised distance and bias, `a` beside `b`."""


@keys(question=INSIDE)
@dataclass(frozen=True, slots=True)
class CandidateRanks:
    """The candidates by what each source says of them, on the targets that all sources scored."""

    question: Question
    candidates: tuple[str, ...]
    targets: int
    means: Mapping[str, Mapping[str, Estimate]]
    """By source and candidate."""
    ranks: Mapping[str, Mapping[str, float]]
    """By source and candidate, 1 the best; equal means share a rank."""
    alike: tuple[SameOrder, ...]
    """By pair of sources."""


def candidate_ranks(
    question: Question, judges: Answers, people: Mapping[Any, float], scale: Scale, seed: int = 0
) -> CandidateRanks | None:
    """Rank candidates by each judge and by people; None for fewer than two sources or candidates.

    Args:
        question: What was asked.
        judges: What judges said, numbers.
        people: By target the consensus of people; empty without ratings.
        scale: Of the scores.
        seed: Of the draws of personas.
    """
    sources = sorted({name for rated in judges.values() for name in rated.by})
    columns = {name: {k: float(r.by[name]) for k, r in judges.items() if name in r.by} for name in sources}
    columns |= {"people": dict(people)} if people else {}
    shared = [
        key for key in judges if key.candidate is not None and all(key in of for of in columns.values())
    ]
    candidates = tuple(sorted({key.candidate for key in shared if key.candidate is not None}))
    if len(columns) < 2 or len(candidates) < 2:
        return None
    by = {name: [key for key in shared if key.candidate == name] for name in candidates}
    labels, unit = cluster_labels([judges[k].user for k in shared], [k.conversation_id for k in shared])
    cluster = dict(zip(shared, labels, strict=True))
    clusters = {name: [cluster[key] for key in keys] for name, keys in by.items()}
    means = {
        source: {
            name: mean_estimate(
                [of[key] for key in keys], clusters[name], limits=(scale.low, scale.high), unit=unit
            )
            for name, keys in by.items()
        }
        for source, of in columns.items()
    }
    values = {source: [of[name].value or 0.0 for name in candidates] for source, of in means.items()}
    personas = Personas.of(candidates, {key: judges[key].user for key in shared}, seed)
    of_source = {s: personas.means({key: of[key] for key in shared}) for s, of in columns.items()}
    ranks = {
        source: dict(zip(candidates, mid_ranks(-np.array(of)).tolist(), strict=True))
        for source, of in values.items()
    }
    alike = []
    for a, b in combinations(columns, 2):
        above = [of_a - of_b for of_a, of_b in zip(values[a], values[b], strict=True)]
        swapped = tuple(
            (candidates[x], candidates[y])
            for x, y in combinations(range(len(candidates)), 2)
            if (values[a][x] - values[a][y]) * (values[b][x] - values[b][y]) < 0
        )
        order = spearman(values[a], values[b])
        figures = personas.between(of_source[a], of_source[b], scale)
        distance = sum(map(abs, above)) / len(above)
        alike.append(SameOrder(a, b, order, swapped, (min(above), max(above)), distance, figures))
    return CandidateRanks(question, candidates, len(shared), means, ranks, tuple(alike))
