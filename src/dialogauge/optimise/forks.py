"""The fork at the weakest turn: the prompt as it stood, and the reply that was not good enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialogauge.core.conversation import Conversation, Turn
from dialogauge.optimise.judged import JudgedConversation

__all__ = ["Fork", "fork_of", "prompt_of"]


@dataclass(frozen=True, slots=True)
class Fork:
    """One turn at which another reply would have served the conversation better."""

    conversation_id: str
    turn: int
    prompt: tuple[Mapping[str, Any], ...]
    """OpenAI messages up to the reply: the user's message and the turn's tool steps included."""
    rejected: str
    issues: tuple[str, ...]


def fork_of(judged: JudgedConversation) -> Fork | None:
    """Return the fork at the weakest turn; None when no turn was named or it has no reply text."""
    if judged.weakest_turn is None:
        return None
    turn = judged.conversation.turn(judged.weakest_turn)
    if not turn.reply_text.strip():
        return None
    figures = judged.turn(turn.number)
    return Fork(
        judged.conversation.id,
        turn.number,
        prompt_of(judged.conversation, turn),
        turn.reply_text,
        figures.issues if figures is not None else (),
    )


def prompt_of(conversation: Conversation, turn: Turn) -> tuple[Mapping[str, Any], ...]:
    """Return all messages before the turn's reply, in OpenAI form without keys of other makers."""
    stop = turn.stop
    while stop > turn.start and _is_reply(conversation, stop - 1):
        stop -= 1
    if stop == turn.stop:  # the reply is not what the turn ends with: fork before its last part
        stop = max(i for i in range(turn.start, turn.stop) if _is_reply(conversation, i))
    return tuple(_plain(m.to_openai()) for m in conversation.messages[:stop])


def _is_reply(conversation: Conversation, index: int) -> bool:
    message = conversation.messages[index]
    return message.role == "assistant" and not message.tool_calls


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    kept = ("role", "content", "tool_calls", "tool_call_id", "name")
    return {k: message[k] for k in kept if k in message}
