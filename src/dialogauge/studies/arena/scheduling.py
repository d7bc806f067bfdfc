"""The adaptive schedule of an arena: asks what tells most, until enough is known or the budget is spent."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dialogauge.stats import RIDGE, Ranking, Strengths, TieRule, next_pairs, ranking_of, votes_of, widest
from dialogauge.studies.arena.meetings import SCORE, Meeting, Side

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long is asked."""

    budget: int | None = None
    """Meetings at most."""
    until: float | None = None
    """Points within which the ratings of the first three are to be known."""
    ties: TieRule = "davidson"

    def batch(self, agents: int) -> int:
        """Return how many meetings are chosen by the same votes."""
        return 2 * agents

    def meetings(
        self, everything: Sequence[Meeting], names: Sequence[str], votes: Mapping[Meeting, Side | None]
    ) -> Iterator[Meeting]:
        """Yield meetings to ask: first each pair once, then as `next_pairs` chooses.

        Args:
            everything: That could be asked.
            names: Of the agents.
            votes: What has been said so far; it grows while this runs.
        """
        waiting = _by_pair(everything, names)
        asked: list[tuple[Pair, Meeting]] = []
        pairs = [pair for pair in combinations(range(len(names)), 2) if waiting.get(pair)]
        while pairs:
            for pair in pairs:
                if self.budget is not None and len(asked) >= self.budget:
                    return
                asked.append((pair, waiting[pair].popleft()))
                yield asked[-1][1]
            ranking = self._ranking(names, votes)
            wide = None if ranking is None else widest(ranking)
            if self.until is not None and wide is not None and wide <= self.until:
                return
            pairs = self._next(names, ranking, waiting, [p for p, meeting in asked if meeting not in votes])

    def _ranking(self, names: Sequence[str], votes: Mapping[Meeting, Side | None]) -> Ranking | None:
        known = [(one, winner) for one, winner in votes.items() if winner is not None]
        if not known:
            return None
        score = [SCORE[winner] for _, winner in known]
        labels = [one.dialogue for one, _ in known], "dialogues"
        sides = [one.a for one, _ in known], [one.b for one, _ in known]
        return ranking_of(votes_of(*sides, score, clusters=labels, agents=names), ties=self.ties)

    def _next(
        self,
        names: Sequence[str],
        ranking: Ranking | None,
        waiting: Mapping[Pair, deque[Meeting]],
        under_way: Sequence[Pair],
    ) -> list[Pair]:
        n = len(names)
        nothing = Strengths(np.zeros(n), None, None, RIDGE * np.eye(n))
        left = np.zeros((n, n))
        for (i, j), meetings in waiting.items():
            left[i, j] = left[j, i] = len(meetings)
        fitted = nothing if ranking is None else ranking.strengths
        return next_pairs(fitted, self.batch(n), left=left, under_way=under_way)


def _by_pair(everything: Sequence[Meeting], names: Sequence[str]) -> dict[Pair, deque[Meeting]]:
    """Sort meetings by their agents; each pair begins with another dialogue, so that many are heard."""
    place = {name: i for i, name in enumerate(names)}
    out: dict[Pair, deque[Meeting]] = {}
    for meeting in everything:
        i, j = sorted((place[meeting.a], place[meeting.b]))
        out.setdefault((i, j), deque()).append(meeting)
    for number, meetings in enumerate(out.values()):
        meetings.rotate(-(7 * number) % max(len(meetings), 1))
    return out
