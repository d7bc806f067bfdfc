"""Candidates across judges: does another judge, or do people, put them in another order?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from dialogauge.stats import Estimate, cluster_labels, mean_estimate, spearman
from dialogauge.stats.coefficients import mid_ranks
from dialogauge.studies.agreement.sources import Answers, Question


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
    alike: Mapping[tuple[str, str], float | None]
    """Spearman's correlation of the means of two sources."""

    def to_json(self) -> dict[str, Any]:
        """Write means, ranks and correlations."""
        value = {**asdict(self), "dimension": self.question.dimension, "level": self.question.level}
        del value["question"]
        alike = [{"a": a, "b": b, "spearman": of} for (a, b), of in self.alike.items()]
        return {**value, "alike": alike}


def candidate_ranks(
    question: Question, judges: Answers, people: Mapping[Any, float], *, low: float, high: float
) -> CandidateRanks | None:
    """Rank candidates by each judge and by people; None for fewer than two sources or candidates.

    Args:
        question: What was asked.
        judges: What judges said, numbers.
        people: By target the consensus of people; empty without ratings.
        low: The lowest score.
        high: The highest.
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
            name: mean_estimate([of[key] for key in keys], clusters[name], limits=(low, high), unit=unit)
            for name, keys in by.items()
        }
        for source, of in columns.items()
    }
    values = {source: [of[name].value or 0.0 for name in candidates] for source, of in means.items()}
    ranks = {
        source: dict(zip(candidates, mid_ranks(-np.array(of)).tolist(), strict=True))
        for source, of in values.items()
    }
    alike = {(a, b): spearman(values[a], values[b]) for a, b in combinations(columns, 2)}
    return CandidateRanks(question, candidates, len(shared), means, ranks, alike)
