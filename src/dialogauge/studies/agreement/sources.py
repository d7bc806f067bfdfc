"""Who said what of which target: raters and judges alike are sources, and nobody is averaged away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import numpy as np

from dialogauge.core import Conversation, PairRating, Rating, Scale
from dialogauge.stats import Categories, RatingGrid, cluster_labels

Level = Literal["turn", "conversation"]
LEVELS: Final[tuple[Level, ...]] = ("turn", "conversation")
UNNAMED: Final = "(no name)"
"""The rater of a rating that names none."""
ALL: Final = "all dimensions"
"""What dimensions are called that are pooled, each rating an item of its own."""


class TargetKey(NamedTuple):
    """A target across sources: the same reply, or the same conversation."""

    conversation_id: str
    candidate: str | None
    turn: int | None
    dimension: str = ""
    """Where several are pooled."""


class Question(NamedTuple):
    """What sources were asked; a turn and a whole conversation are never pooled."""

    dimension: str
    level: Level | None = None
    """None where the level is left open."""

    def __str__(self) -> str:
        """`cohesion of turns`."""
        return self.dimension if self.level is None else f"{self.dimension} of {self.level}s"


def level_of(rating: Rating | PairRating) -> Level:
    """Return whether a rating is of a turn or of a whole conversation."""
    return "conversation" if rating.turn is None else "turn"


@dataclass(slots=True)
class Rated:
    """What every source said of one target."""

    by: dict[str, float | str]
    """Source -> its score."""
    user: str | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    """Further names of the target to group by: of its conversation, and columns of the rating file."""


Answers = dict[TargetKey, Rated]
"""By target what was said of it, in one dimension at one level."""


def answers_of(ratings: Iterable[Rating]) -> dict[Question, Answers]:
    """Sort ratings by question and target; a target that one source rated twice has what it said last."""
    out: dict[Question, Answers] = {}
    for rating in ratings:
        key = TargetKey(rating.conversation_id, rating.candidate, rating.turn)
        answers = out.setdefault(Question(rating.dimension, level_of(rating)), {})
        rated = answers.setdefault(key, Rated({}, groups=rating.groups))
        rated.by[rating.rater or UNNAMED] = rating.score
    return out


def conversation_groups(conversation: Conversation) -> dict[str, str]:
    """Return the names of a conversation that its targets can be grouped by."""
    names = {
        "scenario": conversation.scenario,
        "language": conversation.language,
        "candidate": conversation.candidate,
        "user": conversation.user_id,
    }
    return {name: value for name, value in names.items() if value is not None}


def pooled(answers: Mapping[Question, Answers], level: Level) -> Answers:
    """Return the targets of all dimensions at a level as separate items."""
    return {
        key._replace(dimension=question.dimension): rated
        for question, of in answers.items()
        if question.level == level
        for key, rated in of.items()
    }


def number_of(score: float | str, categories: Categories) -> float | None:
    """Return a score as a number, a name as its place among the categories; None where it is none of them."""
    if categories.values is None:
        name = str(score)
        return float(categories.names.index(name)) if name in categories.names else None
    return None if isinstance(score, str) or categories.fault(score) else float(score)


def scale_of(categories: Categories) -> Scale:
    """Return the range of the numbers that `number_of` gives."""
    values = categories.values or range(len(categories.names))
    return Scale(values[0], values[-1])


def grid_of(answers: Answers, categories: Categories) -> RatingGrid:
    """Return answers as a table of targets by sources, clustered by user where known, else by conversation.

    Args:
        answers: Of one question. What is none of the categories is left out.
        categories: Of the question.
    """
    sources = sorted({source for rated in answers.values() for source in rated.by}, key=natural)
    places = {source: place for place, source in enumerate(sources)}
    values = np.full((len(answers), len(sources)), np.nan)
    for row, rated in zip(values, answers.values(), strict=True):
        for source, score in rated.by.items():
            number = number_of(score, categories)
            row[places[source]] = np.nan if number is None else number
    users = [rated.user for rated in answers.values()]
    clusters, unit = cluster_labels(users, [key.conversation_id for key in answers])
    return RatingGrid(values, tuple(answers), tuple(sources), categories, clusters, unit)


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts A2 before A10."""
    pieces = re.split(r"(\d+)", name)
    return tuple((int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces)
