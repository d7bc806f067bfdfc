"""Writes conversations as OpenAI JSONL that reads back as what was written."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import orjson

from dialogauge.core import Conversation, Place, Rating, RecordFault
from dialogauge.data.notes import excerpt, file_fault, record_fault
from dialogauge.data.sources import InputSource, LineStream, json_values

_ITEM: Final = ("item", "sample_id", "turn_id", "id")
_REPLY: Final = ("reply", "candidate_response", "response", "content", "text")
_CANDIDATE: Final = ("candidate", "candidate_model", "model")
_MEMORY: Final = ("memory", "dialogue_memory_records")
_HINT: Final = 'each line is {"item": "<id of the item>", "reply": "<text>"}'


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """What a file says that a candidate replied to one item."""

    item: str
    reply: str | None
    """None, or an empty text, when the candidate gave none."""
    place: Place
    candidate: str | None = None
    memory: tuple[str, ...] = ()
    """Ids of past turns that the candidate was shown, where the file says so."""


def read_replies(path: str) -> Iterator[ReplyRecord | RecordFault]:
    """Read a file of replies, JSON Lines or one array, a record at a time.

    Keys: `item` (or `sample_id`, `turn_id`, `id`), `reply` (or `candidate_response`, `response`, `content`,
    `text`), and where they are there `candidate` (or `candidate_model`, `model`) and `memory` (or
    `dialogue_memory_records`). A record that is none comes as a `RecordFault`.

    Raises:
        FileFault: The file cannot be read, or holds the replies of two candidates.
    """
    first: ReplyRecord | None = None
    with LineStream(InputSource(path, path, Path(path))) as stream:
        for value in json_values(stream):
            if isinstance(value, RecordFault):
                yield value
                continue
            record = _record(value.value, value.place)
            if isinstance(record, RecordFault):
                yield record
                continue
            if record.candidate is not None:
                first = first or record
                if record.candidate != first.candidate:
                    raise _two(first, record)
            yield record


def _two(first: ReplyRecord, other: ReplyRecord) -> Exception:
    a, b = first.candidate, other.candidate
    msg = f"the file holds replies of two candidates, {a!r} ({first.place}) and {b!r}"
    return file_fault(other.place, msg, "give each candidate a file of its own")


def _record(value: object, place: Place) -> ReplyRecord | RecordFault:
    if not isinstance(value, dict):
        return record_fault(place, f"the record is {excerpt(value)}: not an object", _HINT)
    item = _first(value, _ITEM)
    if not isinstance(item, str) or not item:
        return record_fault(place, "the record names no item", _HINT)
    reply = _first(value, _REPLY)
    if reply is not None and not isinstance(reply, str):
        return record_fault(place, f"the reply to {item!r} is {excerpt(reply)}: not a text", _HINT)
    candidate = _first(value, _CANDIDATE)
    told = candidate if isinstance(candidate, str) and candidate else None
    return ReplyRecord(item, reply, place, told, _memory(_first(value, _MEMORY)))


def _first(value: Mapping[str, Any], names: Sequence[str]) -> Any:  # noqa: ANN401 - any JSON value
    return next((value[name] for name in names if value.get(name) is not None), None)


def _memory(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    named = (entry.get("memory_id") if isinstance(entry, dict) else entry for entry in value)
    return tuple(name for name in named if isinstance(name, str))


_FIELDS = ("user_id", "scenario", "context", "candidate", "language")


def write_conversations(path: str | Path, conversations: Iterable[Conversation]) -> int:
    """Write one conversation a line and return how many; gzip when the path ends in `.gz`.

    Reading the file gives equal conversations, except for their place. Raises `OSError` when the file
    cannot be written.
    """
    file = Path(path)
    packed = file.suffix == ".gz"
    count = 0
    with file.open("wb") as raw, closing(gzip.GzipFile(fileobj=raw, mode="wb") if packed else raw) as out:
        for conversation in conversations:
            out.write(orjson.dumps(conversation_record(conversation), default=_plain) + b"\n")
            count += 1
    return count


def conversation_record(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation as the JSON object of one line; what is not known is left out."""
    record: dict[str, Any] = {"conversation_id": conversation.id}
    for name in _FIELDS:
        value = getattr(conversation, name)
        if value is not None:
            record[name] = value
    if conversation.profile is not None:
        record["profile"] = dict(conversation.profile)
    record["messages"] = [message.to_openai() for message in conversation.messages]
    if conversation.ratings:
        record["ratings"] = [_rating(rating, conversation.id) for rating in conversation.ratings]
    if conversation.metadata:
        record["metadata"] = dict(conversation.metadata)
    return record


def _rating(rating: Rating, conversation_id: str) -> dict[str, Any]:
    row: dict[str, Any] = {"dimension": rating.dimension, "score": rating.score}
    if rating.conversation_id != conversation_id:
        row["conversation_id"] = rating.conversation_id
    for name in ("turn", "rater", "candidate", "note"):
        value = getattr(rating, name)
        if value is not None:
            row[name] = value
    return row


def _plain(value: object) -> dict[str, Any]:
    """Let mappings that are no dicts be written as objects."""
    try:
        return dict(cast("Any", value))
    except (TypeError, ValueError) as error:
        msg = f"{type(value).__name__} cannot be written as JSON"
        raise TypeError(msg) from error
