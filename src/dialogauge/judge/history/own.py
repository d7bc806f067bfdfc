"""What the user gave in the other scenarios: mean, median, majority, or their distribution at random."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from statistics import median

from dialogauge.calibrate import half_up
from dialogauge.judge.history.guess import Guess, NothingKnown, majority, prior
from dialogauge.judge.personal import BlockView, Population

__all__ = ["history_cdf_hash", "history_majority", "history_mean", "history_median", "quantile_at"]


def history_mean(view: BlockView, population: Population) -> Sequence[Guess]:
    """The mean of the user's scores, halves upward; without history that of the training users."""
    scores = _scores(view, population)
    return _same(view, sum(scores) / len(scores))


def history_median(view: BlockView, population: Population) -> Sequence[Guess]:
    """The median of the user's scores, halves upward."""
    return _same(view, float(median(_scores(view, population))))


def history_majority(view: BlockView, population: Population) -> Sequence[Guess]:
    """The score that the user gave most, the lowest of several; without history the rounded prior."""
    if not view.history:
        return _same(view, half_up(prior(population)))
    return _same(view, majority(view.scores))


def history_cdf_hash(view: BlockView, population: Population) -> Sequence[Guess]:
    """The user's scores dealt to the targets in the order of the SHA-1 of their ids: reads nothing at all."""
    ordered = sorted(_scores(view, population))
    hashes = [hashlib.sha1(r.id.encode(), usedforsecurity=False).hexdigest() for r in view.targets]
    rank = {name: i for i, name in enumerate(sorted(hashes))}
    found = [quantile_at(ordered, (rank[name] + 0.5) / len(hashes)) for name in hashes]
    return [Guess(half_up(score), score, prior=not view.history) for score in found]


def quantile_at(ordered: Sequence[float], q: float) -> float:
    """Return the score at floor(q n) of sorted scores, the last one at most.

    At exact steps this differs from the inverse of the distribution that calibration uses.
    """
    return ordered[min(len(ordered) - 1, max(0, int(q * len(ordered))))]


def _scores(view: BlockView, population: Population) -> tuple[float, ...]:
    scores = view.scores or population.scores
    if not scores:
        raise NothingKnown
    return scores


def _same(view: BlockView, value: float) -> Sequence[Guess]:
    return [Guess(half_up(value), value, prior=not view.history)] * len(view.targets)
