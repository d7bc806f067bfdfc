"""Who said what of which target: raters and judges alike are sources, and nobody is averaged away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import numpy as np

from dialogauge.core import Conversation, PairRating, Rating, Scale, UsageError
from dialogauge.stats import Categories, Floats, RatingGrid, cluster_labels

Level = Literal["turn", "conversation"]
LEVELS: Final[tuple[Level, ...]] = ("turn", "conversation")
UNNAMED: Final = "(no name)"
"""The rater of a rating that names none."""
_MOST_CELLS: Final = 50_000_000
"""Of a table of targets by sources: 400 MB."""
ALL: Final = "all dimensions"
"""What dimensions are called that are pooled, each rating an item of its own."""
CONSENSUS: Final = "people"
"""What the consensus of people is called."""


class TargetKey(NamedTuple):
    """A target across sources: the same reply, or the same conversation."""

    conversation_id: str
    candidate: str | None
    turn: int | None
    dimension: str = ""
    """Where several are pooled."""


@dataclass(frozen=True, slots=True)
class Question:
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
    length: float | None = None
    """Characters of a reply, the mean over those of the target; None where nobody knows."""
    repeats: dict[str, Mapping[int, float]] = field(default_factory=dict)
    """Source -> its score in each repeat, where it has several."""


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


def said_by(source: str, answers: Answers) -> Answers:
    """Return what one source said."""
    return {
        key: Rated({source: one.by[source]}, one.user, one.groups)
        for key, one in answers.items()
        if source in one.by
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


def grid_of(answers: Answers, categories: Categories, only: Sequence[str] | None = None) -> RatingGrid:
    """Return answers as a table of targets by sources, clustered by user where known, else by conversation.

    Args:
        answers: Of one question. What is none of the categories is left out.
        categories: Of the question.
        only: The sources; None for all.

    Raises:
        UsageError: There are more sources and targets than fit into memory.
    """
    sources = sources_of(answers) if only is None else only
    if len(answers) * len(sources) > _MOST_CELLS:
        msg = f"{len(answers):,} targets by {len(sources):,} sources are too many to lay out"
        raise UsageError(msg, hint="take some of them: --where COLUMN=VALUE, --dimension, --level")
    places = {source: place for place, source in enumerate(sources)}
    values = np.full((len(answers), len(sources)), np.nan)
    for row, rated in zip(values, answers.values(), strict=True):
        for source, score in rated.by.items():
            number = number_of(score, categories) if source in places else None
            if number is not None:
                row[places[source]] = number
    return _grid(values, tuple(sources), answers, categories)


def pile_of(answers: Answers, categories: Categories) -> RatingGrid:
    """Return the same without names: a column for the first rating of each target, for the second ...

    Enough where it does not matter who rated, and small however many sources there are.
    """
    scores = ([number_of(score, categories) for score in of.by.values()] for of in answers.values())
    piles = [[number for number in of if number is not None] for of in scores]
    widest = max(map(len, piles), default=0)
    values = np.array([[*pile, *[np.nan] * (widest - len(pile))] for pile in piles])
    values = values.reshape(len(piles), widest)
    return _grid(values, tuple(f"{place + 1}" for place in range(widest)), answers, categories)


def _grid(values: Floats, names: tuple[str, ...], answers: Answers, categories: Categories) -> RatingGrid:
    users = [rated.user for rated in answers.values()]
    clusters, unit = cluster_labels(users, [key.conversation_id for key in answers])
    return RatingGrid(values, tuple(answers), names, categories, clusters, unit)


def sources_of(answers: Answers, most: int | None = None) -> tuple[str, ...]:
    """Return the sources in the order of their names, all or so many of those that rated most."""
    times = Counter(source for rated in answers.values() for source in rated.by)
    return tuple(sorted((name for name, _ in times.most_common(most)), key=natural))


def judge_name(name: str, people: Collection[str]) -> str:
    """Return what a judge is called: told from a person of that name, and from the consensus of people."""
    return f"{name} (judge)" if name in people or name == CONSENSUS else name


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts A2 before A10."""
    pieces = re.split(r"(\d+)", name)
    return tuple((int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces)
