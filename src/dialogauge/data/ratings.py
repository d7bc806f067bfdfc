"""Ratings by people, gathered from files, to be joined with conversations by id."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from dialogauge.core import Conversation, InputError, PairRating, Place, Rating, RecordFault, Scale
from dialogauge.data.notes import Note, excerpt, record_fault
from dialogauge.text import counted

_NEARLY_ALL = 0.9
"""The share of the numbers that lie on the judge's scale where people rated on it."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Made by `admission_for`; `ADMIT_ALL` refuses nothing."""

    kind: type[float] | type[str] | None = None
    """What ratings are: numbers or names; None for either."""
    scale: Scale | None = None
    """Within which numbers lie; None where people rated on a scale of their own."""

    def fault(self, conversation: Conversation, rating: Rating) -> RecordFault | None:
        """Say why a rating does not count; None for one that does. Means of raters need not be whole."""
        score = rating.score
        if self.kind is float and isinstance(score, str):
            why = "is a text, and the ratings are numbers"
        elif self.kind is str and not isinstance(score, str):
            why = "is a number, and the ratings are names"
        elif (
            self.scale is not None
            and not isinstance(score, str)
            and not self.scale.low <= score <= self.scale.high
        ):
            why = f"is off the scale {self.scale}"
        else:
            return None
        shown = repr(score) if isinstance(score, str) else f"{score:g}"
        msg = f"{rating.dimension} is {shown}: it {why}"
        return RecordFault(msg, place=conversation.place_of(rating), hint="the rating is not used")


ADMIT_ALL = Admission()


def admission_for(given: Mapping[float | str, int], scale: Scale) -> Admission:
    """Return what counts of the ratings of one dimension.

    Names or numbers, whichever are more; and where nine in ten numbers lie on the judge's scale, those.

    Args:
        given: How often each rating was given.
        scale: Of the judge's dimension.
    """
    numbers = sum(n for score, n in given.items() if not isinstance(score, str))
    if sum(given.values()) > 2 * numbers:
        return Admission(str)
    on = sum(
        n for score, n in given.items() if not isinstance(score, str) and scale.low <= score <= scale.high
    )
    return Admission(float, scale if on >= _NEARLY_ALL * numbers else None)


class RatedDimensions:
    """Counts ratings by dimension while others read the conversations."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def watch(self, conversations: Iterable[Conversation]) -> Iterator[Conversation]:
        """Hand the conversations on."""
        for conversation in conversations:
            self._counts.update(r.dimension for r in conversation.ratings)
            yield conversation

    def instead_of(self, dimension: str) -> str | None:
        """Return a hint that names the dimensions there are; None where the wanted one is among them."""
        if dimension in self._counts or not self._counts:
            return None
        most = self._counts.most_common()
        named = ", ".join(f"{name!r} ({n:,})" for name, n in most[:5]) + (" ..." if len(most) > 5 else "")
        return f"the data has ratings of {named}: take one with --dimension {most[0][0]}"


@dataclass(frozen=True)
class RatingTable:
    """Everything that one or several rating files hold."""

    ratings: tuple[Rating, ...] = ()
    pairs: tuple[PairRating, ...] = ()
    faults: tuple[RecordFault, ...] = ()
    """Rows that could not be read, with file and line."""
    notes: tuple[Note, ...] = ()
    """What was recognised and assumed: the columns, the form of the table."""

    def for_conversation(self, conversation_id: str) -> tuple[Rating, ...]:
        """Return the ratings of one conversation in the order of the file; none for an unknown id."""
        return self._by_id.get(conversation_id, ())

    @property
    def ids(self) -> frozenset[str]:
        """The ids that have ratings; compare with those of the conversations to find strangers."""
        return frozenset(self._by_id)

    @cached_property
    def _by_id(self) -> dict[str, tuple[Rating, ...]]:
        found: dict[str, list[Rating]] = {}
        for rating in self.ratings:
            found.setdefault(rating.conversation_id, []).append(rating)
        return {key: tuple(ratings) for key, ratings in found.items()}


def off_scale(ratings: Iterable[Rating], scales: Mapping[str, Scale]) -> list[RecordFault]:
    """Return a fault for each rating that is no score on the scale of its dimension.

    Dimensions without a scale are not looked at.
    """
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
    """Return id and turn of ratings of the conversation that are of no turn it has."""
    rated = {r.turn for r in ratings if r.turn is not None and r.candidate in (None, conversation.candidate)}
    absent = rated - {t.number for t in conversation.turns} if rated else rated
    return {(conversation.id, turn) for turn in absent}


def unknown_turns(unknown: Collection[tuple[str, int]], file: str) -> list[RecordFault]:
    """Return one fault that names the turns that were rated and their conversations do not have."""
    if not unknown:
        return []
    named = [f"turn {turn} of {name!r}" for name, turn in sorted(unknown)[:5]]
    shown = ", ".join(named) + (" ..." if len(unknown) > 5 else "")
    lacking = "the conversation does" if len(unknown) == 1 else "their conversations do"
    msg = f"ratings for {counted(len(unknown), 'turn')} that {lacking} not have: {shown}"
    hint = "turns are numbered from 1, one for each time the user speaks"
    return [RecordFault(msg, place=Place(file), hint=hint)]


def unknown_ids(unknown: Collection[str], file: str) -> list[RecordFault]:
    """Return one fault that names the conversations that were rated and are not in the input."""
    if not unknown:
        return []
    shown = ", ".join(repr(i) for i in sorted(unknown)[:5]) + (" ..." if len(unknown) > 5 else "")
    msg = f"ratings for {counted(len(unknown), 'conversation')} that the input does not hold: {shown}"
    return [RecordFault(msg, place=Place(file), hint="check the ids, or the column that holds them")]


_LARGEST = 2**63
"""No whole number from here on can be stored; as a float it would be another one."""


def as_score(value: object) -> float | str:
    """Return a number, or the name of a category; raise `ValueError` saying what is wrong.

    `"4"` and `4.0` are 4, `"4.5"` is 4.5, any other text is a category. True, null, an empty text,
    NaN, lists and objects are no scores.
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


def as_turn(value: object) -> int | None:
    """Return a turn number, None for nothing; raise `ValueError` for anything but a whole number."""
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
    """Return the ratings of a dimension with their scores, in order, and a fault for each that is none.

    Turn 0 is always there: what is rated before the assistant has said anything.
    """
    known = {t.number for t in conversation.turns} | {0}
    usable: list[tuple[Rating, float]] = []
    faults: list[InputError] = []
    for rating in conversation.ratings:
        if rating.dimension != dimension:
            continue
        score = rating.score
        if isinstance(score, str) or not 1 <= score <= LEVELS:
            wrong = f"the rating {score!r} is not on 1 to {LEVELS}"
        elif rating.turn is not None and rating.turn not in known:
            wrong = f"a rating of turn {rating.turn}, which is not there"
        else:
            usable.append((rating, float(score)))
            continue
        faults.append(RecordFault(wrong, place=conversation.place_of(rating)))
    return usable, faults
