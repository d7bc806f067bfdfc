"""When several differences are looked at together: p-values from draws, and Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["draw_p", "holm"]

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
