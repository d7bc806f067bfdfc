"""What systems learn along the steps of a run: a slope with a test, the best step apart, and forgetting.

- **Slope.** Score by step, by least squares within each case: a case that lacks a step is held against itself
  alone. Clusters are left out one after the other, as everywhere, and p-values are corrected together. Beside
  its twin, a system has the slope of their difference, case by case, at the steps that both have; these
  p-values are corrected apart.
- **Best step.** Chosen after the fact: of steps that only fluctuate one is always best. It stands beside the
  last step, and is never tested.
- **Forgetting.** Of the cases that an earlier step had right, the share that the last one has wrong. Right is
  a score of at least a half: that is known before the run and is one for all systems, unlike what no memory
  gets. A case that only fluctuates is lost too. What chance loses is the share of wrong answers among the
  steps after the first right one: they are exchangeable where nothing is forgotten, also where much is
  learnt. Forgetting is what is lost above that. A case that is right once, and never again, counts as luck.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dialogauge.stats import (
    Basis,
    Comparison,
    Estimate,
    Gain,
    adjusted,
    compare_gain,
    divided,
    gain_of_sums,
    label_codes,
    mean_of_sums,
)

RIGHT: Final = 0.5
"""The least score of a right answer."""


@dataclass(frozen=True, slots=True)
class CaseScores:
    """The scores of one case by step, from 0 to 1, in the order of the steps; a failed one is left out."""

    cluster: Hashable
    scores: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What earlier steps had right and the last one loses."""

    lost: Estimate
    """Share of the cases that an earlier step had right."""
    by_chance: float | None
    """What answers lose that fluctuate without forgetting."""
    above: Estimate
    """Lost less by chance: below 0 the last step is better than those before it."""


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """One system along the steps."""

    points: Sequence[tuple[int, Estimate]]
    """Steps with the mean score at each."""
    slope: Comparison | None = None
    """By how much the score rises a step; None of a control that cannot learn."""
    beside_twins: Sequence[Comparison] = ()
    """By how much more it rises than each of its twins."""
    best: int | None = None
    """The step with the highest score, the first of equals, chosen after the fact; None without a score."""
    forgetting: Forgetting | None = None
    """None of a partition, whose scores are of several scales."""


def learning_curves(
    points: Mapping[str, Sequence[tuple[int, Estimate]]],
    cases: Mapping[str, Mapping[Hashable, CaseScores]],
    unit: str,
    *,
    twins: Sequence[tuple[str, str]] = (),
    forgetting: bool = True,
) -> dict[str, LearningCurve]:
    """Bring systems along the steps to figures.

    Args:
        points: By system the mean score at each step.
        cases: By system that can learn, its cases.
        unit: What a cluster is.
        twins: Systems, each with a twin of its own.
        forgetting: Whether scores are of one scale, on which a half is right.
    """
    alone = (_slope((name, "no change"), [*of.values()], unit) for name, of in cases.items())
    slopes = {slope.a: slope for slope in adjusted([*filter(None, alone)])}
    pairs = (_slope(pair, _differences(*(cases[name] for name in pair)), unit, 2.0) for pair in twins)
    beside_twins = adjusted([*filter(None, pairs)])
    curves = {}
    for name, along in points.items():
        known = [(estimate.value, -step) for step, estimate in along if estimate.value is not None]
        best = -max(known)[1] if known else None
        own = tuple(slope for slope in beside_twins if slope.a == name)
        lost = _forgetting([*cases[name].values()], unit) if forgetting and name in cases else None
        curves[name] = LearningCurve(along, slopes.get(name), own, best, lost)
    return curves


def _differences(
    system: Mapping[Hashable, CaseScores], twin: Mapping[Hashable, CaseScores]
) -> list[CaseScores]:
    """Return by how much a system is above its twin, at the cases and steps that both have."""
    return [
        CaseScores(own.cluster, {n: own.scores[n] - other.scores[n] for n in own.scores if n in other.scores})
        for key, own in system.items()
        if (other := twin.get(key)) is not None
    ]


def _slope(
    pair: tuple[str, str], cases: Sequence[CaseScores], unit: str, span: float = 1.0
) -> Comparison | None:
    """Hold a slope against none; None where no case has two steps. Scores differ by `span` at most."""
    cases = [case for case in cases if len(case.scores) > 1]
    if not cases:
        return None
    codes, groups = label_codes([case.cluster for case in cases])
    rises, spreads, reach = np.zeros(groups), np.zeros(groups), 0.0
    for code, case in zip(codes, cases, strict=True):
        steps, scores = np.array([*case.scores], np.float64), np.array([*case.scores.values()], np.float64)
        centred = steps - steps.mean()
        rises[code] += centred @ scores
        spreads[code] += centred @ centred
        reach = max(reach, span * float(np.abs(centred).sum() / 2 / (centred @ centred)))
    value = float(rises.sum() / spreads.sum())
    gain = Gain(value, divided(rises.sum() - rises, spreads.sum() - spreads), reach)
    basis = replace(Basis.of(spreads, unit), n=len(cases))
    return compare_gain(pair, "slope", (value, 0.0), gain, basis)


def _forgetting(cases: Sequence[CaseScores], unit: str) -> Forgetting:
    """Count what is lost at the last step of the run, over the cases that have it."""
    last = max((step for case in cases for step in case.scores), default=0)
    counted: list[tuple[Hashable, float, float]] = []
    for case in (case for case in cases if last in case.scores):
        right = [score >= RIGHT for _, score in sorted(case.scores.items())]
        if True in right[:-1]:
            after = right[right.index(True) + 1 :]
            counted.append((case.cluster, float(not right[-1]), 1 - sum(after) / len(after)))
    codes, groups = label_codes([cluster for cluster, *_ in counted])
    sizes = np.bincount(codes, minlength=groups).astype(np.float64)
    lost = np.bincount(codes, [gone for _, gone, _ in counted], groups).astype(np.float64)
    chance = np.bincount(codes, [share for *_, share in counted], groups).astype(np.float64)
    gain, basis = gain_of_sums((chance, sizes), (lost, sizes), limits=(0.0, 1.0), unit=unit, paired=True)
    return Forgetting(
        mean_of_sums(lost, sizes, limits=(0.0, 1.0), unit=unit),
        float(chance.sum() / sizes.sum()) if counted else None,
        basis.difference(gain)[0],
    )
