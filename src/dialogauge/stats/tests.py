"""What chance alone would give: the values of one column dealt out anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def draw_p(draws: Floats, null: float = 0.0) -> float | None:
    """Two-sided p-value of bootstrap draws of a difference against `null`.

    Twice the smaller share of draws on either side of the null, counting the null itself and one draw
    more to both, so that it is never 0 (Davison and Hinkley, 1997, section 4.2.3). Draws that are not
    finite are left out; None when fewer than half are left.
    """
    values = np.asarray(draws, dtype=np.float64)
    held = values[np.isfinite(values)]
    if held.size * 2 < values.size or not held.size:
        return None
    below, above = int((held <= null).sum()), int((held >= null).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (held.size + 1))


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values by Holm's step-down method (1979); None takes no part and stays None.

    An adjusted value at or below alpha rejects with a family-wise error of at most alpha.
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    out: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, i) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        out[i] = highest
    return tuple(out)


@dataclass(frozen=True, slots=True)
class PermutationResult:
    """A statistic beside what it is when one of its columns is shuffled."""

    value: float | None
    mean: float | None
    """Mean over the shuffles."""
    low: float | None
    """2.5 % quantile over the shuffles."""
    high: float | None
    p: float | None
    """Share of shuffles that are at least as far from their mean, the given order counted in."""
    shuffles: int


def deal(values: Sequence[float] | Floats, rng: np.random.Generator, times: int) -> Floats:
    """Return the values in `times` random orders, shape (n,) -> (times, n)."""
    array = np.asarray(values, dtype=np.float64)
    return rng.permuted(np.broadcast_to(array, (times, array.size)), axis=1)


def permutation_test(
    statistic: Callable[[Floats], float],
    values: Sequence[float] | Floats,
    *,
    rng: np.random.Generator,
    shuffles: int = 200,
) -> PermutationResult:
    """Return the statistic of `values` and its distribution when they are shuffled.

    Args:
        statistic: Takes the values in some order, shape (n,); NaN where undefined.
        values: Shape (n,).
        rng: Source of chance.
        shuffles: How many random orders, at least 1.

    Raises:
        ValueError: Fewer than one shuffle.
    """
    if shuffles < 1:
        msg = f"a permutation test needs at least one shuffle, not {shuffles}"
        raise ValueError(msg)
    array = np.asarray(values, dtype=np.float64)
    found = np.array([statistic(order) for order in deal(array, rng, shuffles)])
    held = found[np.isfinite(found)]
    value = float(statistic(array)) if array.size else float("nan")
    if not held.size or not np.isfinite(value):
        return PermutationResult(value if np.isfinite(value) else None, None, None, None, None, shuffles)
    mean = float(held.mean())
    # rounding must not make the given order look farther away than an equal shuffle
    far = int((np.abs(held - mean) >= abs(value - mean) - 1e-12).sum())
    low, high = np.quantile(held, [0.025, 0.975])
    return PermutationResult(value, mean, float(low), float(high), (far + 1) / (held.size + 1), shuffles)
