"""Conversations as compressed bytes, so that a run can be reported and judged again by itself."""

from __future__ import annotations

import dataclasses
import sys
import zlib
from typing import Any

import orjson

from dialogauge.core.conversation import Conversation, Message, ToolCall
from dialogauge.core.packing import squeeze
from dialogauge.core.ratings import Rating

__all__ = ["decode_conversation", "encode_conversation", "pack", "unpack"]

_OWN_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})
_HIDDEN = "\0extra"
"""Under this key stands what came under a key of ours and is not what that key means."""

_RATING = tuple(field.name for field in dataclasses.fields(Rating) if field.name != "place")
_PLAIN = ("user_id", "scenario", "context", "candidate", "language")


def pack(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Write a JSON value as compressed bytes.

    What UTF-8 or 64 bits cannot hold is replaced: half a surrogate pair (a model that was cut off within
    an escaped emoji) by U+FFFD, a larger whole number by the nearest float.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:
        text = orjson.dumps(_holdable(value), option=orjson.OPT_NON_STR_KEYS)
    return squeeze(text)


def unpack(blob: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Read what `pack` wrote."""
    return orjson.loads(zlib.decompress(blob))


def _holdable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value) if abs(value) < sys.float_info.max else None
    if isinstance(value, dict):
        return {_holdable(k): _holdable(v) for k, v in value.items()}
    return [_holdable(v) for v in value] if isinstance(value, list | tuple) else value


def encode_conversation(conversation: Conversation) -> bytes:
    """Write a conversation as compressed JSON; its place, and those of its ratings, are left out."""
    body: dict[str, Any] = {"id": conversation.id, "messages": [_stored(m) for m in conversation.messages]}
    body.update({k: v for k in _PLAIN if (v := getattr(conversation, k)) is not None})
    if conversation.profile is not None:
        body["profile"] = dict(conversation.profile)
    if conversation.metadata:
        body["metadata"] = dict(conversation.metadata)
    if conversation.ratings:
        body["ratings"] = [[getattr(r, name) for name in _RATING] for r in conversation.ratings]
    return pack(body)


def _stored(message: Message) -> dict[str, Any]:
    out = message.to_openai()
    hidden = {k: v for k, v in message.extra.items() if k not in out or k in _OWN_KEYS}
    if hidden:
        out[_HIDDEN] = hidden
    return out


def decode_conversation(blob: bytes) -> Conversation:
    """Read what `encode_conversation` wrote."""
    body = unpack(blob)
    plain = {k: body.get(k) for k in _PLAIN}
    return Conversation(
        id=body["id"],
        messages=tuple(_message(m) for m in body["messages"]),
        profile=body.get("profile"),
        metadata=body.get("metadata", {}),
        ratings=tuple(Rating(*values) for values in body.get("ratings", ())),
        **plain,
    )


def _message(raw: dict[str, Any]) -> Message:
    hidden = raw.pop(_HIDDEN, {})
    content = raw.pop("content")
    calls = raw.pop("tool_calls", ())
    return Message(
        role=raw.pop("role"),
        content=tuple(content) if isinstance(content, list) else content,
        tool_calls=tuple(ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in calls),
        tool_call_id=raw.pop("tool_call_id", None),
        name=raw.pop("name", None),
        extra={**raw, **hidden},
    )
