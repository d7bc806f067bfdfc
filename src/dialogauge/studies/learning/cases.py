"""The cases of a run of memory systems: grouped, and two systems compared case by case."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, Final

import numpy as np

from dialogauge.stats import Comparison, compare_gain, gain_of_sums, label_codes
from dialogauge.studies.learning.scoring import CATEGORIES

NOWHERE: Final = CATEGORIES[5]
"""The category of questions whose answer is nowhere."""
Case = Mapping[str, Any]
"""The details of a row, with its system, the id of its task, its failure and its usage."""


def scores_by_task(cases: Sequence[Case]) -> dict[str, tuple[float, Hashable]]:
    """Return by task the score and the cluster of cases that have a score and an answer; of runs the mean."""
    by_id = grouped((c for c in answerable(cases) if c.get("score") is not None), "id")
    return {id: (fmean(c["score"] for c in of), cluster_of(of[0])) for id, of in by_id.items()}


def compared(
    pair: tuple[str, str], scores: Mapping[str, Mapping[str, tuple[float, Hashable]]], unit: str
) -> Comparison | None:
    """Compare two systems on the cases that both have a score of, from 0 to 1; None without any."""
    of_a, of_b = (scores[name] for name in pair)
    both = [id for id in of_a if id in of_b]
    if not both:
        return None
    codes, _ = label_codes([of_a[id][1] for id in both])
    counts = np.bincount(codes).astype(np.float64)
    a, b = (np.bincount(codes, [of[id][0] for id in both]).astype(np.float64) for of in (of_a, of_b))
    gain, basis = gain_of_sums((b, counts), (a, counts), limits=(0.0, 1.0), unit=unit, paired=True)
    means = float(a.sum() / len(both)), float(b.sum() / len(both))
    return compare_gain(pair, "score", means, gain, replace(basis, n=len(both)))


def answerable(cases: Iterable[Case]) -> list[Case]:
    """Return those whose question has an answer."""
    return [case for case in cases if case["category"] != NOWHERE]


def cluster_of(case: Case) -> Hashable:
    """Return the cluster of a case: its conversation, or its task where it is about none."""
    return str(case["corpus"] or case["id"])


def grouped(cases: Iterable[Case], key: str) -> dict[Any, list[Case]]:
    """Return cases by the value of a key, in their order."""
    groups: dict[Any, list[Case]] = {}
    for case in cases:
        groups.setdefault(case[key], []).append(case)
    return groups
