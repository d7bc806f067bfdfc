"""Records that list prompts with their replies: `{"turns": [{"user": ..., "assistant": ...}]}`, or pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialogauge.core import Conversation, Message, Role
from dialogauge.data.field_map import MISSING, NO_MAP, FieldMap, look_up
from dialogauge.data.formats.base import Entry, RecordFormat, fault_in
from dialogauge.data.formats.columns import is_history, named_columns
from dialogauge.data.formats.fields import conversation_from, labels_of, text_at
from dialogauge.data.formats.order import in_time
from dialogauge.data.notes import excerpt

_LISTS: Final = (
    *("turns", "exchanges", "history", "conversation", "dialog", "dialogue", "messages", "chat", "rounds"),
    *("interactions", "qa_pairs", "pairs"),
)
_BY_TURNS: Final = ("data", "dialog", "dialogue", "conversation")
"""Keys of a list of texts of which the first is the user's, the next the assistant's, and so on."""
_SYSTEM: Final = ("system", "system_prompt")
_Speakers = Mapping[str, str]
"""`prompt` and `reply` -> their keys."""


def exchanged(items: object) -> list[dict[str, Any]] | None:
    """Return exchanges or pairs of texts as messages; None where the items are none."""
    if not isinstance(items, list):
        return None
    keys = _speakers(items[0], NO_MAP) if items else {}
    if keys is None or any(_speakers(item, NO_MAP) != keys for item in items):
        return None
    spoken = ([item[keys[name]] for name in ("prompt", "reply")] if keys else item for item in items)
    return [
        {"role": role, "content": text}
        for texts in spoken
        for role, text in zip(("user", "assistant"), texts, strict=True)
        if text is not None
    ]


def _speakers(item: object, mapping: FieldMap) -> _Speakers | None:
    """Return the keys of an exchange; those of a pair are none."""
    if isinstance(item, list):
        return {} if len(item) == 2 and all(one is None or isinstance(one, str) for one in item) else None
    if not isinstance(item, dict):
        return None
    named = named_columns(tuple(item), mapping)
    return {name: named[name] for name in ("prompt", "reply")} if "reply" in named else None


def _list_key(record: Any, mapping: FieldMap) -> str | None:  # noqa: ANN401  # any JSON value
    for key in (mapping.messages,) if mapping.messages else _LISTS:
        items = look_up(record, key) if isinstance(record, dict) else None
        if isinstance(items, list) and items and _speakers(items[0], mapping) is not None:
            return key
    return None


def _recognises(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
    record = _paired(record, mapping)
    key = _list_key(record, mapping)
    return key is not None and not is_history(key, record, mapping)


def _paired(record: Any, mapping: FieldMap) -> Any:  # noqa: ANN401  # any JSON value
    """Return a record with a list of texts by turns, as UltraChat has it, with pairs of them."""
    if not isinstance(record, dict) or mapping != NO_MAP:
        return record
    key = next((key for key in _BY_TURNS if _are_texts(record.get(key))), None)
    if key is None:
        return record
    texts = [*record[key], None] if len(record[key]) % 2 else record[key]
    others = {name: value for name, value in record.items() if name != key}
    return others | {"pairs": [texts[n : n + 2] for n in range(0, len(texts), 2)]}


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(v, str) and v.strip() for v in value)


def _convert(record: Any, entry: Entry) -> Conversation:  # noqa: ANN401  # any JSON value
    record = _paired(record, entry.mapping)
    key = _list_key(record, entry.mapping)
    if key is None:
        raise fault_in(entry, f"the record is {excerpt(record)}: no list of prompts with their replies")
    items = look_up(record, key)
    first = _speakers(items[0], entry.mapping) or {}
    messages: list[Message] = []
    system = next((text for name in _SYSTEM if (text := text_at(record, name))), None)
    if system is not None:
        messages.append(Message("system", system))
        record = {name: value for name, value in record.items() if name not in _SYSTEM}
    rated: list[tuple[int, dict[str, Any]]] = []
    for number, item in enumerate(in_time(items, entry), start=1):
        labels = labels_of(item, entry) if first and isinstance(item, dict) else {}
        messages += _exchange(item, first, labels, number, entry)
        if labels:
            rated.append((len(messages) - 1, labels))
    if first:
        entry.recognise(f"conversations have exchanges: {first['prompt']!r} with {first['reply']!r}")
    else:
        entry.assume("conversations have pairs of texts: the first of each read as the user's")
    return conversation_from(record, tuple(messages), rated, entry, messages_key=key.split(".")[0])


def _exchange(
    item: Any,  # noqa: ANN401  # any JSON value
    keys: _Speakers,
    labels: Mapping[str, Any],
    number: int,
    entry: Entry,
) -> list[Message]:
    extra: dict[str, Any] = {}
    if keys and isinstance(item, dict):
        values = [look_up(item, keys[name]) for name in ("prompt", "reply")]
        extra = {k: v for k, v in item.items() if k not in (*keys.values(), *labels) and v is not None}
    elif not keys and isinstance(item, list) and len(item) == 2:
        values = item
    else:
        raise fault_in(entry, f"exchange {number} is {excerpt(item)}: not like the first")
    messages: list[Message] = []
    roles: tuple[Role, ...] = ("user", "assistant")
    for role, value in zip(roles, values, strict=True):
        if isinstance(value, str):
            messages.append(Message(role, value, extra=extra if role == "assistant" else {}))
        elif value is not None and value is not MISSING:
            raise fault_in(entry, f"exchange {number}: what the {role} says is {excerpt(value)}: no text")
    if not messages:
        raise fault_in(entry, f"exchange {number} has neither prompt nor reply")
    return messages


EXCHANGES = RecordFormat("exchanges", _recognises, _convert)
