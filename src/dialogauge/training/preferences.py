"""Pairs of replies to the same messages, of which one was preferred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from dialogauge.core.unit import digest
from dialogauge.training.pairs import Fork, JudgedConversation, Source, fork_at, prompt_and_reply, unfit

_Reply = tuple[JudgedConversation, int, str]
"""A conversation, a turn of it, and its reply."""
_APART: Final = 0.25
"""Of a scale from 0 to 1, between two ratings that say which reply is the better one."""


@dataclass(frozen=True, slots=True)
class ReplyPair:
    """Two replies to the same messages, of which one was preferred."""

    fork: Fork
    """The lower one, which is rejected, and who says so."""
    chosen: str
    better: tuple[JudgedConversation, int]
    """Where the chosen reply is from: the conversation, and the turn."""
    worse: JudgedConversation


def reply_pairs(
    judged: Iterable[JudgedConversation],
    left_out: Counter[str],
    counts: Callable[[JudgedConversation], bool] | None = None,
) -> Iterator[ReplyPair]:
    """Yield for all messages that several replies answer the best and the worst of these replies.

    People's ratings decide; of replies that they did not rate, the judge's scores, where they count. Replies
    less than a point of 1 to 5 apart are no pair. Ratings of the same words are averaged; of equals the first
    counts.

    Args:
        judged: The conversations, of one run or of several.
        left_out: Counts why replies to the same messages make no pair.
        counts: Says whether the judge's scores of a conversation count. Where None, what people did not rate
            is passed over.
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
        ranked = _ranked(replies, counts or (lambda _: False))
        if isinstance(ranked, str):
            left_out[f"replies to the same messages: {ranked}"] += 1
            continue
        (better, better_turn, chosen), (worse, weak, _), source = ranked
        fork = fork_at(worse.conversation, weak, source, worse.issues(weak))
        if fork is not None:
            yield ReplyPair(fork, chosen, (better, better_turn), worse)


def _ranked(
    replies: Iterable[_Reply], counts: Callable[[JudgedConversation], bool]
) -> tuple[_Reply, _Reply, Source] | str:
    """Return the better and the worse reply and who says so, or why there are none."""
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
    if means[best] - means[worst] < _APART:
        return "a tie, less than a point of 1 to 5 apart"
    return scored[best][0][2], scored[worst][0][2], source
