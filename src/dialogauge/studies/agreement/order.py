"""How far two sources put candidates in one order, and how far apart they put them.

A candidate's score is the mean over its targets. Candidates meet the same personas, so whole personas are
left out of both sources together. Bias and distance have the house's interval. Rank accuracy goes in steps:
leaving one persona out seldom moves it, however unsure it is. Its interval is of personas drawn with
replacement.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
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
    mean_estimate,
    mean_of_sums,
    same_order,
    too_few,
)
from dialogauge.stats.estimate import parts_of
from dialogauge.studies.agreement.sources import TargetKey

RANK: Final[Mapping[str, TiedPairs]] = {
    "rank_accuracy": "strict",
    "rank_accuracy_half": "half",
    "rank_accuracy_drop": "drop",
}
"""The share of pairs of candidates in one order, by what a tied pair says."""
_DRAWS: Final = 1000
"""Of personas, for the interval of a rank accuracy."""

Means = Callable[[Floats], Floats]
"""Weights of personas in, shape (rows, parts); the score of each candidate out, shape (rows, candidates)."""


@dataclass(frozen=True, eq=False)
class Personas:
    """Candidates, and the personas that they met; of very many personas whole parts go together."""

    candidates: tuple[str, ...]
    labels: Mapping[TargetKey, Hashable]
    """By target its persona."""
    unit: str
    """What a persona is, as messages say it."""
    seed: int = 0

    @classmethod
    def of(
        cls, candidates: Sequence[str], users: Mapping[TargetKey, str | None], *, seed: int = 0
    ) -> Personas:
        """Return the personas of targets: their user where known, else their conversation."""
        labels, unit = cluster_labels(list(users.values()), [key.conversation_id for key in users])
        return cls(tuple(candidates), dict(zip(users, labels, strict=True)), unit, seed)

    @cached_property
    def _codes(self) -> tuple[dict[Hashable, int], int]:
        codes, number = label_codes(list(self.labels.values()))
        part = parts_of(number)
        known = dict(zip(self.labels.values(), part[codes].tolist(), strict=True))
        return known, int(part.max(initial=0)) + 1

    @cached_property
    def basis(self) -> Basis:
        """What figures stand on."""
        codes, number = label_codes(list(self.labels.values()))
        return Basis.of(np.bincount(codes, minlength=number).astype(np.float64), self.unit)

    def part(self, key: TargetKey) -> int:
        """Return the part of a target's persona."""
        return self._codes[0][self.labels[key]]

    def means(self, scores: Mapping[TargetKey, float]) -> Means:
        """Return what gives the candidates' means of some scores; those of other candidates do not count."""
        sums, counts = np.zeros((2, self._codes[1], len(self.candidates)))
        place = {name: at for at, name in enumerate(self.candidates)}
        for key, score in scores.items():
            if key.candidate in place:
                at = self.part(key), place[key.candidate]
                sums[at] += score
                counts[at] += 1
        return lambda weights: divided(weights @ sums, weights @ counts)

    @cached_property
    def weights(self) -> Floats:
        """All personas, each part left out, and the draws: shape (1 + parts + draws, parts)."""
        parts = self._codes[1]
        drawn = np.random.default_rng([self.seed, 3]).multinomial(parts, np.full(parts, 1 / parts), _DRAWS)
        return np.vstack([np.ones((1, parts)), 1 - np.eye(parts), drawn])

    def between(self, a: Means, b: Means, scale: Scale | None) -> dict[str, Estimate]:
        """Return rank accuracy, normalised distance and bias (a less b) of two sources.

        Args:
            a: Of the one.
            b: Of the other.
            scale: Of both; None where only order compares.
        """
        parts = self._codes[1]
        of_a, of_b = a(self.weights), b(self.weights)
        figures = {name: self._drawn(divided(*same_order(of_a, of_b, ties))) for name, ties in RANK.items()}
        if scale is not None:
            reach, apart = scale.high - scale.low, (of_a - of_b)[: 1 + parts]
            for name, of, limits in (
                ("nmae", np.abs(apart).mean(axis=1) / reach, (0.0, 1.0)),
                ("bias", apart.mean(axis=1), (-reach, reach)),
            ):
                value = float(of[0]) if np.isfinite(of[0]) else None
                figures[name] = self.basis.estimate(value, of[1:], limits)
        return figures

    def _drawn(self, shares: Floats) -> Estimate:
        """Put a share together with its interval, by its draws; where these are alike as the house does."""
        basis, parts = self.basis, self._codes[1]
        value = float(shares[0]) if np.isfinite(shares[0]) else None
        drawn = shares[1 + parts :]
        drawn = drawn[np.isfinite(drawn)]
        why = too_few(basis.clusters, basis.unit)
        if value is None or why is not None or not drawn.size or not np.ptp(drawn):
            return basis.estimate(value, np.full(parts, np.nan if value is None else value), (0.0, 1.0))
        low, high = np.quantile(drawn, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]).tolist()
        ends = min(low, value), max(high, value)
        return Estimate(value, *ends, LEVEL, basis.n, basis.clusters, f"bootstrap by {basis.unit}")

    def by_session(
        self, a: Mapping[TargetKey, float], b: Mapping[TargetKey, float], scale: Scale | None
    ) -> dict[str, Estimate]:
        """Return the same of sessions that both scored: their order within one conversation id, distances."""
        rows: dict[Hashable, int] = {}
        shared = [key for key in a if key in b]
        cells: dict[tuple[int, int], list[TargetKey]] = {}
        for key in shared:
            row = rows.setdefault((key.conversation_id, key.dimension), len(rows))
            cells.setdefault((row, self.candidates.index(str(key.candidate))), []).append(key)
        both = np.full((2, len(rows), len(self.candidates)), np.nan)
        for at, of in cells.items():
            both[(slice(None), *at)] = [np.mean([scores[key] for key in of]) for scores in (a, b)]
        firsts = {row: of[0] for (row, _), of in cells.items()}
        clusters = [self.labels[firsts[row]] for row in range(len(rows))]
        codes, number = label_codes(clusters)
        figures = {}
        for name, ties in RANK.items():
            counts = same_order(both[0], both[1], ties)
            sums, pairs = (np.bincount(codes, of, number).astype(np.float64) for of in counts)
            figures[name] = mean_of_sums(sums, pairs, limits=(0.0, 1.0), unit=self.unit)
        if scale is not None:
            reach = scale.high - scale.low
            known = np.argwhere(np.isfinite(both[0]))
            apart = (both[0] - both[1])[tuple(known.T)]
            of = [clusters[row] for row in known[:, 0]]
            figures["nmae"] = mean_estimate(np.abs(apart) / reach, of, unit=self.unit)
            figures["bias"] = mean_estimate(apart, of, limits=(-reach, reach), unit=self.unit)
        return figures


def chance_of(accuracy: float | None, candidates: int) -> float | None:
    """Return the share of all orders of n candidates whose rank accuracy is at least so high.

    By the distribution of Kendall's tau without ties.
    """
    if accuracy is None:
        return None
    orders = [1]
    for size in range(2, candidates + 1):  # the orders of so many candidates, by pairs in the right order
        wider = [0] * (len(orders) + size - 1)
        for at, number in enumerate(orders):
            for more in range(size):
                wider[at + more] += number
        orders = wider
    least = ceil(accuracy * comb(candidates, 2) - 1e-9)
    return sum(orders[least:]) / sum(orders)
