"""Votes between two replies with what both said, as arenas publish them: Chatbot Arena, MT-Bench, LMArena.

Each side of a row is a conversation of its model. A vote becomes a rating `preferred` of both: 1 won, 0.5 a
tie, 0 lost. Where several people voted on one conversation it is read once, with all their votes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, Place, Rating, RecordFault
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.mt_bench import answered, is_answer
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.wildchat import language_code
from dialogauge.data.notes import excerpt
from dialogauge.data.sources import LineStream

_SIDES: Final = ("a", "b")
_PREFERRED: Final = "preferred"
_OUTCOMES: Final = {
    "model_a": (1.0, 0.0),
    "model_b": (0.0, 1.0),
    **dict.fromkeys(("tie", "tie (bothbad)", "both_bad", "bothbad"), (0.5, 0.5)),
}
_COLUMNS: Final = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
"""Columns of ones and zeros that say who won, in place of `winner`."""
_IDS: Final = ("question_id", "id", "conversation_id")
_JUDGES: Final = ("judge", "judge_hash", "evaluation_session_id")
_OF_ARENA: Final = ("tstamp", "timestamp", "anony", "language")
"""Keys of rows in which `turn` counts the turns; in those of MT-Bench it is the turn that was judged."""
_TEXTS: Final = frozenset(
    f"{name}_{side}" for name in ("model", "conversation", "response") for side in _SIDES
) | {"full_conversation", "prompt", "winner", "turn", "language", *_IDS, *_JUDGES, *_COLUMNS}

Row = Mapping[str, Any]


def _recognises(sample: Sample) -> bool:
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


def _read(stream: LineStream, context: Context) -> Iterator[Outcome]:
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
    for side in _SIDES:
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
    question = next((str(row[key]) for key in _IDS if isinstance(row.get(key), str | int)), entry.made_id)
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
    name = _names(row, entry)[_SIDES.index(side)]
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


ARENA = TextFormat("arena", _recognises, _read)
