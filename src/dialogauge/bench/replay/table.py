"""Scores of all candidates on all items: one column of items, one row for each candidate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.bench.replay.items import ReplayItem
from dialogauge.metrics import BootstrapInterval, choice_weights, order_interval

__all__ = ["ORIGINAL", "Floats", "ScoreTable", "UserDraws", "group_means"]

Floats = npt.NDArray[np.float64]

ORIGINAL: Final = "original"
"""The replies that stand in the data, as one more candidate."""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """What each candidate got on each item; NaN where it has no score."""

    items: tuple[ReplayItem, ...]
    names: tuple[str, ...]
    whole: Floats
    """Whole scores, shape (candidates, items)."""
    value: Floats
    """The same with fractions."""
    again: Callable[[Sequence[str], Collection[str]], ScoreTable] | None = None
    """Shows candidates as if these items alone had been asked for; None where a score depends on no other."""

    def row(self, name: str) -> Floats:
        """Return the whole scores of a candidate, shape (items,)."""
        found: Floats = self.whole[self.names.index(name)]
        return found

    def fractions(self, name: str) -> Floats:
        """Return its scores with fractions, shape (items,)."""
        found: Floats = self.value[self.names.index(name)]
        return found

    def shared(self, names: Sequence[str]) -> ScoreTable:
        """Return some candidates, fit to be compared on the items that all of them have a score for.

        Where a view ranks a candidate's scores among each other, one that failed has other ranks for all of
        its replies: on the shared items they are ranked anew, as if there were no others.
        """
        rows = [self.names.index(name) for name in names]
        whole, value = self.whole[rows], self.value[rows]
        known = ~np.isnan(whole)
        common = np.logical_and.reduce(known, axis=0)
        uneven = np.logical_or.reduce(known, axis=0) & ~common
        if self.again is not None and uneven.any():
            # Scores are ranked block by block: where nobody's is missing, or everybody's, ranks stay.
            blocks = {i.block for i, differs in zip(self.items, uneven, strict=True) if differs}
            moved = common & np.array([i.block in blocks for i in self.items])
            found = self.again(names, {i.id for i, held in zip(self.items, moved, strict=True) if held})
            whole, value = np.where(moved, found.whole, whole), np.where(moved, found.value, value)
        return ScoreTable(self.items, tuple(names), whole, value)


@dataclass
class UserDraws:
    """Bootstrap draws of whole users, the same for every figure on the same users."""

    draws: int = 1000
    seed: int = 42
    _known: dict[int, Floats] = field(default_factory=dict)

    def weights(self, users: int) -> Floats:
        """Return how often each of the sorted users is drawn, shape (draws, users)."""
        if users not in self._known:
            self._known[users] = choice_weights(range(users), seed=self.seed, draws=self.draws)
        return self._known[users]

    def means(self, by_user: Mapping[str, float]) -> Floats:
        """Return the mean over users of each draw, shape (draws,)."""
        if not by_user:
            return np.full(self.draws, np.nan)
        values = np.array([by_user[user] for user in sorted(by_user)])
        means: Floats = self.weights(values.size) @ values / values.size
        return means

    def interval(self, by_user: Mapping[str, float]) -> BootstrapInterval:
        """Return the 95 % interval of the mean over users."""
        return order_interval(self.means(by_user), clusters=len(by_user))


def group_means(values: Sequence[float] | Floats, groups: Sequence[str]) -> dict[str, float]:
    """Return the mean of each group; NaN values take no part."""
    sums: dict[str, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        if not np.isnan(value):
            sums.setdefault(group, []).append(float(value))
    return {group: sum(held) / len(held) for group, held in sums.items()}
