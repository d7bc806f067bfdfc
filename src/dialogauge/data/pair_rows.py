"""Votes between two agents with what both said, as arenas publish them (Chatbot Arena, MT-Bench).

A row holds `conversation_a` and `conversation_b`, lists of messages, beside `model_a`, `model_b`, `winner`
and `question_id`; `judge` is the rater. Files without conversations are read as any rating file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from dialogauge.core import (
    ROLES,
    Conversation,
    FileFault,
    InputError,
    Message,
    PairRating,
    Place,
    RecordFault,
    Role,
)
from dialogauge.data.field_map import MISSING, FieldMap, look_up
from dialogauge.data.notes import excerpt, record_fault
from dialogauge.data.rating_files import read_ratings, read_rows
from dialogauge.data.reasoning import without_reasoning

_SIDES: Final = ("conversation_a", "conversation_b")
_FIRST: Final = ("a", "model_a", "candidate_a")
_QUESTION: Final = "question_id"


@dataclass(frozen=True, slots=True)
class PairRow:
    """One vote, and what was voted on where the file holds it."""

    rating: PairRating
    conversations: tuple[Conversation, Conversation] | None = None


def read_pairs(
    path: str | Path, *, mapping: FieldMap | None = None
) -> tuple[list[PairRow], list[InputError], tuple[object, ...]]:
    """Read votes; return them with the rows that could not be read, and what was recognised.

    Raises:
        FileFault: As `read_ratings`.
    """
    first = next((row for row in read_rows(path) if not isinstance(row, RecordFault)), None)
    named = mapping or (FieldMap(conversation_id=_QUESTION) if first and _QUESTION in first[0] else None)
    table = read_ratings(path, mapping=named)
    faults: list[InputError] = list(table.faults)
    talks: dict[Place, tuple[Conversation, Conversation]] = {}
    if first is not None and all(side in first[0] for side in _SIDES):
        wanted = {rating.place: rating for rating in table.pairs}
        for row in read_rows(path):
            if not isinstance(row, RecordFault) and (rating := wanted.get(row[1])) is not None:
                try:
                    talks[row[1]] = _talks(row[0], rating, row[1])
                except RecordFault as fault:
                    faults.append(fault)
    rows = [PairRow(rating, talks.get(rating.place) if rating.place else None) for rating in table.pairs]
    return rows, faults, tuple(table.notes)


def is_pair_file(path: str | Path, *, mapping: FieldMap | None = None) -> bool:
    """Whether a file holds votes: its first row names two agents and the winner, as `mapping` calls them."""
    try:
        first = next((row[0] for row in read_rows(path) if not isinstance(row, RecordFault)), {})
    except FileFault:
        return False
    if mapping is not None and mapping.a and mapping.winner:
        return MISSING not in (look_up(first, mapping.a), look_up(first, mapping.winner))
    return "winner" in first and any(side in first for side in _FIRST)


def _talks(row: Mapping[str, Any], rating: PairRating, place: Place) -> tuple[Conversation, Conversation]:
    name = rating.conversation_id or f"line {place.line}"
    a, b = (
        Conversation(name, _messages(row.get(side), side, place), candidate=agent, place=place)
        for side, agent in zip(_SIDES, (rating.a, rating.b), strict=True)
    )
    return a, b


def _messages(value: object, side: str, place: Place) -> tuple[Message, ...]:
    hint = "the vote counts, without what was said"
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise record_fault(place, f"{side} is {excerpt(value)}: no list of messages", hint)
    messages = []
    for number, one in enumerate(value, 1):
        role = one.get("role") if isinstance(one, Mapping) else None
        if role not in ROLES or not isinstance(one.get("content"), str | None):
            raise record_fault(place, f"message {number} of {side} is {excerpt(one)}", hint)
        messages.append(Message(cast("Role", role), one.get("content")))
    return without_reasoning(messages)
