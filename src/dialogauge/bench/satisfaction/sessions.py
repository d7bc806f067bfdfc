"""Sessions as targets: the rating of a whole session becomes the one of its last reply.

Blocks, histories, calibrations and figures then are those of replies, one for each session (our reading of
appendix F of PersTurnBench, which says no more than that the unit becomes the session).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from dialogauge.core import Conversation, Rating

__all__ = ["StudyLevel", "rated_as_session"]

StudyLevel = Literal["turn", "session"]


def rated_as_session(conversation: Conversation, dimension: str) -> Conversation:
    """Return the conversation with its ratings of the whole, in one dimension, as ratings of its last reply.

    Ratings of turns in that dimension are dropped; other dimensions stay. A session without a reply keeps
    no rating in the dimension.

    Args:
        conversation: With its ratings.
        dimension: The rated one.
    """
    last = max((t.number for t in conversation.turns if t.number and t.reply), default=None)

    def kept(rating: Rating) -> Rating | None:
        if rating.dimension != dimension:
            return rating
        return None if rating.turn is not None or last is None else replace(rating, turn=last)

    return replace(conversation, ratings=tuple(r for r in map(kept, conversation.ratings) if r is not None))
