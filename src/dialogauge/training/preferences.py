"""Pairs of replies to the same messages, of which people preferred one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.core.unit import digest
from dialogauge.training.pairs import Fork, JudgedConversation, prompt_and_reply, tools_of, unfit

_APART: Final = 0.25
"""Of a scale from 0 to 1, between two ratings that say which reply is the better one."""


@dataclass(frozen=True, slots=True)
class RatedPair:
    """Two replies to the same messages, of which people rated one higher."""

    fork: Fork
    """The lower one, which is rejected."""
    chosen: str
    better: tuple[JudgedConversation, int]
    """Where the chosen reply is from: the conversation, and the turn."""
    worse: JudgedConversation


def rated_pairs(judged: Iterable[JudgedConversation]) -> Iterator[RatedPair]:
    """Yield for all messages that several rated replies answer the best and the worst of these replies.

    Replies of the same words, and those that people rated less than a point of 1 to 5 apart, are no pair. Of
    equals the first counts.
    """
    by_state: dict[str, list[_Reply]] = {}
    for one in judged:
        for number, rating in one.rated_turns.items():
            parts = prompt_and_reply(one.conversation, one.conversation.turn(number))
            if (
                parts is not None
                and unfit(one.conversation.messages[: one.conversation.turn(number).stop]) is None
            ):
                reply = _Reply(one, number, rating.quality, *parts)
                by_state.setdefault(digest(list(reply.prompt)), []).append(reply)
    for replies in by_state.values():
        best, worst = (end(replies, key=lambda reply: reply.quality) for end in (max, min))
        if best.quality - worst.quality >= _APART and best.text.strip() != worst.text.strip():
            conversation = worst.judged.conversation
            tools = tools_of(conversation)
            fork = Fork(conversation.id, worst.turn, worst.prompt, worst.text, (), tools, "people")
            yield RatedPair(fork, best.text, (best.judged, best.turn), worst.judged)


@dataclass(frozen=True, slots=True)
class _Reply:
    judged: JudgedConversation
    turn: int
    quality: float
    prompt: tuple[Mapping[str, Any], ...]
    text: str
