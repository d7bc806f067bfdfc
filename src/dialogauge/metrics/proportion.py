"""The interval of a share of independent cases, sound also near 0 and 1 (Wilson, 1927)."""

from __future__ import annotations

import math
from statistics import NormalDist

__all__ = ["wilson_interval"]


def wilson_interval(hits: int, n: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Return the Wilson score interval of `hits` out of `n`; None when n is 0.

    Raises:
        ValueError: Counts that cannot be, or a level outside (0, 1).
    """
    if not 0 <= hits <= n or not 0 < level < 1:
        msg = f"no interval for {hits} of {n} at level {level}"
        raise ValueError(msg)
    if n == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, squared = hits / n, z * z
    middle = (share + squared / (2 * n)) / (1 + squared / n)
    reach = z / (1 + squared / n) * math.sqrt(share * (1 - share) / n + squared / (4 * n * n))
    return max(0.0, middle - reach), min(1.0, middle + reach)
