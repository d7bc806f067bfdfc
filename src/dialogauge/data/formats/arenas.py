"""Replies of many models, compared or collected: arenas, MT-Bench, WildChat, and UltraFeedback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, Message, Place, Rating, RecordFault
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import (
    Context,
    Entry,
    Outcome,
    RecordFormat,
    Sample,
    TextFormat,
    entries,
    fault_in,
)
from dialogauge.data.formats.fields import conversation_from, text_at
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.payloads import OTHER_CHOICES
from dialogauge.data.json_values import JsonValue, is_message_list, json_values
from dialogauge.data.notes import IdPlaces, excerpt
from dialogauge.data.sources import LineStream

_QUESTIONS: Final = "question.jsonl"
_ABOVE: Final = 2
"""So many folders above the answers the questions may be."""


def _turns(value: Any) -> list[str]:  # noqa: ANN401  # any JSON value
    """Return the texts under `turns`; none where there are none, or others among them."""
    turns = value.get("turns") if isinstance(value, dict) else None
    return turns if isinstance(turns, list) and all(isinstance(one, str) for one in turns) else []


def is_answer(record: Mapping[str, Any]) -> bool:
    """Say whether a record is what one model answered to a question."""
    choices = record.get("choices")
    known = {"question_id", "model_id"} <= record.keys() and isinstance(choices, list) and bool(choices)
    return known and bool(_turns(record["choices"][0]))


def _questions(context: Context) -> Mapping[object, dict[str, Any]]:
    """Return the questions by their ids; none where there is no such file."""
    if _QUESTIONS not in context.memo:
        source = context.source.beside(_QUESTIONS, _ABOVE)
        values = json_values(LineStream(source)) if source is not None else ()
        rows = (one.value for one in values if isinstance(one, JsonValue) and isinstance(one.value, dict))
        context.memo[_QUESTIONS] = {str(row.get("question_id")): row for row in rows}
    questions: Mapping[object, dict[str, Any]] = context.memo[_QUESTIONS]
    return questions


def answered(record: Mapping[str, Any], entry: Entry) -> Conversation:
    """Return an answer behind its question; raises `RecordFault` where the question is not at hand."""
    choices: list[Any] = record["choices"]
    replies = _turns(choices[0])
    number, model = str(record.get("question_id")), text_at(record, "model_id")
    question = _questions(entry.context).get(number, {})
    prompts = _turns(question)
    if len(prompts) < len(replies):
        what = f"question {number} has {len(prompts)} turns here, and its answer {len(replies)}"
        hint = f"put MT-Bench's {_QUESTIONS} beside the answers or up to {_ABOVE} folders above"
        raise fault_in(entry, what, hint)
    if len(choices) > 1:
        entry.leave_out(OTHER_CHOICES, len(choices) - 1)
    entry.recognise(f"answers were put behind the questions of {_QUESTIONS}")
    pairs = zip(prompts, replies, strict=False)
    messages = [(Message("user", prompt), Message("assistant", reply)) for prompt, reply in pairs]
    name = f"{number}__{model or entry.made_id}"
    used = ("question_id", "model_id", "choices")
    return Conversation(
        name,
        tuple(message for pair in messages for message in pair),
        scenario=text_at(question, "category"),
        candidate=model,
        metadata={key: value for key, value in record.items() if key not in used},
        place=Place(entry.place.file, entry.place.line, name),
    )


_SIGNS: Final = ("conversation_hash", "openai_moderation")
_HASH: Final = "conversation_hash"
_LANGUAGES: Final = (
    "english en, chinese zh, russian ru, french fr, spanish es, german de, portuguese pt, italian it, "
    "japanese ja, korean ko, turkish tr, arabic ar, vietnamese vi, indonesian id, polish pl, ukrainian uk"
)
_CODES: Final = dict(pair.split() for pair in _LANGUAGES.split(", "))
"""Names of languages -> their codes."""


def _recognises_wildchat(record: Any, mapping: FieldMap) -> bool:  # noqa: ANN401  # any JSON value
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


WILDCHAT = RecordFormat("wildchat", _recognises_wildchat, _convert)
"""Rows of WildChat and LMSYS-Chat-1M: `{"conversation_hash" or "conversation_id", "model", "conversation"}`.

