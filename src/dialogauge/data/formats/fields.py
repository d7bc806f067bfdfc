"""The fields of a record beside its messages, under their usual names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place, Rating
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.admission import thumb_of
from dialogauge.data.field_map import NO_MAP, FieldMap
from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.notes import excerpt, record_fault
from dialogauge.data.paths import MISSING, look_up, plain_name
from dialogauge.data.ratings import as_score, as_turn, score_at
from dialogauge.data.splits import message_turns

MESSAGE_KEYS = frozenset({"rating", "ratings", "satisfaction", "score"})
"""Keys of an assistant message with ratings of its turn."""

PERHAPS = frozenset({"stars", "thumbs", "thumb", "feedback", "vote", "csat"}) | {
    *("thumbs_up", "star_rating", "user_rating", "user_feedback", "annotation", "feedbacks"),
}
"""Keys of an assistant message or a record that rate it where they hold a number or a thumb."""

_OF_A_TALK: Final = lazy_pattern(
    r"(?!parent|prev|next|last|user|client|web|browser)(?:\w+_)?"
    r"(?:conv|convo|conversations?|threads?|sessions?|chats?|tickets?|cases?|dialog(?:ue)?s?)"
    r"_(?:\w+_)?(?:id|uuid|no|nr|number)|cid"
)
_KINDS: Final = frozenset({"type", "kind", "message_type", "messagetype", "visibility"})
_OF_THE_DESK: Final = frozenset({"note", "internal", "internal_note", "private_note", "whisper"})
INTERNAL: Final = "internal notes"
"""Why messages are left out that are not for the user."""

_DIMENSIONS: Final = {"thumbs_up": "thumbs"}
"""Keys that name one of two answers, and the dimension that was answered."""

RECORD_KEYS = {
    **dict.fromkeys(("satisfaction", "rating"), None),
    "reward": "environment",
    **dict.fromkeys(sorted(PERHAPS), None),
}
"""Keys of a record with a number that rates its conversation, and who rates there."""

REPLIES: Final = (
    *("response", "reply", "assistant_message", "assistant_response", "bot_response", "model_response"),
    *("model_output", "answer", "completion", "assistant", "generated_text", "output", "output_text"),
    *("actual_output", "回答", "回复", "答案"),
)
"""Keys under which a reply stands beside its prompt, or beside the messages before it."""

UNNAMED = frozenset({"nps", "score", "scores", "evaluation", "evaluations"}) | {
    *("helpfulness", "correctness", "coherence", "relevance", "accuracy", "quality"),
}
"""Keys and columns that may hold a rating, and may hold something else: they are said, and not used."""


_SCORED: Final = ("score", "value", "rating")
"""Keys of the score in a row of ratings that names its dimension."""
_ROW: Final = frozenset({"turn", "rater"})
"""Keys that make a table of dimension: score a row of the wide format."""
_ABOUT: Final = _ROW | {"candidate", "conversation_id", "level", "note", "weight"}
"""Keys of such a row that are no dimension."""

_REPLIES = frozenset(REPLIES)
_RATES = UNNAMED | RECORD_KEYS.keys()


def names_talk(key: str) -> bool:
    """Say whether a key by its name says which conversation a message is of."""
    return _OF_A_TALK.fullmatch(plain_name(key)) is not None


def are_of_several(messages: Sequence[object]) -> bool:
    """Say whether messages name several conversations that they are of."""
    named: dict[str, set[str]] = {}
    for message in messages:
        for key, value in message.items() if isinstance(message, Mapping) else ():
            if isinstance(value, str | int) and names_talk(key):
                named.setdefault(key, set()).add(str(value))
    return any(1 < len(ids) < len(messages) for ids in named.values())


def is_internal(message: Mapping[str, Any]) -> bool:
    """Say whether a message is marked as one that only the desk sees."""
    return any(
        isinstance(mark, str) and key.lower() in _KINDS and mark.lower().replace(" ", "_") in _OF_THE_DESK
        for key, mark in message.items()
    ) or any(message.get(key) is True for key in ("internal", "is_internal", "isInternal"))


def asks_people(name: str) -> bool:
    """Say whether a score of this name is people's where its source may be a program or a person."""
    plain = name.strip().casefold().replace("-", "_").replace(" ", "_")
    return plain in RECORD_KEYS and RECORD_KEYS[plain] is None


