"""Requests and settings that many tests need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialogauge.llm import ChatRequest, ReplySchema, RetrySettings
from servers.faults import FaultPlan

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


def but_for_barest(*faults: str) -> FaultPlan:
    """Faults, the last for good, for all but the barest request: the server is up, and the item to blame."""
    left = list(faults)

    def choose(body: Mapping[str, Any]) -> str | None:
        barest = "the word: yes" in str(body["messages"])
        return None if barest else left.pop(0) if len(left) > 1 else left[0]

    return FaultPlan(choose=choose)
