"""How a user has rated before: the one thing that a calibration is fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from dialogauge.calibrate.rounding import half_up
from dialogauge.core import ONE_TO_FIVE, Scale

__all__ = ["ScoreHistory"]


@dataclass(frozen=True, slots=True)
class ScoreHistory:
    """The scores of a history, counted by us and never taken from what a model says of them."""

    counts: tuple[int, ...]
    """How often each score of the scale was given, the lowest first."""
    mean: float | None
    """None when there is no score."""
    turns: int
    """Rated turns of the whole history; more than the sum of the counts where a part of it is used."""
    scale: Scale = ONE_TO_FIVE

    @classmethod
    def of(
        cls, scores: Sequence[float], *, turns: int | None = None, scale: Scale = ONE_TO_FIVE
    ) -> ScoreHistory:
        """Count scores; a score with a fraction counts as the whole one next to it, halves upward."""
        whole = [half_up(s, scale) for s in scores]
        counts = tuple(whole.count(level) for level in range(int(scale.low), int(scale.high) + 1))
        mean = sum(scores) / len(scores) if scores else None
        return cls(counts, mean, len(scores) if turns is None else turns, scale)

    @classmethod
    def pooled(cls, histories: Iterable[ScoreHistory]) -> ScoreHistory:
        """Add up several histories of one scale; ValueError when there is none."""
        several = list(histories)
        if not several:
            msg = "no history to pool"
            raise ValueError(msg)
        counts = tuple(sum(column) for column in zip(*(h.counts for h in several), strict=True))
        held = [(h.mean, sum(h.counts)) for h in several if h.mean is not None]
        total = sum(n for _, n in held)
        mean = sum(m * n for m, n in held) / total if total else None
        return cls(counts, mean, sum(h.turns for h in several), several[0].scale)

    @property
    def empty(self) -> bool:
        """Whether nothing was counted."""
        return not any(self.counts)

    def quantile(self, q: float) -> int:
        """Return the smallest score that the share q of the history does not exceed.

        Args:
            q: 0 to 1.

        Raises:
            ValueError: The history is empty.
        """
        level, _ = self._cell(q)
        return int(self.scale.low) + level

    def smooth_quantile(self, q: float, *, cut: bool = True) -> float:
        """Return the quantile with a fraction that says where q lies within the share of its score.

        Score s spans s - 1/2 to s + 1/2, so rounding gives `quantile(q)`. Where it is cut to the scale,
        the outer halves of the lowest and the highest score are equal.
        """
        level, within = self._cell(q)
        value = self.scale.low + level - 0.5 + within
        if not cut:
            return value
        return max(float(self.scale.low), min(float(self.scale.high), value))

    def _cell(self, q: float) -> tuple[int, float]:
        total = sum(self.counts)
        if not total:
            msg = "an empty history has no quantiles"
            raise ValueError(msg)
        reached = [c / total for c in accumulate(self.counts)]
        level = next((i for i, share in enumerate(reached) if share >= q), len(reached) - 1)
        below = reached[level - 1] if level else 0.0
        share = reached[level] - below
        return level, min(1.0, (q - below) / share) if share > 0 else 1.0
