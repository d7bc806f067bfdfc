"""Sessions as targets: the rating of a whole session becomes the one of its last reply.

Blocks, histories, calibrations and figures then are those of replies, one for each session (our reading of
appendix F of PersTurnBench, which says no more than that the unit becomes the session).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from dialogauge.core import Conversation, Rating, RecordFault

__all__ = ["StudyLevel", "rated_as_session"]

StudyLevel = Literal["turn", "session"]


def rated_as_session(
    conversation: Conversation, dimension: str
) -> tuple[Conversation, tuple[RecordFault, ...]]:
    """Return the conversation with its ratings of the whole, in one dimension, as ratings of its last reply.

    Ratings of turns in that dimension are dropped; other dimensions stay.

    Args:
        conversation: With its ratings.
        dimension: The rated one.

    Returns:
        The conversation, and its ratings of the whole that cannot be used: there is no reply.
    """
    last = max((t.number for t in conversation.turns if t.number and t.reply), default=None)
    kept: list[Rating] = []
    faults: list[RecordFault] = []
    for rating in conversation.ratings:
        if rating.dimension != dimension:
            kept.append(rating)
        elif rating.turn is None and last is None:
            msg = "a rating of a session that has no reply"
            faults.append(RecordFault(msg, place=conversation.place_of(rating), hint="it is left out"))
        elif rating.turn is None:
            kept.append(replace(rating, turn=last))
    return replace(conversation, ratings=tuple(kept)), tuple(faults)
