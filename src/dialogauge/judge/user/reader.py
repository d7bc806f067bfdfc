"""Reading each conversation once, though its replies are asked for block after block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import Conversation
from dialogauge.judge.personal import Reply, Sight
from dialogauge.judge.user.reading import ReadReply, read_instead, read_replies
from dialogauge.judge.user.topics import Topics

__all__ = ["Reader", "read_misplaced"]

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Reader:
    """Reads replies; keeps what it read until told to forget."""

    sight: Sight
    _held: dict[str, tuple[Conversation, dict[int, ReadReply]]] = field(default_factory=dict)
    _topics: dict[ReadReply, Floats] = field(default_factory=dict)

    def forget(self) -> None:
        """Let go of everything that was read."""
        self._held.clear()
        self.forget_topics()

    def forget_topics(self) -> None:
        """Let go of the topics, since others are to be asked for."""
        self._topics.clear()

    def read(self, replies: Sequence[Reply]) -> list[ReadReply]:
        """Return the numbers of the replies, in their order.

        Several replies of one conversation are read in one walk along its longest part that is shown: what
        follows a reply changes nothing of its numbers in foresight.
        """
        walks = {name: self._walk(shown) for name, shown in _longest(replies).items()}
        return [walks[reply.conversation.id][reply.message] for reply in replies]

    def topics_of(self, topics: Topics, read: ReadReply) -> Floats:
        """Return the topics of a reply that was read here; `forget_topics` before asking for others."""
        found = self._topics.get(read)
        if found is None:
            found = self._topics[read] = topics.of(read)
        return found

    def _walk(self, shown: Conversation) -> dict[int, ReadReply]:
        held = self._held.get(shown.id)
        if held is not None and _goes_on(held[0], shown, self.sight):
            return held[1]
        walk = dict(read_replies(shown, self.sight))
        self._held[shown.id] = (shown, walk)
        return walk


def read_misplaced(replies: Sequence[Reply], texts: Sequence[str]) -> list[tuple[float, ...]]:
    """Return the numbers in foresight that each text has in the place of its reply."""
    instead: dict[str, dict[int, str]] = {}
    for reply, text in zip(replies, texts, strict=True):
        instead.setdefault(reply.conversation.id, {})[reply.message] = text
    found = {name: read_instead(shown, instead[name]) for name, shown in _longest(replies).items()}
    return [found[reply.conversation.id][reply.message] for reply in replies]


def _longest(replies: Sequence[Reply]) -> dict[str, Conversation]:
    longest: dict[str, Conversation] = {}
    for reply in replies:
        shown = reply.conversation
        known = longest.get(shown.id)
        if known is None or len(shown.messages) > len(known.messages):
            longest[shown.id] = shown
    return longest


def _goes_on(held: Conversation, shown: Conversation, sight: Sight) -> bool:
    """Whether the one is the other, or in foresight begins with it."""
    if held.context != shown.context:
        return False
    size = len(shown.messages)
    same = held.messages[:size] == shown.messages
    return same and (sight == "foresight" or len(held.messages) == size)
