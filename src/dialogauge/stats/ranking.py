"""Strengths of agents from votes between two each: Bradley-Terry with ties and a penalty, by Newton's method.

The chance that i wins against j grows with the difference of their strengths (Bradley and Terry, 1952); that
of a tie is greatest between equals (Davidson, 1970). With t_i the strength, d = t_i - t_j + b x, and x how
much longer i was:

    win : loss : tie  =  exp(d / 2) : exp(-d / 2) : v

The fit is the greatest of the log-likelihood less `ridge` / 2 times the sum of squares of all t, b and log v.
With the penalty an agent that never lost, never won or met nobody has a finite strength. The likelihood
is concave, so there is one greatest. Strengths are shown on the scale of Elo: 400 points are odds of 10 : 1,
and the mean of agents that are linked by votes is 1000. Between agents that no votes link, nothing is known:
`components` says who belongs together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np

from dialogauge.core import NotConverged
from dialogauge.stats.table import Codes, Floats
from dialogauge.stats.votes import VoteCells, Votes

CENTRE: Final = 1000.0
"""The mean rating."""
ELO: Final = 400 / math.log(10)
"""Points of a difference of 1 in strength."""
RIDGE: Final = (ELO / 400) ** 2
"""The penalty that takes strengths, before any vote, for normal with a deviation of 400 points."""
TieRule = Literal["davidson", "half"]
"""How ties count: as an outcome of their own, or as half a win of each."""

_STEPS: Final = 100
_CLOSE: Final = 1e-9
"""A step of Newton's method below which the next one changes nothing."""
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Strengths:
    """The strengths of n agents."""

    logits: Floats
    """Shape (n,), of mean 0 among agents that are linked."""
    tie: float | None
    """v: how likely ties are; None where none came, or each counts as half a win."""
    longer: float | None
    """b: what being longer is worth, in logits where the other said nothing; None where lengths do not
    count."""
    information: Floats
    """Shape (p, p), how fast the penalised likelihood falls around logits, log v and b."""

    @cached_property
    def covariance(self) -> Floats:
        """Shape (p, p), as the model has it where all votes stand for themselves."""
        return _inverse(self.information)

    @property
    def ratings(self) -> Floats:
        """Shape (n,), on the scale of Elo."""
        return CENTRE + ELO * self.logits

    @property
    def twice_as_long(self) -> float | None:
        """Points that being twice as long is worth."""
        return None if self.longer is None else ELO * self.longer / 3


def strengths(votes: Votes, *, ridge: float = RIDGE, ties: TieRule = "davidson") -> Strengths:
    """Fit the strengths of agents.

    Args:
        votes: At least one.
        ridge: The penalty, at least 0.
        ties: How they count.

    Raises:
        NotConverged: Without a penalty where an agent, or a group of them, won all votes against the others.
    """
    return Davidson(votes, ridge=ridge, ties=ties).fitted


