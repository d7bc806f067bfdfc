"""Choices between two: turned so that who stood where no longer matters, and read from the rows of arenas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, cast

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
from dialogauge.data.field_map import FieldMap
from dialogauge.data.notes import excerpt, record_fault
from dialogauge.data.paths import MISSING, look_up
from dialogauge.data.rating_files import read_ratings, read_rows
from dialogauge.data.reasoning import without_reasoning

Outcome = Literal[-1, 0, 1]
"""-1: the first won; 0: a tie; 1: the second won."""
_OUTCOMES: Final[dict[str, Outcome]] = {"a": -1, "tie": 0, "b": 1}
PREFERENCE: Final = "preference"
"""The dimension of choices that name none."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One choice between two; `first` is the one whose name comes first, wherever it was shown."""

    first: str
    second: str
    outcome: Outcome
    first_shown: bool
    """Whether `first` was the one that was shown first, as `a`."""
    rater: str | None = None
    conversation_id: str | None = None
    turn: int | None = None
    dimension: str = PREFERENCE

    @property
    def position(self) -> Outcome:
        """What somebody would choose who always takes the one that is shown first."""
        return -1 if self.first_shown else 1


def votes_in(pairs: Iterable[PairRating]) -> Iterator[Vote]:
    """Yield the votes of the pairs of rating files (`RatingTable.pairs`), in order.

    A pair with `a` and `b` swapped, and the winner with them, is the same vote but for `first_shown`.
    """
    for pair in pairs:
        straight = pair.a <= pair.b
        outcome = _OUTCOMES[pair.winner]
        yield Vote(
            *((pair.a, pair.b) if straight else (pair.b, pair.a)),
            outcome if straight else _OUTCOMES["b" if outcome == -1 else "a" if outcome == 1 else "tie"],
            straight == (pair.shown_first == "a"),
            pair.rater,
            pair.conversation_id,
            pair.turn,
            pair.dimension or PREFERENCE,
        )


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
