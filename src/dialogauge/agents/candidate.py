"""A chat model as an agent: it writes the reply that a conversation waits for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.core import Conversation, FailureKind
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.protocols import Agent, AgentFailure, AgentReply, AgentTurn
from dialogauge.llm import ChatClient, ChatFailure, ChatRequest
from dialogauge.text import split_reasoning


@dataclass(frozen=True, slots=True)
class SessionCandidate:
    """Who replies in sessions."""

    name: str
    about: Mapping[str, Any]
    """What it is; `digest` is of all that its replies are made by."""
    agent: Agent


_FENCED: Final = lazy_pattern(r"```[^\n]*\n(.*?)\n?```", re.DOTALL)

_NO_TEXT: Final[tuple[FailureKind, str]] = ("empty_reply", "the candidate said nothing")
_CUT: Final[Mapping[str, tuple[FailureKind, str]]] = {
    "length": ("truncated", "the limit of tokens came before any answer"),
    "filter": ("refused", "a filter let nothing through"),
}


@dataclass(frozen=True, slots=True)
class ChatAgent:
    """Asks a client for the reply; implements `core.protocols.Agent`."""

    name: str
    digest: str
    client: ChatClient

    def describe(self) -> Mapping[str, Any]:
        """Return what the client says of itself."""
        return self.client.describe()

    async def reply(self, conversation: Conversation, *, seed: int = 0) -> AgentTurn:
        """Write the reply, or say why there is none: never another's."""
        messages = tuple(m.to_request() for m in conversation.messages)
        answer = await self.client.complete(
            ChatRequest(messages, role="candidate", salt=seed, session=conversation.id)
        )
        if isinstance(answer, ChatFailure):
            return AgentTurn(AgentFailure(answer.kind, answer.message, answer.raw), answer.usage)
        text = reply_of(answer.text)
        if not text:
            return AgentTurn(AgentFailure(*_CUT.get(answer.finish, _NO_TEXT)), answer.usage)
        return AgentTurn(AgentReply(text, answer.finish, answer.model), answer.usage)


def reply_of(text: str) -> str:
    """Return a reply without reasoning before it, white space, and a code fence around the whole of it."""
    plain = split_reasoning(text)[0].strip()
    fenced = _FENCED.fullmatch(plain)
    return fenced[1].strip() if fenced and "```" not in fenced[1] else plain
