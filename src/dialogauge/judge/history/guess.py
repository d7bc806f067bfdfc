"""The frame of all judges without a model: a rule that gives one guess for each target of a block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dialogauge.core import ONE_TO_FIVE, Judged, JudgeFailure, Judgement, Level, Scale, digest
from dialogauge.judge.personal import BlockView, Population, Reads, Reply

__all__ = ["DIMENSION", "Guess", "HistoryJudge", "NothingKnown", "Rule", "TurnDimension", "majority", "prior"]

DIMENSION = "satisfaction"
_VERSION = 1
"""Raised when a rule changes, so that stored judgements are not taken for new ones."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a rule says of one target."""

    score: int
    """1 to 5."""
    value: float
    """The same with its fraction, before rounding."""
    prior: bool = False
    """Whether it rests on other users alone, since this one has no history."""
    sources: tuple[tuple[str, float], ...] = ()
    """The history turns that it rests on, each with its cosine."""


class NothingKnown(LookupError):
    """Neither the user nor anybody else has rated anything: there is nothing to guess from."""


Rule = Callable[[BlockView, Population], Sequence[Guess]]


@dataclass(frozen=True, slots=True)
class TurnDimension:
    """The one dimension of these judges."""

    name: str = DIMENSION
    level: Level = "turn"
    scale: Scale = ONE_TO_FIVE


@dataclass(frozen=True, slots=True)
class HistoryJudge:
    """A rule under a name."""

    name: str
    rule: Rule
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Changes with the rule's name, settings and version."""
        return digest({"judge": self.name, "settings": dict(self.settings), "version": _VERSION})

    @property
    def reads(self) -> frozenset[Reads]:
        """Ratings, the user's own or those of others."""
        return frozenset({"history", "others"})

    def describe(self) -> Mapping[str, Any]:
        """Return the settings."""
        return {"kind": "history", "settings": dict(self.settings)}

    async def judge_block(self, view: BlockView, population: Population) -> tuple[Judged, ...]:
        """Judge the targets; all fail when nobody's ratings are known."""
        try:
            guesses = self.rule(view, population)
        except NothingKnown:
            failure = JudgeFailure("judge_error", "the user has no history, and no other user is known")
            return tuple(Judged(reply.target, failure) for reply in view.targets)
        return tuple(_judged(r, g) for r, g in zip(view.targets, guesses, strict=True))


def _judged(reply: Reply, guess: Guess) -> Judged:
    details: dict[str, Any] = {"turn_id": reply.id, DIMENSION: guess.value}
    if guess.prior:
        details["prior"] = True
    if guess.sources:
        details["sources"] = [{"turn_id": name, "cosine": round(cosine, 6)} for name, cosine in guess.sources]
    return Judged(reply.target, Judgement({DIMENSION: guess.score}, details=details))


def majority(scores: Sequence[float]) -> float:
    """Return the most frequent score, the lowest of several: no reward for optimism.

    Raises:
        NothingKnown: There is none.
    """
    if not scores:
        raise NothingKnown
    counts = Counter(scores)
    most = max(counts.values())
    return min(score for score, n in counts.items() if n == most)


def prior(population: Population) -> float:
    """Return the mean score of the training users; NothingKnown when there is none."""
    scores = population.scores
    if not scores:
        raise NothingKnown
    return sum(scores) / len(scores)
