"""What people said of each target of a conversation: one figure a dimension, of one rater or of several."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dialogauge.core import Conversation, Message, Place, Rating, RecordFault, Scale
from dialogauge.core.protocols import Reply
from dialogauge.data import message_turns
from dialogauge.data.admission import (
    ADMIT_ALL,
    REWARD,
    Admission,
    admission_of,
    asks_approval,
    likely_scale,
)
from dialogauge.stats import DissatisfiedRule, middle_rule
from dialogauge.text import counted

_FIRST: Final = ("satisfaction", "rating", "ratings", "overall", "score", "reward")
"""What a rated dimension is called that says the most; then come those that ask for approval, then others."""
UNRANKED: Final = len(_FIRST)
"""The rank of any other that asks for approval; the rest come one later."""


def usual_rule(dimension: str, ratings: Sequence[float], scale: Scale) -> DissatisfiedRule:
    """Return what counts as dissatisfied where nobody says: of a reward all below 1, else `middle_rule`.

    Args:
        dimension: That people rated.
        ratings: Shape (n,).
        scale: That they are on.
    """
    if dimension == "reward" and scale == REWARD:
        return DissatisfiedRule("<", 1.0)
    return middle_rule(ratings, scale)


@dataclass(frozen=True, slots=True)
class TargetRating:
    """What people said of one target in one dimension."""

    dimension: str
    score: float | str
    """The mean over the raters; of names the one that most of them chose."""
    raters: int
    apart: float = 0.0
    """The highest of several numbers less the lowest."""
    weight: float | None = None
    """How many targets it stands for; None where its ratings do not say, or not the same."""


def preference(dimension: str) -> tuple[int, str]:
    """Return the rank of a rated dimension: the lowest is shown where there is room for one."""
    if dimension in _FIRST:
        return _FIRST.index(dimension), dimension
    return UNRANKED + (not asks_approval(dimension)), dimension


def scale_of(numbers: Sequence[float]) -> Scale:
    """Return the scale that ratings seem to be on: the narrowest usual one that holds them all.

    0 to 1, -1 to 1, 1 to 5, 0 to 5, 1 to 7, 1 to 10, 0 to 10, 0 to 100; else from the lowest to the highest.
    """
    low, high = min(numbers), max(numbers)
    usual = ((0, 1), (-1, 1), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (0, 100))
    fits = [pair for pair in usual if pair[0] <= low and high <= pair[1]]
    lowest, highest = fits[0] if fits else (low, high)
    return Scale(lowest, highest, integer=False)


def latest_of_each(
    conversation: Conversation, ratings: Sequence[Rating]
) -> tuple[list[Rating], list[RecordFault]]:
    """Return what counts of ratings: of what one named rater rated several times the latest.

    A turn with several messages of the assistant may have as many ratings by one rater. Raters without a name
    may be several people, and are left to speak for themselves.

    Returns:
        The ratings that count, in order, and a fault for each of the others.
    """
    kept: list[Rating] = []
    faults: list[RecordFault] = []
    latest: dict[tuple[object, ...], list[Rating]] = {}
    for rating in reversed(ratings):
        later = latest.setdefault((rating.turn, rating.dimension, rating.rater, rating.candidate), [])
        if rating.rater is None or not later or len(later) < _messages(conversation, rating.turn):
            later.append(rating)
            kept.append(rating)
            continue
        what = "the conversation" if rating.turn is None else f"turn {rating.turn}"
        first, last = (r.score if isinstance(r.score, str) else f"{r.score:g}" for r in (rating, later[0]))
        msg = f"{what} was rated {first}, and {last} later by the same rater"
        faults.append(RecordFault(msg, place=conversation.place_of(rating), hint="the latest counts"))
    return kept[::-1], faults[::-1]


def _messages(conversation: Conversation, turn: int | None) -> int:
    """Return how many messages of the assistant a turn has."""
    turns = (t for t in conversation.turns if t.number == turn)
    return sum(m.role == "assistant" for t in turns for m in t.messages)


@dataclass(slots=True)
class SeenRatings:
    """How often people gave each rating, which says what their ratings are: numbers or names, and where on
    the judge's scale."""

    scales: Mapping[tuple[str, str], Scale]
    """Level and dimension of the judge -> its scale."""
    counts: dict[tuple[str, str], Counter[float | str]] = field(default_factory=dict)
    again: int = 0
    """Ratings that the same rater gave anew later."""

    def add(self, conversation: Conversation) -> None:
        """Count the ratings of a conversation."""
        ratings, earlier = latest_of_each(conversation, conversation.ratings)
        self.again += len(earlier)
        for rating in ratings:
            self.counts.setdefault(_key(rating), Counter())[rating.score] += 1

    def admissions(self) -> dict[tuple[str, str], Admission]:
        """Return how ratings are read, and which count, by level and dimension."""
        return {key: admission_of(key[1], c, self.scales.get(key)) for key, c in self.counts.items()}

    def faults(self, ratings: Iterable[Rating]) -> Iterator[RecordFault]:
        """Yield a fault for each rating of a file that does not count; one for all on two scales."""
        admissions = self.admissions()
        for rating in ratings:
            place = rating.place or Place("ratings", None, rating.conversation_id, rating.turn)
            admission = admissions.get(_key(rating), ADMIT_ALL)
            if (fault := admission.fault(rating, place)) is not None:
                yield fault
            if admission.kind == "nothing":
                admissions[_key(rating)] = ADMIT_ALL

    @property
    def unusable(self) -> str:
        """What is wrong with ratings of which none counts; empty where there are no such ratings."""
        kinds = self.admissions().items()
        why = (f"Ratings of {key[1]} ({key[0]}) are {a.why}, so none is used." for key, a in kinds if a.why)
        return " ".join(why)

    def remarks(self) -> Iterator[str]:
        """Say how ratings are read, where it is not plainly numbers on the scale of the judge."""
        if self.again:
            yield f"{counted(self.again, 'rating')} given anew later by the same rater: the latest counts"
        for (level, dimension), admission in self.admissions().items():
            scale = self._scale((level, dimension))
            counts = self.counts[level, dimension]
            if remark := admission.remark(counts, scale):
                yield f"ratings of {dimension} ({level}): {remark}"
            refused, why = admission.refused(counts)
            if refused:
                yield f"{counted(refused, 'rating')} of {dimension} ({level}) not used: {why}"

    def _scale(self, key: tuple[str, str]) -> Scale:
        """Return the judge's scale; where it has none the one that is likely."""
        return self.scales.get(key) or likely_scale(key[1])


