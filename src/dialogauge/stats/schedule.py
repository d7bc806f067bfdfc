"""Which agents to compare next: those whose comparison tells most of what is asked.

Asked is how sure the ratings of the agents at the top are, the least sure of them above all: the sum of the
fifth powers of their variances is to fall. With the covariance V of the logits, c the contrast of a rating,
d that of i and j, and w the variance of a vote of the two, a vote takes from it, but for a factor of 5:

    sum over c of (c V c)^4 * w (c V d)^2 / (1 + w d V d)

Pairs are picked one by one, each as if those before had been asked already (sequential c-optimal design). So
agents that are far apart, or far below, are left alone once that is known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialogauge.stats.ranking import Strengths
from dialogauge.stats.standings import Ranking
from dialogauge.stats.table import Floats

TOP = 3
"""Agents whose ratings are asked for."""


def next_pairs(
    fitted: Strengths,
    count: int,
    *,
    left: Floats | None = None,
    under_way: Sequence[tuple[int, int]] = (),
    top: int = TOP,
) -> list[tuple[int, int]]:
    """Return the pairs of agents to compare next; one pair may come several times.

    Args:
        fitted: By the votes so far.
        count: How many pairs.
        left: Shape (n, n), symmetric: how many comparisons of a pair are left; None where there is no end.
        under_way: Pairs that have been asked, and whose votes are still to come.
        top: Agents from the top whose ratings are asked for.

    Returns:
        Places of agents, the lower first; fewer than `count` where no more are left.
    """
    n, logits = fitted.logits.size, fitted.logits
    i, j = np.triu_indices(n, 1)
    room = np.full(i.size, np.inf) if left is None else left[i, j].astype(np.float64)
    apart = logits[i] - logits[j]
    total = np.exp(apart / 2) + np.exp(-apart / 2) + (fitted.tie or 0.0)
    tied = (fitted.tie or 0.0) / total
    worth = (1 - tied) / 4 - ((np.exp(apart / 2) - np.exp(-apart / 2)) / total / 2) ** 2
    asked = np.argsort(-logits, kind="stable")[:top]
    centring = np.eye(n) - 1 / n
    covariance, pairs = centring @ fitted.covariance[:n, :n] @ centring, []
    weight = np.zeros((n, n))
    weight[i, j] = weight[j, i] = worth
    for one, other in under_way:
        covariance = _after(covariance, one, other, weight[one, other])
    for _ in range(count):
        row, own = covariance[asked], np.diag(covariance)
        spread = worth * (own[i] + own[j] - 2 * covariance[i, j])
        along_asked = (own[asked, None] ** 4 * (row[:, i] - row[:, j]) ** 2).sum(axis=0)
        gain = worth * along_asked / (1 + spread)
        best = int(np.argmax(np.where(room > 0, gain, -np.inf)))
        if room[best] <= 0:
            break
        room[best] -= 1
        pairs.append((int(i[best]), int(j[best])))
        covariance = _after(covariance, *pairs[-1], worth[best])
    return pairs


def _after(covariance: Floats, one: int, other: int, worth: float) -> Floats:
    """Return the covariance after a vote of that variance between two."""
    along = covariance[one] - covariance[other]
    less: Floats = np.outer(along, along) * (worth / (1 + worth * (along[one] - along[other])))
    return covariance - less


def widest(board: Ranking, top: int = TOP) -> float | None:
    """Return how wide the widest interval of the ratings at the top is, in points; None without intervals."""
    ends = [one.rating.interval for one in board.standings[:top]]
    widths = [high - low for low, high in (e for e in ends if e is not None)]
    return max(widths) if widths and len(widths) == len(ends) else None
