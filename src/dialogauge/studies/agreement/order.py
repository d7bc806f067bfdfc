"""How far two sources put candidates in one order, and how far apart they put them.

A candidate's score is the mean over its targets. Candidates meet the same personas, so whole personas are
left out of both sources together. Bias and distance have the house's interval. Rank accuracy goes in steps:
leaving one persona out seldom moves it, however unsure it is. Its interval is that of drawn personas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, comb
from typing import Final

import numpy as np

from dialogauge.core import Scale
from dialogauge.stats import (
    LEVEL,
    Basis,
    Estimate,
    Floats,
    TiedPairs,
    cluster_labels,
    divided,
    label_codes,
    mean_of_sums,
    same_order,
    too_few,
)
from dialogauge.stats.estimate import parts_of
from dialogauge.studies.agreement.sources import TargetKey

RANK: Final[Mapping[str, TiedPairs]] = {
    "rank_accuracy": "strict", "rank_accuracy_half": "half", "rank_accuracy_drop": "drop",
}  # fmt: skip
"""The share of pairs of candidates in one order, by what a tied pair says."""
_DRAWS: Final = 1000
"""Of personas, for the interval of a rank accuracy."""

Means = Callable[[Floats], Floats]
"""Weights of personas in, shape (rows, parts); the score of each candidate out, shape (rows, candidates)."""


@dataclass(frozen=True, eq=False)
class Personas:
    """Candidates, and the personas that they met; of very many personas whole parts go together."""

    candidates: tuple[str, ...]
    parts: Mapping[TargetKey, int]
    """By target the part of its persona."""
    basis: Basis
    seed: int = 0

    @classmethod
    def of(cls, candidates: Sequence[str], users: Mapping[TargetKey, str | None], seed: int = 0) -> Personas:
        """Return the personas of targets: their user where known, else their conversation."""
        labels, unit = cluster_labels(list(users.values()), [key.conversation_id for key in users])
        codes, number = label_codes(labels)
        parts = dict(zip(users, parts_of(number)[codes].tolist(), strict=True))
        return cls(tuple(candidates), parts, Basis.of(np.bincount(codes).astype(np.float64), unit), seed)

    @cached_property
    def size(self) -> int:
        """How many parts there are."""
        return max(self.parts.values(), default=-1) + 1

    @cached_property
    def weights(self) -> Floats:
        """All personas, each part left out, and the draws: shape (1 + parts + draws, parts)."""
        n = self.size
        drawn = np.random.default_rng([self.seed, 3]).multinomial(n, np.full(n, 1 / n), _DRAWS)
        return np.vstack([np.ones((1, n)), 1 - np.eye(n), drawn])

    def means(self, scores: Mapping[TargetKey, float]) -> Means:
        """Return what gives the candidates' means of some scores; those of other candidates do not count."""
        sums, counts = np.zeros((2, self.size, len(self.candidates)))
        for key, score in scores.items():
            if key.candidate in self.candidates:
                at = self.parts[key], self.candidates.index(key.candidate)
                sums[at] += score
                counts[at] += 1
        return lambda weights: divided(weights @ sums, weights @ counts)

    def between(self, a: Means, b: Means, scale: Scale | None) -> dict[str, Estimate]:
        """Return rank accuracy, and on one scale normalised distance and bias (a less b), of two sources."""
        of_a, of_b = a(self.weights), b(self.weights)
        figures = {name: self._drawn(divided(*same_order(of_a, of_b, ties))) for name, ties in RANK.items()}
        if scale is not None:
            reach, apart = scale.high - scale.low, (of_a - of_b)[: 1 + self.size]
            for name, rows, low in (("nmae", np.abs(apart) / reach, 0.0), ("bias", apart, -reach)):
                value, *moved = rows.mean(axis=1).tolist()
                limits = low, reach if low else 1.0
                figures[name] = self.basis.estimate(
                    None if value != value else value, np.array(moved), limits
                )
        return figures

    def _drawn(self, shares: Floats) -> Estimate:
        """Put a share together with the interval of its draws; where these are alike as the house does."""
        basis, value = self.basis, float(shares[0]) if np.isfinite(shares[0]) else None
        drawn = shares[1 + self.size :]
        drawn = drawn[np.isfinite(drawn)]
        low, high = np.quantile(drawn, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]).tolist() if drawn.size else (0, 0)
        if value is None or too_few(basis.clusters, basis.unit) or low == high:
            return basis.estimate(value, np.full(self.size, value or 0.0), (0.0, 1.0))
        # Noise in the means lowers a rank accuracy, and in draws once more: it may lie above as far as below.
        ends, method = (min(low, value), min(max(high, 2 * value - low), 1.0)), f"bootstrap by {basis.unit}"
        return Estimate(value, *ends, LEVEL, basis.n, basis.clusters, method)

    def by_target(
        self, a: Mapping[TargetKey, float], b: Mapping[TargetKey, float], scale: Scale | None
    ) -> dict[str, Estimate]:
        """Return the same of single targets that both scored: candidates in order within one conversation."""
        rows: dict[TargetKey, int] = {}
        shared = [key for key in a if key in b and key.candidate in self.candidates]
        places = [
            (rows.setdefault(k._replace(candidate=None), len(rows)), self.candidates.index(str(k.candidate)))
            for k in shared
        ]
        both, part = np.full((2, len(rows), len(self.candidates)), np.nan), np.zeros(len(rows), dtype=np.intp)
        for key, at in zip(shared, places, strict=True):
            both[(slice(None), *at)] = a[key], b[key]
            part[at[0]] = self.parts[key]
        sums = {name: (*same_order(both[0], both[1], ties), (0.0, 1.0)) for name, ties in RANK.items()}
        if scale is not None:
            reach, apart = scale.high - scale.low, both[0] - both[1]
            counts = np.isfinite(apart).sum(axis=1).astype(np.float64)
            sums["nmae"] = np.nansum(np.abs(apart), axis=1) / reach, counts, (0.0, 1.0)
            sums["bias"] = np.nansum(apart, axis=1), counts, (-reach, reach)
        figures = {}
        for name, (total, n, limits) in sums.items():
            both_sums = (np.bincount(part, of).astype(np.float64) for of in (total, n))
            figures[name] = mean_of_sums(*both_sums, limits=limits, unit=self.basis.unit)
        return figures


def chance_of(accuracy: float | None, candidates: int) -> float | None:
    """Return the share of all orders of n candidates whose rank accuracy is at least so high.

    By the distribution of Kendall's tau without ties.
    """
    orders = np.ones(1)  # by how many pairs are in the right order, of one candidate, of two ...
    for size in range(2, candidates + 1):
        orders = np.convolve(orders, np.full(size, 1 / size))
    return None if accuracy is None else float(orders[ceil(accuracy * comb(candidates, 2) - 1e-9) :].sum())
