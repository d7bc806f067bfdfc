"""Chats with Gemini: Takeout's `MyActivity.json`, and prompts that AI Studio saved.

Takeout lists prompts with their replies and does not say which belong together: each is a conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place, RecordFault
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.items import PARTS
from dialogauge.data.formats.markup import html_text
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt
from dialogauge.data.sources import LineStream

_PROMPTED: Final = "Prompted "
_OTHERS: Final = ("Created ", "Added ", "Used ", "Gave ", "Selected ")
"""How the titles of other activities begin."""
_PRODUCTS: Final = ("Gemini", "Bard")
_SPEAKERS: Final = {"user": "user", "gemini": "assistant"}
_NOTICES: Final = ("info", "error", "warning")
"""What Gemini CLI says itself."""
_FILES: Final = ("drive", "inline", "youtube")
"""How the keys of files begin in a chunk of AI Studio."""


def _recognises(sample: Sample) -> bool:
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
                entry.recognise("activities are no prompts (feedback, canvases, settings): left out")
            else:
                yield _convert(record, entry)
        except RecordFault as fault:
            yield fault


def _is_prompt(record: Mapping[str, Any]) -> bool:
    title = str(record["title"])
    return title.startswith(_PROMPTED) or ("safeHtmlItem" in record and not title.startswith(_OTHERS))


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
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
    return PARTS.convert({**about, **named, "contents": _contents(_chunks(record), entry)}, entry)


def _contents(chunks: object, entry: Entry) -> list[dict[str, Any]]:
    """Return the chunks of AI Studio as the interface takes them: those of one role in a row together."""
    if not isinstance(chunks, list):
        raise fault_in(entry, f"the chunks are {excerpt(chunks)}: not a list")
    out: list[dict[str, Any]] = []
    for number, chunk in enumerate(chunks, start=1):
        if not isinstance(chunk, dict):
            raise fault_in(entry, f"chunk {number} is {excerpt(chunk)}: not an object")
        role = chunk.get("role", "user")
        if not out or out[-1]["role"] != role:
            out.append({"role": role, "parts": []})
        out[-1]["parts"].append(_part(chunk))
    return out


def _part(chunk: Mapping[str, Any]) -> dict[str, Any]:
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
            entry.recognise("lines of the program itself were left out")
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
    blocks: list[Any] = [{"type": "thinking", "thinking": thought} for thought in thoughts]
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            blocks.append({**call, "type": "tool_call", "arguments": call.get("args", {})})
            about = {"id": call.get("id"), "name": call.get("name"), "status": call.get("status")}
            blocks.append({**about, "type": "tool_result", "content": _answer(call.get("result"))})
    texts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [*blocks, *texts] if blocks else []


def _answer(result: Any) -> Any:  # noqa: ANN401  # any JSON value
    first = result[0] if isinstance(result, list) and len(result) == 1 else None
    inner = first.get("functionResponse") if isinstance(first, dict) else None
    response = inner.get("response") if isinstance(inner, dict) else None
    return response.get("output", response) if isinstance(response, dict) else result


GEMINI = TextFormat("gemini", _recognises, _read)
