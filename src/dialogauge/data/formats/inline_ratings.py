"""Ratings that stand inside a record: on the conversation, or on the message that was rated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dialogauge.core import Message, Place, Rating
from dialogauge.data.faults import record_fault, shown
from dialogauge.data.field_map import MISSING, look_up
from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.scores import as_score, as_turn
from dialogauge.data.turn_map import message_turns

__all__ = ["MESSAGE_KEYS", "conversation_ratings", "message_ratings"]

MESSAGE_KEYS = frozenset({"rating", "ratings", "satisfaction", "score"})
"""Keys of an assistant message that hold ratings of the turn it belongs to."""


def message_ratings(
    conversation_id: str,
    messages: Sequence[Message],
    rated: Iterable[tuple[int, dict[str, Any]]],
    entry: Entry,
) -> list[Rating]:
    """Return the ratings that stood on messages, each with the turn of its message."""
    turns = message_turns(messages)
    out: list[Rating] = []
    for index, found in rated:
        given = {key: value for key, value in found.items() if value is not None and value != ""}
        turn = turns[index]
        if given and turn is None:
            place = Place(entry.place.file, entry.place.line, conversation_id)
            keys = ", ".join(given)
            message = f"message {index + 1} is rated ({keys}) but stands before the dialogue, in no turn"
            raise record_fault(
                place, message, "take the rating off it, or put it on a message of the dialogue"
            )
        for key, value in given.items():
            out += _ratings(value, key, conversation_id, turn, entry)
    return out


def conversation_ratings(conversation_id: str, record: dict[str, Any], entry: Entry) -> list[Rating]:
    """Return the ratings under the record's own `ratings` and the user's mapped dimensions.

    `ratings` is a list of rows in the long format, or a table of dimension: score.
    """
    out: list[Rating] = []
    given = record.get("ratings")
    if given is not None:
        out += _ratings(given, "rating", conversation_id, None, entry)
    for dimension, path in entry.mapping.ratings.items():
        value = look_up(record, path)
        if value is not MISSING and value is not None and value != "":
            out.append(Rating(conversation_id, dimension, _score(value, entry)))
    return out


def _ratings(
    value: Any,  # noqa: ANN401  # whatever stood there
    key: str,
    conversation_id: str,
    turn: int | None,
    entry: Entry,
) -> Iterator[Rating]:
    if isinstance(value, list):
        for number, item in enumerate(value, start=1):
            if isinstance(item, dict):
                yield from _ratings(item, key, conversation_id, turn, entry)
            else:
                yield Rating(conversation_id, key, _score(item, entry), turn, f"rater{number}")
    elif isinstance(value, dict):
        if "score" in value:
            yield _row(value, key, conversation_id, turn, entry)
            return
        for dimension, score in value.items():
            if score is not None:
                yield Rating(conversation_id, dimension, _score(score, entry), turn)
    else:
        yield Rating(conversation_id, key, _score(value, entry), turn)


def _row(row: dict[str, Any], key: str, conversation_id: str, turn: int | None, entry: Entry) -> Rating:
    try:
        given = as_turn(row.get("turn"))
    except ValueError as error:
        raise fault_in(entry, f"a rating: {error}") from error
    dimension, rater = row.get("dimension", key), row.get("rater")
    candidate, note = row.get("candidate"), row.get("note")
    if not isinstance(dimension, str) or not dimension:
        raise fault_in(entry, f"a rating has the dimension {shown(dimension)}: not a name")
    named = row.get("conversation_id", conversation_id)
    if named != conversation_id:
        raise fault_in(
            entry, f"a rating is for conversation {shown(named)}, but stands in {conversation_id!r}"
        )
    return Rating(
        conversation_id,
        dimension,
        _score(row["score"], entry),
        turn if given is None else given,
        None if rater is None else str(rater),
        None if candidate is None else str(candidate),
        None if note is None else str(note),
    )


def _score(value: object, entry: Entry) -> float | str:
    try:
        return as_score(value)
    except ValueError as error:
        raise fault_in(entry, f"a rating: {error}") from error
