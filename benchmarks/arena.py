"""Ratings of agents: how fast, how often intervals hold, how far online Elo wanders, what a schedule saves.

Beside the fit of `evalica` (0.4.2), a library in Rust that arenas use: both start from names and a result for
each vote. Agents of the simulations have normal strengths, dialogues favour some of them, and all votes on
one dialogue go together.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.tables import table
from dialogauge.stats.ranking import ELO, Davidson, elo_runs, strengths
from dialogauge.stats.schedule import next_pairs, widest
from dialogauge.stats.standings import Ranking, ranking_of
from dialogauge.stats.votes import Votes, votes_of

__all__ = ["Contest", "coverage", "coverage_of_schedule", "elo_noise", "least", "run", "saved"]

PUBLISHED = {
    "Claude-3.5-Sonnet": (1279.66, 1264.0),
    "GPT-4o": (1107.40, 1063.0),
    "GPT-4o-mini": (1037.46, 1007.0),
    "Mistral-Large": (988.89, 970.0),
    "Llama-3.1-405B-Instruct": (961.04, 996.0),
    "Llama-3.3-70B-Instruct": (901.34, 942.0),
    "GPT-3.5-turbo": (724.21, 758.0),
}
"""TD-Eval, Table 4: the rating as published, and the strength by the table's own wins, losses and ties."""
ROUNDS = (100, 115, 33)
"""Of its three arenas."""


@dataclass
class Contest:
    """Agents, dialogues, and the votes that were asked so far."""

    logits: np.ndarray
    """Shape (agents,)."""
    shifted: np.ndarray
    """Shape (dialogues, agents): the strengths on one dialogue."""
    rng: np.random.Generator
    tie: float = 0.3

    @classmethod
    def of(
        cls, agents: int, dialogues: int, seed: int, *, points: float = 200, shift: float = 0.3
    ) -> Contest:
        """Draw strengths with a deviation of so many points, and dialogues that shift them."""
        rng = np.random.default_rng(seed)
        logits = rng.normal(0, points / ELO, agents)
        return cls(logits - logits.mean(), logits + rng.normal(0, shift, (dialogues, agents)), rng)

    def scores(self, first: np.ndarray, second: np.ndarray, dialogue: np.ndarray) -> np.ndarray:
        """Return what the first gets, one vote each."""
        half = (self.shifted[dialogue, first] - self.shifted[dialogue, second]) / 2
        won, lost, at = np.exp(half), np.exp(-half), self.rng.random(half.size)
        total = won + lost + self.tie
        return np.where(at < won / total, 1.0, np.where(at < (won + self.tie) / total, 0.5, 0.0))

    def everything(self, dialogues: int) -> Votes:
        """Compare all pairs on so many dialogues."""
        pairs = np.array(list(combinations(range(self.logits.size), 2)))
        first, second = np.tile(pairs, (dialogues, 1)).T
        dialogue = np.repeat(np.arange(dialogues), len(pairs))
        return self.votes(first, second, self.scores(first, second, dialogue), dialogue)

    def votes(self, first: np.ndarray, second: np.ndarray, score: np.ndarray, dialogue: np.ndarray) -> Votes:
        """Put votes together."""
        names = tuple(f"agent {i}" for i in range(self.logits.size))
        return Votes(names, first, second, score, np.unique(dialogue, return_inverse=True)[1], "dialogues")


def coverage(agents: int, dialogues: int, samples: int) -> tuple[float, float, float]:
    """Return how often all ranks lie in their intervals, how often a rating does, and how wide that is.

    Args:
        agents: In a contest, with strengths of their own each time.
        dialogues: On which all pairs are compared.
        samples: How many contests.
    """
    return _covered(agents, dialogues, samples, lambda contest: ranking_of(contest.everything(dialogues)))


def coverage_of_schedule(agents: int, samples: int, points: float) -> tuple[float, float, float]:
    """Return the same where the schedule asks, and stops once the first three are known within points."""
    pool = 500
    return _covered(agents, pool, samples, lambda contest: _asked(contest, points, pool)[1])


