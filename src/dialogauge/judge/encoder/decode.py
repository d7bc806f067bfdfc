"""From probabilities to a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialogauge.judge.encoder.settings import EncoderSettings

__all__ = ["Said", "said"]


@dataclass(frozen=True, slots=True)
class Said:
    """The score of one target."""

    score: int
    """The most probable class, the lowest of several; or 1 and one more for each step above the threshold."""
    value: float
    """The expected score."""


def said(probabilities: Sequence[float], settings: EncoderSettings) -> Said:
    """Decode five class probabilities, or those of the four steps where ordinal."""
    if settings.ordinal:
        steps = sum(p > settings.threshold for p in probabilities)
        return Said(1 + steps, 1 + sum(probabilities))
    best = max(range(len(probabilities)), key=lambda i: probabilities[i])
    expected = sum((i + 1) * p for i, p in enumerate(probabilities)) / sum(probabilities)
    return Said(best + 1, expected)