@dataclass(frozen=True, eq=False)
class Davidson:
    """The fit of one set of votes, and those with other counts of the same cells."""

    votes: Votes
    ridge: float = RIDGE
    ties: TieRule = "davidson"

    @cached_property
    def cells(self) -> VoteCells:
        """What is counted."""
        return VoteCells(self.votes)

    @cached_property
    def fitted(self) -> Strengths:
        """The strengths."""
        if self.ridge == 0 and not (self.votes.bounded and self.votes.wins.any()):
            message = "without a penalty strengths are infinite: some agents won all votes against the others"
            raise NotConverged(message, hint="give a penalty above 0")
        n, solution = len(self.votes.agents), self.solution
        beyond = solution[n:].tolist()
        return Strengths(
            solution[:n],
            math.exp(beyond.pop(0)) if self._tied else None,
            beyond.pop() if self.cells.longer is not None else None,
            self._curvature(solution, self.cells.counts),
        )

    def again(self, counts: Iterable[Floats]) -> Floats:
        """Fit other counts.

        Args:
            counts: Shape (cells, 3) each, as `VoteCells` yields them.

        Returns:
            Shape (fits, p): logits, log v where ties are an outcome, b where lengths count. NaN where
            strengths would be infinite.
        """
        start = self.solution
        rows = [self._centred(self._near(one, start, self.fitted.covariance)) for one in counts]
        return np.array(rows).reshape(-1, start.size)

    def _near(self, counts: Floats, start: Floats, inverse: Floats) -> Floats:
        """Solve by the curvature of other counts: many cheap steps where these are like them."""
        at, last = start, np.inf
        for _ in range(_STEPS):
            # Without the threads of a matrix product, which cost more than so little work.
            step: Floats = np.einsum("ij,j->i", inverse, self._slope(at, counts))
            size = float(np.abs(step).max(initial=0))
            if not size < last / 2:
                break
            at, last = at + step, size
            if size <= _CLOSE:
                return at
        return self._solved(counts, at)

    @property
    def _tied(self) -> bool:
        return self.ties == "davidson" and bool(self.votes.ties.any())

    @cached_property
    def means(self) -> Floats:
        """Shape (n, n): takes the mean over the agents that are linked."""
        same = self.votes.components[:, None] == self.votes.components
        share: Floats = np.asarray(same / same.sum(axis=1), dtype=np.float64)
        return share

    @cached_property
    def solution(self) -> Floats:
        """Shape (p,): logits, log v where ties are an outcome, b where lengths count."""
        n = len(self.votes.agents)
        size = n + self._tied + (self.cells.longer is not None)
        counts, start = self.cells.counts, np.zeros(size)
        votes, won, _, tied = self.votes.counts.T
        start[:n] = np.log((won + tied / 2 + 1) / (votes - won - tied / 2 + 1))  # right among equals
        if self._tied:
            start[n] = np.log(2 * tied.sum() / (votes.sum() - tied.sum() + 1))
        solution = self._near(counts, start, _inverse(self._curvature(start, counts)))
        if not np.isfinite(solution).all():
            message = f"the strengths did not settle in {_STEPS} steps"
            raise NotConverged(message, hint="give a penalty above 0")
        return self._centred(solution)

    def _centred(self, solution: Floats) -> Floats:
        out, n = solution.copy(), len(self.votes.agents)
        out[:n] -= np.einsum("ij,j->i", self.means, out[:n])
        return out

    def _solved(self, counts: Floats, start: Floats) -> Floats:
        """Climb from a start to the greatest; NaN where it does not settle."""
        at, height = start, self._height(start, counts)
        for _ in range(_STEPS):
            try:
                step = np.linalg.solve(self._curvature(at, counts), self._slope(at, counts))
            except np.linalg.LinAlgError:  # nothing is left to hold a strength that grows without end
                break
            size = float(np.abs(step).max(initial=0))
            if size > _CLOSE:
                step *= min(1.0, 10 / size)  # a longer one only leads out of what can be computed
            higher = self._height(at + step, counts)
            while higher < height - _ROUNDING * abs(height) and size > _CLOSE:
                step, size = step / 2, size / 2
                higher = self._height(at + step, counts)
            at, height = at + step, higher
            if size <= _CLOSE:
                return at
        return np.full(start.shape, np.nan)

    def _height(self, at: Floats, counts: Floats) -> float:
        """The penalised log-likelihood."""
        half, tie, log_total = self._logits(at)
        lost, tied, won = counts.T
        if tie is None:
            won, lost, tied = won + tied / 2, lost + tied / 2, 0.0 * tied
        value = ((won - lost) * half - (won + lost + tied) * log_total).sum() + tied.sum() * (tie or 0.0)
        return float(value - self.ridge / 2 * (at @ at))

    def _logits(self, at: Floats) -> tuple[Floats, float | None, Floats]:
        """Half the difference and the log of the total of each cell, and log v."""
        n = len(self.votes.agents)
        half = (at[self.cells.left] - at[self.cells.right]) / 2
        if self.cells.longer is not None:
            half += at[-1] * self.cells.longer / 2
        tie = float(at[n]) if self._tied else None
        log_total = np.logaddexp(half, -half)
        return half, tie, log_total if tie is None else np.logaddexp(log_total, tie)

    def _chances(self, at: Floats) -> tuple[Floats, Floats]:
        """Return by cell the mean of what its left agent gets, less a half, and the chance of a tie."""
        half, tie, log_total = self._logits(at)
        middle = np.zeros(half.size) if tie is None else np.exp(tie - log_total)
        mean: Floats = (np.exp(half - log_total) - np.exp(-half - log_total)) / 2
        return mean, middle

    def _slope(self, at: Floats, counts: Floats) -> Floats:
        """Return the slope of the penalised log-likelihood, shape (p,)."""
        mean, middle = self._chances(at)
        lost, tied, won = counts.T
        total = won + lost + tied
        slope = self._spread((won - lost) / 2 - total * mean, at.size)
        if self._tied:
            slope[len(self.votes.agents)] = tied.sum() - (total * middle).sum()
        return slope - self.ridge * at

    def _curvature(self, at: Floats, counts: Floats) -> Floats:
        """Return how fast the slope falls, shape (p, p)."""
        mean, middle = self._chances(at)
        total, n = counts.sum(axis=1), len(self.votes.agents)
        left, right, longer = self.cells.left, self.cells.right, self.cells.longer
        weight = total * ((1 - middle) / 4 - mean**2)
        square = np.zeros((at.size, at.size))
        both = np.bincount(left * n + right, weights=weight, minlength=n * n).reshape(n, n)
        both = both + both.T
        square[:n, :n] = np.diag(both.sum(axis=1)) - both
        if longer is not None:
            square[-1] = square[:, -1] = self._spread(weight * longer, at.size)
        if self._tied:
            across = self._spread(-total * mean * middle, at.size)
            across[n] = (total * middle * (1 - middle)).sum()
            square[n] = square[:, n] = across
        square[np.diag_indices(at.size)] += self.ridge
        if self.ridge == 0:
            square[:n, :n] += self.means
        return square

    def _spread(self, pull: Floats, size: int) -> Floats:
        """Sum what cells say of the difference into what they say of agents and of length, shape (size,)."""
        n, out = len(self.votes.agents), np.zeros(size)
        out[:n] = np.bincount(self.cells.left, weights=pull, minlength=n)
        out[:n] -= np.bincount(self.cells.right, weights=pull, minlength=n)
        if self.cells.longer is not None:
            out[-1] = (pull * self.cells.longer).sum()
        return out


def _inverse(square: Floats) -> Floats:
    inverse: Floats = np.asarray(np.linalg.inv(square), dtype=np.float64)
    return inverse


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