WildChat's hash is that of the content, so it may come again: the number of the first message then tells
conversations of one hash apart. Its users are known by their hashed address.
"""


_ARENA_SIDES: Final = ("a", "b")
_PREFERRED: Final = "preferred"
_OUTCOMES: Final = {
    "model_a": (1.0, 0.0),
    "model_b": (0.0, 1.0),
    **dict.fromkeys(("tie", "tie (bothbad)", "both_bad", "bothbad"), (0.5, 0.5)),
}
_COLUMNS: Final = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
"""Columns of ones and zeros that say who won, in place of `winner`."""
_ARENA_IDS: Final = ("question_id", "id", "conversation_id")
_JUDGES: Final = ("judge", "judge_hash", "evaluation_session_id")
_OF_ARENA: Final = ("tstamp", "timestamp", "anony", "language")
"""Keys of rows in which `turn` counts the turns; in those of MT-Bench it is the turn that was judged."""
_TEXTS: Final = frozenset(
    f"{name}_{side}" for name in ("model", "conversation", "response") for side in _ARENA_SIDES
) | {"full_conversation", "prompt", "winner", "turn", "language", *_ARENA_IDS, *_JUDGES, *_COLUMNS}

Row = Mapping[str, Any]


def _recognises_arena(sample: Sample) -> bool:
    record = sample.record
    if not isinstance(record, dict) or not {"model_a", "model_b"} <= record.keys():
        return isinstance(record, dict) and not sample.mapping.messages and is_answer(record)
    both = isinstance(record.get("conversation_a"), list) and isinstance(record.get("conversation_b"), list)
    return both or {"prompt", "response_a", "response_b"} <= record.keys()


@dataclass(slots=True)
class _Votes:
    """What was voted on each conversation, and which of them were read."""

    by_name: dict[str, list[tuple[int | None, float, str | None]]] = field(default_factory=dict)
    """Turn, outcome, rater."""
    read: dict[str, int] = field(default_factory=dict)
    """Conversation -> hash of what was said."""


def _read_arena(stream: LineStream, context: Context) -> Iterator[Outcome]:
    votes = _tally(stream, context)
    for row, entry in entries(stream, context):
        if isinstance(row, RecordFault):
            yield row
        elif isinstance(row, dict) and is_answer(row):
            try:
                yield answered(row, entry)
            except RecordFault as fault:
                yield fault
        else:
            yield from _sides(row, votes, entry)


def _tally(stream: LineStream, context: Context) -> _Votes:
    votes = _Votes()
    for row, entry in entries(stream, context):
        if isinstance(row, dict) and is_answer(row):
            continue
        outcome = _OUTCOMES.get(_winner(row)) if isinstance(row, dict) else None
        if outcome is None:
            entry.recognise(f"rows name no winner of {', '.join(_OUTCOMES)}: they are no votes")
            continue
        for name, score in zip(_names(row, entry), outcome, strict=True):
            votes.by_name.setdefault(name, []).append((_turn(row), score, _judge(row)))
    return votes


def _sides(row: object, votes: _Votes, entry: Entry) -> Iterator[Outcome]:
    for side in _ARENA_SIDES:
        try:
            conversation = _side(row, side, votes, entry)
        except RecordFault as fault:
            yield fault
        else:
            if conversation is not None:
                yield conversation


def _winner(row: Row) -> str:
    columns = (name for column, name in _COLUMNS.items() if row.get(column) in (1, True, "1"))
    return text_at(row, "winner") or next(columns, "")


def _names(row: Row, entry: Entry) -> tuple[str, str]:
    """Return the ids of both conversations: the question and the model, or the side where both are of one."""
    question = next(
        (str(row[key]) for key in _ARENA_IDS if isinstance(row.get(key), str | int)), entry.made_id
    )
    a, b = row.get("model_a"), row.get("model_b")
    return (f"{question}__a", f"{question}__b") if a == b else (f"{question}__{a}", f"{question}__{b}")


def _is_of_arena(row: Row) -> bool:
    return any(key in row for key in _OF_ARENA)


def _turn(row: Row) -> int | None:
    turn = row.get("turn")
    return turn if type(turn) is int and turn > 0 and not _is_of_arena(row) else None


def _judge(row: Row) -> str | None:
    judge = next((row[key] for key in _JUDGES if row.get(key)), None)
    judge = judge[0] if isinstance(judge, list) else judge
    return judge if isinstance(judge, str) and judge else None


def _side(row: Any, side: str, votes: _Votes, entry: Entry) -> Conversation | None:  # noqa: ANN401  # any JSON value
    """Return the conversation of a side; None for one that was read with a row before."""
    if not isinstance(row, dict):
        raise fault_in(entry, f"the row is {excerpt(row)}: not an object")
    model = text_at(row, f"model_{side}")
    if model is None:
        raise fault_in(entry, f"model_{side} is {excerpt(row.get(f'model_{side}'))}: not a name")
    name = _names(row, entry)[_ARENA_SIDES.index(side)]
    raw = row.get(f"conversation_{side}")
    raw = _exchange(row, side, entry) if raw is None else raw
    digest = hash(orjson.dumps(raw))
    if name in votes.read:
        if votes.read[name] != digest:
            raise fault_in(entry, f"{name} says something else than it did in a row before")
        entry.recognise("conversations were voted on more than once: read once, with all votes")
        return None
    messages = MessageReader(entry).read(raw)
    votes.read[name] = digest
    own = votes.by_name.pop(name, ())
    if own:
        entry.recognise("votes between two were read as ratings: 1 won, 0.5 a tie, 0 lost")
    language = text_at(row, "language")
    return Conversation(
        name,
        messages,
        user_id=_judge(row) if _is_of_arena(row) else None,
        candidate=model,
        language=None if language is None else language_code(language),
        ratings=tuple(Rating(name, _PREFERRED, score, turn, rater) for turn, score, rater in own),
        metadata={key: value for key, value in row.items() if key not in _TEXTS and value is not None},
        place=Place(entry.place.file, entry.place.line, name),
    )


def _exchange(row: Row, side: str, entry: Entry) -> list[dict[str, Any]]:
    """Return prompts and responses as messages: texts, or lists of texts, maybe as JSON."""
    prompts, replies = (_texts(row.get(key), key, entry) for key in ("prompt", f"response_{side}"))
    if len(prompts) != len(replies):
        raise fault_in(entry, f"there are {len(prompts)} prompts and {len(replies)} responses of {side}")
    pairs = zip(prompts, replies, strict=True)
    return [
        {"role": role, "content": text}
        for pair in pairs
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


def _texts(value: object, key: str, entry: Entry) -> list[str]:
    if isinstance(value, str):
        try:
            value = orjson.loads(value) if value.startswith("[") else [value]
        except orjson.JSONDecodeError:
            value = [value]
    texts = [one or "" for one in value] if isinstance(value, list) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise fault_in(entry, f"{key} is {excerpt(value)}: neither text nor texts")
    return texts


ARENA = TextFormat("arena", _recognises_arena, _read_arena)
"""Votes between two replies with what both said, as arenas publish them: Chatbot Arena, MT-Bench, LMArena.

