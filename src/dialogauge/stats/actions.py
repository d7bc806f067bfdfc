"""What users click, by how satisfied they are: the action model of MemoryBench (A.2.3), as pure functions.

The probability of a like rises with the score, that of a dislike falls: P(L|S) = c_L s(k (S - 7.5)) and
P(D|S) = c_D s(-k (S - 4.5)), s the logistic function (equations 1 and 2). c_L and c_D are such that likes and
dislikes are as frequent as was asked for, over the scores that there are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from dialogauge.core import UsageError

Action = Literal["like", "dislike", "copy"]
LIKE_RATE: Final = 0.0559
"""Of 6.5 % of users who click, 86 % like (A.2.3)."""
DISLIKE_RATE: Final = 0.0091
STEEPNESS: Final = 1.5
MIDDLE: Final = (7.5, 4.5)
"""The scores at which likes and dislikes are half as frequent as they can be."""
COPIES: Final = 4.0
"""Copies for a like, of long outputs."""
LLM_SCORES: Final[Mapping[int, float]] = {
    1: 0.0002, 2: 0.0093, 3: 0.0306, 4: 0.0193, 5: 0.0040,
    6: 0.0256, 7: 0.1750, 8: 0.3212, 9: 0.4105, 10: 0.0043,
}  # fmt: skip
"""Score -> its share: Table 3 of MemoryBench."""


@dataclass(frozen=True, slots=True)
class ActionChances:
    """How likely each action is at one score, from 0 to 1."""

    score: int
    like: float
    dislike: float

    @property
    def nothing(self) -> float:
        """The chance that the user clicks neither."""
        return 1.0 - self.like - self.dislike

    def copy(self, *, long: bool) -> float:
        """The chance that a long output is copied, beside the other actions; of short ones 0."""
        return min(1.0, COPIES * self.like) if long else 0.0

    def draw(self, chance: Random, *, long: bool) -> tuple[Action, ...]:
        """Draw what a user does: a like, a dislike or neither, and apart from that a copy."""
        clicked, copied = chance.random(), chance.random()
        out: list[Action] = []
        if clicked < self.like:
            out.append("like")
        elif clicked < self.like + self.dislike:
            out.append("dislike")
        return (*out, "copy") if copied < self.copy(long=long) else tuple(out)


@dataclass(frozen=True, slots=True)
class ActionModel:
    """A calibrated model: chances by score."""

    like_scale: float
    """c_L; of the model of two scores P(L) / P(S = upper)."""
    dislike_scale: float
    """c_D."""
    table: Mapping[int, ActionChances]
    """By score."""

    def at(self, score: int) -> ActionChances:
        """Return the chances at a score.

        Raises UsageError for a score that the model does not have.
        """
        if score not in self.table:
            msg = f"the action model has no score {score}"
            raise UsageError(msg, hint=f"scores are {min(self.table)} to {max(self.table)}")
        return self.table[score]


def calibrate(
    distribution: Mapping[int, float] = LLM_SCORES,
    targets: tuple[float, float] = (LIKE_RATE, DISLIKE_RATE),
    k: float = STEEPNESS,
    middle: tuple[float, float] = MIDDLE,
) -> ActionModel:
    """Return the model in which likes and dislikes are as frequent as asked for.

    Args:
        distribution: Score from 1 to 10 -> its share; shares are brought to a sum of 1 where they differ
            from it by more than rounding.
        targets: The shares of turns that are liked and disliked.
        k: Steepness of both curves, above 0.
        middle: Their middles: of likes, and of dislikes.

    Raises UsageError for shares that are none, and for targets that no scale reaches.
    """
    shares = shares_of(distribution)
    scores = range(1, 11)
    rises = {s: _logistic(k * (s - middle[0])) for s in scores}
    falls = {s: _logistic(-k * (s - middle[1])) for s in scores}
    like = _scale("likes", targets[0], sum(shares.get(s, 0.0) * rises[s] for s in scores))
    dislike = _scale("dislikes", targets[1], sum(shares.get(s, 0.0) * falls[s] for s in scores))
    chances = {s: ActionChances(s, like * rises[s], dislike * falls[s]) for s in scores}
    return _model(like, dislike, chances)


def calibrate_two(
    distribution: Mapping[int, float],
    targets: tuple[float, float] = (LIKE_RATE, DISLIKE_RATE),
    scores: tuple[int, int] = (9, 3),
) -> ActionModel:
    """Return the model of two scores (DialSim): right answers are liked, wrong ones disliked.

    P(L | right) = P(L) / P(right) and P(D | wrong) = P(D) / P(wrong). The published 9.9 % and 2.1 % come of
    P(9) = .565 and P(3) = .433, not of Table 3.

    Args:
        distribution: Score -> its share; both scores are to occur.
        targets: As `calibrate` takes them.
        scores: Of a right answer, and of a wrong one.

    Raises UsageError as `calibrate` does, and where one of the scores has no share.
    """
    shares = shares_of(distribution)
    like = _scale("likes", targets[0], shares.get(scores[0], 0.0))
    dislike = _scale("dislikes", targets[1], shares.get(scores[1], 0.0))
    right, wrong = scores
    return _model(
        like, dislike, {right: ActionChances(right, like, 0.0), wrong: ActionChances(wrong, 0.0, dislike)}
    )


def distribution_of(scores: Sequence[int]) -> dict[int, float]:
    """Return the share of each score that occurs; UsageError where there are none."""
    if not scores:
        msg = "no scores"
        raise UsageError(msg, hint="give at least one score from 1 to 10")
    return {s: scores.count(s) / len(scores) for s in sorted(set(scores))}


def shares_of(distribution: Mapping[int, float]) -> dict[int, float]:
    """Return shares of scores brought to a sum of 1, as `calibrate` takes them; it raises as that does."""
    wrong = [s for s, share in distribution.items() if s not in range(1, 11) or not share >= 0.0]
    total = sum(distribution.values())
    if wrong or not total > 0.0 or math.isinf(total):
        msg = f"shares of scores: {dict(distribution)}"
        raise UsageError(msg, hint="give a share of at least 0 for scores from 1 to 10, not all 0")
    rounded = abs(total - 1.0) <= 0.005
    return {s: share if rounded else share / total for s, share in distribution.items()}


def _scale(what: str, target: float, reached: float) -> float:
    if not 0.0 <= target <= 1.0:
        msg = f"{target} of {what}"
        raise UsageError(msg, hint="a target is a share from 0 to 1")
    if target > reached:
        msg = f"{target:.2%} of {what} cannot be reached: these scores give {reached:.2%} at most"
        raise UsageError(msg, hint="lower the target, or give scores at which users click")
    return target / reached if target else 0.0


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(min(-x, 700.0)))  # beyond that there is no number


def _model(like: float, dislike: float, chances: Mapping[int, ActionChances]) -> ActionModel:
    if over := [s for s, c in chances.items() if c.like + c.dislike > 1.0]:
        msg = f"at the score {over[0]} likes and dislikes come to more than 1"
        raise UsageError(msg, hint="lower the targets, or put the middles further apart")
    return ActionModel(like, dislike, chances)
