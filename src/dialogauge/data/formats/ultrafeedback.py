"""Rows of UltraFeedback: one instruction with the replies of several models, or the better and the worse one.

Each reply is a conversation of its model. A model gave the scores, so they are metadata and no ratings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.core import Conversation, Place, RecordFault
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.json_values import is_message_list
from dialogauge.data.notes import excerpt
from dialogauge.data.sources import LineStream

_SIDES: Final = ("chosen", "rejected")
_IDS: Final = ("id", "prompt_id")
_SYSTEM: Final = "custom_system_prompt"
_SCORED: Final = "replies have scores by a model: kept as metadata, no ratings"
_NO_ID: Final = "conversations have no id: made from file name and line"

Row = Mapping[str, Any]


def _recognises(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict) or sample.mapping.messages is not None:
        return False
    return _is_whole(record) or ("messages" not in record and _is_of_two(record))


def _is_whole(row: Row) -> bool:
    completions = row.get("completions")
    first = completions[0] if isinstance(completions, list) and completions else None
    return (
        isinstance(row.get("instruction"), str)
        and isinstance(first, dict)
        and {"model", "response"} <= first.keys()
    )


def _is_of_two(row: Row) -> bool:
    scored = any(
        all(key in row for key in keys)
        for keys in (("score_chosen", "score_rejected"), ("chosen-rating", "rejected-rating"))
    )
    return scored and all(is_message_list(row.get(side)) for side in _SIDES)


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
    for row, entry in entries(stream, context):
        if isinstance(row, RecordFault):
            yield row
        elif isinstance(row, dict) and _is_whole(row):
            yield from _replies(row, entry)
        elif isinstance(row, dict) and _is_of_two(row):
            yield from _two(row, entry)
        else:
            yield fault_in(entry, f"the row is {excerpt(row)}: no instruction with completions")


def _replies(row: Row, entry: Entry) -> Iterator[Outcome]:
    about = {
        key: value for key, value in row.items() if key not in ("instruction", "completions", "models", *_IDS)
    }
    names: dict[str, int] = {}
    for number, reply in enumerate(row["completions"], start=1):
        model = text_at(reply, "model") if isinstance(reply, dict) else None
        if model is None or not isinstance(reply.get("response"), str):
            yield fault_in(entry, f"completion {number} is {excerpt(reply)}: no model and response")
            continue
        names[model] = names.get(model, 0) + 1
        own = {key: value for key, value in reply.items() if key not in ("model", "response", _SYSTEM)}
        if own:
            entry.recognise(_SCORED)
        system = text_at(reply, _SYSTEM)
        items = [{"role": "system", "content": system}] if system else []
        items.append({"role": "user", "content": row["instruction"]})
        items.append({"role": "assistant", "content": reply["response"]})
        suffix = model if names[model] == 1 else f"{model}__{names[model]}"
        yield _conversation(items, _id(row, entry, suffix), model, about | own, entry)


def _two(row: Row, entry: Entry) -> Iterator[Outcome]:
    entry.recognise(_SCORED)
    used = {f"{side}-model" for side in _SIDES} | {"prompt", *_SIDES, *_IDS}
    about = {key: value for key, value in row.items() if key not in used}
    for side in _SIDES:
        model = text_at(row, f"{side}-model")
        yield _conversation(row[side], _id(row, entry, side), model, {**about, "side": side}, entry)


def _id(row: Row, entry: Entry, suffix: str) -> str:
    name = next((text for key in _IDS if (text := text_at(row, key))), None)
    if name is None:
        entry.assume(_NO_ID, hint="give each row an `id`")
    return f"{name or entry.made_id}__{suffix}"


def _conversation(
    items: list[dict[str, Any]], id: str, model: str | None, about: dict[str, Any], entry: Entry
) -> Outcome:
    try:
        messages = MessageReader(entry, label_keys=frozenset(), ordered=True).read(items)
    except RecordFault as fault:
        return fault
    place = Place(entry.place.file, entry.place.line, id)
    return Conversation(id, messages, candidate=model, metadata=about, place=place)


ULTRAFEEDBACK = TextFormat("ultrafeedback", _recognises, _read)
