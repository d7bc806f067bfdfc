"""What there is to learn from: one example for each place in a conversation that people rated.

An example's context is all that was said up to the rated turn, its reply included, or the whole
conversation where the rating is of the whole. What follows is never part of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import floor

from dialogauge.core import Conversation, InputError
from dialogauge.judge.ratings.usable import LEVELS, usable_ratings

__all__ = ["LEVELS", "Example", "Votes", "examples_of"]

Votes = tuple[int, ...]
"""How many raters gave 1, 2 ... 5."""


@dataclass(frozen=True, slots=True)
class Example:
    """One rated place."""

    conversation: Conversation
    turn: int | None
    """The turn that precedes the rating; None where the whole conversation was rated."""
    number: int
    """From 0; above 0 where the same raters rated the same turn again."""
    votes: Votes

    @property
    def stop(self) -> int:
        """How many messages the raters had seen."""
        if self.turn is None:
            return len(self.conversation.messages)
        return next((t.stop for t in self.conversation.turns if t.number == self.turn), 0)

    @property
    def nothing_said(self) -> bool:
        """Whether there is no turn before the rating: nothing to judge by but the prior."""
        return self.stop == 0

    @property
    def group(self) -> str:
        """The user where one is known, else the conversation."""
        return self.conversation.user_id or f"\0{self.conversation.id}"

    @property
    def majority(self) -> int:
        """The most frequent rating; the lower of several."""
        return 1 + max(range(LEVELS), key=lambda k: (self.votes[k], -k))

    @property
    def reply_length(self) -> int:
        """Characters of the last reply before the rating; 0 without one."""
        seen = reversed(self.conversation.messages[: self.stop])
        return next((len(m.text) for m in seen if m.role == "assistant" and not m.tool_calls), 0)


def examples_of(conversation: Conversation, dimension: str) -> tuple[tuple[Example, ...], list[InputError]]:
    """Return the rated places of a conversation in their order, and a fault for each rating that is none.

    Several raters of one place are one example. Where a rater rated the same turn twice (two lines of the
    user in a row), the second time is an example of its own. Fractions count as the nearest whole rating.
    """
    votes: dict[tuple[int, int], Counter[int]] = {}
    times: Counter[tuple[int | None, str | None]] = Counter()
    usable, faults = usable_ratings(conversation, dimension)
    for rating, score in usable:
        number = times[rating.turn, rating.rater] if rating.rater is not None else 0
        times[rating.turn, rating.rater] += 1
        key = (len(conversation.turns) + 1 if rating.turn is None else rating.turn, number)
        votes.setdefault(key, Counter())[floor(score + 0.5)] += 1
    whole = len(conversation.turns) + 1
    examples = [
        Example(
            conversation,
            None if turn == whole else turn,
            number,
            tuple(votes[turn, number][k] for k in range(1, LEVELS + 1)),
        )
        for turn, number in sorted(votes)
    ]
    return tuple(examples), faults
