"""How a user has rated before: the one thing that a calibration is fitted to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from dialogauge.core import ONE_TO_FIVE, Scale, round_score, whole_score
from dialogauge.core.values import Value


def half_even(value: float, scale: Scale = ONE_TO_FIVE) -> int:
    """Round to the nearest whole score, halves to the even one (4.5 to 4), and cut to the scale.

    The rule of the published calibration and of episodic retrieval.
    """
    return int(max(scale.low, min(scale.high, round(round_score(value)))))


class ScoreHistory(Value):
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
        whole = [whole_score(s, scale) for s in scores]
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
        means = [(h.mean, sum(h.counts)) for h in several if h.mean is not None]
        total = sum(n for _, n in means)
        mean = sum(m * n for m, n in means) / total if total else None
        return cls(counts, mean, sum(h.turns for h in several), several[0].scale)

    @property
    def empty(self) -> bool:
        """Whether nothing was counted."""
        return not any(self.counts)

    def quantiles(self, shares: Sequence[float]) -> tuple[Calibrated, ...]:
        """Return the quantile at each share of the history.

        Its whole score is the smallest one that the share does not exceed. The value says with a fraction
        where the share lies within that of its score: score s spans s - 1/2 to s + 1/2. It is cut to the
        scale, so the outer halves of the lowest and the highest score are equal.

        Args:
            shares: 0 to 1 each.

        Raises:
            ValueError: The history is empty.
        """
        total, low, high = sum(self.counts), float(self.scale.low), float(self.scale.high)
        if not total:
            msg = "an empty history has no quantiles"
            raise ValueError(msg)
        reached = [0.0, *(c / total for c in accumulate(self.counts))]
        out = {}
        for q in set(shares):
            level = min(bisect_left(reached, q, 1), len(self.counts)) - 1
            below, share = reached[level], reached[level + 1] - reached[level]
            within = min(1.0, (q - below) / share) if share > 0 else 1.0
            value = max(low, min(high, self.scale.low + level - 0.5 + within))
            out[q] = Calibrated(value, int(self.scale.low) + level)
        return tuple(out[q] for q in shares)


@dataclass(frozen=True, slots=True)
class RawScore:
    """One score as a judge gave it."""

    id: str
    """Breaks ties where `sample-id` is asked for."""
    value: float
    """On the scale, with fractions where the judge gives them."""
    turn: int = 0
    """Breaks ties where `turn-index` is asked for; the conversation does not count, as in the paper."""
    block: str = ""
    """Scores of one block are calibrated together: one user, one scenario."""
    candidate: str | None = None
    """Scores of different candidates are never ranked against each other."""

    def __post_init__(self) -> None:
        """Settle the value: ranks go by it."""
        object.__setattr__(self, "value", round_score(self.value))


@dataclass(frozen=True, slots=True)
class Calibrated:
    """One calibrated score."""

    value: float
    """On the scale, with fractions."""
    rounded: int
    """The whole score."""


Ties = Literal["mid", "turn-index", "sample-id"]
"""`mid`: equal raw scores stay equal. The others order them, and so let a judge that always says the same
profit from when a turn comes (`turn-index`, the order of the published block calibration) or from how it is
called (`sample-id`, the order of the published reference calibration)."""

_ORDER: dict[Ties, Callable[[RawScore, int], tuple[float, int | str, int]]] = {
    "turn-index": lambda score, kind: (score.value, score.turn, kind),
    "sample-id": lambda score, kind: (score.value, score.id, kind),
}


def places_among(
    scores: Sequence[RawScore], ties: Ties, reference: Sequence[RawScore] = ()
) -> tuple[float, ...]:
    """Return the quantile of each score among all of them and the reference, each in (0, 1).

    With `mid`: (number below + half the number of equals, itself among them) / n. Otherwise
    (0-based rank + 1/2) / n in the order of raw score and tie-breaker; a reference comes before an equal
    target, and what is equal in everything stays in the order given.
    """
    n = len(scores) + len(reference)
    if ties == "mid":
        ordered = sorted(s.value for s in (*reference, *scores))
        return tuple((bisect_left(ordered, s.value) + bisect_right(ordered, s.value)) / 2 / n for s in scores)
    key = _ORDER[ties]
    pool = [(r, 0, -1) for r in reference] + [(s, 1, i) for i, s in enumerate(scores)]
    pool.sort(key=lambda item: key(item[0], item[1]))
    out = [0.0] * len(scores)
    for rank, (_, _, index) in enumerate(pool):
        if index >= 0:
            out[index] = (rank + 0.5) / n
    return tuple(out)
