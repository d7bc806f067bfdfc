"""OpenAI chat records: `{"messages": [{"role", "content", ...}], ...}`, or a bare list of messages."""

from __future__ import annotations

from typing import Any

from dialogauge.core import Conversation
from dialogauge.data.faults import shown
from dialogauge.data.field_map import MISSING, FieldMap, look_up
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.chat import MessageReader, legacy_role
from dialogauge.data.formats.fields import conversation_from
from dialogauge.data.json_values import is_message_list

__all__ = ["OPENAI"]


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    messages = record if isinstance(record, list) else look_up(record, mapping.messages or "messages")
    if not isinstance(messages, list):
        return False
    if not isinstance(record, list):
        return True
    return is_message_list(messages) and (mapping.content or "content") in messages[0]


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    key = entry.mapping.messages or "messages"
    if isinstance(record, list):
        record = {key: record}
    if not isinstance(record, dict):
        raise fault_in(entry, f"the record is {shown(record)}: not an object")
    messages = look_up(record, key)
    if messages is MISSING:
        found = ", ".join(map(repr, record)) or "nothing"
        raise fault_in(entry, f"the record has no {key!r}", f"it has {found}")
    reader = MessageReader(entry, role_of=legacy_role(entry.mapping))
    read = reader.read(messages)
    return conversation_from(record, read, reader.rated, entry, messages_key=key.split(".")[0])


OPENAI = RecordFormat("openai", _recognises, _convert)
