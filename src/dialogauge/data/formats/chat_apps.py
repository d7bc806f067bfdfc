"""Exports of the providers' own chats: ChatGPT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from dialogauge.core import ROLES, Conversation, Message, Place, Rating, Role, ToolCall
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import (
    Entry,
    RecordFormat,
    fault_in,
)
from dialogauge.data.formats.documents import read_beside
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import unknown_role
from dialogauge.data.formats.order import branch, latest
from dialogauge.data.notes import excerpt
from dialogauge.data.splits import message_turns

_FEEDBACK: Final = "message_feedback.json"
_CHATGPT_USED: Final = frozenset({"mapping", "current_node", "conversation_id", "id"})
_REASONING: Final = frozenset({"thoughts", "reasoning_recap"})
_TEXTS: Final = ("text", "result", "output_str", "user_profile", "user_instructions", "model_set_context")
"""Keys of a content without parts that hold its text."""
_MEDIA: Final = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "real_time_user_audio_video_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "audio_transcription": "text",
}
"""Kinds of parts -> their types as ours."""

Source = Mapping[str, Any]
"""A message as it was exported."""


def _recognises_chatgpt(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    nodes = record.get("mapping") if isinstance(record, dict) else None
    return isinstance(nodes, dict) and ("current_node" in record or any(map(_is_node, nodes.values())))


def _is_node(value: object) -> bool:
    return isinstance(value, dict) and {"message", "parent", "children"} <= value.keys()


def _convert_chatgpt(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    nodes = record.get("mapping") if isinstance(record, dict) else None
    if not isinstance(nodes, dict):
        raise fault_in(entry, f"the mapping is {excerpt(nodes)}: no object with messages")
    name = text_at(record, "conversation_id") or text_at(record, "id")
    if name is None:
        name = entry.made_id
        entry.assume(f"conversations have no id: made from {entry.made_from}")
    sources = _branch(nodes, record.get("current_node"), entry)
    messages = tuple(_messages(sources, entry))
    if not messages:
        entry.recognise("conversations are empty in the export: they are absent")
    models = (_metadata(s).get("model_slug") for s in sources if _author(s).get("role") == "assistant")
    return Conversation(
        name,
        messages,
        candidate="+".join(sorted({model for model in models if isinstance(model, str) and model}))
        or text_at(record, "default_model_slug"),
        ratings=tuple(_thumbs(name, messages, entry)),
        metadata={k: v for k, v in record.items() if k not in _CHATGPT_USED and v not in (None, [], {})},
        place=Place(entry.place.file, entry.place.line, name),
    )


def _branch(nodes: Mapping[str, Any], last: object, entry: Entry) -> list[Source]:
    """Return the messages on the branch that was last on the screen."""
    for name, node in nodes.items():
        if not isinstance(node, dict) or not isinstance(node.get("message"), dict | None):
            raise fault_in(entry, f"message {name!r} is {excerpt(node)}: no node of a tree")
    parents = {name: text_at(node, "parent") for name, node in nodes.items()}
    if not nodes:
        return []
    try:
        if not isinstance(last, str) or last not in nodes:
            last = latest(parents, lambda name: _time(nodes[name].get("message")))
            entry.assume("conversations do not say which branch is shown: the latest message ends it")
        shown = branch(parents, last)
    except ValueError as error:
        raise fault_in(entry, str(error)) from error
    spoken = {name for name, node in nodes.items() if _speaks(node.get("message"))}
    if others := len(spoken.difference(shown)):
        entry.leave_out("regenerated or edited, and not what was last shown", others)
    return [nodes[name]["message"] for name in shown if nodes[name].get("message") is not None]


def _time(source: Source | None) -> float:
    time = source.get("create_time") if source is not None else None
    return time if isinstance(time, int | float) else 0.0


def _author(source: Source) -> Source:
    author = source.get("author")
    return author if isinstance(author, dict) else {}


def _metadata(source: Source) -> Source:
    metadata = source.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _is_hidden(source: Source) -> bool:
    return bool(_metadata(source).get("is_visually_hidden_from_conversation"))


def _speaks(source: Source | None) -> bool:
    return source is not None and _author(source).get("role") in ("user", "assistant")


def _messages(sources: Sequence[Source], entry: Entry) -> Iterator[Message]:
    """Yield what was said; empty steps between, and reasoning, are left out."""
    calls: list[ToolCall] = []
    for number, source in enumerate(sources, start=1):
        body, role = source.get("content"), _author(source).get("role")
        if not isinstance(body, dict):
            raise fault_in(entry, f"message {number}: the content is {excerpt(body)}: not an object")
        if role not in ROLES:
            raise fault_in(entry, *unknown_role(number, role))
        if text_at(body, "content_type") in _REASONING:
            entry.leave_out("reasoning that the user did not read")
            continue
        hidden, content = _is_hidden(source), _content(body, number, entry)
        ends = number == len(sources) and role == "assistant"
        if not (content or ((ends or role == "user") and not hidden)):
            continue
        if hidden and role in ("user", "assistant"):
            entry.recognise("conversations have context that nobody typed: read as a system message")
            role = "system"
        yield _message_of_chatgpt(cast("Role", role), content, source, calls, number)


def _message_of_chatgpt(
    role: Role, content: str | tuple[Source, ...], source: Source, calls: list[ToolCall], number: int
) -> Message:
    """Return a message; a call is added to the calls before."""
    extra = {key: source[key] for key in ("id", "create_time") if source.get(key) is not None}
    to = text_at(source, "recipient")
    if role == "assistant" and to not in (None, "all"):
        text = content if isinstance(content, str) else Message(role, content).text
        calls.append(ToolCall(str(source.get("id") or f"call_{number}"), to or "", text))
        return Message(role, None, (calls[-1],), extra=extra)
    if role != "tool":
        return Message(role, content, extra=extra)
    tool = text_at(_author(source), "name")
    asked = [call for call in calls if call.name == tool] or calls
    return Message(role, content, tool_call_id=asked[-1].id if asked else None, name=tool, extra=extra)


def _content(body: Source, number: int, entry: Entry) -> str | tuple[Source, ...]:
    """Return text, or parts where there is something else beside it."""
    kind, parts = body.get("content_type"), body.get("parts")
    if not isinstance(parts, list):
        texts = [text for key in _TEXTS if isinstance(text := body.get(key), str)]
        if not texts and kind != "text":
            raise fault_in(entry, f"message {number} has content of the unknown type {excerpt(kind)}")
        return "\n".join(texts)
    if all(isinstance(part, str) for part in parts):
        return "\n".join(parts)
    entry.recognise("messages have content parts: kept, and read as their texts joined by newlines")
    return tuple(_part_of_chatgpt(part, number, entry) for part in parts if part != "")


def _part_of_chatgpt(part: object, number: int, entry: Entry) -> Source:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = part.get("content_type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not isinstance(kind, str):
        raise fault_in(entry, f"message {number}: a content part is {excerpt(part)}: of no known type")
    text = part.get("text") or part.get("result")
    return {**part, "type": _MEDIA.get(kind, kind)} | ({"text": text} if isinstance(text, str) else {})


def _thumbs(name: str, messages: Sequence[Message], entry: Entry) -> Iterator[Rating]:
    """Yield the thumbs on messages that were shown."""
    rows = read_beside(entry.context, _FEEDBACK, "thumbs", list)
    own = [row for row in rows if isinstance(row, dict) and row.get("conversation_id") == name]
    turns = {text_at(m.extra, "id"): t for m, t in zip(messages, message_turns(messages), strict=True)}
    for row in own:
        turn, thumb = turns.get(text_at(row, "id")), text_at(row, "rating")
        if turn is None or thumb is None:
            entry.recognise("conversations have thumbs on messages that are not shown: not used")
            continue
        entry.recognise(f"conversations have thumbs in {_FEEDBACK}: read as ratings of their turns")
        yield Rating(name, "feedback", thumb, turn)


CHATGPT = RecordFormat("chatgpt", _recognises_chatgpt, _convert_chatgpt)
"""The `conversations.json` of a ChatGPT export: a tree of messages, of which one branch was on the screen.

The branch ends at `current_node`; what was regenerated or edited away stands on others. Thumbs are in
`message_feedback.json` beside the file.
"""
