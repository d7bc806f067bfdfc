"""Scores tallied by user: how often each pair of people's score and judge's score occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dialogauge.metrics import pearson_draws, spearman_draws

__all__ = ["Cells", "Measure", "over_users", "tally"]

Floats = npt.NDArray[np.float64]
Measure = Callable[[Floats], Floats]
"""How often each user is drawn, shape (draws, users), to the figure of each draw; NaN where undefined."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct pairs of scores, and how often each group has them."""

    gold: Floats
    """Shape (cells,)."""
    score: Floats
    """Shape (cells,)."""
    counts: Floats
    """Shape (groups, cells). A group is a user, or a block of one."""
    owner: npt.NDArray[np.intp]
    """Shape (groups,): the index of the user of each group."""

    def mean(self, values: Floats) -> Measure:
        """Return the mean of a value per cell over all targets."""
        sums, sizes = self.counts @ values, self.counts.sum(axis=1)
        return lambda w: divided(w[:, self.owner] @ sums, w[:, self.owner] @ sizes)

    def centred(self, gold: Floats | None = None, score: Floats | None = None) -> dict[str, Measure]:
        """Return correlations and errors after each group's own means are taken away.

        Args:
            gold: Shape (cells,); people's scores when None.
            score: Shape (cells,); the judge's scores when None.
        """
        gold, score = self.gold if gold is None else gold, self.score if score is None else score
        group, cell = np.nonzero(self.counts)
        n, sizes = self.counts[group, cell], self.counts.sum(axis=1)
        g = gold[cell] - (self.counts @ gold / sizes)[group]
        s = score[cell] - (self.counts @ score / sizes)[group]
        user = self.owner[group]
        error = np.abs(s - g)

        def weights(w: Floats) -> Floats:
            return w[:, user] * n

        def mean(values: Floats, w: Floats) -> Floats:
            return divided(weights(w) @ values, weights(w).sum(axis=1))

        return {
            "pearson": lambda w: pearson_draws(s, g, weights(w)),
            # Two users' equal distances from their means may differ by a rounding error: they are ties.
            "spearman": lambda w: spearman_draws(s.round(9), g.round(9), weights(w)),
            "mae": lambda w: mean(error, w),
            "rmse": lambda w: np.sqrt(mean(error**2, w)),
        }


def tally(rows: Sequence[tuple[str, float, float]], *, owners: Sequence[str] | None = None) -> Cells:
    """Count rows of (group, people's score, judge's score).

    Args:
        rows: One for each target.
        owners: The user of each row, where the groups are not the users themselves.
    """
    names = [row[0] for row in rows] if owners is None else list(owners)
    user_of = {name: i for i, name in enumerate(dict.fromkeys(names))}
    groups = {name: i for i, name in enumerate(dict.fromkeys(row[0] for row in rows))}
    pairs = {pair: i for i, pair in enumerate(sorted({row[1:] for row in rows}))}
    counts = np.zeros((len(groups), len(pairs)))
    for (group, *pair), n in Counter(rows).items():
        counts[groups[group], pairs[pair[0], pair[1]]] = n
    owner = np.zeros(len(groups), dtype=np.intp)
    for (group, _, _), name in zip(rows, names, strict=True):
        owner[groups[group]] = user_of[name]
    gold = np.array([p[0] for p in pairs], dtype=np.float64)
    return Cells(gold, np.array([p[1] for p in pairs], dtype=np.float64), counts, owner)


def over_users(values: Floats, n: Floats) -> Measure:
    """Return the mean of a value per user, weighted by their turns; undefined ones take no part."""
    held = np.isfinite(values)
    weight = np.where(held, n, 0.0)
    known = np.where(held, values, 0.0)
    return lambda w: divided(w @ (weight * known), w @ weight)


def divided(top: Floats, bottom: Floats) -> Floats:
    """Divide; by zero gives NaN without a warning."""
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out
