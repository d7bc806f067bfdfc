"""Repetition of earlier replies and of earlier questions.

Whole replies are compared by hashed n-grams with the last six only, so the cost is linear in the length of
the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator

from dialogauge.signals import reply_markers, user_markers
from dialogauge.signals.caching import cached_on_view
from dialogauge.signals.dialogue import Dialogue, TurnView
from dialogauge.signals.signal import Signal, finding
from dialogauge.text import hashed_grams

_LOOK_BACK = 6
_GRAM = 8  # characters; 8 of Chinese say as much as 16 of English
_REPEATED = 0.6
"""Share of a reply from which it counts as a repetition."""
_SHORT = 400
"""Characters up to which all n-grams count; of longer texts every fourth does, chosen by its hash."""


@cached_on_view
def _sketches(dialogue: Dialogue) -> dict[int, tuple[bool, frozenset[int]]]:
    """Return by turn whether the reply is short, and its hashed n-grams."""
    texts = [turn.reply.text.lower().strip() for turn in dialogue.replied]
    short = [len(text) <= _SHORT for text in texts]
    grams = hashed_grams(texts, _GRAM, one_in=[1 if s else 4 for s in short])
    return {t.number: (s, g) for t, s, g in zip(dialogue.replied, short, grams, strict=True)}


def find_repetition(dialogue: Dialogue) -> Iterator[Signal]:
    """Yield replies that repeat an earlier one, and repeated questions."""
    earlier: list[TurnView] = []
    questions: dict[frozenset[str], int] = {}
    for turn in dialogue.replied:
        yield from _of_earlier(dialogue, turn, earlier)
        yield from _questions(turn, questions)
        earlier = [*earlier[-_LOOK_BACK + 1 :], turn]


def _of_earlier(dialogue: Dialogue, turn: TurnView, earlier: list[TurnView]) -> Iterator[Signal]:
    """Compare with earlier replies of similar length: a short one within a long one is no loop."""
    if not earlier or turn.reply.units < 8:
        return
    sketches = _sketches(dialogue)
    short, mine = sketches[turn.number]
    share, source = 0.0, turn
    for before in earlier:
        of_like_length, grams = sketches[before.number][0] is short, sketches[before.number][1]
        if of_like_length and len(grams) >= _REPEATED * len(mine) > 0:
            shared = len(mine & grams) / len(mine)
            share, source = (shared, before) if shared > share else (share, source)
    if share < _REPEATED or _asks_to_repeat(turn):
        return
    strength = _loop_strength(turn, source, share)
    yield finding(turn, "repeats_reply", strength, turn.reply.text, "context_use", "loop", turn=source.number)


def _loop_strength(turn: TurnView, source: TurnView, share: float) -> float:
    """A reply that repeats, but includes new facts of the user or a tool, is an update and no loop."""
    new = turn.reply.terms - source.reply.terms
    from_user = new & (turn.user.terms - source.user.terms)
    if share >= 0.97 and not new:
        return 0.95
    if from_user or any(t[0].isdigit() or t[-1].isdigit() for t in new):
        return 0.3
    return 0.9 if share >= 0.8 and not turn.called else 0.4


def _asks_to_repeat(turn: TurnView) -> bool:
    text = turn.user.edges
    closing = user_markers.CLOSING.search(text) or (user_markers.THANKS.search(text) and turn.user.units < 15)
    return bool(closing or user_markers.REPEAT_PLEASE.search(text))


def _questions(turn: TurnView, earlier: dict[frozenset[str], int]) -> Iterator[Signal]:
    for sentence in turn.reply.questions:
        if sentence.units < 4 or len(sentence.terms) < 2:
            continue
        before = earlier.get(sentence.terms)
        earlier[sentence.terms] = turn.number
        if before is None or before == turn.number:
            continue
        if reply_markers.COURTESY_QUESTION.search(sentence.plain):
            continue
        if not user_markers.REPEAT_PLEASE.search(turn.user.edges):
            yield finding(turn, "asks_again", 0.65, sentence.text, "context_use", "loop", turn=before)
