"""The calls of a dialogue, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dialogauge.core import Conversation, Place


def json_object(text: str) -> dict[str, Any] | None:
    """Return the object that a text of JSON holds; None for anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def irregular_calls(conversation: Conversation) -> Iterator[tuple[str, Place]]:
    """Yield what is wrong with calls and results, in words that read on from a count, and where.

    None of it keeps a dialogue from being judged: a call without an object of arguments changed nothing.
    """
    place = conversation.place or Place("input", None, conversation.id)
    results = {m.tool_call_id for m in conversation.messages if m.role == "tool"}
    calls = set[str | None]()
    for turn in conversation.turns:
        here = Place(place.file, place.line, conversation.id, turn.number)
        for message in turn.messages:
            if message.role == "tool" and message.tool_call_id not in calls:
                yield "results have no call before: they are not read", here
            for call in message.tool_calls:
                calls.add(call.id)
                if call.id not in results:
                    yield "calls have no result: they count as made", here
                if json_object(call.arguments) is None:
                    yield "calls have arguments that are no JSON object: they count as not made", here
