"""Online Elo, as arenas publish it: for comparison, not for decisions.

Votes are read one after the other, and each moves both ratings by what was not expected of it. So the result
hangs on the order of votes, and never settles: with K = 32 it goes on wandering by some thirty points.
`ranking_of` has no order. Means over orders, which can be asked for, do away with the first fault only.

Source: Elo (1978); start, K and the weights of several arenas as in TD-Eval (2025), section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dialogauge.stats.ranking import CENTRE
from dialogauge.stats.table import Codes, Floats
from dialogauge.stats.votes import Votes

K: Final = 32.0
"""Points that a vote moves at most."""


def online_elo(
    votes: Votes, *, k: float = K, orders: int = 0, rng: np.random.Generator | None = None
) -> Floats:
    """Return the rating of each agent after all votes, shape (n,).

    Args:
        votes: In their order.
        k: Points that a vote moves at most.
        orders: Over how many random orders to take the mean; 0 for the order of the votes alone.
        rng: Of the orders.
    """
    n = len(votes.agents)
    if not orders:
        return elo_runs(votes.first, votes.second, votes.score[None], n, k=k).reshape(n)
    order = (rng or np.random.default_rng(0)).permuted(np.tile(np.arange(votes.m), (orders, 1)), axis=1)
    mean: Floats = elo_runs(votes.first[order], votes.second[order], votes.score[order], n, k=k).mean(axis=0)
    return mean


def elo_runs(first: Codes, second: Codes, score: Floats, agents: int, *, k: float = K) -> Floats:
    """Return the ratings after each of several runs of votes.

    Args:
        first: Shape (m,) or (runs, m), numbers of agents.
        second: Likewise.
        score: Shape (runs, m): 1, .5 or 0.
        agents: How many there are.
        k: Points that a vote moves at most.

    Returns:
        Shape (runs, agents).
    """
    runs, m = score.shape
    ratings, row = np.full((runs, agents), CENTRE), np.arange(runs)
    a, b = (np.broadcast_to(codes, (runs, m)).T for codes in (first, second))
    for one, other, result in zip(a, b, score.T, strict=True):
        expected = 1 / (1 + 10 ** ((ratings[row, other] - ratings[row, one]) / 400))
        change = k * (result - expected)
        ratings[row, one] += change
        ratings[row, other] -= change
    return ratings


def combined_elo(arenas: Sequence[tuple[Votes, Floats]]) -> tuple[tuple[str, ...], Floats]:
    """Return the agents of several arenas, and the means of their ratings weighted by votes.

    Args:
        arenas: Votes and the rating of each agent in it.

    Returns:
        Names as they first come; ratings, NaN for an agent without a vote.
    """
    names = tuple(dict.fromkeys(name for votes, _ in arenas for name in votes.agents))
    total, weight = np.zeros(len(names)), np.zeros(len(names))
    for votes, ratings in arenas:
        place = [names.index(name) for name in votes.agents]
        weight[place] += votes.counts[:, 0]
        total[place] += votes.counts[:, 0] * ratings
    return names, np.divide(total, weight, out=np.full(len(names), np.nan), where=weight > 0)
