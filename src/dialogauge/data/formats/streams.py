"""Replies that a log keeps as the pieces in which they were streamed, put together.

Chunks of OpenAI's chat completions, and events of Anthropic's messages and of Bedrock's Converse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

Item = dict[str, Any]

_OF_BEDROCK: Final = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)
_OF_ANTHROPIC: Final = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"}
) | {"message_stop", "ping"}
_MARK: Final = "data:"


def assembled(value: object) -> Item | None:
    """Return the message that the pieces of a stream make, in OpenAI's form; None for anything else.

    Pieces are listed, or stand in lines as they were sent: `data: {...}`.
    """
    pieces = _sent(value) if isinstance(value, str) else value
    if not isinstance(pieces, list) or not pieces or not all(map(_is_piece, pieces)):
        return None
    reply = _StreamedReply()
    for piece in pieces:
        for number, text, call in _added(piece):
            reply.add(number, text, call)
    calls = [call for call in reply.calls.values() if call["name"]]
    message: Item = {"role": "assistant", "content": "".join(reply.texts) or None}
    return message | ({"tool_calls": calls} if calls else {})


def _sent(text: str) -> list[Any] | None:
    if not text.lstrip().startswith((_MARK, "event:")):
        return None
    lines = (line.removeprefix(_MARK).strip() for line in text.splitlines() if line.startswith(_MARK))
    try:
        return [orjson.loads(line) for line in lines if line and line != "[DONE]"]
    except orjson.JSONDecodeError:
        return None


@dataclass(slots=True)
class _StreamedReply:
    texts: list[str] = field(default_factory=list)
    calls: dict[object, Item] = field(default_factory=dict)

    def add(self, number: object, text: object, call: Mapping[str, Any]) -> None:
        """Add a piece: a text, or what is new of a call with its number."""
        if isinstance(text, str):
            self.texts.append(text)
        if call:
            whole = self.calls.setdefault(number, {"id": "", "name": "", "arguments": ""})
            for key, value in call.items():
                if key in whole and isinstance(value, str):
                    whole[key] += value


def _is_piece(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    kind, choices = value.get("type"), value.get("choices")
    if isinstance(choices, list):
        return all(isinstance(one, dict) and "delta" in one for one in choices)
    return kind in _OF_ANTHROPIC if isinstance(kind, str) else bool(value) and value.keys() <= _OF_BEDROCK


def _added(value: Mapping[str, Any]) -> Iterator[tuple[object, object, Item]]:
    """Yield number, text and call of what a chunk or an event adds."""
    for choice in value.get("choices") or ():
        own = {} if choice.get("index") else _inner(choice, "delta")
        yield None, own.get("content"), {}
        calls = own.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                function = call.get("function")
                named = function if isinstance(function, dict) else {}
                yield call.get("index"), None, {"id": call.get("id"), **named}
    number, delta, begun = _of_event(value)
    yield None, delta.get("text"), {}
    if begun.get("name"):
        yield number, None, {"id": begun.get("id", begun.get("toolUseId")), "name": begun["name"]}
    arguments = delta.get("partial_json", _inner(delta, "toolUse").get("input"))
    if isinstance(arguments, str):
        yield number, None, {"arguments": arguments}


def _of_event(value: Mapping[str, Any]) -> tuple[object, Mapping[str, Any], Mapping[str, Any]]:
    """Return the number of a block, what an event adds to it, and the call that begins with it."""
    added, begun = _inner(value, "contentBlockDelta"), _inner(value, "contentBlockStart")
    if added or begun:
        number = added.get("contentBlockIndex", begun.get("contentBlockIndex"))
        return number, _inner(added, "delta"), _inner(_inner(begun, "start"), "toolUse")
    block = _inner(value, "content_block")
    return value.get("index"), _inner(value, "delta"), block if block.get("type") == "tool_use" else {}


def _inner(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}
