"""An assistant with a memory: it recalls, and a model answers from what was recalled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dialogauge.agents.memory.protocol import Memory, Retrieved, Room, SystemFault
from dialogauge.core import Conversation, Message, digest
from dialogauge.core.protocols import Agent, AgentFailure, AgentTurn
from dialogauge.rubrics import own_template, render
from dialogauge.text import has_chinese


@dataclass(frozen=True)
class MemoryAgent:
    """Asks a memory for the bare question, then another agent with what came; a `core.protocols.Agent`.

    Only the last user message is searched for, without any wrapping: a wrapped prompt costs 21 points of
    recall on LoCoMo. Without items the question goes on as it is.
    """

    memory: Memory
    answerer: Agent
    """A model, as any candidate."""
    room: Room = field(default_factory=Room)

    @property
    def name(self) -> str:
        """The memory's."""
        return self.memory.name

    @cached_property
    def digest(self) -> str:
        """Changes with memory, answerer, room and wording."""
        wording = [own_template("recalled", language) for language in ("en", "zh")]
        return digest([self.memory.digest, self.answerer.digest, self.room.items, self.room.tokens, wording])

    def describe(self) -> Mapping[str, Any]:
        """Return memory, answerer and room."""
        room = {"items": self.room.items, "tokens": self.room.tokens}
        return {"memory": dict(self.memory.describe()), "model": dict(self.answerer.describe()), "room": room}

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Recall and answer; a broken memory is a failure of the system, and no answer without it."""
        turn, _ = await self.answer(conversation, seed=seed)
        return turn

    async def answer(self, conversation: Conversation, *, seed: int = 0) -> tuple[AgentTurn, Retrieved]:
        """Return the reply, and what was recalled for it."""
        last = max((n for n, m in enumerate(conversation.messages) if m.role == "user"), default=None)
        if last is None:
            return AgentTurn(AgentFailure("no_reply", "nobody asks anything")), Retrieved(())
        question = conversation.messages[last].text
        try:
            recalled = await self.memory.retrieve(question, self.room)
        except SystemFault as fault:
            return AgentTurn(AgentFailure("judge_error", str(fault))), Retrieved(())
        if recalled.items:
            messages = [*conversation.messages]
            messages[last] = Message("user", prompt_of(question, recalled))
            conversation = replace(conversation, messages=tuple(messages))
        turn = await self.answerer.reply(conversation, seed=seed)
        return replace(turn, usage=turn.usage + recalled.usage), recalled


def prompt_of(question: str, recalled: Retrieved) -> str:
    """Return a question with what was recalled for it, in the question's language; items in their order."""
    items = "\n".join(f"- {item.shown}" for item in recalled.items)
    language = "zh" if has_chinese(question) else "en"
    return render(own_template("recalled", language), {"items": items, "question": question})
