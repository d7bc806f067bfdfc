"""Counts of personal data by kind, role, conversation and turn; never the data."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from dialogauge.core import Conversation, Place
from dialogauge.data.mask import count_in_value
from dialogauge.data.splits import message_turns
from dialogauge.text import PersonalKind, count_personal, redact

_TOP: Final = 20
_BESIDE: Final = "beside the messages"
"""The key for personal data in ids, profile, context, ratings and metadata."""


@dataclass(frozen=True, slots=True)
class PersonalConversation:
    """The personal data of one conversation."""

    conversation_id: str
    """Redacted itself."""
    place: str | None
    """File and line."""
    total: int
    kinds: dict[str, int]
    turns: dict[str, dict[str, int]]
    """Turn number -> kind -> count; `beside the messages` for what belongs to no turn."""


@dataclass(frozen=True, slots=True)
class PersonalReport:
    """The personal data of an input."""

    kinds: dict[str, int]
    """phone, email, card, id -> count."""
    roles: dict[str, dict[str, int]]
    """Who wrote it (user, assistant, tool, system), or `beside the messages`."""
    conversations: int
    """Conversations with at least one."""
    turns: int
    """Turns with at least one."""
    top: tuple[PersonalConversation, ...]
    """The 20 conversations with the most."""


@dataclass
class PersonalTally:
    """Counts over conversations, in constant memory."""

    kinds: Counter[str] = field(default_factory=Counter)
    roles: dict[str, Counter[str]] = field(default_factory=dict)
    conversations: int = 0
    turns: int = 0
    _top: list[tuple[int, int, PersonalConversation]] = field(default_factory=list)
    _number: int = 0

    def add(self, conversation: Conversation) -> None:
        """Count one conversation."""
        self._number += 1
        by_turn: dict[str, Counter[str]] = {}
        numbers = message_turns(conversation.messages)
        for number, message in zip(numbers, conversation.messages, strict=True):
            counts = count_personal(message.content) if isinstance(message.content, str) else Counter()
            if isinstance(message.content, tuple):
                counts += count_in_value([dict(part) for part in message.content])
            for call in message.tool_calls:
                counts += count_personal(call.arguments)
            if message.extra or message.name:
                counts += count_in_value([dict(message.extra), message.name or ""])
            if counts:
                self._note(message.role, counts)
                by_turn.setdefault(_BESIDE if number is None else str(number), Counter()).update(counts)
        beside = _beside(conversation)
        if beside:
            self._note(_BESIDE, beside)
            by_turn.setdefault(_BESIDE, Counter()).update(beside)
        if by_turn:
            self._keep(conversation, by_turn)

    def _note(self, role: str, counts: Mapping[PersonalKind, int]) -> None:
        self.kinds.update(counts)
        self.roles.setdefault(role, Counter()).update(counts)

    def _keep(self, conversation: Conversation, by_turn: Mapping[str, Counter[str]]) -> None:
        self.conversations += 1
        self.turns += sum(turn != _BESIDE for turn in by_turn)
        kinds = sum(by_turn.values(), Counter[str]())
        place = conversation.place
        entry = PersonalConversation(
            redact(conversation.id),
            None if place is None else str(Place(place.file, place.line)),
            kinds.total(),
            dict(kinds.most_common()),
            {turn: dict(counts) for turn, counts in by_turn.items()},
        )
        # Of conversations with equal totals, the earlier ones stay.
        heapq.heappush(self._top, (entry.total, -self._number, entry))
        if len(self._top) > _TOP:
            heapq.heappop(self._top)

    def report(self) -> PersonalReport:
        """Return the counts so far."""
        return PersonalReport(
            dict(self.kinds.most_common()),
            {role: dict(counts.most_common()) for role, counts in self.roles.items()},
            self.conversations,
            self.turns,
            tuple(entry for _, _, entry in sorted(self._top, reverse=True)),
        )


def _beside(c: Conversation) -> Counter[PersonalKind]:
    texts = [text for text in (c.id, c.user_id, c.scenario, c.context, c.candidate) if text]
    texts += [text for r in c.ratings for text in (r.rater, r.note) if text]
    counts = count_in_value(texts)
    if c.profile:
        counts += count_in_value(dict(c.profile))
    return counts + count_in_value(dict(c.metadata)) if c.metadata else counts
