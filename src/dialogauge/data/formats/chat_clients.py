"""Conversations of programs to chat with any model: LibreChat, and LM Studio."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import conversation_from, object_at, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.order import branch, latest
from dialogauge.data.notes import excerpt

_BY_USER: Final = "isCreatedByUser"
_KEPT: Final = ("messageId", "model", "createdAt", "feedback")
_NO_TIME: Final = ""
_DEEPEST: Final = 200
"""Messages that stand within each other at most."""

Item = Mapping[str, Any]


def _recognises_librechat(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    messages = record.get("messages") if isinstance(record, dict) and mapping.messages is None else None
    first = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(first, dict) and {_BY_USER, "messageId"} <= first.keys()


def _convert_librechat(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    raw = record.get("messages") if isinstance(record, dict) else None
    if not isinstance(raw, list) or not raw:
        raise fault_in(entry, f"the messages are {excerpt(raw)}: not a list of messages")
    shown = _shown(list(_all(raw, None, entry)), entry)
    options = object_at(record, "options")
    prompt = text_at(options, "promptPrefix") or text_at(options, "system")
    items = [{"role": "system", "content": prompt}] if prompt else []
    reader = MessageReader(entry, ordered=True)
    messages = reader.read([*items, *map(_message_of_librechat, shown)])
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
    if others := len(messages) - len(ids):
        entry.leave_out("regenerated or edited, and not on the latest branch", others)
    return [by_id[id] for id in ids]


def _moment(message: Item, number: int) -> str:
    return f"{text_at(message, 'createdAt') or _NO_TIME}\0{number:09}"


def _message_of_librechat(item: Item) -> dict[str, Any]:
    content = item.get("content")
    blocks = (
        [block for one in content if (block := _block_of_librechat(one))] if isinstance(content, list) else []
    )
    by_user = item[_BY_USER]
    kept = {key: item[key] for key in _KEPT if item.get(key) not in (None, "")}
    if isinstance(vote := kept.get("feedback"), dict):
        kept["feedback"] = {"thumbsUp": "up", "thumbsDown": "down"}.get(str(vote.get("rating")), vote)
    role = "user" if by_user else "assistant"
    return {"role": role, "content": blocks or item.get("text") or "", **kept}


def _block_of_librechat(part: Any) -> Any:  # noqa: ANN401  # any JSON value
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


LIBRECHAT = RecordFormat("librechat", _recognises_librechat, _convert_librechat, takes_order=False)
"""Conversations that LibreChat exports as JSON: messages in a row, or as a tree of those that follow."""


_UNREAD: Final = frozenset({"messages", "systemPrompt", "perChatPredictionConfig"}) | {
    *("clientInput", "clientInputFiles", "lastUsedModel", "plugins", "disabledPluginTools"),
}
"""Keys of a conversation that are read otherwise, or that are of the program alone."""
_PROMPT: Final = "llm.prediction.systemPrompt"
_OTHERS: Final = "versions beside the chosen one"


def _recognises_lmstudio(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    messages = record.get("messages") if isinstance(record, dict) and mapping.messages is None else None
    first = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(first, dict) and isinstance(first.get("versions"), list)


def _convert_lmstudio(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    raw = record.get("messages") if isinstance(record, dict) else None
    if not isinstance(raw, list) or not raw:
        raise fault_in(entry, f"the messages are {excerpt(raw)}: not a list of messages")
    chosen = [_chosen(item, number, entry) for number, item in enumerate(raw, start=1)]
    if others := sum(len(item["versions"]) - 1 for item in raw):
        entry.leave_out(_OTHERS, others)
    prompt = _prompt(record)
    items = [{"role": "system", "content": prompt}] if prompt else []
    reader = MessageReader(entry, ordered=True)
    messages = reader.read([*items, *map(_message_of_lmstudio, chosen)])
    about = {key: value for key, value in record.items() if key not in _UNREAD and value is not None}
    models = {model for one in chosen if one.get("role") == "assistant" and (model := _model(one))}
    about["model"] = "+".join(sorted(models)) or text_at(object_at(record, "lastUsedModel"), "identifier")
    return conversation_from(about, messages, reader.rated, entry, messages_key="messages")


def _chosen(item: Any, number: int, entry: Entry) -> Item:  # noqa: ANN401  # any JSON value
    versions = item.get("versions") if isinstance(item, dict) else None
    index = item.get("currentlySelected", 0) if isinstance(item, dict) else None
    size = len(versions) if isinstance(versions, list) else 0
    if not isinstance(versions, list) or not isinstance(index, int) or not 0 <= index < size:
        raise fault_in(entry, f"message {number} is {excerpt(item)}: it has no chosen version")
    version: Item | Any = versions[index]
    if not isinstance(version, dict):
        raise fault_in(entry, f"message {number} has the version {excerpt(version)}: not an object")
    return version


def _prompt(record: Item) -> str | None:
    """Return the system prompt: that of the settings of this chat, else that of the chat."""
    fields = object_at(record, "perChatPredictionConfig").get("fields")
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, dict) and field.get("key") == _PROMPT and (own := text_at(field, "value")):
            return own
    return text_at(record, "systemPrompt")


def _steps(version: Item) -> list[Item]:
    """Return the steps of a version that say something: others tell of its generation and of its tools."""
    steps = version.get("steps")
    if not isinstance(steps, list):
        return [version]
    return [step for step in steps if isinstance(step, dict) and step.get("type") == "contentBlock"]


def _model(version: Item) -> str | None:
    steps = version.get("steps")
    about = (
        [object_at(step, "genInfo") for step in steps if isinstance(step, dict)]
        if isinstance(steps, list)
        else []
    )
    own = next((name for one in about if (name := text_at(one, "identifier"))), None)
    return own or text_at(object_at(version, "senderInfo"), "senderName")


def _message_of_lmstudio(version: Item) -> dict[str, Any]:
    blocks = [block for step in _steps(version) for block in _blocks(step)]
    first = blocks[0] if len(blocks) == 1 and isinstance(blocks[0], dict) else {}
    own = text_at(first, "text") if first.get("type") == "text" else None
    return {"role": version.get("role"), "content": own or blocks or ""}


def _blocks(step: Item) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a step; the pieces of its text are one text."""
    content = step.get("content")
    thinks, pieces = object_at(step, "style").get("type") == "thinking", list[str]()
    for part in content if isinstance(content, list) else [] if content is None else [content]:
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            pieces += [] if part.get("isStructural") is True else [part["text"]]
            continue
        yield from _spoken_in(pieces, thinks=thinks)
        pieces = []
        yield _block_of_lmstudio(part)
    yield from _spoken_in(pieces, thinks=thinks)


def _spoken_in(pieces: list[str], *, thinks: bool) -> Iterator[dict[str, Any]]:
    text = "".join(pieces)
    if text and thinks:
        yield {"type": "thinking", "thinking": text}
    elif text:
        yield {"type": "text", "text": text}


def _block_of_lmstudio(part: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a part as a block that is known."""
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or kind not in ("toolCallRequest", "toolCallResult"):
        return part
    id = part.get("toolCallRequestId", part.get("callId"))
    if kind == "toolCallResult":
        return {"type": "tool_result", "tool_use_id": id, "content": part.get("content")}
    value = part.get("parameters", part.get("arguments", {}))
    return {"type": "tool_use", "id": id, "name": part.get("name"), "input": value}


LMSTUDIO = RecordFormat("lmstudio", _recognises_lmstudio, _convert_lmstudio, takes_order=False)
"""Conversations of LM Studio: of each message the version that was chosen, which may have several steps."""
