"""Records of Anthropic's Messages API: `messages` of content blocks, and the `system` prompt beside them."""

from __future__ import annotations

from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import OPENAI

_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if mapping.messages or mapping.content:
        return False
    messages = record.get("messages") if isinstance(record, dict) else record
    if not isinstance(messages, list) or not isinstance(messages[0] if messages else None, dict):
        return False
    return _is_request(record) or any(map(_has_blocks, messages))


def _is_request(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether a record has the system prompt, and the limit of tokens, as a request of the interface."""
    return (
        isinstance(record, dict) and isinstance(record.get("system"), str | list) and "max_tokens" in record
    )


def _has_blocks(message: object) -> bool:
    blocks = message.get("content") if isinstance(message, dict) else None
    types = (
        (block.get("type") for block in blocks if isinstance(block, dict)) if isinstance(blocks, list) else ()
    )
    return any(isinstance(name, str) and name in _BLOCKS for name in types)


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    about = record.get("metadata") if isinstance(record, dict) else None
    if isinstance(about, dict) and "user_id" not in record and (user := text_at(about, "user_id")):
        record = {**record, "user_id": user}
    return OPENAI.convert(record, entry)


ANTHROPIC = RecordFormat("anthropic", _recognises, _convert)
