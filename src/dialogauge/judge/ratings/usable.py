"""Which ratings can be learnt from: numbers on 1 to 5, of turns that are there."""

from __future__ import annotations

from dialogauge.core import Conversation, InputError, Rating, RecordFault

__all__ = ["LEVELS", "usable_ratings"]

LEVELS = 5
"""Ratings are 1 to 5."""


def usable_ratings(
    conversation: Conversation, dimension: str
) -> tuple[list[tuple[Rating, float]], list[InputError]]:
    """Return the ratings of a dimension with their scores, in order, and a fault for each that is none.

    Turn 0 is always there: what is rated before the assistant has said anything.
    """
    known = {t.number for t in conversation.turns} | {0}
    usable: list[tuple[Rating, float]] = []
    faults: list[InputError] = []
    for rating in conversation.ratings:
        if rating.dimension != dimension:
            continue
        score = rating.score
        if isinstance(score, str) or not 1 <= score <= LEVELS:
            wrong = f"the rating {score!r} is not on 1 to {LEVELS}"
        elif rating.turn is not None and rating.turn not in known:
            wrong = f"a rating of turn {rating.turn}, which is not there"
        else:
            usable.append((rating, float(score)))
            continue
        faults.append(RecordFault(wrong, place=conversation.place_of(rating)))
    return usable, faults
