"""Choices between two, turned so that who stood where no longer matters: for agreement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from dialogauge.core import PairRating

Outcome = Literal[-1, 0, 1]
"""-1: the first won; 0: a tie; 1: the second won."""
_OUTCOMES: Final[dict[str, Outcome]] = {"a": -1, "tie": 0, "b": 1}
PREFERENCE: Final = "preference"
"""The dimension of choices that name none."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One choice between two; `first` is the one whose name comes first, wherever it was shown."""

    first: str
    second: str
    outcome: Outcome
    first_shown: bool
    """Whether `first` was the one that was shown first, as `a`."""
    rater: str | None = None
    conversation_id: str | None = None
    turn: int | None = None
    dimension: str = PREFERENCE

    @property
    def position(self) -> Outcome:
        """What somebody would choose who always takes the one that is shown first."""
        return -1 if self.first_shown else 1


def votes_in(pairs: Iterable[PairRating]) -> Iterator[Vote]:
    """Yield the votes of the pairs of rating files (`RatingTable.pairs`), in order.

    A pair with `a` and `b` swapped, and the winner with them, is the same vote but for `first_shown`.
    """
    for pair in pairs:
        straight = pair.a <= pair.b
        outcome = _OUTCOMES[pair.winner]
        yield Vote(
            *((pair.a, pair.b) if straight else (pair.b, pair.a)),
            outcome if straight else _turned(outcome),
            straight == (pair.shown_first == "a"),
            pair.rater,
            pair.conversation_id,
            pair.turn,
            pair.dimension or PREFERENCE,
        )


def _turned(outcome: Outcome) -> Outcome:
    return _OUTCOMES["b" if outcome == -1 else "a" if outcome == 1 else "tie"]
