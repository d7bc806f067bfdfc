"""Ratings by people: their values, and checks against scales, turns and conversations."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from dialogauge.core import Conversation, InputError, PairRating, Place, Rating, RecordFault
from dialogauge.core.unit import words_digest
from dialogauge.data.notes import Note, excerpt, record_fault
from dialogauge.text import counted


@dataclass(frozen=True)
class RatingTable:
    """The content of rating files."""

    ratings: tuple[Rating, ...] = ()
    pairs: tuple[PairRating, ...] = ()
    faults: tuple[RecordFault, ...] = ()
    """Unreadable rows, with file and line."""
    notes: tuple[Note, ...] = ()
    """Notes about the columns and the form of the table."""

    def for_conversation(self, conversation_id: str) -> tuple[Rating, ...]:
        """Return the ratings of one conversation in file order; none for an unknown id."""
        return self._by_id.get(conversation_id, ())

    def joined(self, conversation: Conversation) -> Conversation:
        """Return the conversation with its ratings behind those that it has already.

        Where both have one of the same target, dimension and rater, the table's counts alone. Ratings of
        other words than the conversation's are left out.
        """
        ratings = self.of_its_words(conversation)
        if not ratings:
            return conversation
        ours = {_place_of(rating, conversation) for rating in ratings}
        kept = (rating for rating in conversation.ratings if _place_of(rating, conversation) not in ours)
        return replace(conversation, ratings=(*kept, *ratings))

    def clashes(self, conversation: Conversation) -> list[tuple[Rating, Rating]]:
        """Return ratings of the conversation beside those of the table that say otherwise and count."""
        ours = {_place_of(r, conversation): r for r in self.of_its_words(conversation)}
        pairs = ((r, ours.get(_place_of(r, conversation))) for r in conversation.ratings)
        return [(r, other) for r, other in pairs if other is not None and other.score != r.score]

    def of_its_words(self, conversation: Conversation) -> tuple[Rating, ...]:
        """Return the ratings of a conversation that are not known to be of other words."""
        others = set(map(id, self.of_other_words(conversation)))
        return tuple(r for r in self.for_conversation(conversation.id) if id(r) not in others)

    def of_other_words(self, conversation: Conversation) -> list[Rating]:
        """Return the ratings whose digest says that other words were rated under this id and turn."""
        turns = {None, *(turn.number for turn in conversation.turns)}
        return [
            r
            for r in self.for_conversation(conversation.id)
            if r.digest is not None
            and r.turn in turns
            and r.candidate in (None, conversation.candidate)
            and r.digest != words_digest(conversation, r.turn)
        ]

    @property
    def ids(self) -> frozenset[str]:
        """The ids with ratings."""
        return frozenset(self._by_id)

    @cached_property
    def _by_id(self) -> dict[str, tuple[Rating, ...]]:
        by_id: dict[str, list[Rating]] = {}
        for rating in self.ratings:
            by_id.setdefault(rating.conversation_id, []).append(rating)
        return {key: tuple(ratings) for key, ratings in by_id.items()}


def _place_of(rating: Rating, conversation: Conversation) -> tuple[object, ...]:
    return rating.turn, rating.dimension, rating.rater, rating.candidate or conversation.candidate


def absent_turns(conversation: Conversation, ratings: Iterable[Rating]) -> set[tuple[str, int]]:
    """Return id and turn of the conversation's ratings for turns that it does not have."""
    rated = {r.turn for r in ratings if r.turn is not None and r.candidate in (None, conversation.candidate)}
    absent = rated - {t.number for t in conversation.turns} if rated else rated
    return {(conversation.id, turn) for turn in absent}


def unknown_turns(unknown: Collection[tuple[str, int]], file: str) -> list[RecordFault]:
    """Return one fault that names rated turns which their conversations do not have."""
    if not unknown:
        return []
    names = _first_five(f"turn {turn} of {name!r}" for name, turn in sorted(unknown))
    lacking = "the conversation does" if len(unknown) == 1 else "their conversations do"
    msg = f"ratings for {counted(len(unknown), 'turn')} that {lacking} not have: {names}"
    hint = "turns are numbered from 1, one for each time the user speaks"
    return [RecordFault(msg, place=Place(file), hint=hint)]