def _covered(
    agents: int, dialogues: int, samples: int, rank: Callable[[Contest], Ranking]
) -> tuple[float, float, float]:
    whole, single, width = 0, [], []
    for seed in range(samples):
        contest = Contest.of(agents, dialogues, seed)
        vast = Contest(contest.logits, np.empty(0), contest.rng)
        vast.shifted = contest.logits + contest.rng.normal(0, 0.3, (3000, agents))
        truth = strengths(vast.everything(3000), ridge=0).ratings
        ranks = 1 + (truth[:, None] < truth).sum(axis=1)
        standings = {one.agent: one for one in rank(contest).standings}
        ordered = [standings[f"agent {i}"] for i in range(agents)]
        whole += all(one.best <= rank <= one.worst for one, rank in zip(ordered, ranks, strict=True))
        for one, rating in zip(ordered, truth, strict=True):
            low, high = one.rating.interval or (-np.inf, np.inf)
            single.append(low <= rating <= high)
            width.append(high - low)
    return whole / samples, float(np.mean(single)), float(np.mean(width))


def elo_noise(runs: int) -> tuple[np.ndarray, float]:
    """Return the deviation of each rating over runs of votes, and how often a pair is out of order."""
    true = np.array([strength for _, strength in PUBLISHED.values()])
    pairs, rng = np.array(list(combinations(range(true.size), 2))), np.random.default_rng(0)
    total = np.zeros((runs, true.size))
    for rounds in ROUNDS:
        first, second = np.tile(pairs, (rounds, 1)).T
        wins = rng.random((runs, first.size)) < 1 / (1 + 10 ** ((true[second] - true[first]) / 400))
        total += rounds * elo_runs(first, second, wins.astype(np.float64), true.size)
    ratings = total[:, np.argsort(-true)] / sum(ROUNDS)
    wrong = (np.diff(ratings, axis=1) > 0).any(axis=1).mean()
    return (total / sum(ROUNDS)).std(axis=0, ddof=1), float(wrong)


def saved(agents: int, seed: int, *, points: float, pool: int = 500) -> tuple[int, int]:
    """Return how many comparisons it takes until the ratings of the first three are known so well.

    Args:
        agents: In the contest.
        seed: Of it.
        points: How wide the widest interval of the three may be.
        pool: Dialogues that there are.

    Returns:
        With all pairs, dialogue by dialogue; and with those that tell most, asked 2 n at a time.
    """
    contest = Contest.of(agents, pool, seed)
    low, high = 6, pool
    while low < high:  # all pairs: the fewest dialogues, as intervals narrow with more
        middle = (low + high) // 2
        wide = widest(ranking_of(contest.everything(middle)))
        low, high = (low, middle) if wide is not None and wide <= points else (middle + 1, high)
    return low * agents * (agents - 1) // 2, _asked(Contest.of(agents, pool, seed), points, pool)[0]


def least(agents: int, seed: int, *, top: int = 3, steps: int = 1500) -> float:
    """Return the share of all pairs that any choice of pairs needs for the same intervals of the first.

    By the model, with strengths known beforehand: the optimal design by multiplicative steps, a yardstick for
    a schedule that has to learn them.
    """
    contest = Contest.of(agents, 1, seed)
    logits, (i, j) = contest.logits, np.triu_indices(agents, 1)
    won, lost = np.exp((logits[i] - logits[j]) / 2), np.exp((logits[j] - logits[i]) / 2)
    total = won + lost + contest.tie
    worth = (won + lost) / total / 4 - ((won - lost) / total / 2) ** 2
    apart = np.eye(agents)[i] - np.eye(agents)[j]
    asked = (np.eye(agents) - 1 / agents)[np.argsort(-logits)[:top]]
    share = np.full(i.size, 1 / i.size)
    widest_of = []
    for _ in range(steps):
        covariance = np.linalg.pinv((apart.T * (share * worth)) @ apart)
        own = np.einsum("ij,jk,ik->i", asked, covariance, asked)
        widest_of.append(own.max())
        share = share * np.sqrt(worth * (own[:, None] ** 8 * (asked @ covariance @ apart.T) ** 2).sum(axis=0))
        share /= share.sum()
    return float(min(widest_of) / widest_of[0])