Each side of a row is a conversation of its model. A vote becomes a rating `preferred` of both: 1 won, 0.5 a
tie, 0 lost. Where several people voted on one conversation it is read once, with all their votes.
"""


_ULTRAFEEDBACK_SIDES: Final = ("chosen", "rejected")
_ULTRAFEEDBACK_IDS: Final = ("id", "prompt_id")
_SYSTEM: Final = "custom_system_prompt"
_SCORED: Final = "replies have scores by a model: kept as metadata, no ratings"
_NO_ID: Final = "conversations have no id: made from file name and line"


def _recognises_ultrafeedback(sample: Sample) -> bool:
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
    return scored and all(is_message_list(row.get(side)) for side in _ULTRAFEEDBACK_SIDES)


def _read_ultrafeedback(stream: LineStream, context: Context) -> Iterator[Outcome]:
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
        key: value
        for key, value in row.items()
        if key not in ("instruction", "completions", "models", *_ULTRAFEEDBACK_IDS)
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
    used = {f"{side}-model" for side in _ULTRAFEEDBACK_SIDES} | {
        "prompt",
        *_ULTRAFEEDBACK_SIDES,
        *_ULTRAFEEDBACK_IDS,
    }
    about = {key: value for key, value in row.items() if key not in used}
    for side in _ULTRAFEEDBACK_SIDES:
        model = text_at(row, f"{side}-model")
        yield _conversation(row[side], _id(row, entry, side), model, {**about, "side": side}, entry)


def _id(row: Row, entry: Entry, suffix: str) -> str:
    name = next((text for key in _ULTRAFEEDBACK_IDS if (text := text_at(row, key))), None)
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


ULTRAFEEDBACK = TextFormat("ultrafeedback", _recognises_ultrafeedback, _read_ultrafeedback)
"""Rows of UltraFeedback: one instruction with the replies of several models, or the better and the worse one.

Each reply is a conversation of its model. A model gave the scores, so they are metadata and no ratings.
"""
