"""The scale that a score is on, and the one rule for what counts as a score on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

NotApplicable = Literal["n/a"]
NOT_APPLICABLE: Final[NotApplicable] = "n/a"

Score = float | NotApplicable
"""A number on a scale, or `"n/a"`: the judge says that the dimension does not apply."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An interval of numbers, of whole numbers unless `integer` is False."""

    low: float = 1
    high: float = 5
    integer: bool = True
    higher_is_better: bool = True

    @property
    def best(self) -> float:
        """The score that a failure counts as in the most favourable bound."""
        return self.high if self.higher_is_better else self.low

    @property
    def worst(self) -> float:
        """The score that a failure counts as in the least favourable bound."""
        return self.low if self.higher_is_better else self.high

    def admits(self, value: object) -> bool:
        """Say whether `value` is a score on this scale: a number in range, and whole where asked.

        `True`, `"4"`, `4.5` and `4.0` are no scores on a scale of whole numbers.
        """
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if self.integer and not isinstance(value, int):
            return False
        # Compared, not converted: a whole number may be too large for a float.
        return -math.inf < value < math.inf and self.low <= value <= self.high

    def __str__(self) -> str:
        """`1-5`, or `0.0-1.0` for a scale that is not of whole numbers."""
        return f"{self.low:g}-{self.high:g}"


ONE_TO_FIVE: Final = Scale(1, 5)
