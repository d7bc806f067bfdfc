"""Repetition within a reply, of earlier replies, and of questions that were answered.

Sentences are looked up in a table of all earlier ones; whole replies are compared by hashed n-grams with
the last six only, so that the cost grows with the length of the conversation and not with its square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialogauge.signals import reply_markers, user_markers
from dialogauge.signals.lazy import once
from dialogauge.signals.reading import Dialogue, Sentence, TextView, TurnView
from dialogauge.signals.signal import Signal, cut, note
from dialogauge.text import containment, hashed_grams

_LOOK_BACK = 6
_GRAM = 8  # characters; Chinese carries about twice as much in each, and is as telling at 8 as English at 16
_LONG_ENOUGH = 14  # characters of a sentence that is no mere label

_REPEATED = 0.6
"""Share of a reply from which it counts as the same again."""
_SHORT = 400
"""Characters up to which all n-grams are kept; of longer texts every fourth, chosen by its hash."""


@dataclass(frozen=True, slots=True)
class _Sketch:
    grams: NDArray[np.uint64]
    short: bool


@once
def _sketch(reply: TextView) -> _Sketch:
    text = reply.text.lower().strip()
    short = len(text) <= _SHORT
    return _Sketch(hashed_grams(text, _GRAM, one_in=1 if short else 4), short)


def find_repetition(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that repeat an earlier one, that repeat themselves, and questions asked again."""
    earlier: list[TurnView] = []
    asked: dict[frozenset[str], int] = {}
    for turn in dialogue.replied:
        yield from _of_earlier(turn, earlier)
        yield from _within(turn)
        yield from _questions(turn, asked)
        earlier = [*earlier[-_LOOK_BACK + 1 :], turn]


def _of_earlier(turn: TurnView, earlier: list[TurnView]) -> Iterator[Signal]:
    """Compare with earlier replies of like length: a short one within a long one is no loop."""
    if not earlier or turn.reply.units < 8:
        return
    shares = [(_share(turn.reply, e.reply), e) for e in earlier]
    share, source = max(shares, key=lambda s: s[0])
    if share < _REPEATED or _wanted_again(turn):
        return
    text = note("repeats_reply", turn.language, turn=source.number)
    strength = _loop_strength(turn, source, share)
    yield Signal("repeats_reply", turn.number, strength, cut(turn.reply.text), text, "context_use", "loop")


def _share(reply: TextView, before: TextView) -> float:
    """The share of the reply that an earlier one holds; 0 where it is less than counts."""
    mine, other = _sketch(reply), _sketch(before)
    if mine.short is not other.short or other.grams.size < _REPEATED * mine.grams.size:
        return 0.0
    return containment(mine.grams, other.grams)


def _loop_strength(turn: TurnView, source: TurnView, share: float) -> float:
    """A reply that repeats, yet works in what the user or a tool newly said, is an update and no loop."""
    new = turn.reply.terms - source.reply.terms
    taken_up = new & (turn.user.terms - source.user.terms)
    if share >= 0.97 and not new:
        return 0.95
    if taken_up or any(t[0].isdigit() or t[-1].isdigit() for t in new):
        return 0.3
    return 0.9 if share >= 0.8 and not turn.called else 0.4


def _wanted_again(turn: TurnView) -> bool:
    text = turn.user.edges
    closing = user_markers.CLOSING.search(text) or (user_markers.THANKS.search(text) and turn.user.units < 15)
    return bool(closing or user_markers.REPEAT_PLEASE.search(text))


def repeated_within(sentences: tuple[Sentence, ...]) -> tuple[float, str]:
    """Return the share of the text that says a longer sentence once more, and the sentence."""
    long = [s.text for s in sentences if len(s.text) >= _LONG_ENOUGH]
    if len(set(long)) == len(long):
        return 0.0, ""
    counts = Counter(long)
    total = sum(len(s.text) for s in sentences)
    sizes: Mapping[str, int] = {s.text: len(s.text) for s in sentences}
    again = sum((n - 1) * sizes[text] for text, n in counts.items())
    return again / total, counts.most_common(1)[0][0]


def _within(turn: TurnView) -> Iterator[Signal]:
    share, text = repeated_within(turn.reply.sentences)
    if share >= 0.25:
        strength = min(0.9, 0.4 + share * 0.7)
        words = note("repeats_itself", turn.language)
        yield Signal("repeats_itself", turn.number, strength, cut(text), words, "helpfulness", "loop")


def _questions(turn: TurnView, asked: dict[frozenset[str], int]) -> Iterator[Signal]:
    for sentence in turn.reply.questions:
        if sentence.units < 4 or len(sentence.terms) < 2:
            continue
        before = asked.get(sentence.terms)
        asked[sentence.terms] = turn.number
        plain = sentence.plain
        if before is None or before == turn.number or reply_markers.COURTESY_QUESTION.search(plain):
            continue
        if not user_markers.REPEAT_PLEASE.search(turn.user.edges):
            text = note("asks_again", turn.language, turn=before)
            yield Signal("asks_again", turn.number, 0.65, cut(sentence.text), text, "context_use", "loop")
