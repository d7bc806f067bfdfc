"""Small conversations and model replies for the tests of rubrics and of the rubric judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dialogauge.core import Conversation, Message
from dialogauge.llm.protocol import ChatFailure, ChatReply, ChatRequest
from dialogauge.llm.scripted import ScriptedClient


def chat(*pairs: tuple[str, str | None], id: str = "c1", **known: Any) -> Conversation:
    """Build a conversation of user and assistant texts; None for a turn without a reply."""
    messages = []
    for user, assistant in pairs:
        messages.append(Message("user", user))
        if assistant is not None:
            messages.append(Message("assistant", assistant))
    return Conversation(id, tuple(messages), **known)


def long_chat(count: int, **known: Any) -> Conversation:
    """Build a conversation of `count` turns with texts that name their turn."""
    return chat(*((f"question {n}", f"answer {n}") for n in range(1, count + 1)), **known)


RECORD: Mapping[str, Any] = {
    "answer": "9 May 2024",
    "checklist": ["Is a day named?"],
    "criteria": [{"name": "tone", "criteria_description": "It is kind."}],
    "ground_truth": "The sample holds no children.",
    "aspect": "data",
    "values": {"meteor": 0.25, "rouge_l": None},
}
"""The record of a task that has something for every rubric; its lists have one entry."""


def ideal(schema: Mapping[str, Any], entries: int = 0) -> Any:
    """Build a reply that satisfies a schema of ours: best scores, the last turn, short texts, short lists."""
    if "anyOf" in schema:
        return ideal(schema["anyOf"][0])
    kind = schema["type"]
    if kind == "object":
        return {key: ideal(value, entries) for key, value in schema["properties"].items()}
    if kind == "array":
        return [ideal(schema["items"]) for _ in range(entries)]
    if "enum" in schema:
        return schema["enum"][-1] if kind == "integer" else schema["enum"][0]
    return {
        "string": "fine",
        "number": schema.get("maximum"),
        "integer": schema.get("maximum"),
        "null": None,
    }[kind]


def satisfies(schema: Mapping[str, Any], value: Any) -> bool:
    """Check a value against the part of JSON schema that we use, slowly and plainly."""
    if "anyOf" in schema:
        return any(satisfies(s, value) for s in schema["anyOf"])
    kind = schema["type"]
    if kind == "object":
        props = schema["properties"]
        return (
            isinstance(value, dict)
            and set(value) == set(schema["required"]) == set(props)
            and all(satisfies(props[key], value[key]) for key in props)
        )
    if kind == "array":
        size_ok = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        return isinstance(value, list) and size_ok and all(satisfies(schema["items"], v) for v in value)
    types = {"integer": int, "number": (int, float), "string": str, "null": type(None)}
    if not isinstance(value, types[kind]) or isinstance(value, bool):
        return False
    if "enum" in schema:
        return value in schema["enum"]
    return kind not in ("integer", "number") or schema["minimum"] <= value <= schema["maximum"]


def card_reply(
    turns: Mapping[int, tuple[Any, Any, Any]],
    whole: tuple[Any, Any, Any] | None = (5, 5, "n/a"),
    **more: Any,
) -> dict[str, Any]:
    """Build a card reply from (context_use, helpfulness, safety) by turn and the conversation's three."""
    reply: dict[str, Any] = {
        "per_turn": {
            str(n): {
                "issues": [],
                "evidence": [],
                "scores": dict(zip(("context_use", "helpfulness", "safety"), scores, strict=True)),
            }
            for n, scores in turns.items()
        }
    }
    if whole is not None:
        names = ("coherence", "task_completion", "repair_handling")
        reply["conversation_level"] = {
            name: {"note": f"note on {name}", "score": score}
            for name, score in zip(names, whole, strict=True)
        }
        reply |= {"decision_basis": "It went as it went.", "weakest_turn": None, "verdict": "good"}
    return {**reply, **more}


def listed(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Write a card reply in the other form that is read: a list of entries that say their turns."""
    entries = [{"turn": int(n), **entry} for n, entry in reply["per_turn"].items()]
    return {**reply, "per_turn": entries}


Answering = Callable[[ChatRequest], Any]


def client_of(answer: Answering) -> ScriptedClient:
    """Make a client of a function from request to a reply: a dict, a text, or a failure."""

    def line(request: ChatRequest) -> str | ChatReply | ChatFailure:
        found = answer(request)
        return found if isinstance(found, str | ChatReply | ChatFailure) else json.dumps(found)

    return ScriptedClient(line)


def asked_turns(request: ChatRequest) -> list[int]:
    """Return the turns that the schema of a card request asks for."""
    assert request.schema is not None
    per_turn = request.schema.schema["properties"].get("per_turn")
    return [int(n) for n in per_turn["properties"]] if per_turn else []
