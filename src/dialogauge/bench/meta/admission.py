"""Which of people's ratings count: those of the kind that nearly all ratings of the dimension are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dialogauge.core import Conversation, Rating, RecordFault, Scale

__all__ = ["ADMIT_ALL", "Admission", "admission_for"]

_NEARLY_ALL = 0.9
"""The share of the numbers that lie on the judge's scale where people rated on it."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Made by `admission_for`; `ADMIT_ALL` refuses nothing."""

    kind: type[float] | type[str] | None = None
    """What ratings are: numbers or names; None for either."""
    scale: Scale | None = None
    """Within which numbers lie; None where people rated on a scale of their own."""

    def fault(self, conversation: Conversation, rating: Rating) -> RecordFault | None:
        """Say why a rating does not count; None for one that does. Means of raters need not be whole."""
        score = rating.score
        if self.kind is float and isinstance(score, str):
            why = "is a text, and the ratings are numbers"
        elif self.kind is str and not isinstance(score, str):
            why = "is a number, and the ratings are names"
        elif (
            self.scale is not None
            and not isinstance(score, str)
            and not self.scale.low <= score <= self.scale.high
        ):
            why = f"is off the scale {self.scale}"
        else:
            return None
        shown = repr(score) if isinstance(score, str) else f"{score:g}"
        msg = f"{rating.dimension} is {shown}: it {why}"
        return RecordFault(msg, place=conversation.place_of(rating), hint="the rating is not used")


ADMIT_ALL = Admission()


def admission_for(given: Mapping[float | str, int], scale: Scale) -> Admission:
    """Return what counts of the ratings of one dimension.

    Names or numbers, whichever are more; and where nine in ten numbers lie on the judge's scale, those.

    Args:
        given: How often each rating was given.
        scale: Of the judge's dimension.
    """
    numbers = sum(n for score, n in given.items() if not isinstance(score, str))
    if sum(given.values()) > 2 * numbers:
        return Admission(str)
    on = sum(
        n for score, n in given.items() if not isinstance(score, str) and scale.low <= score <= scale.high
    )
    return Admission(float, scale if on >= _NEARLY_ALL * numbers else None)
