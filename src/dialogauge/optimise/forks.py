"""The fork at the weakest turn: the prompt as it stood, and the reply that was not good enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialogauge.core.conversation import Conversation, Message, Turn
from dialogauge.optimise.judged import JudgedConversation

__all__ = ["Fork", "fork_of", "plain_message", "prompt_and_reply"]


@dataclass(frozen=True, slots=True)
class Fork:
    """One turn at which another reply would have served the conversation better."""

    conversation_id: str
    turn: int
    prompt: tuple[Mapping[str, Any], ...]
    """OpenAI messages up to the reply: the user's message and the turn's tool steps included."""
    rejected: str
    """The reply that stood there."""
    issues: tuple[str, ...]


def fork_of(judged: JudgedConversation) -> Fork | None:
    """Return the fork at the weakest turn; None when no turn was named or it has no reply text."""
    if judged.weakest_turn is None:
        return None
    turn = judged.conversation.turn(judged.weakest_turn)
    parted = prompt_and_reply(judged.conversation, turn)
    if parted is None:
        return None
    figures = judged.turn(turn.number)
    return Fork(judged.conversation.id, turn.number, *parted, figures.issues if figures is not None else ())


def prompt_and_reply(
    conversation: Conversation, turn: Turn
) -> tuple[tuple[Mapping[str, Any], ...], str] | None:
    """Part a turn before its last reply: all messages up to there, and the text of that reply.

    What the assistant said earlier in the turn (before a tool call, say) belongs to the prompt; replies
    that follow one another are one, joined by newlines. Returns None when there is no text.
    """
    replies = [i for i in range(turn.start, turn.stop) if _is_reply(conversation, i)]
    if not replies:
        return None
    start = replies[-1]
    while start - 1 in replies:
        start -= 1
    text = "\n".join(m.text for m in conversation.messages[start : replies[-1] + 1])
    if not text.strip():
        return None
    return tuple(plain_message(m) for m in conversation.messages[:start]), text


def plain_message(message: Message) -> dict[str, Any]:
    """Write a message in OpenAI form without keys of other makers."""
    whole = message.to_openai()
    return {k: whole[k] for k in ("role", "content", "tool_calls", "tool_call_id", "name") if k in whole}


def _is_reply(conversation: Conversation, index: int) -> bool:
    message = conversation.messages[index]
    return message.role == "assistant" and not message.tool_calls
