"""Sessions of Codex CLI: a file of JSONL each, with items of the Responses API among its lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place, RecordFault
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.payloads import Item, is_message, messages_in
from dialogauge.data.notes import LONGEST, MESSAGE, excerpt, too_long
from dialogauge.data.sources import LineStream

_TYPES: Final = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
_ADDED: Final = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
"""How messages begin that the program adds in the name of the user."""


def _recognises(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict) or not isinstance(record.get("payload"), dict):
        return False
    return record.get("type") in _TYPES and not sample.mapping.messages


@dataclass(slots=True)
class _Session:
    """A session so far."""

    entry: Entry | None = None
    """Of its first line."""
    items: list[Item] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)
    size: int = 0

    def take(self, value: object, entry: Entry) -> None:
        """Add a line; raises `RecordFault` for one that cannot be read."""
        kind, payload = _line(value, entry)
        self.entry = self.entry or entry
        if kind == "session_meta":
            known = {key: text for key in ("id", "instructions") if (text := text_at(payload, key))}
            self.about = known | self.about
        elif kind == "turn_context" and (model := text_at(payload, "model")):
            self.about["model"] = model
        elif kind == "response_item":
            self._add(payload, entry)

    def _add(self, item: Item, entry: Entry) -> None:
        if not is_message(item):
            raise fault_in(entry, f"the item is {excerpt(item)}: of no known form")
        if _is_added(item):
            entry.recognise("messages that the program adds in the name of the user were left out")
            return
        self.size += MESSAGE + len(str(item))
        if self.size > LONGEST:
            self.items.clear()
        self.items.append(item)

    def conversation(self, entry: Entry) -> Conversation:
        """Return what was said; raises `RecordFault` where it cannot be read."""
        name = self.about.get("id", entry.context.source.label)
        place = Place(entry.place.file, entry.place.line, name)
        if self.size > LONGEST:
            raise too_long(place)
        reader = MessageReader(Entry(entry.context, place, name), ordered=True)
        messages = reader.read(messages_in(self.items))
        prompt = (Message("system", self.about["instructions"]),) if "instructions" in self.about else ()
        return Conversation(name, prompt + messages, candidate=self.about.get("model"), place=place)


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    session = _Session()
    for value, entry in entries(stream, context):
        try:
            session.take(value, entry)
        except RecordFault as fault:
            yield fault
    if session.entry is not None:
        try:
            yield session.conversation(session.entry)
        except RecordFault as fault:
            yield fault


def _line(value: Any, entry: Entry) -> tuple[str, Item]:  # noqa: ANN401  # any JSON value
    if isinstance(value, RecordFault):
        raise value
    kind, payload = (value.get("type"), value.get("payload")) if isinstance(value, dict) else (None, None)
    if not isinstance(kind, str) or not isinstance(payload, dict):
        raise fault_in(entry, f"the line is {excerpt(value)}: without a type and what it holds")
    return kind, payload


def _is_added(payload: Mapping[str, Any]) -> bool:
    content = payload.get("content")
    part = content[0] if payload.get("role") == "user" and isinstance(content, list) and content else None
    return isinstance(part, dict) and (text_at(part, "text") or "").lstrip().startswith(_ADDED)


CODEX = TextFormat("codex", _recognises, _read)
