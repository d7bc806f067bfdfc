"""Ratings by people: their values, and checks against scales, turns and conversations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from dialogauge.core import Conversation, InputError, PairRating, Place, Rating, RecordFault, Scale
from dialogauge.data.notes import Note, excerpt, record_fault
from dialogauge.text import counted

_NEARLY_ALL = 0.9
"""Share of numbers on the judge's scale from which people used that scale."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Which ratings of a dimension count; `ADMIT_ALL` refuses none."""

    kind: type[float] | type[str] | None = None
    """Numbers or names; None for both."""
    scale: Scale | None = None
    """The scale of numbers; None if people used a scale of their own."""

    def admits(self, score: float | str) -> bool:
        """Say whether a rating counts. Means of raters need not be whole."""
        return self._refusal(score) is None

    def _refusal(self, score: float | str) -> str | None:
        if isinstance(score, str):
            return "is a text, and the ratings are numbers" if self.kind is float else None
        if self.kind is str:
            return "is a number, and the ratings are names"
        off = self.scale is not None and not self.scale.low <= score <= self.scale.high
        return f"is off the scale {self.scale}" if off else None

    def fault(self, conversation: Conversation, rating: Rating) -> RecordFault | None:
        """Return why a rating does not count; None if it does."""
        score, why = rating.score, self._refusal(rating.score)
        if why is None:
            return None
        value = repr(score) if isinstance(score, str) else f"{score:g}"
        msg = f"{rating.dimension} is {value}: it {why}"
        return RecordFault(msg, place=conversation.place_of(rating), hint="the rating is not used")


ADMIT_ALL = Admission()


def admission_for(counts: Mapping[float | str, int], scale: Scale) -> Admission:
    """Return which ratings of a dimension count: the majority of names or numbers.

    If nine in ten numbers lie on the judge's scale, only those count.

    Args:
        counts: Rating -> number of times.
        scale: The scale of the judge's dimension.
    """
    numbers = {score: n for score, n in counts.items() if not isinstance(score, str)}
    total = sum(numbers.values())
    if sum(counts.values()) > 2 * total:
        return Admission(str)
    on = sum(n for score, n in numbers.items() if scale.low <= score <= scale.high)
    return Admission(float, scale if on >= _NEARLY_ALL * total else None)


class RatedDimensions:
    """Counts ratings by dimension as conversations pass through."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def watch(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """Count and yield the conversations."""
        for conversation in conversations:
            self._counts.update(r.dimension for r in conversation.ratings)
            yield conversation

    def instead_of(self, dimension: str) -> str | None:
        """Return a hint with the rated dimensions; None if `dimension` is one of them."""
        if dimension in self._counts or not self._counts:
            return None
        most = self._counts.most_common()
        names = ", ".join(f"{name!r} ({n:,})" for name, n in most[:5]) + (" ..." if len(most) > 5 else "")
        return f"the data has ratings of {names}: take one with --dimension {most[0][0]}"


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

        Where both have one of the same target, dimension and rater, the table's counts alone.
        """
        ratings = self.for_conversation(conversation.id)
        if not ratings:
            return conversation
        ours = {_place_of(rating, conversation) for rating in ratings}
        kept = (rating for rating in conversation.ratings if _place_of(rating, conversation) not in ours)
        return replace(conversation, ratings=(*kept, *ratings))

    def clashes(self, conversation: Conversation) -> list[tuple[Rating, Rating]]:
        """Return ratings of the conversation beside those of the table that say otherwise and count."""
        ours = {_place_of(r, conversation): r for r in self.for_conversation(conversation.id)}
        pairs = ((r, ours.get(_place_of(r, conversation))) for r in conversation.ratings)
        return [(r, other) for r, other in pairs if other is not None and other.score != r.score]

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


def off_scale(ratings: Iterable[Rating], scales: Mapping[str, Scale]) -> list[RecordFault]:
    """Return a fault for each rating off the scale of its dimension; dimensions without a scale pass."""
    faults: list[RecordFault] = []
    for rating in ratings:
        scale = scales.get(rating.dimension)
        if scale is None or scale.admits(rating.score):
            continue
        place = rating.place or Place("ratings", None, rating.conversation_id, rating.turn)
        kind = "whole numbers " if scale.integer else ""
        message = f"{rating.dimension} is {excerpt(rating.score)}: not on the scale of {kind}{scale}"
        faults.append(record_fault(place, message, "mend the rating, or give the dimension its own scale"))
    return faults


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

    `"4"` and `4.0` are 4, `"4.5"` is 4.5, any other text is a category. True, null, an empty text, NaN, lists
    and objects are no scores.
    """
    if isinstance(value, bool):
        msg = f"the score is {str(value).lower()}: write a number or the name of a category"
        raise ValueError(msg)  # noqa: TRY004  # callers turn one kind of error into a fault with its place
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
        raise ValueError(msg)  # noqa: TRY004  # as above
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
