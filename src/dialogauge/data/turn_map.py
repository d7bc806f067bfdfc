"""The one place that maps messages, and data sets' own numbering of replies, to our turn numbers."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.core import Conversation, Message

__all__ = ["assistant_turns", "message_turns"]


def message_turns(messages: Sequence[Message]) -> list[int | None]:
    """Return the turn number of each message; None for leading system messages."""
    numbers: list[int | None] = [None] * len(messages)
    for turn in Conversation("", tuple(messages)).turns:
        for index in range(turn.start, turn.stop):
            numbers[index] = turn.number
    return numbers


def assistant_turns(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the turn number of each assistant message, by its 0-based index among them.

    Data sets that count replies from 0 (`{id}__turn_{i}`) mean entry `i`. It differs from `i + 1`
    where the assistant speaks first or twice in a row.
    """
    turns = message_turns(messages)
    return tuple(
        turn
        for turn, message in zip(turns, messages, strict=True)
        if message.role == "assistant" and turn is not None
    )
