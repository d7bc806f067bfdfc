"""Rows of WildChat and LMSYS-Chat-1M: `{"conversation_hash" or "conversation_id", "model", "conversation"}`.

WildChat's hash is that of the content, so it may come again: the number of the first message then tells
conversations of one hash apart. Its users are known by their hashed address.
"""

from __future__ import annotations

from typing import Any, Final

from dialogauge.core import Conversation, Message
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.fields import conversation_from, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.json_values import is_message_list
from dialogauge.data.notes import IdPlaces, excerpt

_SIGNS: Final = ("conversation_hash", "openai_moderation")
_HASH: Final = "conversation_hash"
_LANGUAGES: Final = (
    "english en, chinese zh, russian ru, french fr, spanish es, german de, portuguese pt, italian it, "
    "japanese ja, korean ko, turkish tr, arabic ar, vietnamese vi, indonesian id, polish pl, ukrainian uk"
)
_CODES: Final = dict(pair.split() for pair in _LANGUAGES.split(", "))
"""Names of languages -> their codes."""


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or not any(sign in record for sign in _SIGNS):
        return False
    items = record.get("conversation")
    return is_message_list(items) and "content" in items[0]


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or "conversation" not in record:
        raise fault_in(entry, f"the record is {excerpt(record)}: no row with a 'conversation'")
    reader = MessageReader(entry)
    messages = reader.read(record["conversation"])
    named = dict(record)
    if (hashed := text_at(named, _HASH)) is not None and "conversation_id" not in named:
        named["conversation_id"] = _unlike_before(hashed, messages[0], entry)
        del named[_HASH]
    address = text_at(named, "hashed_ip") or text_at(messages[0].extra, "hashed_ip")
    if address is not None and "user_id" not in named:
        entry.recognise("users are known by their hashed address")
        named["user_id"] = address
    if (language := text_at(named, "language")) is not None:
        named["language"] = language_code(language)
    return conversation_from(named, messages, reader.rated, entry, messages_key="conversation")


def language_code(name: str) -> str:
    """Return the code of a language by its English name; the name of one that is not known."""
    return _CODES.get(name.casefold(), name)


def _unlike_before(hashed: str, first: Message, entry: Entry) -> str:
    ids = entry.context.memo.setdefault(_HASH, IdPlaces())
    number = first.extra.get("turn_identifier")
    if ids.add(hashed, 0, entry.place.line or 0) is None or number is None:
        return hashed
    entry.recognise(
        "conversations have the hash of one before them: the number of their first message is added"
    )
    return f"{hashed}_{number}"


WILDCHAT = RecordFormat("wildchat", _recognises, _convert)
