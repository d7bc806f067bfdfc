"""How satisfaction goes along a conversation: stability, and recovery after a dissatisfied turn.

Source: PersTurnBench's analysis of ratings. *Stability* is the share of conversations all of whose rated
turns are satisfied; *recovery* the share of satisfied turns right after a dissatisfied one. Both are taken
of what users gave and of what the judge says, so that one can see whether the judge tells the same story.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dialogauge.bench.satisfaction.answers import Answer
from dialogauge.bench.satisfaction.boundary import BOUNDARY
from dialogauge.bench.satisfaction.figures import Figures, Scored, figures_of
from dialogauge.bench.satisfaction.shares import Share, mean_by_user

__all__ = ["Behaviour", "behaviour_of"]

Turn = tuple[Answer, float]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Stability and recovery, of users and of the judge on the same turns."""

    stability: Mapping[str, Share]
    """`people`, `judge`: of conversations."""
    recovery: Mapping[str, Share]
    """`people`: right after a turn at which the user was dissatisfied. `judge_there`: the judge at these
    same turns. `judge`: right after a turn that the judge itself takes for dissatisfied."""
    after_dissatisfaction: Figures
    """Of the turns right after one at which the user was dissatisfied."""

    def to_json(self) -> dict[str, object]:
        """Write all of it."""
        return {
            "stability": {name: s.to_json() for name, s in self.stability.items()},
            "recovery": {name: s.to_json() for name, s in self.recovery.items()},
            "after_dissatisfaction": self.after_dissatisfaction.to_json(),
        }


def behaviour_of(
    answers: Sequence[Answer], scores: Sequence[float], *, draws: int = 1000, seed: int = 0
) -> Behaviour:
    """Follow users and judge along the conversations.

    Args:
        answers: The targets that the judge scored.
        scores: What it said of each, as rows show it.
        draws: Bootstrap draws of users; 0 leaves the intervals out.
        seed: Of the draws.
    """
    sessions: dict[str, list[Turn]] = defaultdict(list)
    for answer, score in zip(answers, scores, strict=True):
        sessions[answer.session].append((answer, score))
    for turns in sessions.values():
        turns.sort(key=lambda turn: turn[0].position)
    follows = [
        (before, after)
        for turns in sessions.values()
        for before, after in pairwise(turns)
        if after[0].position == before[0].position + 1
    ]
    upset = [after for before, after in follows if before[0].gold < BOUNDARY]
    said = [after for before, after in follows if before[1] < BOUNDARY]

    def share(cases: Sequence[tuple[str, bool]]) -> Share:
        return mean_by_user([(user, float(held)) for user, held in cases], draws=draws, seed=seed)

    return Behaviour(
        {
            "people": share(
                [(t[0][0].user, all(a.gold >= BOUNDARY for a, _ in t)) for t in sessions.values()]
            ),
            "judge": share([(t[0][0].user, all(s >= BOUNDARY for _, s in t)) for t in sessions.values()]),
        },
        {
            "people": share([(a.user, a.gold >= BOUNDARY) for a, _ in upset]),
            "judge_there": share([(a.user, s >= BOUNDARY) for a, s in upset]),
            "judge": share([(a.user, s >= BOUNDARY) for a, s in said]),
        },
        figures_of([Scored(a.user, a.block, a.gold, s) for a, s in upset], draws=draws, seed=seed),
    )
