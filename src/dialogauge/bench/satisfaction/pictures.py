"""What the charts of a run are drawn from: confusion matrix, reliability, and a point for each user."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from dialogauge.bench.satisfaction.answers import Answer
from dialogauge.bench.satisfaction.shares import Share, mean_by_user
from dialogauge.metrics import pearson

__all__ = ["Pictures", "ReliabilityBin", "UserPoint", "pictures_of"]

_BINS = 10
_MIN_TURNS = 3
LEVELS = (1, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The turns that the judge gave about the same score."""

    said: float
    """The judge's mean."""
    people: Share
    """People's mean."""

    def to_json(self) -> dict[str, object]:
        """Write the bin."""
        return {"judge": self.said, "people": self.people.to_json()}


@dataclass(frozen=True, slots=True)
class UserPoint:
    """One user, over all turns that the judge scored."""

    user: str
    n: int
    gold: float
    """The user's mean."""
    said: float
    """The judge's mean."""
    history: float | None
    """The mean of the user's histories, weighted by target turns."""
    pearson: float | None
    """Undefined below 3 turns or where one side does not vary."""
    mae: float


@dataclass(frozen=True, slots=True)
class Pictures:
    """The data of the charts."""

    confusion: tuple[tuple[int, ...], ...]
    """Rows: the judge's whole score 1 to 5. Columns: the user's, fractions rounded half to even."""
    reliability: tuple[ReliabilityBin, ...]
    """By the judge's score, ascending: each of its values, or ten equal parts where there are more."""
    users: tuple[UserPoint, ...]

    def to_json(self) -> dict[str, object]:
        """Write the data."""
        return {
            "confusion": [list(row) for row in self.confusion],
            "reliability": [b.to_json() for b in self.reliability],
            "users": [asdict(u) for u in self.users],
        }


def pictures_of(
    answers: Sequence[Answer],
    scores: Sequence[int],
    values: Sequence[float],
    means: Mapping[str, float],
    *,
    draws: int = 1000,
    seed: int = 0,
) -> Pictures:
    """Gather what the charts show.

    Args:
        answers: The targets that the judge scored.
        scores: Its whole scores.
        values: The same with fractions.
        means: By block the mean of the user's history.
        draws: Bootstrap draws of users; 0 leaves the intervals out.
        seed: Of the draws.
    """
    pairs = Counter((s, int(np.clip(np.rint(a.gold), 1, 5))) for a, s in zip(answers, scores, strict=True))
    return Pictures(
        tuple(tuple(pairs[said, gold] for gold in LEVELS) for said in LEVELS),
        tuple(
            ReliabilityBin(
                float(np.mean([values[i] for i in held])),
                mean_by_user([(answers[i].user, answers[i].gold) for i in held], draws=draws, seed=seed),
            )
            for held in _bins(values)
        ),
        _users(answers, scores, means),
    )


def _bins(values: Sequence[float]) -> list[list[int]]:
    """Return the indices of each bin; equal values are never parted."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    levels: dict[float, list[int]] = defaultdict(list)
    for i in order:
        levels[values[i]].append(i)
    if len(levels) <= _BINS:
        return list(levels.values())
    bins: dict[int, list[int]] = defaultdict(list)
    passed = 0
    for held in levels.values():
        bins[min(_BINS - 1, int((passed + len(held) / 2) * _BINS / len(values)))] += held
        passed += len(held)
    return list(bins.values())


def _users(
    answers: Sequence[Answer], scores: Sequence[int], means: Mapping[str, float]
) -> tuple[UserPoint, ...]:
    of: dict[str, list[int]] = defaultdict(list)
    for i, answer in enumerate(answers):
        of[answer.user].append(i)
    out = []
    for user, held in of.items():
        gold = np.array([answers[i].gold for i in held])
        said = np.array([scores[i] for i in held], dtype=np.float64)
        past = [means[answers[i].block] for i in held if answers[i].block in means]
        out.append(
            UserPoint(
                user,
                len(held),
                float(gold.mean()),
                float(said.mean()),
                float(np.mean(past)) if past else None,
                pearson(said, gold).value if len(held) >= _MIN_TURNS else None,
                float(np.abs(gold - said).mean()),
            )
        )
    return tuple(out)
