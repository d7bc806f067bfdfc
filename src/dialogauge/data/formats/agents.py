"""Messages as frameworks of agents keep them, restated in OpenAI's form: Pydantic AI's and AutoGen's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

Item = dict[str, Any]

_KINDS: Final = ("request", "response")
_SPOKEN: Final = (
    "TextMessage",
    "MultiModalMessage",
    "ToolCallSummaryMessage",
    "StopMessage",
    "HandoffMessage",
)
_CALLS: Final = "ToolCallRequestEvent"
_RESULTS: Final = "ToolCallExecutionEvent"
_THOUGHT: Final = "ThoughtEvent"
_SILENT: Final = ("ModelClientStreamingChunkEvent", "UserInputRequestedEvent", "MemoryQueryEvent")
AUTOGEN: Final = frozenset({*_SPOKEN, _CALLS, _RESULTS, _THOUGHT, *_SILENT})
"""The types of AutoGen's messages and events."""


def is_of_agents(value: Mapping[str, Any]) -> bool:
    """Say whether a JSON object is a message of Pydantic AI, or a message or event of AutoGen."""
    kind = value.get("type")
    autogen = isinstance(kind, str) and kind in AUTOGEN and isinstance(value.get("source"), str)
    return autogen or _is_of_pydantic(value)


def _is_of_pydantic(value: Mapping[str, Any]) -> bool:
    if value.get("kind") not in _KINDS or not isinstance(value.get("parts"), list):
        return False
    return all(isinstance(part, dict) and isinstance(part.get("part_kind"), str) for part in value["parts"])


def items_of(value: Item) -> Iterator[Item]:
    """Yield what such a message says, in OpenAI's form with blocks."""
    yield from _of_pydantic(value) if _is_of_pydantic(value) else _of_autogen(value)


def _of_pydantic(value: Item) -> Iterator[Item]:
    blocks: list[Item] = []
    for part in value["parts"]:
        kind, content = part["part_kind"], part.get("content")
        if kind == "system-prompt":
            yield {"role": "system", "content": content}
        elif kind == "user-prompt":
            yield {"role": "user", "content": _typed(content)}
        elif kind.endswith("tool-return") or (kind == "retry-prompt" and part.get("tool_name")):
            yield {
                "role": "tool",
                "content": content,
                "tool_call_id": part.get("tool_call_id"),
                "name": part.get("tool_name"),
            }
        elif kind == "retry-prompt":
            text = content if isinstance(content, str) else orjson.dumps(content).decode()
            yield {"role": "user", "content": text}
        else:
            blocks.append(_block(kind, part))
    if value["kind"] == "response":
        yield {"role": "assistant", "content": blocks}


def _typed(content: object) -> object:
    if not isinstance(content, list):
        return content
    return [
        {"type": one["kind"], **one} if isinstance(one, dict) and "kind" in one else one for one in content
    ]


def _block(kind: str, part: Item) -> Item:
    if kind == "text":
        return {"type": "text", "text": part.get("content")}
    if kind == "thinking":
        return {"type": "thinking", "thinking": part.get("content")}
    if kind.endswith("tool-call"):
        return {
            "type": "tool_call",
            "name": part.get("tool_name"),
            "arguments": part.get("args") or {},
            "id": part.get("tool_call_id"),
        }
    return {**part, "type": kind}


def _of_autogen(value: Item) -> Iterator[Item]:
    kind, content, source = value["type"], value.get("content"), value["source"]
    if kind == _CALLS and isinstance(content, list):
        yield {"role": "assistant", "content": [_as("tool_call", call) for call in content]}
    elif kind == _RESULTS and isinstance(content, list):
        yield {"role": "tool", "content": [_as("tool_result", result) for result in content]}
    elif kind == _THOUGHT:
        yield {"role": "assistant", "content": [{"type": "thinking", "thinking": content}]}
    elif kind not in _SILENT:
        role = "user" if source.lower().startswith("user") else "assistant"
        yield {"role": role, "content": content, "source": source}


def _as(kind: str, block: object) -> object:
    return {**block, "type": kind} if isinstance(block, dict) else block
