"""Conversations that LibreChat exports as JSON: messages in a row, or as a tree of those that follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import conversation_from, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.trees import branch, latest
from dialogauge.data.notes import excerpt

_BY_USER: Final = "isCreatedByUser"
_KEPT: Final = ("messageId", "model", "createdAt", "feedback")
_NO_TIME: Final = ""
_DEEPEST: Final = 200
"""Messages that stand within each other at most."""

Item = Mapping[str, Any]


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    messages = record.get("messages") if isinstance(record, dict) and mapping.messages is None else None
    first = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(first, dict) and {_BY_USER, "messageId"} <= first.keys()


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    raw = record.get("messages") if isinstance(record, dict) else None
    if not isinstance(raw, list) or not raw:
        raise fault_in(entry, f"the messages are {excerpt(raw)}: not a list of messages")
    shown = _shown(list(_all(raw, None, entry)), entry)
    options = record.get("options")
    options = options if isinstance(options, dict) else {}
    prompt = text_at(options, "promptPrefix") or text_at(options, "system")
    items = [{"role": "system", "content": prompt}] if prompt else []
    reader = MessageReader(entry, ordered=True)
    messages = reader.read([*items, *map(_message, shown)])
    model = text_at(options, "model") or next((m for one in shown if (m := text_at(one, "model"))), None)
    about = {key: value for key, value in record.items() if key != "conversationId"}
    about |= {"conversation_id": record.get("conversationId"), "model": model}
    about = {key: value for key, value in about.items() if value is not None}
    return conversation_from(about, messages, reader.rated, entry, messages_key="messages")


def _all(raw: Sequence[Any], parent: str | None, entry: Entry, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield all messages, each before those that follow it, which may stand within it."""
    for item in raw:
        if not isinstance(item, dict) or not isinstance(item.get(_BY_USER), bool) or depth > _DEEPEST:
            raise fault_in(
                entry, f"the message is {excerpt(item)}: it does not say whether the user wrote it"
            )
        children = item.get("children")
        own = {key: value for key, value in item.items() if key != "children"}
        yield own if parent is None else {**own, "parentMessageId": parent}
        if isinstance(children, list):
            yield from _all(children, text_at(item, "messageId"), entry, depth + 1)


def _shown(messages: Sequence[Item], entry: Entry) -> Sequence[Item]:
    """Return the branch with the latest message; all messages where they name none before them."""
    by_id = {id: message for message in messages if (id := text_at(message, "messageId")) is not None}
    parents = {id: text_at(message, "parentMessageId") for id, message in by_id.items()}
    if len(by_id) < len(messages) or not any(parent in by_id for parent in parents.values()):
        return messages
    order = {id: number for number, id in enumerate(by_id)}
    try:
        ids = branch(parents, latest(parents, lambda id: _moment(by_id[id], order[id])))
    except ValueError as error:
        raise fault_in(entry, str(error)) from error
    if len(ids) < len(messages):
        entry.recognise(
            "conversations have messages that were regenerated or edited: only the latest branch is read"
        )
    return [by_id[id] for id in ids]


def _moment(message: Item, number: int) -> str:
    return f"{text_at(message, 'createdAt') or _NO_TIME}\0{number:09}"


def _message(item: Item) -> dict[str, Any]:
    content = item.get("content")
    blocks = [block for one in content if (block := _block(one))] if isinstance(content, list) else []
    by_user = item[_BY_USER]
    kept = {key: item[key] for key in _KEPT if item.get(key) not in (None, "")}
    if isinstance(vote := kept.get("feedback"), dict):
        kept["feedback"] = {"thumbsUp": "up", "thumbsDown": "down"}.get(str(vote.get("rating")), vote)
    role = "user" if by_user else "assistant"
    return {"role": role, "content": blocks or item.get("text") or "", **kept}


def _block(part: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a part of a message as a block; None for one that says nothing."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "think":
        return {"type": "thinking", "thinking": part.get("think")}
    call = part.get("tool_call") if kind == "tool_call" else None
    if isinstance(call, dict):
        return {**call, "type": "dynamic-tool"}
    if kind == "error":
        return {"type": "text", "text": str(part.get("error", ""))}
    return None if kind == "agent_update" else part


LIBRECHAT = RecordFormat("librechat", _recognises, _convert, takes_order=False)
