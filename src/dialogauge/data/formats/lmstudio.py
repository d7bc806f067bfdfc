"""Conversations of LM Studio: of each message the version that was chosen, which may have several steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import conversation_from, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt

_UNREAD: Final = frozenset({"messages", "systemPrompt", "perChatPredictionConfig"}) | {
    *("clientInput", "clientInputFiles", "lastUsedModel", "plugins", "disabledPluginTools"),
}
"""Keys of a conversation that are read otherwise, or that are of the program alone."""
_PROMPT: Final = "llm.prediction.systemPrompt"
_OTHERS: Final = "versions of messages are left out: they stand beside the chosen one"

Item = Mapping[str, Any]


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    messages = record.get("messages") if isinstance(record, dict) and mapping.messages is None else None
    first = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(first, dict) and isinstance(first.get("versions"), list)


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    raw = record.get("messages") if isinstance(record, dict) else None
    if not isinstance(raw, list) or not raw:
        raise fault_in(entry, f"the messages are {excerpt(raw)}: not a list of messages")
    chosen = [_chosen(item, number, entry) for number, item in enumerate(raw, start=1)]
    if others := sum(len(item["versions"]) - 1 for item in raw):
        entry.context.notes.recognise(_OTHERS, entry.place, count=others)
    prompt = _prompt(record)
    items = [{"role": "system", "content": prompt}] if prompt else []
    reader = MessageReader(entry, ordered=True)
    messages = reader.read([*items, *map(_message, chosen)])
    about = {key: value for key, value in record.items() if key not in _UNREAD and value is not None}
    models = {model for one in chosen if one.get("role") == "assistant" and (model := _model(one))}
    about["model"] = "+".join(sorted(models)) or text_at(_object(record, "lastUsedModel"), "identifier")
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


def _object(record: Item, key: str) -> Item:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _prompt(record: Item) -> str | None:
    """Return the system prompt: that of the settings of this chat, else that of the chat."""
    fields = _object(record, "perChatPredictionConfig").get("fields")
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
        [_object(step, "genInfo") for step in steps if isinstance(step, dict)]
        if isinstance(steps, list)
        else []
    )
    own = next((name for one in about if (name := text_at(one, "identifier"))), None)
    return own or text_at(_object(version, "senderInfo"), "senderName")


def _message(version: Item) -> dict[str, Any]:
    blocks = [block for step in _steps(version) for block in _blocks(step)]
    first = blocks[0] if len(blocks) == 1 and isinstance(blocks[0], dict) else {}
    own = text_at(first, "text") if first.get("type") == "text" else None
    return {"role": version.get("role"), "content": own or blocks or ""}


def _blocks(step: Item) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a step; the pieces of its text are one text."""
    content = step.get("content")
    thinks, pieces = _object(step, "style").get("type") == "thinking", list[str]()
    for part in content if isinstance(content, list) else [] if content is None else [content]:
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            pieces += [] if part.get("isStructural") is True else [part["text"]]
            continue
        yield from _spoken_in(pieces, thinks=thinks)
        pieces = []
        yield _block(part)
    yield from _spoken_in(pieces, thinks=thinks)


def _spoken_in(pieces: list[str], *, thinks: bool) -> Iterator[dict[str, Any]]:
    text = "".join(pieces)
    if text and thinks:
        yield {"type": "thinking", "thinking": text}
    elif text:
        yield {"type": "text", "text": text}


def _block(part: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a part as a block that is known."""
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or kind not in ("toolCallRequest", "toolCallResult"):
        return part
    id = part.get("toolCallRequestId", part.get("callId"))
    if kind == "toolCallResult":
        return {"type": "tool_result", "tool_use_id": id, "content": part.get("content")}
    value = part.get("parameters", part.get("arguments", {}))
    return {"type": "tool_use", "id": id, "name": part.get("name"), "input": value}


LMSTUDIO = RecordFormat("lmstudio", _recognises, _convert, takes_order=False)
