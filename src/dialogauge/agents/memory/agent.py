"""An assistant with a memory: it recalls, and a model answers from what was recalled."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dialogauge.agents.memory.extracting import EXTRACTING, extract
from dialogauge.agents.memory.protocol import Memory, Retrieved, Room, SystemFault
from dialogauge.core import Conversation, Message, digest
from dialogauge.core.protocols import Agent, AgentFailure, AgentReply, AgentTurn
from dialogauge.rubrics import own_template, render
from dialogauge.text import has_chinese


@dataclass(frozen=True, slots=True)
class RecalledTurn:
    """A turn of an assistant with a memory, and how it came about."""

    turn: AgentTurn
    """What models took to recall is part of its usage."""
    retrieved: Retrieved | None = None
    """None where the memory failed."""
    retrieve_s: float = 0.0
    answer_s: float = 0.0


@dataclass
class MemoryAgent:
    """Asks a memory for the bare question, then another agent with what came; a `core.protocols.Agent`.

    Only the last user message is searched for, without any wrapping: a wrapped prompt costs 21 points of
    recall on LoCoMo. Without items the question goes on as it is.
    """

    memory: Memory
    answerer: Agent | None = None
    """A model, as any candidate; None for `extract`, which needs none and says `not mentioned` of nothing.
    A memory that brings its own is answered by that one."""
    room: Room = field(default_factory=Room)

    @property
    def name(self) -> str:
        """The memory's."""
        return self.memory.name

    @cached_property
    def digest(self) -> str:
        """Changes with memory, answerer, room and wording."""
        wording = [own_template("recalled", language) for language in ("en", "zh")]
        answerer = EXTRACTING if self.answerer is None else self.answerer.digest
        return digest([self.memory.digest, answerer, self.room.items, self.room.tokens, wording])

    def describe(self) -> Mapping[str, Any]:
        """Return memory, answerer and room."""
        room = {"items": self.room.items, "tokens": self.room.tokens}
        model = None if self.answerer is None else dict(self.answerer.describe())
        return {"memory": dict(self.memory.describe()), "model": model, "room": room}

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Recall and answer; a broken memory is a failure of the system, and no answer without it."""
        return (await self.answer(conversation, seed=seed)).turn

    async def answer(
        self,
        conversation: Conversation,
        *,
        seed: int = 0,
        query: str | None = None,
        first: Retrieved | None = None,
    ) -> RecalledTurn:
        """Return the reply with what was recalled for it, and the seconds of both.

        Args:
            conversation: It ends with a message of the user.
            seed: Of the answerer.
            query: What is searched for, where the last message of the user holds more than that.
            first: What was recalled for the first message of the dialogue: nothing is recalled again, and
                it stands before that message. Without a model each further answer begins with the next item.
        """
        users = [n for n, m in enumerate(conversation.messages) if m.role == "user"]
        if not users:
            return RecalledTurn(AgentTurn(AgentFailure("no_reply", "nobody asks anything")))
        new = [n for n in users if n >= conversation.prefix]
        last, answered = (users[-1], 0) if first is None else (new[0], len(new) - 1)
        question, begun = conversation.messages[last].text, time.monotonic()
        answerer = self.memory.answerer or self.answerer
        try:
            retrieved = first or await self.memory.retrieve(query or question, self.room)
        except SystemFault as fault:
            failed = AgentFailure("judge_error", str(fault))
            return RecalledTurn(AgentTurn(failed, usage=fault.booked()))
        came = time.monotonic()
        if answerer is None:
            answer = extract(question, retrieved.items[answered:]) or "not mentioned"
            turn = AgentTurn(AgentReply(answer))
        else:
            if retrieved.items:
                template = own_template("recalled", "zh" if has_chinese(question) else "en")
                items = "\n".join(f"- {item.shown}" for item in retrieved.items)
                messages = [*conversation.messages]
                messages[last] = Message("user", render(template, {"items": items, "question": question}))
                conversation = replace(conversation, messages=tuple(messages))
            turn = await answerer.reply(conversation, seed=seed)
        if first is None:
            turn = replace(turn, usage=turn.usage + retrieved.usage)
        recall_s = came - begun if retrieved.seconds is None else retrieved.seconds
        return RecalledTurn(turn, retrieved, recall_s, time.monotonic() - came)


@dataclass
class RecalledDialogue(MemoryAgent):
    """A `MemoryAgent` in one dialogue, in which only the first message is searched for."""

    first: RecalledTurn | None = None
    """The first turn that there was an answer of the memory to."""

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Recall where nothing was recalled yet, and answer."""
        retrieved = None if self.first is None else self.first.retrieved
        recalled = await self.answer(conversation, seed=seed, first=retrieved)
        if retrieved is None:
            self.first = recalled
        return recalled.turn