def other_words(ratings: Collection[Rating], file: str) -> list[RecordFault]:
    """Return one fault that names ratings of words that have changed since."""
    if not ratings:
        return []
    names = _first_five(repr(name) for name in sorted({r.conversation_id for r in ratings}))
    msg = f"{counted(len(ratings), 'rating')} of other words than the input now holds, left out: {names}"
    hint = "what was rated has changed under the same ids: give the log that was rated, or rate anew"
    return [RecordFault(msg, place=Place(file), hint=hint)]


def unknown_ids(unknown: Collection[str], file: str) -> list[RecordFault]:
    """Return one fault that names rated conversations which the input does not have."""
    if not unknown:
        return []
    names = _first_five(map(repr, sorted(unknown)))
    msg = f"ratings for {counted(len(unknown), 'conversation')} that the input does not hold: {names}"
    return [RecordFault(msg, place=Place(file), hint="check the ids, or the column that holds them")]


def _first_five(names: Iterable[str]) -> str:
    first = list(islice(names, 6))
    return ", ".join(first[:5]) + (" ..." if len(first) > 5 else "")


_LARGEST = 2**63
"""Larger whole numbers cannot be stored, and floats cannot represent them."""


def as_score(value: object) -> float | str:
    """Return a number or the name of a category; raises `ValueError` with the reason for anything else.

    `"4"` and `4.0` are 4, `"4.5"` is 4.5, any other text is a category, and so are true and false. Null, an
    empty text, NaN, lists and objects are no scores.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        value = value.strip()
        number = _number(value)
        if number is None and value:
            return value
        value = number
    if value is None:
        msg = "the score is missing"
        raise ValueError(msg)
    if not isinstance(value, int | float):
        msg = f"the score is {excerpt(value)}: neither a number nor a category"
        raise ValueError(msg)  # noqa: TRY004  # callers turn one kind of error into a fault with its place
    if isinstance(value, float) and not math.isfinite(value):
        msg = f"the score is {value}: not a number"
        raise ValueError(msg)
    if abs(value) >= _LARGEST:
        msg = "the score is too large for a number of 64 bits"
        raise ValueError(msg)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def score_at(place: Place, what: str, value: object) -> float | str:
    """Return `as_score` of a value; raises a `RecordFault` that names the place and what has the score."""
    try:
        return as_score(value)
    except ValueError as error:
        raise record_fault(place, f"{what}: {error}") from error


def as_turn(value: object) -> int | None:
    """Return a turn number, None for an empty value; raises `ValueError` for anything else."""
    if value is None or value == "":
        return None
    try:
        score = as_score(value)
    except ValueError:
        score = str(value)
    if not isinstance(score, int) or score < 0:
        msg = f"the turn is {excerpt(value)}: not a whole number from 0 on"
        raise ValueError(msg)
    return score


def _number(text: str) -> float | None:
    if not text or text[0] not in "+-.0123456789":
        return math.nan if text.lower() == "nan" else None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


LEVELS = 5
"""Ratings are 1 to 5."""


def usable_ratings(
    conversation: Conversation, dimension: str
) -> tuple[list[tuple[Rating, float]], list[InputError]]:
    """Return the ratings of a dimension with their scores, in order, and a fault for each invalid one.

    Turn 0 is valid: a rating before the first reply.
    """
    turns = {t.number for t in conversation.turns} | {0}
    usable: list[tuple[Rating, float]] = []
    faults: list[InputError] = []
    for rating in conversation.ratings:
        if rating.dimension != dimension:
            continue
        score = rating.score
        if isinstance(score, str) or not 1 <= score <= LEVELS:
            wrong = f"the rating {score!r} is not on 1 to {LEVELS}"
        elif rating.turn is not None and rating.turn not in turns:
            wrong = f"a rating of turn {rating.turn}, which is not there"
        else:
            usable.append((rating, float(score)))
            continue
        faults.append(RecordFault(wrong, place=conversation.place_of(rating)))
    return usable, faults
