"""Pairs of replies to the same messages, of which one was preferred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from dialogauge.core import Conversation
from dialogauge.core.unit import digest
from dialogauge.training.exports import dpo_row, segment_row
from dialogauge.training.pairs import (
    Fork,
    JudgedConversation,
    answered_part,
    fork_at,
    prompt_and_reply,
    unfit,
)
from dialogauge.training.rows import Provenance, Source, points_of

_Reply = tuple[JudgedConversation, int, str]
"""A conversation, a turn of it, and its reply."""
APART: Final = 1.0
"""Points of 1 to 5 between two ratings that say which reply is the better one."""


@dataclass(frozen=True, slots=True)
class ReplyPair:
    """Two replies to the same messages, of which one was preferred."""

    fork: Fork
    """The lower one, which is rejected, and who says so."""
    chosen: str
    better: tuple[JudgedConversation, int]
    """Where the chosen reply is from: the conversation, and the turn."""
    worse: JudgedConversation
    scores: tuple[float, float]
    """Of chosen and rejected, in points of 1 to 5."""


def reply_pairs(
    judged: Iterable[JudgedConversation],
    left_out: Counter[str],
    counts: Callable[[JudgedConversation], bool] | None = None,
    *,
    min_margin: float = APART,
) -> Iterator[ReplyPair]:
    """Yield for all messages that several replies answer the best and the worst of these replies.

    People's ratings decide; of replies that they did not rate, the judge's scores, where they count. Ratings
    of the same words are averaged; of equals the first counts.

    Args:
        judged: The conversations, of one run or of several.
        left_out: Counts why replies to the same messages make no pair.
        counts: Says whether the judge's scores of a conversation count. Where None, what people did not rate
            is passed over.
        min_margin: Points of 1 to 5 that the two are at least apart.
    """
    by_state: dict[str, list[_Reply]] = {}
    for one in judged:
        numbers = [turn.number for turn in one.conversation.replied_turns]
        for number in one.rated_turns if counts is None else numbers:
            turn = one.conversation.turn(number)
            parts = prompt_and_reply(one.conversation, turn)
            if parts is not None and unfit(one.conversation.messages[: turn.stop]) is None:
                state = by_state.setdefault(digest(list(parts[0])), [])
                state.append((one, number, parts[1]))
    for replies in by_state.values():
        if len({text.strip() for _, _, text in replies}) < 2:
            continue
        ranked = _ranked(replies, counts or (lambda _: False), min_margin)
        if isinstance(ranked, str):
            left_out[f"replies to the same messages: {ranked}"] += 1
            continue
        (better, better_turn, chosen), (worse, weak, _), source, scores = ranked
        fork = fork_at(worse.conversation, weak, source, worse.issues(weak))
        if fork is not None:
            yield ReplyPair(fork, chosen, (better, better_turn), worse, scores)


def _ranked(
    replies: Iterable[_Reply], counts: Callable[[JudgedConversation], bool], min_margin: float
) -> tuple[_Reply, _Reply, Source, tuple[float, float]] | str:
    """Return the better and the worse reply, who says so and their scores, or why there are none."""
    by_people: dict[str, list[tuple[float, str, _Reply]]] = {}
    by_judge: dict[str, list[tuple[float, str, _Reply]]] = {}
    for reply in replies:
        judged, turn, text = reply
        rating, figures = judged.rated_turns.get(turn), judged.turn(turn)
        if rating is not None:
            by_people.setdefault(text.strip(), []).append((rating.quality, rating.measure, reply))
        if figures is not None and figures.quality is not None and counts(judged):
            by = f"{judged.judge} {judged.prompt_digest}"
            by_judge.setdefault(text.strip(), []).append((figures.quality, by, reply))
    source: Source = "people" if len(by_people) > 1 else "judge"
    scored = by_people if source == "people" else by_judge
    if len(scored) < 2:
        return "not both are rated"
    if len({measure for each in scored.values() for _, measure, _ in each}) > 1:
        return "rated on different questions or scales"
    means = {text: fmean(quality for quality, _, _ in each) for text, each in scored.items()}
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    scores = points_of(means[best]), points_of(means[worst])
    if means[best] == means[worst] or round(scores[0] - scores[1], 9) < min_margin:
        least = "a point" if min_margin == APART else f"{min_margin:g} points"
        return f"a tie, less than {least} of 1 to 5 apart"
    return scored[best][0][2], scored[worst][0][2], source, scores


@dataclass(frozen=True, slots=True)
class DialoguePair:
    """Two dialogues of which one was preferred, parted where they differ."""

    turn: int
    """The turn of the rejected one at which they part."""
    fork: Fork | None
    """The rejected reply, where the last replies alone differ."""
    prompt: Sequence[Mapping[str, Any]] = ()
    """What they share, in whole turns."""
    chosen: Sequence[Mapping[str, Any]] = ()
    rejected: Sequence[Mapping[str, Any]] = ()

    def row(self, known: Provenance) -> dict[str, Any]:
        """Return the row: a pair of replies, or of segments."""
        if self.fork is not None:
            return dpo_row(self.fork, str(self.chosen[0]["content"]))
        return segment_row(self.prompt, self.chosen, self.rejected, known)


def pair_of_dialogues(better: Conversation, worse: Conversation, *, segments: bool) -> DialoguePair | str:
    """Return two dialogues as a pair, or why they are none.

    Args:
        better: The one that was preferred.
        worse: The other one.
        segments: Whether all that follows the common turns is a side; else the last replies are, and the
            dialogues are to be the same before.
    """
    replied = better.replied_turns, worse.replied_turns
    if not all(replied):
        return "a dialogue without a reply"
    turn = replied[1][-1].number
    for one in (better, worse):
        if why := unfit(one.messages[: one.replied_turns[-1].stop]):
            return why
    chosen, rejected = fork_at(better, replied[0][-1].number, "people"), fork_at(worse, turn, "people")
    if chosen is not None and rejected is not None and chosen.prompt == rejected.prompt:
        if segments:
            return "one reply alone differs (--kind dpo takes it)"
        return DialoguePair(turn, rejected, chosen=({"content": chosen.rejected},))
    if not segments:
        return "the conversations part before their last reply"
    sides = [answered_part(one) for one in (better, worse)]
    same = next((i for i, both in enumerate(zip(*sides, strict=False)) if both[0] != both[1]), None)
    starts = [t.start for t in better.turns if t.number and same is not None and t.start <= same]
    if not starts:
        return "the dialogues begin differently, or one is the beginning of the other"
    start = starts[-1]
    prompt, segment, other = sides[0][:start], sides[0][start:], sides[1][start:]
    if other[0]["role"] != "user":
        return "one dialogue goes on where the other one has its next turn"
    first = next(t.number for t in worse.turns if t.start >= start)
    return DialoguePair(first, None, prompt, segment, other)
