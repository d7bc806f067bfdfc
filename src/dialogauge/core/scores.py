"""What a score is, the scale that it is on, and the one rule that makes whole scores of fractions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

NotApplicable = Literal["n/a"]
NOT_APPLICABLE: Final[NotApplicable] = "n/a"

Number = float | NotApplicable
"""A bare score as a model writes it and as a row holds it: a number, or `"n/a"`."""


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

    def quality(self, value: float) -> float:
        """Return where a value lies: 0 the worst, 1 the best; 1 on a scale of one number."""
        worst, best = self.worst, self.best
        return (value - worst) / (best - worst) if best != worst else 1.0

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


DECIMALS: Final = 9
"""Of a score; what lies beyond is noise of the order in which numbers were summed."""


def round_score(value: float) -> float:
    """Return a score without the noise of its last bits: nine decimals.

    The mean of fives is then 5, and equal means are equal, whatever order, processor or Python summed them.
    """
    return round(value, DECIMALS)


def whole_score(value: float, scale: Scale = ONE_TO_FIVE) -> int:
    """Make a whole score of a fraction: the nearest one, halves upward (4.5 to 5), cut to the scale.

    The one rule for all figures. Where a published method has another (episodic retrieval and quantile
    mapping round halves to the even score) or fits its own cuts, the judge gives its own whole score.

    Raises:
        ValueError: The value is not a number.
    """
    return int(max(scale.low, min(scale.high, math.floor(round_score(value) + 0.5))))


@dataclass(frozen=True, slots=True)
class Score:
    """What a judge gives one target on one dimension; made by `score_of` where it is no more than a number.

    n/a is `NOT_APPLICABLE`, and a failure is a `JudgeFailure`: neither is a `Score`.
    """

    value: float
    """On the scale; may be a fraction."""
    whole: int | None = None
    """The judge's own whole score, where it gave or derived one."""
    raw: float | None = None
    """The value before calibration; None where nothing was calibrated."""

    @property
    def own(self) -> float:
        """The judge's whole score where it has one, else the value: what counts and means are made of."""
        return self.value if self.whole is None else self.whole

    def rounded(self, scale: Scale = ONE_TO_FIVE) -> int:
        """Return the judge's whole score, else that of the one rule."""
        return whole_score(self.value, scale) if self.whole is None else self.whole


# Nearly all scores are one of these; they are made once.
_WHOLE: Final = {number: Score(number, number) for number in range(-1, 11)}


def score_of(number: float) -> Score:
    """Return a score that is no more than a number; an `int` is a whole score, a `float` a value alone."""
    if isinstance(number, int):
        return _WHOLE.get(number) or Score(number, number)
    return Score(number)


def as_scores(numbers: Mapping[str, Number]) -> dict[str, Score | NotApplicable]:
    """Make scores of bare ones, by dimension."""
    return {name: n if isinstance(n, str) else score_of(n) for name, n in numbers.items()}
