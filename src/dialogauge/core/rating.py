"""What people said of a conversation or of one of its turns."""

from __future__ import annotations

from dataclasses import dataclass, field

from dialogauge.core.errors import Place


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's score of one target; the long format that every command reads."""

    conversation_id: str
    dimension: str
    score: float | str
    """A number, or the name of a category."""
    turn: int | None = None
    """1-based; None when the whole conversation was rated."""
    rater: str | None = None
    candidate: str | None = None
    note: str | None = None
    """What the rater gave as a reason, when the data has one."""
    place: Place | None = field(default=None, compare=False, repr=False)
    """Where it was read, when that is known more closely than where its conversation was."""


@dataclass(frozen=True, slots=True)
class PairRating:
    """One rater's choice between two conversations or candidates."""

    a: str
    b: str
    winner: str
    """`a`, `b` or `tie`."""
    rater: str | None = None
    dimension: str | None = None
    conversation_id: str | None = None
    turn: int | None = None
