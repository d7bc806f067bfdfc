"""The multi-turn card's own form: `{"scenario_description", "dialogue": [{"turn", "role", "text"}]}`.

Also a bare list of `{"turn", "role", "text"}`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dialogauge.core import Conversation, Message
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import conversation_from
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.json_values import is_message_list
from dialogauge.data.notes import excerpt
from dialogauge.data.splits import message_turns


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    items = record.get("dialogue") if isinstance(record, dict) else record
    if isinstance(record, dict) and items == [] and "scenario_description" in record:
        return True
    return is_message_list(items) and "role" in items[0] and "text" in items[0]


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if isinstance(record, list):
        record = {"dialogue": record}
    if not isinstance(record, dict) or "dialogue" not in record:
        raise fault_in(entry, f"the record is {excerpt(record)}: no object with a 'dialogue'")
    reader = MessageReader(entry, content_key="text")
    messages = reader.read_or_absent(record["dialogue"])
    _compare_turns(messages, entry)
    messages = tuple(_without_turn(m) for m in messages)
    return conversation_from(record, messages, reader.rated, entry, messages_key="dialogue")


def _compare_turns(messages: tuple[Message, ...], entry: Entry) -> None:
    """Note turn numbers that differ from ours; the conversation uses ours."""
    for message, turn in zip(messages, message_turns(messages), strict=True):
        stated = message.extra.get("turn", turn)
        if turn is not None and stated != turn:
            entry.assume(
                "conversations number their turns differently: our numbers are used (a turn is what the user "
                "said and the reply to it, counted from 1)",
                hint=f"the first that differs is {stated!r}, ours is {turn}",
            )
            return


def _without_turn(message: Message) -> Message:
    if "turn" not in message.extra:
        return message
    return replace(message, extra={key: value for key, value in message.extra.items() if key != "turn"})


CARD = RecordFormat("card", _recognises, _convert)
