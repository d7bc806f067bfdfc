"""Short, stable names for values: the same value has the same digest on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dialogauge.core.conversation import Conversation, Message

__all__ = ["conversation_digest", "digest", "digest_text"]


def digest_text(text: str) -> str:
    """Return the first 128 bits of the SHA-256 of the text, as 32 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def digest(value: Mapping[str, Any] | list[Any] | str | float | None) -> str:
    """Return the digest of a JSON value; the order of keys makes no difference."""
    return digest_text(json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def conversation_digest(conversation: Conversation) -> str:
    """Return the digest of all that a judge may see of a conversation, its id included."""
    c = conversation
    known = (c.id, c.user_id, c.scenario, c.context, c.candidate, c.language)
    parts = ["-" if value is None else f"{len(value)}:{value}" for value in known]
    parts.append("-" if c.profile is None else digest(dict(c.profile)))
    parts += [_message(m) for m in c.messages]
    return digest_text("".join(parts))


def _message(message: Message) -> str:
    """Write a message so that no two differ and write the same: every text has its length before it.

    Most messages are a role and a text. To write these as JSON takes five times as long, and a run that
    is resumed does this for all conversations that are done.
    """
    text = message.content
    plain = not (message.tool_calls or message.tool_call_id or message.name or message.extra)
    if plain and isinstance(text, str):
        return f"{message.role}:{len(text)}:{text}"
    return f"+{digest(message.to_openai())}"
