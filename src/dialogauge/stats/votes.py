"""Votes between two agents each: kept once, tallied once, and drawn or left out by whole clusters.

A vote is what one comparison said: 1 for the first agent, 0 for the second, .5 for a tie. A comparison that
was asked and gave no verdict is no vote. All that a ranking needs of a million votes are the counts of wins,
losses and ties in the cells of `VoteCells`: a cell is a pair of agents, and where lengths count one length.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from dialogauge.stats.estimate import parts_of
from dialogauge.stats.table import Codes, Floats, label_codes, row_codes

_OUTCOMES: Final = 3
"""Lost, tied, won."""


@dataclass(frozen=True, eq=False)
class Votes:
    """m votes among n agents; made by `votes_of`."""

    agents: tuple[str, ...]
    """Shape (n,), each once."""
    first: Codes
    """Shape (m,), the place among the agents of the one that was named first."""
    second: Codes
    score: Floats
    """Shape (m,), what the first got: 1, .5 or 0."""
    clusters: Codes
    """Shape (m,), from 0: votes that go together, as those on one dialogue."""
    unit: str = "votes"
    """What a cluster is, as messages say it."""
    longer: Floats | None = None
    """Shape (m,), in [-1, 1]: how much longer the first was, (a - b) / (a + b); None where lengths do not
    count."""

    @property
    def m(self) -> int:
        """Votes."""
        return self.first.size

    @property
    def cluster_count(self) -> int:
        """Clusters; each holds a vote."""
        return int(self.clusters.max(initial=-1)) + 1

    @cached_property
    def code(self) -> Codes:
        """Shape (m,): 3 (n first + second) + what the first got, twice: 0, 1 or 2."""
        return (self.first * len(self.agents) + self.second) * _OUTCOMES + (2 * self.score).astype(np.intp)

    @cached_property
    def outcomes(self) -> Floats:
        """Shape (n, n, 3): how often the agent of the row, named before the other, lost, tied, won."""
        n = len(self.agents)
        return np.bincount(self.code, minlength=n * n * _OUTCOMES).reshape(n, n, _OUTCOMES).astype(np.float64)

    @cached_property
    def wins(self) -> Floats:
        """Shape (n, n): how often the agent of the row won against that of the column."""
        return self.outcomes[:, :, 2] + self.outcomes[:, :, 0].T

    @cached_property
    def ties(self) -> Floats:
        """Shape (n, n), symmetric."""
        return self.outcomes[:, :, 1] + self.outcomes[:, :, 1].T

    @cached_property
    def counts(self) -> Floats:
        """Shape (n, 4): votes, wins, losses and ties of each agent."""
        won, lost, tied = self.wins.sum(axis=1), self.wins.sum(axis=0), self.ties.sum(axis=1)
        return np.stack([won + lost + tied, won, lost, tied], axis=1)

    @cached_property
    def components(self) -> Codes:
        """Shape (n,): agents of one number are linked by votes, directly or through others."""
        return label_codes(_reached(self.wins + self.wins.T + self.ties > 0).argmax(axis=1).tolist())[0]

    @cached_property
    def bounded(self) -> bool:
        """Whether strengths are finite without a penalty: in no group of agents did all win against others.

        Source: Ford (1957).
        """
        beat = self.wins + self.ties > 0
        return bool(np.array_equal(_reached(beat) & _reached(beat.T), _reached(beat | beat.T)))


def votes_of(
    first: Sequence[str],
    second: Sequence[str],
    score: Sequence[float] | Floats,
    *,
    clusters: tuple[Sequence[Hashable], str] | None = None,
    lengths: tuple[Sequence[float] | Floats, Sequence[float] | Floats] | None = None,
    agents: Sequence[str] = (),
) -> Votes:
    """Put votes together.

    Args:
        first: Shape (m,), names.
        second: Shape (m,), names.
        score: Shape (m,), what the first got: 1, .5 for a tie, 0.
        clusters: Labels of what votes go together by, shape (m,), and what a cluster is, as `cluster_labels`
            gives them; None where each vote stands for itself.
        lengths: Of what the first and what the second said, shape (m,) each, where lengths count.
        agents: Names in the order wanted, also of agents without a vote; others follow as they come.

    Raises:
        ValueError: Lengths differ, a score is another number, or an agent stands against itself.
    """
    values = np.asarray(score, dtype=np.float64)
    place = _Numbered({name: i for i, name in enumerate(dict.fromkeys(agents))})
    a, b = (np.fromiter(map(place.__getitem__, names), np.intp, len(names)) for names in (first, second))
    groups = np.arange(values.size) if clusters is None else label_codes(clusters[0])[0]
    if not a.shape == b.shape == values.shape == groups.shape:
        message = f"columns of different length: {a.size}, {b.size}, {values.size} and {groups.size}"
        raise ValueError(message)
    if not ((values == 1) | (values == 0) | (values == 0.5)).all():
        message = "a vote is 1, .5 or 0: leave out what gave no verdict"
        raise ValueError(message)
    if (a == b).any():
        message = f"{first[int(np.flatnonzero(a == b)[0])]} stands against itself"
        raise ValueError(message)
    return Votes(tuple(place), a, b, values, groups, clusters[1] if clusters else "votes", _longer(lengths))


class _Numbered(dict[str, int]):
    """Numbers names as they come: a million votes are read once."""

    def __missing__(self, name: str) -> int:
        place = self[name] = len(self)
        return place


def _longer(lengths: tuple[Sequence[float] | Floats, Sequence[float] | Floats] | None) -> Floats | None:
    if lengths is None:
        return None
    one, other = (np.asarray(column, dtype=np.float64) for column in lengths)
    total = one + other
    return np.divide(one - other, total, out=np.zeros(total.shape), where=total > 0)


@dataclass(frozen=True, eq=False)
class VoteCells:
    """The cells that votes are counted in: pairs of agents, and where lengths count, of one length each."""

    votes: Votes

    @cached_property
    def _of_votes(self) -> tuple[Codes, Codes, Floats | None, Codes | None]:
        """The agents of the cells, their lengths, and where lengths count the code of each vote."""
        n, votes = len(self.votes.agents), self.votes
        if votes.longer is None:
            met = votes.outcomes.sum(axis=2)
            left, right = np.nonzero(np.triu(met + met.T))
            return left, right, None, None
        swapped = votes.first > votes.second
        pair = np.where(swapped, votes.second * n + votes.first, votes.first * n + votes.second)
        cell, at = row_codes([pair.astype(np.float64), np.where(swapped, -votes.longer, votes.longer)])
        longer = np.where(swapped, -votes.longer, votes.longer)[at]
        won = np.where(swapped, 2 - 2 * votes.score, 2 * votes.score).astype(np.intp)
        return pair[at] // n, pair[at] % n, longer, cell * _OUTCOMES + won

    @property
    def left(self) -> Codes:
        """Shape (cells,), the agent with the lower number."""
        return self._of_votes[0]

    @property
    def right(self) -> Codes:
        """Shape (cells,), the other."""
        return self._of_votes[1]

    @property
    def longer(self) -> Floats | None:
        """Shape (cells,), how much longer the left one was; None where lengths do not count."""
        return self._of_votes[2]

    @cached_property
    def counts(self) -> Floats:
        """Shape (cells, 3): how often the left agent lost, tied, won."""
        code = self._of_votes[3]
        if code is not None:
            return self._counted(code, None)
        forth, back = (
            self.votes.outcomes[ends] for ends in ((self.left, self.right), (self.right, self.left))
        )
        return forth + back[:, ::-1]

    @cached_property
    def _entries(self) -> tuple[Codes, Codes, Floats | None]:
        """Code and cluster of votes of one cluster that are alike, and how many; None where each is one."""
        votes, code = self.votes, self._of_votes[3]
        if code is None:
            n, size = len(votes.agents), self.left.size * _OUTCOMES
            folded = np.zeros((n, n, _OUTCOMES), dtype=np.intp)
            folded[self.left, self.right] = np.arange(size).reshape(-1, _OUTCOMES)
            folded[self.right, self.left] = folded[self.left, self.right][:, ::-1]
            code = folded.ravel()[votes.code]
        if votes.cluster_count == votes.m:
            return code, votes.clusters, None
        kinds = self.left.size * _OUTCOMES
        entries, times = np.unique(votes.clusters * kinds + code, return_counts=True)
        return entries % kinds, entries // kinds, times.astype(np.float64)

    def without(self) -> Iterator[Floats]:
        """Yield the counts with each part of the clusters left out, as the house leaves them out."""
        code, cluster, times = self._entries
        part = parts_of(self.votes.cluster_count)[cluster]
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[order], np.arange(part.max(initial=-1) + 2))
        for start, end in pairwise(ends.tolist()):
            mine = order[start:end]
            yield self.counts - self._counted(code[mine], None if times is None else times[mine])

    def drawn(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield the counts of as many clusters as there are, drawn with replacement.

        Where no cluster holds two votes, votes are drawn by their counts, which is the same and much faster.
        """
        flat, clusters = self.counts.ravel(), self.votes.cluster_count
        for _ in range(draws):
            if clusters == self.votes.m:
                yield rng.multinomial(clusters, flat / flat.sum()).reshape(-1, _OUTCOMES).astype(np.float64)
            else:
                often = np.bincount(rng.integers(clusters, size=clusters), minlength=clusters)
                yield from self.weighted(often[None].astype(np.float64))

    def weighted(self, weights: Floats) -> Iterator[Floats]:
        """Yield the counts with each cluster counted so often, shape (draws, clusters)."""
        code, cluster, times = self._entries
        for often in weights:
            yield self._counted(code, often[cluster] * (1.0 if times is None else times))

    def _counted(self, code: Codes, weight: Floats | None) -> Floats:
        size = self.left.size * _OUTCOMES
        counts = np.bincount(code, weights=weight, minlength=size).reshape(-1, _OUTCOMES)
        return counts.astype(np.float64)


def _reached(steps: np.ndarray) -> np.ndarray:
    """Return which agents can be reached from which by steps, itself included. Shape (n, n), booleans."""
    reached = steps | np.eye(len(steps), dtype=bool)
    for way in range(len(steps)):  # Warshall (1962)
        reached |= reached[:, way, None] & reached[way]
    return reached
