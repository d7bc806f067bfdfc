"""A system under test, held to its word: what it gives is what it was given, fits, and comes in time."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from dialogauge.agents.memory.protocol import Feedback, Memory, Retrieved, Room, SystemFault
from dialogauge.core import BudgetSpent, Conversation, DialogaugeError, EndpointError, Usage
from dialogauge.core.protocols import Agent

T = TypeVar("T")


@dataclass
class CheckedMemory(Memory):
    """A memory in front of another one: the same, but every broken promise is a `SystemFault`."""

    inner: Memory
    deadline: float = 60.0
    """Seconds for one call."""
    known: dict[str, int] = field(default_factory=dict)
    """Messages by id of the dialogues that it holds: of one that is loaded, of what was taken in before."""
    _hung: str = ""

    def __post_init__(self) -> None:
        """Take over what the system says of itself."""
        self.name, self.digest = self.inner.name, self.inner.digest
        self.abilities, self.counts_items = self.inner.abilities, self.inner.counts_items

    def describe(self) -> Mapping[str, Any]:
        """Return what the system says of itself."""
        return self.inner.describe()

    async def add_corpus(self, sessions: Sequence[Conversation]) -> Usage:
        """Let it take in a corpus."""
        self.known |= {session.id: len(session.messages) for session in sessions}
        return await self._timed("ingest", lambda: self.inner.add_corpus(sessions))

    async def add_dialogue(self, conversation: Conversation, feedback: Feedback | None = None) -> Usage:
        """Let it take in a dialogue."""
        self.known[conversation.id] = len(conversation.messages)
        return await self._timed("ingest", lambda: self.inner.add_dialogue(conversation, feedback))

    async def update(self, conversation: Conversation) -> Usage:
        """Let it change a dialogue."""
        self.known[conversation.id] = len(conversation.messages)
        return await self._timed("ingest", lambda: self.inner.update(conversation))

    async def delete(self, dialogue: str) -> None:
        """Let it forget a dialogue, which it must not give from then on."""
        await self._timed("ingest", lambda: self.inner.delete(dialogue))
        self.known.pop(dialogue, None)

    async def learn(self) -> None:
        """Let it learn, however long that takes: a training is no call that hangs."""
        try:
            await self.inner.learn()
        except (DialogaugeError, SystemFault):
            raise
        except Exception as error:
            msg = f"{self.name} failed to learn: {type(error).__name__}: {error}"
            raise SystemFault(msg) from error

    @property
    def answerer(self) -> Agent | None:
        """Who answers in its place."""
        return self.inner.answerer

    async def retrieve(self, question: str, room: Room) -> Retrieved:
        """Let it give items, and look at each.

        Raises:
            SystemFault: It threw, hung, gave more than there is room for, or what it was never given.
        """
        answer: object = await self._timed("retrieve", lambda: self._asked(question, room))
        if not isinstance(answer, Retrieved):
            msg = f"{self.name} gave {type(answer).__name__}, no Retrieved"
            raise SystemFault(msg)
        for item in answer.items:
            if not item.text.strip():
                msg = f"{self.name} gave an item without a text"
                raise SystemFault(msg)
            if item.dialogue and item.dialogue not in self.known:  # a text alone says nothing of its origin
                msg = f"{self.name} gave an item of {item.dialogue!r}, which it does not hold"
                raise SystemFault(msg)
            if item.dialogue and not 0 <= (item.position or 0) < max(1, self.known[item.dialogue]):
                msg = f"{self.name} gave message {item.position} of {item.dialogue!r}, which has no such one"
                raise SystemFault(msg)
        bounds = room if self.counts_items else Room(None, room.tokens)
        if len(bounds.fill(answer.items)) < len(answer.items):
            msg = f"{self.name} gave {len(answer.items)} items, more than there is room for"
            raise SystemFault(msg)
        return answer

    async def _asked(self, question: str, room: Room) -> object:
        begun, answer = time.monotonic(), await self.inner.retrieve(question, room)
        timed = isinstance(answer, Retrieved)
        return replace(answer, seconds=time.monotonic() - begun) if timed else answer

    def fork(self) -> CheckedMemory:
        """Return one in front of a fork; SystemFault where it cannot be made."""
        try:
            other = self.inner.fork()
        except Exception as error:
            msg = f"{self.name} failed to fork: {type(error).__name__}: {error}"
            raise SystemFault(msg) from error
        return CheckedMemory(other, self.deadline, dict(self.known))

    def save(self, folder: Path) -> None:
        """Let it write itself."""
        self.inner.save(folder)

    async def load(self, folder: Path) -> None:
        """Let it read itself; `known` says what it holds then."""
        await self._timed("ingest", lambda: self.inner.load(folder))

    async def _timed(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        async with self.inner.turn or contextlib.nullcontext():  # what waits for it has not begun
            if self._hung:
                msg = f"{self._hung}, and is not asked again"
                raise SystemFault(msg)
            try:
                async with asyncio.timeout(self.deadline):
                    return await call()
            except (EndpointError, BudgetSpent, SystemFault):
                raise
            except TimeoutError as error:
                msg = f"{self.name} took more than {self.deadline:g} s to {what}"
                self._hung = msg if self.inner.turn else ""  # its thread is still in there
                raise SystemFault(msg) from error
            except Exception as error:
                msg = f"{self.name} failed to {what}: {type(error).__name__}: {error}"
                raise SystemFault(msg) from error
