"""How a user uses the scale: counted by us from the whole history, never taken from what a model says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dialogauge.calibrate import ScoreHistory
from dialogauge.judge.user_memory.faults import MemoryFault

__all__ = ["LowEvidence", "ScoreScale", "Strictness"]

Strictness = Literal["lenient", "moderate", "strict", "very_strict"]
LowEvidence = Literal["none", "sparse", "moderate", "rich"]

_LEVELS = range(1, 6)
SATISFIED = 4
"""From this score on a user is satisfied."""


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Score counts, mean, and what can be said from them alone."""

    counts: tuple[int, ...]
    """How often each score from 1 to 5 was given; a fraction counts as the score next to it."""
    mean: float | None
    """None without a score."""

    @classmethod
    def of(cls, scores: Sequence[float]) -> ScoreScale:
        """Count the scores of a history."""
        counted = ScoreHistory.of(scores)
        return cls(counted.counts, counted.mean)

    @property
    def turns(self) -> int:
        """Rated turns."""
        return sum(self.counts)

    def given(self, score: int) -> int:
        """Return how often a score was given."""
        return self.counts[score - 1]

    @property
    def satisfied_share(self) -> float | None:
        """The share of scores of 4 and 5; None without a score."""
        return None if not self.turns else sum(self.counts[SATISFIED - 1 :]) / self.turns

    @property
    def strictness(self) -> Strictness | None:
        """The published bands of the mean: from 4.4 lenient, from 4.0 moderate, from 3.6 strict."""
        if self.mean is None:
            return None
        bands: tuple[tuple[float, Strictness], ...] = ((4.4, "lenient"), (4.0, "moderate"), (3.6, "strict"))
        return next((name for least, name in bands if self.mean >= least), "very_strict")

    @property
    def compares_three_four(self) -> bool:
        """Whether there are turns on both sides of the boundary between dissatisfied and satisfied."""
        return any(self.counts[: SATISFIED - 1]) and any(self.counts[SATISFIED - 1 :])

    @property
    def compares_four_five(self) -> bool:
        """Whether both 4 and 5 were given."""
        return self.given(4) > 0 and self.given(5) > 0

    @property
    def low_evidence(self) -> LowEvidence:
        """How many turns show dissatisfaction, in the published bands: none, up to 3, up to 8, more."""
        low = sum(self.counts[: SATISFIED - 1])
        return "none" if low == 0 else "sparse" if low <= 3 else "moderate" if low <= 8 else "rich"

    def to_json(self) -> dict[str, Any]:
        """Write counts and mean."""
        return {"counts": {str(s): self.given(s) for s in _LEVELS}, "mean": self.mean}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ScoreScale:
        """Read what `to_json` wrote; MemoryFault where it cannot be the scale of any history."""
        held = value.get("counts")
        if not isinstance(held, Mapping) or set(held) != {str(s) for s in _LEVELS}:
            msg = "scale.counts: expected one count for each score from 1 to 5"
            raise MemoryFault(msg)
        counts = tuple(held[str(s)] for s in _LEVELS)
        if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts):
            msg = f"scale.counts: expected whole numbers of 0 or more, found {list(counts)}"
            raise MemoryFault(msg)
        return cls(counts, _mean(value.get("mean"), counts))


def _mean(mean: object, counts: tuple[int, ...]) -> float | None:
    if not any(counts):
        if mean is not None:
            msg = f"scale.mean: {mean!r}, but no score is counted"
            raise MemoryFault(msg)
        return None
    given = [s for s, n in zip(_LEVELS, counts, strict=True) if n]
    if isinstance(mean, bool) or not isinstance(mean, int | float):
        msg = f"scale.mean: expected a number, found {mean!r}"
        raise MemoryFault(msg)
    # A score with a fraction is counted as the whole one next to it, so the mean may lie half a point off.
    if not max(1.0, min(given) - 0.5) <= mean <= min(5.0, max(given) + 0.5):
        msg = f"scale.mean: {mean:g} is not the mean of scores from {min(given)} to {max(given)}"
        raise MemoryFault(msg)
    return float(mean)
