"""Which assistant message a rating belongs to, and what of the ratings cannot be used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from dialogauge.core import Conversation, Message, Rating, RecordFault
from dialogauge.data import message_turns
from dialogauge.judge.personal import RatedReply, Reply

__all__ = ["Collected", "collect_rated", "stripped", "unnamed_together"]

LOW, HIGH = 1, 5


@dataclass(slots=True)
class Collected:
    """The rated replies of one conversation, and the ratings that are no scores."""

    replies: list[RatedReply] = field(default_factory=list)
    faults: list[RecordFault] = field(default_factory=list)
    unrated: int = 0
    """Assistant messages without a rating."""


def stripped(conversation: Conversation) -> Conversation:
    """Return the conversation without ratings, metadata, place, and unknown keys of its messages."""
    bare = conversation.blinded()
    if not any(m.extra for m in bare.messages):
        return bare
    return replace(bare, messages=tuple(replace(m, extra={}) if m.extra else m for m in bare.messages))


def collect_rated(conversation: Conversation, dimension: str) -> Collected:
    """Return the rated replies of a conversation, in order.

    A turn usually has one assistant message. Where it has several and one rater rated each, the ratings go
    to them in order; else the mean of all ratings of the turn goes to its last assistant message.
    """
    out = Collected()
    given: dict[int, list[Rating]] = defaultdict(list)
    for rating in conversation.ratings:
        if rating.dimension == dimension and rating.turn is not None:
            fault = _fault(conversation, rating)
            if fault is None:
                given[rating.turn].append(rating)
            else:
                out.faults.append(fault)
    bare = stripped(conversation)
    for turn, indices in _assistant_messages(bare.messages).items():
        ratings, twice = _once(conversation, given.pop(turn, []), len(indices))
        out.faults += twice
        found = _dealt(ratings, len(indices))
        out.unrated += sum(rating is None for rating in found)
        out.replies += [
            RatedReply(_reply(bare, index, turn, position), rating[0], rating[1])
            for (index, position), rating in zip(indices, found, strict=True)
            if rating is not None
        ]
    out.faults += [
        _no_reply(conversation, rating) for ratings in given.values() for rating in ratings if rating.turn
    ]
    return out


def unnamed_together(conversations: Iterable[Conversation], dimension: str) -> int:
    """Count the turns that have more ratings without a rater than replies: they are averaged."""
    found = 0
    for conversation in conversations:
        given = Counter(
            r.turn for r in conversation.ratings if r.dimension == dimension and r.rater is None and r.turn
        )
        if any(n > 1 for n in given.values()):
            replies = _assistant_messages(conversation.messages)
            found += sum(n > len(replies[turn]) for turn, n in given.items() if turn in replies)
    return found


def _reply(bare: Conversation, index: int, turn: int, position: int) -> Reply:
    return Reply(f"{bare.id}__turn_{position}", bare, index, turn, position)


def _assistant_messages(messages: Sequence[Message]) -> dict[int, list[tuple[int, int]]]:
    """Return by turn the assistant messages: their index among all, and among the assistant's."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    position = 0
    for index, (message, turn) in enumerate(zip(messages, message_turns(messages), strict=True)):
        if message.role == "assistant" and turn is not None:
            found[turn].append((index, position))
            position += 1
    return found


def _once(
    conversation: Conversation, ratings: Sequence[Rating], replies: int
) -> tuple[list[Rating], list[RecordFault]]:
    """Keep of each rater as many ratings of a turn as it has replies; the others are faults.

    Raters without a name may be several people, and are left to speak for themselves.
    """
    kept: list[Rating] = []
    faults: list[RecordFault] = []
    for rating in ratings:
        if rating.rater is None or sum(r.rater == rating.rater for r in kept) < replies:
            kept.append(rating)
            continue
        msg = f"turn {rating.turn} was rated before by the same rater, and is rated {rating.score:g} again"
        faults.append(RecordFault(msg, place=conversation.place_of(rating), hint="the first is kept"))
    return kept, faults


def _dealt(ratings: Sequence[Rating], replies: int) -> list[tuple[float, str | None] | None]:
    """Deal the ratings of one turn to its assistant messages."""
    scores = [float(r.score) for r in ratings]
    if len({r.rater for r in ratings}) == 1 and len(ratings) == replies:
        return [(score, r.note) for score, r in zip(scores, ratings, strict=True)]
    empty: list[tuple[float, str | None] | None] = [None] * replies
    if not ratings:
        return empty
    note = next((r.note for r in ratings if r.note), None)
    return [*empty[1:], (sum(scores) / len(scores), note)]


def _fault(conversation: Conversation, rating: Rating) -> RecordFault | None:
    score = rating.score
    if isinstance(score, str):
        msg = f"the rating {score!r} is a text: satisfaction is a number from {LOW} to {HIGH}"
    elif not LOW <= score <= HIGH:
        msg = f"the rating {score:g} is off the scale {LOW}-{HIGH}"
    else:
        return None
    return RecordFault(msg, place=conversation.place_of(rating), hint="the turn counts as unrated")


def _no_reply(conversation: Conversation, rating: Rating) -> RecordFault:
    msg = "a rating of a turn that has no reply"
    return RecordFault(msg, place=conversation.place_of(rating), hint="it is left out")
