"""What another judge said of the replies, as one more number of each; a missing score stays missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import digest
from dialogauge.judge.personal import RatedReply, Reply

__all__ = ["Signal", "SignalColumns", "columns_of_signal"]

_WEIGHT: Final = 0.25
"""Variance of the weight that all users give a signal, in units of the variance of the ratings."""
_ALIKE: Final = 1e-6
"""A deviation up to which scores are all alike."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Signal:
    """The scores of a judge that reads no rating."""

    name: str
    """What it is called where something is said of it."""
    scores: Mapping[str, float]
    """By the reply's id; a reply without a score is not in it."""

    @property
    def digest(self) -> str:
        """Changes with the scores."""
        return digest(dict(self.scores))


@dataclass(frozen=True, slots=True)
class SignalColumns:
    """How the scores of a signal become numbers."""

    signal: Signal
    centre: float
    """Mean score of the training users' replies: what a missing one counts as."""
    spread: float
    """Their deviation, above 0."""
    ends: tuple[float, float]
    """The lowest and the highest of them; a score beyond counts as at them."""

    def of(self, replies: Sequence[Reply]) -> Floats:
        """Return for each reply its score in deviations and whether it is missing, shape (replies, 2).

        Both have the prior deviation of their weights in them.
        """
        found = np.array([self.signal.scores.get(r.id, np.nan) for r in replies], dtype=np.float64)
        missing = np.isnan(found)
        told = (np.clip(found, *self.ends) - self.centre) / self.spread
        out: Floats = np.column_stack([np.where(missing, 0.0, told), missing]) * np.sqrt(_WEIGHT)
        return out

    def points(self, weight: float, spread: float) -> float:
        """Return by how many points the expected rating moves with one point of the signal.

        Args:
            weight: Of the first of the two numbers.
            spread: Deviation of the ratings.
        """
        return weight * float(np.sqrt(_WEIGHT)) * spread / self.spread


def columns_of_signal(signal: Signal, known: Sequence[RatedReply]) -> SignalColumns | None:
    """Take mean, deviation and ends from the training users' replies.

    Returns:
        None where they have no scores, or such as do not differ: nothing can be learnt of the signal.
    """
    held = [signal.scores[r.reply.id] for r in known if r.reply.id in signal.scores]
    spread = float(np.std(held)) if held else 0.0
    if spread <= _ALIKE:
        return None
    return SignalColumns(signal, float(np.mean(held)), spread, (min(held), max(held)))
