"""The leaderboard: agents by strength, how sure each rating is, and which ranks cannot be ruled out.

Votes go together in clusters (all votes on one dialogue, or of one person), so the house leaves whole
clusters out, one after the other (`estimate`). That says nothing of an agent that won always: without some
of its wins it still won always. So no interval is narrower than the curvature of the penalised likelihood
makes it, which stands for independent votes and for the ridge where votes end.

Two agents are compared by how much more often the one wins than it loses, of all votes, as the strengths have
it. Where an agent seldom loses, its strength is little known and who is stronger well: of 11 votes won, 12
tied and 2 lost, the odds of 11 to 2 hang on 2 votes, the sign of the difference does not. So the end of a
difference that is nearer to 0 comes from there, and the other one from the strengths.

Ranks: every two agents that votes link are compared, the p-values adjusted by Holm over all of them, as in
`comparison`. An agent's best rank counts those that are shown to be above it, the worst those shown to be
below. So all intervals of ranks together hold all true ranks in at least 95 % of samples
(Mogstad, Romano, Shaikh and Wilhelm, 2024): whoever picks the first of the list may read its interval as
it stands. `python -m benchmarks arena` simulates it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from dialogauge.stats.comparison import ALPHA, holm, sign_flip_p
from dialogauge.stats.estimate import LEVEL, METHOD, MIN_PAIRS, Estimate, Moves, freedom_of, too_few
from dialogauge.stats.ranking import CENTRE, ELO, RIDGE, Davidson, Strengths, TieRule
from dialogauge.stats.table import Floats
from dialogauge.stats.votes import Votes

_EQUAL = 1e-6
"""Points that rounding alone may make."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One agent on the leaderboard."""

    agent: str
    rating: Estimate
    """In points of Elo; 1000 is the mean of the agents that votes link it with."""
    rank: int
    """From 1, by rating; equal ratings share one."""
    best: int
    """The lowest rank that cannot be ruled out."""
    worst: int
    votes: int
    wins: int
    losses: int
    ties: int
    group: int
    """From 1: only ratings of agents of one group can be compared."""
    drawn: tuple[float, float] | None = None
    """The percentiles of clustered draws, where they were asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Agents from the strongest to the weakest."""

    standings: tuple[Standing, ...]
    strengths: Strengths
    longer: Estimate | None
    """Points that being twice as long is worth; None where lengths do not count."""
    leads: tuple[Estimate | None, ...]
    """By group, points of its first above its second; None where there is one agent alone."""
    above: frozenset[tuple[str, str]]
    """Pairs of agents of which the first is shown to be above the second; ranks count these."""
    ridge: float
    ties: TieRule

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names of the agents that votes link, group by group."""
        numbers = sorted({one.group for one in self.standings})
        return tuple(tuple(s.agent for s in self.standings if s.group == number) for number in numbers)


def ranking_of(
    votes: Votes,
    *,
    ridge: float = RIDGE,
    ties: TieRule = "davidson",
    draws: int = 0,
    rng: np.random.Generator | None = None,
) -> Ranking:
    """Rank agents by votes.

    Args:
        votes: At least one.
        ridge: The penalty of the strengths, at least 0.
        ties: How they count.
        draws: How often clusters are drawn for the percentiles; 0 for none.
        rng: Of the draws.

    Raises:
        NotConverged: As `strengths`.
    """
    model = Davidson(votes, ridge=ridge, ties=ties)
    spread = _Sureness(model)
    drawn = model.again(model.cells.drawn(draws, rng or np.random.default_rng(0))) if draws else None
    above = spread.above()
    best, worst = 1 + above.sum(axis=0), len(votes.agents) - above.sum(axis=1)
    ratings, standings = model.fitted.ratings, []
    for i, (name, counts) in enumerate(zip(votes.agents, votes.counts.astype(int).tolist(), strict=True)):
        rank = 1 + int((ratings > ratings[i] + _EQUAL).sum())
        group = int(votes.components[i])
        ends = None if drawn is None or not counts[0] else _percentiles(drawn[:, i])
        ranks = rank, int(best[i]), int(worst[i])
        number, won, lost, tied = counts
        standings.append(Standing(name, spread.rating(i), *ranks, number, won, lost, tied, group, ends))
    standings.sort(key=lambda one: (one.rank, one.agent))
    groups: dict[int, int] = {}
    for one in standings:
        groups.setdefault(one.group, len(groups) + 1)
    numbered = tuple(replace(one, group=groups[one.group]) for one in standings)
    shown = frozenset((votes.agents[i], votes.agents[j]) for i, j in np.argwhere(above).tolist())
    board = Ranking(numbered, model.fitted, spread.longer(), (), shown, ridge, ties)
    leads = (tuple(map(votes.agents.index, names[:2])) for names in board.groups)
    return replace(board, leads=tuple(spread.difference(*of) if len(of) > 1 else None for of in leads))


@dataclass(frozen=True, eq=False)
class _Sureness:
    """How far strengths move when clusters are left out, in points of Elo."""

    model: Davidson

    @cached_property
    def _moves(self) -> Floats:
        """Shape (parts, p)."""
        return ELO * (self.model.again(self.model.cells.without()) - self.model.solution)

    @cached_property
    def _covariance(self) -> Floats:
        """Shape (n, n), of the logits, each less the mean of the agents that votes link it with."""
        n = len(self.model.votes.agents)
        covariance = self.model.fitted.covariance[:n, :n]
        centred = covariance - self.model.means @ covariance
        return centred - centred @ self.model.means

    @cached_property
    def _most(self) -> float:
        return freedom_of(np.bincount(self.model.votes.clusters).astype(np.float64))

    @cached_property
    def _why(self) -> str | None:
        """Why there are no intervals."""
        votes = self.model.votes
        if why := too_few(votes.cluster_count, votes.unit):
            return why
        return None if np.isfinite(self._moves).all() else f"undefined without some of the {votes.unit}"

    def rating(self, agent: int) -> Estimate:
        """Return the rating of an agent, within the agents that votes link it with."""
        votes, fitted = self.model.votes, self.model.fitted
        n = int(votes.counts[agent, 0])
        value = CENTRE + ELO * float(fitted.logits[agent])
        alone = None if n else "met nobody: what is shown is the mean"
        if why := alone or self._why:
            return Estimate(value, None, None, LEVEL, n, votes.cluster_count, "none", why)
        return self._estimate(value, self._moves[:, agent], float(self._covariance[agent, agent]), n)

    def longer(self) -> Estimate | None:
        """Return what being twice as long is worth, in points; None where lengths do not count."""
        votes, fitted = self.model.votes, self.model.fitted
        if fitted.longer is None:
            return None
        value = ELO * fitted.longer / 3
        if self._why:
            return Estimate(value, None, None, LEVEL, votes.m, votes.cluster_count, "none", self._why)
        return self._estimate(value, self._moves[:, -1] / 3, float(fitted.covariance[-1, -1]) / 9, votes.m)

    def above(self) -> npt.NDArray[np.bool_]:
        """Return whether the agent of the row is shown to be above that of the column, shape (n, n)."""
        n, fitted = len(self.model.votes.agents), self.model.fitted
        above = np.zeros((n, n), dtype=bool)
        pairs = [] if self._why else list(self._pairs())
        for (i, j, _), p in zip(pairs, holm([p for _, _, p in pairs]), strict=True):
            if p is not None and p <= ALPHA:
                above[(i, j) if fitted.logits[i] > fitted.logits[j] else (j, i)] = True
        return above

    def difference(self, one: int, other: int) -> Estimate:
        """Return how many points an agent is above another, which votes link it with."""
        votes, fitted = self.model.votes, self.model.fitted
        value = ELO * float(fitted.logits[one] - fitted.logits[other])
        if why := self._why or too_few(votes.cluster_count, votes.unit, MIN_PAIRS):
            return Estimate(value, None, None, LEVEL, votes.m, votes.cluster_count, "none", why)
        moves = self._moves[:, one] - self._moves[:, other]
        plain = self._estimate(value, moves, self._variance(one, other), votes.m)
        share, spread = self._net(one, other)
        low, high = spread.around(share, 1.0)
        if value >= 0 and low > -1:
            return replace(plain, low=ELO * _logits(low, fitted.tie or 0.0))
        if value < 0 and high < 1:
            return replace(plain, high=ELO * _logits(high, fitted.tie or 0.0))
        return plain

    def _net(self, one: int, other: int) -> tuple[float, Moves]:
        """Return how much more often one wins against another than it loses, and how far that moves."""
        fitted = self.model.fitted
        tie, logits = fitted.tie or 0.0, float(fitted.logits[one] - fitted.logits[other])
        share = float(_net_share(logits, tie))
        # Without a cluster ties are otherwise likely too, as in the plain share of the votes.
        ties = tie * np.exp(self._moves[:, fitted.logits.size] / ELO) if tie else 0.0
        moved = _net_share(logits + (self._moves[:, one] - self._moves[:, other]) / ELO, ties)
        half = logits / 2
        slope = (2 + tie * math.cosh(half)) / (2 * math.cosh(half) + tie) ** 2
        spread = Moves.of(moved - share, moved.size, self._most)
        return share, replace(spread, variance=max(spread.variance, slope**2 * self._variance(one, other)))

    def _variance(self, one: int, other: int) -> float:
        """Return the variance of a difference of logits, as the model has it."""
        of = self._covariance
        return float(of[one, one] + of[other, other] - 2 * of[one, other])

    def _pairs(self) -> Iterator[tuple[int, int, float]]:
        """Yield every two agents that votes link, with the p-value of their difference."""
        votes = self.model.votes
        least = sign_flip_p(votes.cluster_count)
        for i, j in combinations(range(len(votes.agents)), 2):
            if votes.components[i] == votes.components[j]:
                share, spread = self._net(i, j)
                yield i, j, max(least, spread.p(share))

    def _estimate(self, value: float, moves: Floats, variance: float, n: int) -> Estimate:
        votes = self.model.votes
        # The spread of moves, no narrower than the model's own variance (in logits).
        spread = Moves.of(moves, moves.size, self._most)
        ends = replace(spread, variance=max(spread.variance, ELO**2 * variance)).around(value, np.inf)
        return Estimate(value, *ends, LEVEL, n, votes.cluster_count, f"{METHOD} by {votes.unit}")


def _net_share(logits: Any, tie: Any) -> Any:  # noqa: ANN401 - numbers or arrays
    """Return wins less losses, by all votes, of agents so far apart."""
    half = np.clip(logits / 2, -300, 300)
    return 2 * np.sinh(half) / (2 * np.cosh(half) + tie)


def _logits(net: float, tie: float) -> float:
    """Return how far apart agents are whose wins less losses are so many of all votes, in (-1, 1)."""
    root = math.sqrt((net * tie) ** 2 + 4 * (1 - net**2))
    return 2 * math.log((net * tie + root) / (2 * (1 - net)))


def _percentiles(values: Floats) -> tuple[float, float]:
    """Return the ends of what draws of logits give, in points."""
    low, high = np.nanquantile(CENTRE + ELO * values, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return float(low), float(high)