def labels_of(
    message: Mapping[str, Any], entry: Entry, keys: frozenset[str] = MESSAGE_KEYS
) -> dict[str, Any]:
    """Return what rates the turn of an assistant's message; nothing where no keys are looked at."""
    perhaps = {key for key in PERHAPS & message.keys() if keys and is_rating(message[key])}
    for key in sorted(perhaps):
        entry.recognise(f"messages have a {key}: read as a rating of the turn")
    return {key: message[key] for key in message if key in keys or key in perhaps}


def is_rating(value: object) -> bool:
    """Say whether a value is a number or a thumb, or a row of the long format with one."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) and is_rating(one) for one in value)
    if isinstance(value, dict):
        return (key := _score_key(value)) is not None and is_rating(value[key])
    try:
        score = as_score(value)
    except ValueError:
        return False
    return not isinstance(score, str) or thumb_of(score) is not None


def _score_key(value: Mapping[str, Any]) -> str | None:
    """Return the key of the score in what an app keeps of one click, with what was said of it."""
    return next((key for key in ("score", "rating") if isinstance(value.get(key), int | float | str)), None)


def message_ratings(
    conversation_id: str,
    messages: Sequence[Message],
    rated: Iterable[tuple[int, dict[str, Any]]],
    entry: Entry,
) -> list[Rating]:
    """Return the ratings on messages, each with the turn of its message."""
    turns = message_turns(messages)
    out: list[Rating] = []
    for index, fields in rated:
        values = {key: value for key, value in fields.items() if value is not None and value != ""}
        turn = turns[index]
        if values and turn is None:
            place = Place(entry.place.file, entry.place.line, conversation_id)
            keys = ", ".join(values)
            message = f"message {index + 1} is rated ({keys}) but stands before the dialogue, in no turn"
            raise record_fault(
                place, message, "take the rating off it, or put it on a message of the dialogue"
            )
        for key, value in values.items():
            out += ratings_in(value, _DIMENSIONS.get(key, key), conversation_id, turn, entry)
    return out


def conversation_ratings(conversation_id: str, record: dict[str, Any], entry: Entry) -> list[Rating]:
    """Return the ratings under the record's `ratings` and under the dimensions of the field map.

    `ratings` is a list of rows in the long format, or a table of dimension: score.
    """
    out: list[Rating] = []
    if record.get("ratings") is not None:
        out += ratings_in(record["ratings"], "rating", conversation_id, None, entry)
    for dimension, path in entry.mapping.ratings.items():
        value = look_up(record, path)
        if value is not MISSING and value is not None and value != "":
            out.append(Rating(conversation_id, dimension, _score(value, entry)))
    return out


def _record_ratings(
    conversation_id: str, record: dict[str, Any], entry: Entry, used: set[str], ratings: Sequence[Rating]
) -> Iterator[Rating]:
    """Yield numbers and thumbs under `RECORD_KEYS` as ratings of the conversation; else there are none."""
    rated = {rating.dimension for rating in ratings if rating.turn is None}
    rated.update(entry.mapping.ratings.values())
    for key in [key for key in RECORD_KEYS if key in record and key not in rated]:
        if is_rating(record[key]):
            used.add(key)
            entry.recognise(f"records have a {key}: read as a rating of the conversation")
            for rating in ratings_in(record[key], _DIMENSIONS.get(key, key), conversation_id, None, entry):
                yield replace(rating, rater=rating.rater or RECORD_KEYS[key])
        elif record[key] not in (None, ""):
            entry.recognise(
                f"records have a {key} that is neither a number nor a thumb: not used as a rating "
                "(names count under `ratings`)"
            )
    for key in UNNAMED & record.keys() - rated:
        if record[key] not in (None, "", [], {}) and not isinstance(record[key], bool):
            entry.recognise(f"records have a {key}: not used as a rating unless a field map (--map) names it")


def ratings_in(
    value: Any,  # noqa: ANN401  # any JSON value
    key: str,
    conversation_id: str,
    turn: int | None,
    entry: Entry,
) -> Iterator[Rating]:
    """Yield the ratings in a number, a thumb, a list of raters' or a table of dimension: score.

    A table that names a turn or a rater is a row of the wide format.

    Raises `RecordFault` for what is none.
    """
    if isinstance(value, list):
        for number, item in enumerate(value, start=1):
            if isinstance(item, dict):
                yield from ratings_in(item, key, conversation_id, turn, entry)
            else:
                yield Rating(conversation_id, key, _score(item, entry), turn, f"rater{number}")
    elif isinstance(value, dict):
        if "dimension" in value and (scored := next((k for k in _SCORED if k in value), None)):
            value = {**value, "score": value[scored]}
        elif key in PERHAPS and "score" not in value and _score_key(value):
            notes = (text_at(value, name) for name in ("comment", "content", "reason"))
            value = {"score": value["rating"], "note": next(filter(None, notes), None)}
        if "score" in value:
            yield rating_in(value, key, conversation_id, turn, entry)
            return
        about = {name: value[name] for name in _ABOUT & value.keys()} if _ROW & value.keys() else {}
        for dimension, score in value.items():
            if score is not None and dimension not in about:
                row = {**about, "dimension": dimension, "score": score}
                yield rating_in(row, dimension, conversation_id, turn, entry)
    else:
        yield Rating(conversation_id, key, _score(value, entry), turn)


def rating_in(row: dict[str, Any], key: str, conversation_id: str, turn: int | None, entry: Entry) -> Rating:
    """Return the rating in a row of the long format; `RecordFault` where it is none.

    Args:
        row: What was rated, and how.
        key: The dimension of a row without one.
        conversation_id: Of the conversation that the row stands in.
        turn: That of a row without one.
        entry: The record.
    """
    try:
        own_turn = as_turn(row.get("turn"))
    except ValueError as error:
        raise fault_in(entry, f"a rating: {error}") from error
    dimension, rater = row.get("dimension", key), row.get("rater")
    candidate, note, weight = row.get("candidate"), row.get("note"), row.get("weight")
    if not isinstance(dimension, str) or not dimension:
        raise fault_in(entry, f"a rating has the dimension {excerpt(dimension)}: not a name")
    other = row.get("conversation_id", conversation_id)
    if other != conversation_id:
        message = f"a rating is for conversation {excerpt(other)}, but stands in {conversation_id!r}"
        raise fault_in(entry, message)
    return Rating(
        conversation_id,
        dimension,
        _score(row["score"], entry),
        turn if own_turn is None else own_turn,
        None if rater is None else str(rater),
        None if candidate is None else str(candidate),
        None if note is None else str(note),
        weight=float(weight) if isinstance(weight, int | float) and 0 < weight < math.inf else None,
    )


def _score(value: object, entry: Entry) -> float | str:
    return score_at(entry.place, "a rating", value)


_NAMES: dict[str, tuple[str, ...]] = {
    "user_id": ("user_id", "user"),
    "scenario": ("scenario",),
    "context": ("scenario_description", "task_context", "context"),
    "candidate": ("candidate", "model", "agent"),
    "language": ("language",),
}
_IDS = (
    *("conversation_id", "id", "session_id", "thread_id", "chat_id", "dialogue_id", "dialog_id"),
    *("conversationId", "sessionId", "threadId", "chatId"),
)
_ALL_NAMES = frozenset(name for names in _NAMES.values() for name in names)


def conversation_from(
    record: dict[str, Any],
    messages: tuple[Message, ...],
    rated: Sequence[tuple[int, dict[str, Any]]],
    entry: Entry,
    *,
    messages_key: str,
) -> Conversation:
    """Build the conversation from a record and its messages; unknown keys go into `metadata`.

    Raises `RecordFault` for unreadable ratings.
    """
    mapping = entry.mapping
    used = {messages_key, "metadata", "ratings"}
    conversation_id = _id(record, entry, used)
    texts: dict[str, str | None] = {}
    if mapping is not NO_MAP or not _ALL_NAMES.isdisjoint(record):
        texts = {
            name: _text(record, getattr(mapping, name), names, used)
            for name, names in _NAMES.items()
            if mapping is not NO_MAP or not record.keys().isdisjoint(names)
        }
    profile = _profile(record, mapping, used)
    if messages and not _REPLIES.isdisjoint(record):
        messages += _reply_beside(record, messages[-1], used, entry)
    ratings: list[Rating] = []
    if "ratings" in record or mapping.ratings:
        ratings += conversation_ratings(conversation_id, record, entry)
    if rated:
        ratings += message_ratings(conversation_id, messages, rated, entry)
    if not _RATES.isdisjoint(record):
        ratings += _record_ratings(conversation_id, record, entry, used, ratings)
    return Conversation(
        conversation_id,
        messages,
        profile=profile,
        ratings=tuple(ratings),
        metadata=_metadata(record, used, mapping),
        place=Place(entry.place.file, entry.place.line, conversation_id),
        **texts,
    )


def _id(record: dict[str, Any], entry: Entry, used: set[str]) -> str:
    path = entry.mapping.conversation_id
    if (mapped := _text(record, path, _IDS, used)) is not None:
        return mapped
    if path is not None and (usual := _text(record, None, _IDS, used)) is not None:
        # The map may be of the ratings beside the log, which call its conversations otherwise.
        entry.recognise(f"conversations have no {path!r}: read by their usual id")
        return usual
    entry.assume(
        f"conversations have no id: made from {entry.made_from}",
        hint="give each a `conversation_id`, or name the key in a field map",
    )
    return entry.made_id


def _reply_beside(
    record: Mapping[str, Any], last: Message, used: set[str], entry: Entry
) -> tuple[Message, ...]:
    """Return the reply that stands beside the messages of a record; one that is not read is noted."""
    key = next(
        (key for key in REPLIES if key not in used and record.get(key) not in (None, "", [], {})), None
    )
    value = None if key is None else record[key]
    if key is None or (last.role == "assistant" and (not isinstance(value, str) or value == last.text)):
        return ()
    if last.role == "assistant":
        entry.recognise(f"records have a {key!r} beside messages that end with a reply: kept as metadata")
    elif isinstance(value, str):
        used.add(key)
        entry.recognise(f"records have a {key!r} beside their messages: read as the reply to them")
        return (Message("assistant", value),)
    else:
        entry.assume(f"records have a {key!r} beside their messages that is no text: kept as metadata")
    return ()


def text_at(record: Mapping[str, Any], key: str) -> str | None:
    """Return the non-empty text under a key; None without one."""
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def object_at(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the object under a key; an empty one without one."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def list_at(record: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list under a key; an empty one without one."""
    value = record.get(key)
    return value if isinstance(value, list) else []


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


def _metadata(record: dict[str, Any], used: set[str], mapping: FieldMap) -> dict[str, Any]:
    used.update(mapping.ratings.values())
    if used.issuperset(record) and "metadata" not in record:
        return {}
    nested = record.get("metadata")
    metadata: dict[str, Any] = dict(nested) if isinstance(nested, dict) else {}
    if nested is not None and not isinstance(nested, dict):
        metadata["metadata"] = nested
    return metadata | {key: value for key, value in record.items() if key not in used}
