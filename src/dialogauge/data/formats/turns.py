"""Records whose messages stand under `turns`, `dialogue`, `conversation` and the like, as DeepEval's do."""

from __future__ import annotations

from typing import Any, TypeGuard

from dialogauge.core import Conversation
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.columns import is_history
from dialogauge.data.formats.fields import conversation_from
from dialogauge.data.formats.openai import MessageReader, with_replies
from dialogauge.data.formats.roles import role_named
from dialogauge.data.json_values import is_message_list
from dialogauge.data.notes import excerpt

_LISTS = (
    *("turns", "dialog", "dialogue", "history", "conversation", "conversations", "items", "utterances"),
    *("transcript", "transcript_object", "messages"),
)
_ROLE_KEYS = ("role", "speaker", "from")
_CONTENT_KEYS = ("content", "text", "value", "utterance", "message")

_DEEPEVAL = frozenset(
    {"expected_outcome", "expectedOutcome", "user_description", "userDescription"}
    | {"chatbot_role", "chatbotRole"}
)
"""Keys of a DeepEval test case, whose `scenario` is a description and not a name."""


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    record = _opened(record)
    key = _list_key(record) if isinstance(record, dict) else None
    return key is not None and not is_history(key, record, mapping)


def _opened(record: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a record in whose list each message stands under `message`, as Continue has it, without that."""
    for key in _LISTS if isinstance(record, dict) else ():
        items = record.get(key)
        inner = [one.get("message") for one in items] if _are_objects(items) else []
        if is_message_list(inner) and all(isinstance(one, dict) and "role" in one for one in inner):
            return {**record, key: inner}
    return record


def _are_objects(items: object) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(items, list) and all(isinstance(one, dict) for one in items)


def _list_key(record: dict[str, Any]) -> str | None:
    for key in _LISTS:
        items = record.get(key)
        if is_message_list(items) and all(
            any(name in items[0] for name in names) for names in (_ROLE_KEYS, _CONTENT_KEYS)
        ):
            return key
    return None


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    record = _opened(record)
    key = _list_key(record) if isinstance(record, dict) else None
    if key is None:
        raise fault_in(entry, f"the record is {excerpt(record)}: no messages under {', '.join(_LISTS)}")
    first = record[key][0]
    reader = MessageReader(
        entry,
        role_key=next(name for name in _ROLE_KEYS if name in first),
        content_key=next(name for name in _CONTENT_KEYS if name in first),
        role_of=lambda name: role_named(name, entry),
    )
    messages = with_replies(reader.read(record[key]), entry)
    if _DEEPEVAL & record.keys() and isinstance(record.get("scenario"), str):
        record = {**record, "scenario_description": record["scenario"]}
        del record["scenario"]
    return conversation_from(record, messages, reader.rated, entry, messages_key=key)


TURNS = RecordFormat("turns", _recognises, _convert)
