"""Replies of candidates to single items, from JSON files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.core import Place, RecordFault
from dialogauge.data.json_values import json_values
from dialogauge.data.notes import excerpt, file_fault, record_fault
from dialogauge.data.opening import locate
from dialogauge.data.sources import LineStream

_ITEM: Final = ("item", "sample_id", "turn_id", "id")
_REPLY: Final = ("reply", "candidate_response", "response", "content", "text")
_CANDIDATE: Final = ("candidate", "candidate_model", "model")
_MEMORY: Final = ("memory", "dialogue_memory_records")
_HINT: Final = 'each line is {"item": "<id of the item>", "reply": "<text>"}'


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """A candidate's reply to one item."""

    item: str
    reply: str | None
    """None or empty without a reply."""
    place: Place
    candidate: str | None = None
    memory: tuple[str, ...] = ()
    """Ids of earlier turns in the candidate's prompt, if the file has them."""


def read_replies(path: str) -> Iterator[ReplyRecord | RecordFault]:
    """Read a file of replies, JSON Lines or one array, a record at a time.

    Keys: `item` (or `sample_id`, `turn_id`, `id`), `reply` (or `candidate_response`, `response`, `content`,
    `text`), optionally `candidate` (or `candidate_model`, `model`) and `memory` (or
    `dialogue_memory_records`). An unreadable record yields a `RecordFault`.

    Raises:
        FileFault: The file cannot be read, or has replies of two candidates.
    """
    first: ReplyRecord | None = None
    for value in json_values(LineStream(locate([path])[0][0])):
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
                a, b = first.candidate, record.candidate
                msg = f"the file holds replies of two candidates, {a!r} ({first.place}) and {b!r}"
                raise file_fault(record.place, msg, "give each candidate a file of its own")
        yield record


def _record(value: object, place: Place) -> ReplyRecord | RecordFault:
    if not isinstance(value, dict):
        return record_fault(place, f"the record is {excerpt(value)}: not an object", _HINT)
    item = _first(value, _ITEM)
    if not isinstance(item, str) or not item:
        return record_fault(place, "the record names no item", _HINT)
    reply = _first(value, _REPLY)
    if reply is not None and not isinstance(reply, str):
        return record_fault(place, f"the reply to {item!r} is {excerpt(reply)}: not a text", _HINT)
    memory = _memory(_first(value, _MEMORY))
    if memory is None:
        hint = "a list of ids of earlier turns, or of objects with a `memory_id`"
        return record_fault(place, f"the memory of the reply to {item!r} is no list of turns", hint)
    candidate = _first(value, _CANDIDATE)
    name = candidate if isinstance(candidate, str) and candidate else None
    return ReplyRecord(item, reply, place, name, memory)


def _first(value: Mapping[str, Any], names: Sequence[str]) -> Any:  # noqa: ANN401 - any JSON value
    return next((value[name] for name in names if value.get(name) is not None), None)


def _memory(value: object) -> tuple[str, ...] | None:
    """Return the ids of a memory, none where there is no memory; None for what is no list of ids."""
    if value is None:
        return ()
    if not isinstance(value, list):
        return None
    ids = [entry.get("memory_id") if isinstance(entry, dict) else entry for entry in value]
    names = tuple(name for name in ids if isinstance(name, str))
    return names if len(names) == len(ids) else None
