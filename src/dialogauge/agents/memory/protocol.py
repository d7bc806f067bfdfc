"""What a memory system does: takes in dialogues, and gives back items for a question.

A corpus is dialogues as everything here is: a session of two people is a `Conversation` whose messages have
a `name`, the speaker's, whose metadata hold `date`, and whose messages may have an `id` of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from dialogauge.core import Conversation, Usage
from dialogauge.core.protocols import Agent
from dialogauge.data.tasks import RoundFeedback

Kind = Literal["semantic", "episodic", "procedural"]
"""What an item is: a fact, something that was said or happened, or how something is to be done."""
Ability = Literal["update", "delete", "fork", "save"]
"""What a system may be able to do beside taking in and giving back."""

DATE: Final = "date"
"""The key of a dialogue's metadata that says when it took place."""


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One piece of what a system remembers."""

    dialogue: str
    """The id of the dialogue that it is from."""
    position: int | None
    """The index of its message there; None for the dialogue as a whole, or for what was made of it."""
    text: str
    speaker: str | None = None
    date: str | None = None
    message: str | None = None
    """The id of its message, where the data has one: `D1:3`."""
    score: float | None = None
    """How well it fits the question, higher is better; on no common scale between systems."""
    kind: Kind = "episodic"
    asked: str | None = None
    """The request that it answers, or is said about, where a system gives both."""
    why: str | None = None
    """What the system says of why it gives this: `a correction after an answer that was disliked`."""

    @property
    def shown(self) -> str:
        """The text as an answerer reads it: why it is given, date, request and speaker before it."""
        before = [f"({self.why}) "] if self.why else []
        before += [f"[{self.date}] "] if self.date else []
        before += [f"user: {self.asked} / "] if self.asked else []
        before += [f"{self.speaker}: "] if self.speaker else []
        return "".join(before) + self.text


@dataclass(frozen=True, slots=True)
class Room:
    """How much a system may give to an answer. Systems with unequal room are never ranked together."""

    items: int | None = 5
    """Items at most; None for any number."""
    tokens: int | None = None
    """Tokens at most of what is shown, one counted for three bytes; None for any number."""

    def fill(self, items: Sequence[MemoryItem]) -> tuple[MemoryItem, ...]:
        """Take items in their order as long as they fit; the first that does not fit ends it."""
        kept: list[MemoryItem] = []
        left = self.tokens
        for item in items if self.items is None else items[: self.items]:
            if left is not None:
                left -= about_tokens(item.shown)
                if left < 0:
                    break
            kept.append(item)
        return tuple(kept)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a system gave for a question, the best first."""

    items: tuple[MemoryItem, ...]
    usage: Usage = field(default_factory=Usage)
    """What models took for it."""
    seconds: float | None = None
    """Of the call itself, without waiting for its turn; None where nobody measured them."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a user did about the replies of a dialogue."""

    rounds: tuple[RoundFeedback, ...] = ()
    """By round; a reply without any is left out, mostly the last."""


class Memory:
    """A memory system, the base of all. What it does not list in `abilities` is n/a for it, never 0."""

    name: str
    """What rows and pages call it."""
    digest: str
    """Changes with anything that can change what it gives back."""
    abilities: frozenset[Ability] = frozenset()
    """What it can do beside taking in and giving back."""
    counts_items: bool = True
    """Whether a number of items bounds it; tokens alone bound what gives everything, or the evidence."""
    turn: asyncio.Lock | None = None
    """Where one call at a time is taken, what is held for it: by this memory, or by all of a process."""

    def describe(self) -> Mapping[str, Any]:
        """Return its settings for the manifest: plain JSON values, without secrets."""
        return {"system": self.name}

    async def add_corpus(self, sessions: Sequence[Conversation]) -> Usage:
        """Take in sessions that are there from the beginning, in their order."""
        usage = Usage()
        for session in sessions:
            usage += await self.add_dialogue(session)
        return usage

    async def add_dialogue(self, conversation: Conversation, feedback: Feedback | None = None) -> Usage:
        """Take in a dialogue that the assistant led."""
        raise NotImplementedError

    async def learn(self) -> None:
        """Do what is costly once, after all is taken in and before the first question; mostly nothing."""

    @property
    def answerer(self) -> Agent | None:
        """Who answers in place of the run's answerer; None for that one."""
        return None

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Give what fits a question, the best first, and no more than there is room for."""
        raise NotImplementedError

    async def update(self, conversation: Conversation) -> Usage:
        """Put a dialogue in the place of the one with its id."""
        raise NotImplementedError

    async def delete(self, dialogue: str) -> None:
        """Forget a dialogue; nothing where it is not known."""
        raise NotImplementedError

    def fork(self) -> Memory:
        """Return a memory that holds the same; what either takes in later, the other does not know."""
        raise NotImplementedError

    def save(self, folder: Path) -> None:
        """Write everything to an empty folder."""
        raise NotImplementedError

    async def load(self, folder: Path) -> None:
        """Take back what `save` wrote, in the place of what is known."""
        raise NotImplementedError


class SystemFault(Exception):
    """A system broke its word: it threw, hung, or gave what it must not."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        """What models took before it; the first row that the fault stands in books it."""

    def booked(self) -> Usage:
        """Return what is not booked yet."""
        usage, self.usage = self.usage, Usage()
        return usage


def about_tokens(text: str) -> int:
    """Return about how many tokens a text has: one for three bytes, so one for a Chinese character."""
    return len(text.encode("utf-8", "replace")) // 3


def items_of(conversation: Conversation) -> Iterator[MemoryItem]:
    """Yield the messages of a dialogue that say something, as items; instructions are none."""
    date = conversation.metadata.get(DATE)
    for position, message in enumerate(conversation.messages):
        if message.role in ("user", "assistant") and message.text.strip():
            own = message.extra.get("id")
            yield MemoryItem(
                conversation.id,
                position,
                message.text,
                message.name or message.role,
                str(date) if date else None,
                str(own) if own else None,
            )


def whole(conversation: Conversation) -> MemoryItem:
    """Return a dialogue as one item: its messages as lines, under its date."""
    date = conversation.metadata.get(DATE)
    lines = "\n".join(f"{item.speaker}: {item.text}" for item in items_of(conversation))
    return MemoryItem(conversation.id, None, lines, date=str(date) if date else None)
