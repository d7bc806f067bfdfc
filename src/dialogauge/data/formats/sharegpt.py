"""ShareGPT records: `{"conversations": [{"from": "human", "value": "..."}]}`."""

from __future__ import annotations

from typing import Any

import orjson

from dialogauge.core import Conversation, Message, Role, ToolCall
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import conversation_from, labels_of
from dialogauge.data.formats.openai import NO_MESSAGES, content_of, unknown_role
from dialogauge.data.formats.order import in_time
from dialogauge.data.formats.react import unfold
from dialogauge.data.json_values import too_deep
from dialogauge.data.notes import excerpt
from dialogauge.data.reasoning import without_reasoning

_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "function_call": "assistant",
    "tool_call": "assistant",
    "observation": "tool",
    "function": "tool",
    "function_response": "tool",
    "tool_response": "tool",
    "tool": "tool",
    "system": "system",
}
_CALLS = frozenset({"function_call", "tool_call"})


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or not isinstance(record.get("conversations"), list):
        return False
    items = record["conversations"]
    return not items or (isinstance(items[0], dict) and "from" in items[0] and "value" in items[0])


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or not isinstance(record.get("conversations"), list):
        raise fault_in(entry, "the record has no list under 'conversations'")
    if not record["conversations"]:
        entry.recognise(NO_MESSAGES)
        return conversation_from(record, (), (), entry, messages_key="conversations")
    rated: list[tuple[int, dict[str, Any]]] = []
    messages: list[Message] = []
    call: str | None = None
    system = record.get("system")
    if isinstance(system, str) and system:
        messages.append(Message("system", system))
        record = {key: value for key, value in record.items() if key != "system"}
    for number, item in enumerate(in_time(record["conversations"], entry), start=1):
        message, ratings = _message(item, number, entry, call)
        if ratings:
            rated.append((len(messages), ratings))
        call = message.tool_calls[0].id if message.tool_calls else call
        messages.append(message)
    unfolded, ends = unfold(without_reasoning(messages), entry)
    rated = [(ends[index], ratings) for index, ratings in rated]
    return conversation_from(record, unfolded, rated, entry, messages_key="conversations")


def _message(
    item: Any,  # noqa: ANN401  # any JSON value
    number: int,
    entry: Entry,
    call: str | None,
) -> tuple[Message, dict[str, Any]]:
    if not isinstance(item, dict):
        raise fault_in(entry, f"message {number} is {excerpt(item)}: not an object")
    if "value" not in item:
        raise fault_in(entry, f"message {number} has no 'value'", f"it has {', '.join(map(repr, item))}")
    sender = item.get("from")
    name = sender if isinstance(sender, str) else ""
    role = entry.mapping.roles.get(name) or _ROLES.get(name.lower())
    if role is None:
        message, hint = unknown_role(number, sender)
        raise fault_in(entry, message, f"in ShareGPT also {', '.join(_ROLES)}; {hint}")
    extra = {key: value for key, value in item.items() if key not in ("from", "value")}
    ratings = labels_of(extra, entry) if role == "assistant" else {}
    extra = {key: value for key, value in extra.items() if key not in ratings}
    content = content_of(item["value"], number, entry)
    if name.lower() in _CALLS:
        return Message(role, None, (_tool_call(item["value"], number),), extra=extra), ratings
    answers = call if role == "tool" else None
    return Message(role, content, tool_call_id=answers, extra=extra), ratings


def _tool_call(value: object, number: int) -> ToolCall:
    """Read a text `{"name": ..., "arguments": ...}`; any other text becomes the arguments."""
    text = value if isinstance(value, str) else ""
    try:
        call = orjson.loads(text)
    except orjson.JSONDecodeError:
        call = None
    if too_deep(call) or not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return ToolCall(f"call_{number}", "", text)
    arguments = call.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = orjson.dumps(arguments).decode("utf-8")
    return ToolCall(f"call_{number}", call["name"], arguments)


SHAREGPT = RecordFormat("sharegpt", _recognises, _convert)
