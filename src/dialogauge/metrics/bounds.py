"""How far failures could move a mean: if all of them were the worst, or the best, score of the scale."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Bounds", "mean_bounds"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The mean if every failure had been the worst score, and if it had been the best."""

    worst: float | None
    """None when there is neither a score nor a failure."""
    best: float | None
    n: int
    """Scores."""
    n_failed: int


def mean_bounds(total: float, n: int, n_failed: int, *, worst: float, best: float) -> Bounds:
    """Return the bounds of a mean of `n` scores that sum to `total`, with `n_failed` failures.

    Args:
        total: Sum of the scores.
        n: How many scores; n/a is no score and no failure.
        n_failed: How many scores are missing because the judge failed.
        worst: The worst score of the scale (the higher end where lower is better).
        best: The best score of the scale.

    Raises:
        ValueError: A count is negative.
    """
    if n < 0 or n_failed < 0:
        msg = f"counts cannot be negative: n={n}, n_failed={n_failed}"
        raise ValueError(msg)
    asked = n + n_failed
    if asked == 0:
        return Bounds(None, None, 0, 0)
    return Bounds((total + n_failed * worst) / asked, (total + n_failed * best) / asked, n, n_failed)
