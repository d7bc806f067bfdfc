"""Short, stable names for values: the same value has the same digest on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dialogauge.core.conversation import Conversation

__all__ = ["conversation_digest", "digest", "digest_text"]


def digest_text(text: str) -> str:
    """Return the first 128 bits of the SHA-256 of the text, as 32 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def digest(value: Mapping[str, Any] | list[Any] | str | float | None) -> str:
    """Return the digest of a JSON value; the order of keys makes no difference."""
    return digest_text(json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def conversation_digest(conversation: Conversation) -> str:
    """Return the digest of all that a judge may see of a conversation, its id included."""
    return digest(
        {
            "id": conversation.id,
            "messages": [m.to_openai() for m in conversation.messages],
            "user_id": conversation.user_id,
            "scenario": conversation.scenario,
            "context": conversation.context,
            "profile": dict(conversation.profile) if conversation.profile is not None else None,
            "candidate": conversation.candidate,
            "language": conversation.language,
        }
    )