def _key(rating: Rating) -> tuple[str, str]:
    return "conversation" if rating.turn is None else "turn", rating.dimension


def ratings_by_turn(
    conversation: Conversation, admissions: Mapping[tuple[str, str], Admission]
) -> dict[int | None, tuple[TargetRating, ...]]:
    """Return people's ratings of each turn and, under None, of the whole, by `preference`.

    Ratings of other candidates are left out, and so are names of which no one was chosen most often.

    Args:
        conversation: With its ratings.
        admissions: How they are read, by level and dimension; as they are where nothing is said.
    """
    by_target: dict[int | None, dict[str, list[tuple[float | str, float | None]]]] = {}
    for rating in latest_of_each(conversation, conversation.ratings)[0]:
        score = admissions.get(_key(rating), ADMIT_ALL).read(rating.score)
        if score is not None and rating.candidate in (None, conversation.candidate):
            of_target = by_target.setdefault(rating.turn, {})
            of_target.setdefault(rating.dimension, []).append((score, rating.weight))
    out = {}
    for turn, by_dimension in by_target.items():
        each = (_target_rating(name, ratings) for name, ratings in by_dimension.items())
        ratings = [one for one in each if one is not None]
        out[turn] = tuple(sorted(ratings, key=lambda rating: preference(rating.dimension)))
    return out


def _target_rating(name: str, ratings: Sequence[tuple[float | str, float | None]]) -> TargetRating | None:
    scores, weights = [score for score, _ in ratings], {weight for _, weight in ratings}
    score = agreed(scores)
    if score is None:
        return None
    return TargetRating(
        name, score, len(scores), _apart(scores), weights.pop() if len(weights) == 1 else None
    )


def agreed(scores: Sequence[float | str]) -> float | str | None:
    """Return what the raters of a target say together; None where names are chosen equally often.

    Numbers are averaged, and stand before names.
    """
    numbers = [score for score in scores if not isinstance(score, str)]
    if numbers:
        return numbers[0] if len(set(numbers)) == 1 else sum(numbers) / len(numbers)
    ranked = Counter(score for score in scores if isinstance(score, str)).most_common(2)
    return None if len(ranked) > 1 and ranked[0][1] == ranked[1][1] else ranked[0][0]


def _apart(scores: Sequence[float | str]) -> float:
    numbers = [score for score in scores if not isinstance(score, str)]
    return max(numbers) - min(numbers) if numbers else 0.0


def rating_json(ratings: Sequence[TargetRating]) -> dict[str, Any]:
    """Write the ratings of a target as the field `rating` of its row; with a weight where it was sampled."""
    first, *others = ratings
    weight = {} if first.weight is None else {"weight": first.weight}
    value: dict[str, Any] = {"dimension": first.dimension, "score": first.score, "raters": first.raters}
    return value | weight | ({"others": {one.dimension: one.score for one in others}} if others else {})


def row_changes(
    by_turn: Mapping[int | None, Sequence[TargetRating]], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]] | None:
    """Return for each row of a conversation its `rating`, as `Study.settle` wants it; None without any."""
    levels = ("turn", "conversation")
    rated = [by_turn.get(row["turn"], ()) if row["level"] in levels else () for row in rows]
    return [{"rating": rating_json(one)} if one else {} for one in rated] if any(rated) else None


def replies_of(conversation: Conversation) -> tuple[Reply, ...]:
    """Return what the assistant said, message by message, without anybody's ratings."""
    bare = _stripped(conversation)
    return tuple(
        Reply(f"{bare.id}__turn_{position}", bare, index, turn, position)
        for turn, indices in assistant_messages(bare.messages).items()
        for index, position in indices
    )


def _stripped(conversation: Conversation) -> Conversation:
    """Return the conversation without ratings, metadata, place, and unknown keys of its messages."""
    bare = conversation.blinded()
    if not any(m.extra for m in bare.messages):
        return bare
    return replace(bare, messages=tuple(replace(m, extra={}) if m.extra else m for m in bare.messages))


def assistant_messages(messages: Sequence[Message]) -> dict[int, list[tuple[int, int]]]:
    """Return by turn the assistant messages: their index among all, and among the assistant's."""
    by_turn: dict[int, list[tuple[int, int]]] = defaultdict(list)
    position = 0
    for index, (message, turn) in enumerate(zip(messages, message_turns(messages), strict=True)):
        if message.role == "assistant" and turn is not None:
            by_turn[turn].append((index, position))
            position += 1
    return by_turn