def _asked(contest: Contest, points: float, pool: int) -> tuple[int, Ranking]:
    n = contest.logits.size
    asked = np.zeros((n, n), dtype=int)
    rows = np.empty((0, 4))
    pairs = list(combinations(range(n), 2))
    while True:
        batch = []
        for i, j in pairs:
            batch.append((i, j, (asked[i, j] + 7 * (i * n + j)) % pool))
            asked[i, j] = asked[j, i] = asked[i, j] + 1
        first, second, dialogue = np.array(batch).T
        score = contest.scores(first, second, dialogue)
        rows = np.concatenate([rows, np.stack([first, second, score, dialogue], axis=1)])
        board = _board(contest, rows)
        wide = widest(board)
        if wide is not None and wide <= points:
            return len(rows), board
        pairs = next_pairs(board.strengths, 2 * n, left=(pool - asked).astype(np.float64))


def _board(contest: Contest, rows: np.ndarray) -> Ranking:
    first, second, dialogue = rows[:, [0, 1, 3]].T.astype(int)
    return ranking_of(contest.votes(first, second, rows[:, 2], dialogue))


def _million() -> tuple[list[str], list[str], np.ndarray]:
    contest = Contest.of(200, 1, 0, shift=0)
    first = contest.rng.integers(200, size=1_000_000)
    second = (first + 1 + contest.rng.integers(199, size=first.size)) % 200
    score = contest.scores(first, second, np.zeros(first.size, dtype=int))
    names = [f"agent {i}" for i in range(200)]
    return [names[i] for i in first], [names[i] for i in second], score


def _seconds(works: dict[str, Callable[[], object]], times: int) -> dict[str, float]:
    """Return the least of each, measured in turns: what else the machine does only adds to it."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(times):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            taken[name].append(time.perf_counter() - start)
    return {name: min(seconds) for name, seconds in taken.items()}


def _speed(times: int) -> dict[str, float]:
    import evalica

    first, second, score = _million()
    winners = [
        {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}[s] for s in score.tolist()
    ]
    votes = votes_of(first, second, score)

    def draws() -> None:
        model = Davidson(votes)
        model.again(model.cells.drawn(1000, np.random.default_rng(0)))

    beside = {
        "evalica": lambda: evalica.bradley_terry(first, second, winners),
        "dialogauge": lambda: strengths(votes_of(first, second, score), ridge=0, ties="half"),
        "dialogauge, ties of their own": lambda: strengths(votes_of(first, second, score)),
    }
    once = {"leaderboard": lambda: ranking_of(votes_of(first, second, score)), "1,000 draws": draws}
    speed = _seconds(beside, times) | _seconds(once, 1)
    return speed | {"dialogauge / evalica": speed["dialogauge"] / speed["evalica"]}


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    speed = _speed(times)
    title = "1,000,000 votes among 200 agents, in seconds"
    print(table(title, ("what", "seconds"), list(speed.items())))
    deviation, wrong = elo_noise(1000)
    rows = [(name, *of, float(sd)) for (name, of), sd in zip(PUBLISHED.items(), deviation, strict=True)]
    title = f"Online Elo of three arenas: a pair is out of order in {wrong:.0%} of 1,000 runs"
    print(table(title, ("agent", "published", "strength", "deviation over runs"), rows))
    samples = 50 if quick else 400
    covered = {f"{n} agents, {d} dialogues": coverage(n, d, samples) for n, d in ((4, 10), (7, 30), (7, 100))}
    samples = 10 if quick else 40
    covered["8 agents, stopped at 150 points"] = coverage_of_schedule(8, samples, 150)
    rows = [(name, *of) for name, of in covered.items()]
    print(table("Coverage", ("contest", "all ranks", "rating", "width of a rating"), rows))
    seeds = range(5 if quick else 20)
    asked = {n: [saved(n, seed, points=80) for seed in seeds] for n in (7, 12)}
    for n, counts in asked.items():
        rows = [
            (seed, most, less, less / most, least(n, seed))
            for seed, (most, less) in zip(seeds, counts, strict=True)
        ]
        rows.append(("mean", *(float(np.mean(column)) for column in list(zip(*rows, strict=True))[1:])))
        title = f"Comparisons of {n} agents for intervals of the first three within 80 points"
        print(table(title, ("seed", "all pairs", "schedule", "share", "least share of any"), rows))
    return {"speed": speed, "elo": [deviation.tolist(), wrong], "coverage": covered, "saved": asked}
