"""The categories that a rating can be: given by whoever asked for ratings, never inferred from them.

A category that nobody chose is one all the same: Gwet's AC1, Randolph and Brennan-Prediger ask how many there
were to choose from, and call agreement on the four that occur better than the same agreement on five.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from dialogauge.core import Scale, UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.stats.table import Codes, Floats, whole_scores

_RANGE: Final = lazy_pattern(r"(-?\d+)\s*(?:-|\.\.)\s*(-?\d+)")
WIDEST: Final = 101
"""Categories of a range at most: 0-100 is the widest."""
_HINT: Final = "give a range such as 1-5, numbers such as 0,1, or names such as good,bad"


class Categories(Value):
    """What a rating can be: numbers in rising order, or names without an order."""

    names: tuple[str, ...]
    """As they are shown: `("1", ..., "5")` or `("good", "bad")`; two or more, each once."""
    values: tuple[float, ...] | None
    """Numbers in rising order, one for each name; None for names, which have no order."""

    def __post_init__(self) -> None:
        """Check that there are two or more, each once, and numbers in rising order.

        Raises:
            UsageError: They are not.
        """
        shown = ", ".join(self.names)
        if len(self.names) < 2:
            msg = f"one category or none tells nothing: {shown or 'none'}"
            raise UsageError(msg, hint=_HINT)
        if len(set(self.names)) < len(self.names):
            msg = f"a category is named twice: {shown}"
            raise UsageError(msg, hint=_HINT)
        if self.values is not None:
            array = np.array(self.values, dtype=np.float64)
            if array.size != len(self.names) or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
                msg = f"categories are numbers in rising order, one for each name: {shown}"
                raise UsageError(msg, hint=_HINT)

    @classmethod
    def parse(cls, text: str) -> Categories:
        """Read `1-5`, `0,1`, `1,2,3,5` or `good,bad`.

        Raises:
            UsageError: It says no categories, or one twice, or more than 101.
        """
        if match := _RANGE.fullmatch(text.strip()):
            low, high = int(match[1]), int(match[2])
            if not 0 < high - low < WIDEST:
                why = "ends before it starts" if high <= low else f"has more than {WIDEST} categories"
                msg = f"the range of categories {text.strip()} {why}"
                raise UsageError(msg, hint=_HINT)
            return cls._numbers([float(value) for value in range(low, high + 1)])
        parts = [part.strip() for part in text.split(",")]
        if not all(parts):
            msg = f"{text!r} says no categories"
            raise UsageError(msg, hint=_HINT)
        numbers = [_number(part) for part in parts]
        known = [number for number in numbers if number is not None]
        return cls._numbers(sorted(known)) if len(known) == len(parts) else cls(tuple(parts), None)

    @classmethod
    def of_scale(cls, scale: Scale) -> Categories:
        """Return the whole scores of a scale.

        Raises:
            UsageError: The scale has one whole score alone.
        """
        every = range(math.floor(scale.low), math.ceil(scale.high) + 1)
        return cls._numbers(np.unique(whole_scores(every, scale)).tolist())

    @classmethod
    def _numbers(cls, values: Sequence[float]) -> Categories:
        return cls(tuple(f"{value:g}" for value in values), tuple(values))

    @property
    def steps(self) -> Floats:
        """Their numbers, shape (q,); of names their places."""
        values = range(len(self.names)) if self.values is None else self.values
        return np.array(values, dtype=np.float64)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.names)

    def __str__(self) -> str:
        """`1, 2, 3, 4, 5`."""
        return ", ".join(self.names)

    def fault(self, value: float) -> str | None:
        """Say what is wrong with a rating; None where nothing is.

        A fraction between two numbers is a rating (a judge's, or a mean) and counts as the nearer one; a
        whole number that is no category is none. A rating of names is the place of its category.
        """
        if self.values is None:
            return None if value in range(len(self)) else f"there is no category with the number {value:g}"
        inside = self.values[0] <= value <= self.values[-1]
        if not inside or (value == int(value) and value not in self.values):
            return f"{value:g} is none of the categories {self}"
        return None

    def codes(self, values: Floats) -> Codes:
        """Return the index of the category of each rating, halves upward as in `whole_scores`.

        Args:
            values: Any shape, without a fault; NaN where there is no rating.

        Returns:
            The same shape; -1 where there is no rating.
        """
        rated = ~np.isnan(values)
        if self.values is None:
            return np.where(rated, values, -1).astype(np.intp)
        halves = (self.steps[1:] + self.steps[:-1]) / 2
        nearest = np.searchsorted(halves, np.where(rated, values, 0.0), side="right")
        return np.where(rated, nearest, -1)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
