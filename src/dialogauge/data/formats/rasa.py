"""Trackers of Rasa: the events of a conversation, of which those of user and bot are its messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import conversation_from, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.notes import excerpt

_ROLES: Final = {"user": "user", "bot": "assistant", "agent": "assistant"}


def _events(record: Any) -> list[Any] | None:  # noqa: ANN401  # any JSON value
    events = record.get("events") if isinstance(record, dict) and "sender_id" in record else None
    first = events[0] if isinstance(events, list) and events else None
    return events if isinstance(events, list) and isinstance(first, dict) and "event" in first else None


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    return not (mapping.messages or mapping.role or mapping.content) and _events(record) is not None


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    events = _events(record)
    if events is None:
        raise fault_in(entry, f"the record is {excerpt(record)}: no tracker with its events")
    items = list(_spoken(events, entry))
    if not items:
        raise fault_in(entry, "nobody says anything in it")
    reader = MessageReader(entry)
    messages = reader.read(items)
    model = {"model": record["model_id"]} if text_at(record, "model_id") else {}
    about = {"conversation_id": record["sender_id"], **model}
    return conversation_from(about, messages, reader.rated, entry, messages_key="events")


def _spoken(events: list[Any], entry: Entry) -> Iterator[dict[str, Any]]:
    for event in events:
        name = event.get("event") if isinstance(event, dict) else None
        if not isinstance(name, str):
            raise fault_in(entry, f"an event is {excerpt(event)}: it has no name")
        if name not in _ROLES:
            continue
        text, shown = text_at(event, "text"), _shown(event)
        if text is None and not shown:
            entry.recognise("events of user or bot hold no text and nothing that is shown: left out")
            continue
        texts = [{"type": "text", "text": text}] if text is not None else []
        times = {"timestamp": event["timestamp"]} if "timestamp" in event else {}
        yield {"role": _ROLES[name], "content": [*texts, *shown] if shown else text, **times}


def _shown(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a bot shows beside its text: buttons, pictures, and what is its own."""
    data = event.get("data")
    inner = data.items() if isinstance(data, dict) else ()
    return [{"type": f"data-{key}", key: value} for key, value in inner if value]


RASA = RecordFormat("rasa", _recognises, _convert)
