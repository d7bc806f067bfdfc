"""Exports of the providers' own chats: ChatGPT, Claude, and Gemini."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from dialogauge.core import ROLES, Conversation, Message, Place, Rating, RecordFault, Role, ToolCall
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import (
    Context,
    Entry,
    Outcome,
    RecordFormat,
    Sample,
    TextFormat,
    entries,
    fault_in,
)
from dialogauge.data.formats.documents import read_beside
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.lists import PARTS
from dialogauge.data.formats.openai import MessageReader, unknown_role
from dialogauge.data.formats.order import branch, latest
from dialogauge.data.markup import html_text
from dialogauge.data.notes import excerpt
from dialogauge.data.sources import LineStream
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
    return source is not None and _author(source).get("role") not in ("system", "tool")


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


_PROMPTED: Final = "Prompted "
_OTHERS: Final = ("Created ", "Added ", "Used ", "Gave ", "Selected ")
"""How the titles of other activities begin."""
_PRODUCTS: Final = ("Gemini", "Bard")
_SPEAKERS: Final = {"user": "user", "gemini": "assistant"}
_NOTICES: Final = ("info", "error", "warning")
"""What Gemini CLI says itself."""
_FILES: Final = ("drive", "inline", "youtube")
"""How the keys of files begin in a chunk of AI Studio."""


def _recognises_gemini(sample: Sample) -> bool:
    record = sample.record
    return isinstance(record, dict) and (
        _is_activity(record) or _chunks(record) is not None or _is_session(record)
    )


def _is_activity(record: Mapping[str, Any]) -> bool:
    header = text_at(record, "header") or ""
    return any(product in header for product in _PRODUCTS) and isinstance(record.get("title"), str)


def _is_session(record: Mapping[str, Any]) -> bool:
    """Say whether it is a session of Gemini CLI."""
    messages = record.get("messages")
    first = messages[0] if "sessionId" in record and isinstance(messages, list) and messages else None
    return isinstance(first, dict) and "role" not in first and first.get("type") in (*_SPEAKERS, *_NOTICES)


def _chunks(record: Mapping[str, Any]) -> object:
    prompt = record.get("chunkedPrompt")
    return prompt.get("chunks") if isinstance(prompt, dict) else None


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    for record, entry in entries(stream, context):
        try:
            if isinstance(record, RecordFault):
                yield record
            elif isinstance(record, dict) and _is_activity(record) and not _is_prompt(record):
                entry.leave_out("no prompts (feedback, canvases, settings)", what="activities")
            else:
                yield _convert_gemini(record, entry)
        except RecordFault as fault:
            yield fault


def _is_prompt(record: Mapping[str, Any]) -> bool:
    title = str(record["title"])
    return title.startswith(_PROMPTED) or ("safeHtmlItem" in record and not title.startswith(_OTHERS))


def _convert_gemini(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict):
        raise fault_in(entry, f"the record is {excerpt(record)}: not an object")
    if _is_activity(record):
        return _activity(record, entry)
    if _is_session(record):
        return _session(record, entry)
    settings = record.get("runSettings")
    model = text_at(settings, "model") if isinstance(settings, dict) else None
    about = {key: value for key, value in record.items() if key != "chunkedPrompt"}
    named: dict[str, Any] = {"model": model} if model is not None else {}
    system = record.get("systemInstruction")
    if isinstance(system, dict) and text_at(system, "text") is not None:
        named["systemInstruction"] = system["text"]
    # The chunks of AI Studio as the interface takes them: those of one role in a row together.
    chunks = _chunks(record)
    if not isinstance(chunks, list):
        raise fault_in(entry, f"the chunks are {excerpt(chunks)}: not a list")
    out: list[dict[str, Any]] = []
    for number, chunk in enumerate(chunks, start=1):
        if not isinstance(chunk, dict):
            raise fault_in(entry, f"chunk {number} is {excerpt(chunk)}: not an object")
        role = chunk.get("role", "user")
        if not out or out[-1]["role"] != role:
            out.append({"role": role, "parts": []})
        out[-1]["parts"].append(_part_of_gemini(chunk))
    return PARTS.convert({**about, **named, "contents": out}, entry)


def _part_of_gemini(chunk: Mapping[str, Any]) -> dict[str, Any]:
    text = chunk.get("text")
    if chunk.get("isThought") is True:
        return {"thought": True, "text": text}
    if not isinstance(text, str) and any(key.startswith(_FILES) for key in chunk):
        return {"type": "file"}
    return {"text": text}


def _activity(record: dict[str, Any], entry: Entry) -> Conversation:
    title, time = str(record["title"]), text_at(record, "time")
    entry.recognise("prompts of an activity log do not say which belong together: each is a conversation")
    if not title.startswith(_PROMPTED):
        entry.assume("activities do not begin with 'Prompted': their titles are read as the prompts")
    items = record.get("safeHtmlItem", [])
    items = items if isinstance(items, list) else [items]
    htmls = [html for i in items if isinstance(i, dict) and isinstance(html := i.get("html"), str)]
    if len(htmls) < len(items):
        raise fault_in(entry, f"the reply is {excerpt(items)}: no list of HTML")
    if len(htmls) > 1:
        entry.assume("prompts have several replies, drafts or parts: read as one")
    name = f"gemini_{time}" if time is not None else entry.made_id
    messages = [Message("user", title.removeprefix(_PROMPTED))]
    messages += [Message("assistant", html_text(html)) for html in htmls]
    used = ("title", "safeHtmlItem", "products", "activityControls", "header")
    return Conversation(
        name,
        tuple(messages),
        metadata={key: value for key, value in record.items() if key not in used},
        place=Place(entry.place.file, entry.place.line, name),
    )


def _session(record: Mapping[str, Any], entry: Entry) -> Conversation:
    items: list[dict[str, Any]] = []
    for number, value in enumerate(record["messages"], start=1):
        kind = value.get("type") if isinstance(value, dict) else None
        if kind in _NOTICES:
            entry.leave_out("of the program itself", what="lines")
        elif kind not in _SPEAKERS:
            raise fault_in(entry, f"message {number} is {excerpt(value)}: of no known type")
        else:
            items.append({"role": _SPEAKERS[kind], "content": _blocks(value) or value.get("content")})
    name = text_at(record, "sessionId") or entry.made_id
    models = {m for one in record["messages"] if isinstance(one, dict) and (m := text_at(one, "model"))}
    return Conversation(
        name,
        MessageReader(entry).read(items),
        candidate="+".join(sorted(models)) or None,
        metadata={key: value for key, value in record.items() if key not in ("messages", "sessionId")},
        place=Place(entry.place.file, entry.place.line, name),
    )


def _blocks(value: Mapping[str, Any]) -> list[Any]:
    """Return thoughts, tools and text of a message that used tools or thought; else nothing."""
    calls, thoughts, content = (value.get(key) or [] for key in ("toolCalls", "thoughts", "content"))
    blocks: list[Any] = [{"type": "thinking", "thinking": one} for one in _listed(thoughts)]
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            blocks.append({**call, "type": "tool_call", "arguments": call.get("args", {})})
            about = {"id": call.get("id"), "name": call.get("name"), "status": call.get("status")}
            blocks.append({**about, "type": "tool_result", "content": _answer(call.get("result"))})
    texts = [{"type": "text", "text": content}] if isinstance(content, str) else _listed(content)
    return [*blocks, *texts] if blocks else []


def _listed(value: Any) -> list[Any]:  # noqa: ANN401  # any JSON value
    return value if isinstance(value, list) else [value]


def _answer(result: Any) -> Any:  # noqa: ANN401  # any JSON value
    first = result[0] if isinstance(result, list) and len(result) == 1 else None
    inner = first.get("functionResponse") if isinstance(first, dict) else None
    response = inner.get("response") if isinstance(inner, dict) else None
    return response.get("output", response) if isinstance(response, dict) else result


GEMINI = TextFormat("gemini", _recognises_gemini, _read)
"""Chats with Gemini: Takeout's `MyActivity.json`, and prompts that AI Studio saved.

Takeout lists prompts with their replies and does not say which belong together: each is a conversation.
"""
