"""The two ways of making a whole score of a number; both end on the scale."""

from __future__ import annotations

import math

from dialogauge.core import ONE_TO_FIVE, Scale

__all__ = ["half_even", "half_up"]


def half_even(value: float, scale: Scale = ONE_TO_FIVE) -> int:
    """Round to the nearest whole score, halves to the even one (4.5 to 4), and cut to the scale.

    The rule of the published calibration and of episodic retrieval.
    """
    return _cut(round(value), scale)


def half_up(value: float, scale: Scale = ONE_TO_FIVE) -> int:
    """Round to the nearest whole score, halves upward (4.5 to 5), and cut to the scale.

    The rule of the published history baselines.
    """
    return _cut(math.floor(value + 0.5), scale)


def _cut(whole: int, scale: Scale) -> int:
    return int(max(scale.low, min(scale.high, whole)))
