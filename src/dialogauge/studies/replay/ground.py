"""What scores are on, and what they go together by: all that figures take from the evaluator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import ONE_TO_FIVE, Scale

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ground:
    """What scores are on, and what they go together by."""

    scale: Scale = ONE_TO_FIVE
    unit: str = "users"
    """What a cluster is: users, or conversations where no user is known."""

    @property
    def levels(self) -> tuple[int, ...]:
        """The whole scores, the lowest first; none on a scale of fractions."""
        low, high = self.scale.low, self.scale.high
        return tuple(range(int(low), int(high) + 1)) if self.scale.integer else ()

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the scale."""
        return self.scale.low, self.scale.high

    @property
    def width(self) -> float:
        """How far two scores can lie apart."""
        return self.scale.high - self.scale.low

    def better(self, a: Floats, b: Floats) -> Floats:
        """Return how much better the first are, be they higher or lower."""
        return a - b if self.scale.higher_is_better else b - a


PLAIN: Final = Ground()
"""Satisfaction of users, from 1 to 5."""
