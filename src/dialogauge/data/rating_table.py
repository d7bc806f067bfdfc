"""Ratings by people, gathered from files, to be joined with conversations by id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from dialogauge.core import Conversation, PairRating, Place, Rating, RecordFault, Scale
from dialogauge.data.faults import record_fault, shown
from dialogauge.data.notes import Note
from dialogauge.text import counted

__all__ = ["RatingTable", "absent_turns", "off_scale", "unknown_ids", "unknown_turns"]


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
        message = f"{rating.dimension} is {shown(rating.score)}: not on the scale of {kind}{scale}"
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
