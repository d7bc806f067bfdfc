"""A candidate as the engine sees it: a conversation up to a state in, one reply or a failure out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.core import Conversation, DimensionSpec, FailureKind, Judged, JudgeFailure, Judgement, Target
from dialogauge.llm import ChatClient, ChatFailure, ChatRequest
from dialogauge.llm.wire import split_reasoning

_FENCED: Final = re.compile(r"```[^\n]*\n(.*?)\n?```", re.DOTALL)

_SAID_NOTHING: Final[tuple[FailureKind, str]] = ("empty_reply", "the candidate said nothing")
_SILENT: Final[Mapping[str, tuple[FailureKind, str]]] = {
    "length": ("truncated", "the limit of tokens came before any answer"),
    "filter": ("refused", "a filter let nothing through"),
}


@dataclass(frozen=True, slots=True)
class ReplyWriter:
    """Asks a candidate for the reply that a conversation waits for."""

    name: str
    digest: str
    client: ChatClient

    @property
    def dimensions(self) -> tuple[DimensionSpec, ...]:
        """None: it judges nothing."""
        return ()

    def describe(self) -> Mapping[str, Any]:
        """Return what the client says of itself."""
        return self.client.describe()

    async def judge(self, conversation: Conversation, *, repeat: int, seed: int) -> tuple[Judged, ...]:
        """Return the reply in `details["reply"]` of one row, or why there is none: never another's."""
        messages = tuple(m.to_openai() for m in conversation.messages)
        found = await self.client.complete(ChatRequest(messages, role="candidate", salt=seed))
        target = Target(conversation.id, "turn", candidate=self.name)
        usage = {"candidate": found.usage}
        if isinstance(found, ChatFailure):
            failure = JudgeFailure(found.kind, found.message, found.raw)
            return (Judged(target, failure, found.usage, role_usage=usage),)
        text = reply_of(found.text)
        if not text:
            failure = JudgeFailure(*_SILENT.get(found.finish, _SAID_NOTHING))
            return (Judged(target, failure, found.usage, role_usage=usage),)
        details: dict[str, Any] = {"reply": text}
        if found.finish != "stop":
            details["finish"] = found.finish
        if found.model is not None:
            details["model"] = found.model
        return (Judged(target, Judgement(details=details), found.usage, role_usage=usage),)


def reply_of(text: str) -> str:
    """Return a reply without reasoning before it, white space, and a code fence around the whole of it."""
    plain = split_reasoning(text)[0].strip()
    fenced = _FENCED.fullmatch(plain)
    return fenced[1].strip() if fenced and "```" not in fenced[1] else plain
