"""Requests and settings that many tests need."""

from __future__ import annotations

from typing import Any

from dialogauge.llm import ChatRequest, ReplySchema, RetrySettings

SCORE = ReplySchema(
    "score",
    {
        "type": "object",
        "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}},
        "required": ["score"],
        "additionalProperties": False,
    },
)


def quick(**changes: Any) -> RetrySettings:
    """Patience that is soon at its end."""
    plain = {"attempt_deadline": 2.0, "item_deadline": 5.0, "backoff_base": 0.002, "backoff_cap": 0.01}
    return RetrySettings(**{**plain, **changes})


def question(text: str = "How good was it?", **options: Any) -> ChatRequest:
    """One user message."""
    return ChatRequest(({"role": "user", "content": text},), **options)
