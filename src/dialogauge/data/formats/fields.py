"""What a record says of its conversation beside the messages, under the usual names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialogauge.core import Conversation, Message, Place, Rating
from dialogauge.data.field_map import MISSING, NO_MAP, FieldMap, look_up
from dialogauge.data.formats.base import Entry
from dialogauge.data.formats.inline_ratings import conversation_ratings, message_ratings

__all__ = ["conversation_from"]

_NAMES: dict[str, tuple[str, ...]] = {
    "user_id": ("user_id", "user"),
    "scenario": ("scenario",),
    "context": ("scenario_description", "task_context", "context"),
    "candidate": ("candidate", "model", "agent"),
    "language": ("language",),
}
_IDS = ("conversation_id", "id", "session_id")
_NAMED = frozenset(name for names in _NAMES.values() for name in names)


def conversation_from(
    record: dict[str, Any],
    messages: tuple[Message, ...],
    rated: Sequence[tuple[int, dict[str, Any]]],
    entry: Entry,
    *,
    messages_key: str,
) -> Conversation:
    """Build the conversation of a record whose messages are read.

    Every key that is not understood is kept in `metadata`. Raises `RecordFault` for ratings that
    cannot be read.
    """
    mapping = entry.mapping
    used = {messages_key, "metadata", "ratings"}
    conversation_id = _text(record, mapping.conversation_id, _IDS, used)
    if conversation_id is None:
        conversation_id = entry.made_id
        entry.assume(
            "conversations have no id: made from file name and line",
            hint="give each a `conversation_id`, or name the key in a field map",
        )
    found: dict[str, str | None] = {}
    if mapping is not NO_MAP or not _NAMED.isdisjoint(record):
        found = {name: _text(record, getattr(mapping, name), names, used) for name, names in _NAMES.items()}
    profile = _profile(record, mapping, used)
    ratings = _gather(conversation_id, record, messages, rated, entry)
    return Conversation(
        conversation_id,
        messages,
        profile=profile,
        ratings=ratings,
        metadata=_metadata(record, used, mapping),
        place=Place(entry.place.file, entry.place.line, conversation_id),
        **found,
    )


def _text(record: Mapping[str, Any], path: str | None, names: tuple[str, ...], used: set[str]) -> str | None:
    for name in names if path is None else (path,):
        value = record.get(name, MISSING) if path is None else look_up(record, path)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and value:
            used.add(name)
            return value
    return None


def _profile(record: Mapping[str, Any], mapping: FieldMap, used: set[str]) -> Mapping[str, Any] | None:
    path = mapping.profile or "profile"
    value = look_up(record, path)
    if not isinstance(value, dict):
        return None
    used.add(path)
    return value


def _gather(
    conversation_id: str,
    record: dict[str, Any],
    messages: tuple[Message, ...],
    rated: Sequence[tuple[int, dict[str, Any]]],
    entry: Entry,
) -> tuple[Rating, ...]:
    ratings: list[Rating] = []
    if "ratings" in record or entry.mapping.ratings:
        ratings += conversation_ratings(conversation_id, record, entry)
    if rated:
        ratings += message_ratings(conversation_id, messages, rated, entry)
    return tuple(ratings)


def _metadata(record: dict[str, Any], used: set[str], mapping: FieldMap) -> dict[str, Any]:
    used.update(mapping.ratings.values())
    if used.issuperset(record) and "metadata" not in record:
        return {}
    given = record.get("metadata")
    metadata: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    if given is not None and not isinstance(given, dict):
        metadata["metadata"] = given
    for key, value in record.items():
        if key not in used:
            metadata[key] = value
    return metadata
