"""What the model reads of a context: words of the last and the earlier messages, and the local signals.

Nothing here is learnt or chosen from the data: which columns there are, and their scale, hang on the
context alone. The words of a block are counted (1 + ln of the count), and the block has length 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from dialogauge.core import Message, digest
from dialogauge.judge.local_model import ModeCoefficients, load_coefficients
from dialogauge.judge.ratings.examples import Example
from dialogauge.signals import find_signals, read_dialogue, read_features
from dialogauge.text import gram_number, word_grams

__all__ = ["BLOCKS", "features_digest", "rows_of"]

BLOCKS = ("reply", "request", "replies", "requests")
"""The last reply, the last message of the user, and all of either, older ones weighing less."""
_VERSION = 1
"""Raised when the same text gives other features, so that models fitted to the old ones are refused."""
_FADING = 0.8
"""What a message weighs against the next one of the same side."""
_EARLIER_WORDS = 1
_SIGNALS = 1 << 33
"""Where the numbers of the columns of signals begin: above those of words."""
_WHOLE, _OPEN = _SIGNALS - 2, _SIGNALS - 1


def features_digest() -> str:
    """Return what changes with the columns and their scale: a model holds for its own only."""
    scale = load_coefficients().foresight
    limits = [scale.names, scale.centre, scale.spread, scale.low, scale.high]
    return digest([_VERSION, BLOCKS, _FADING, _EARLIER_WORDS, _SIGNALS, *limits])


def rows_of(examples: Sequence[Example]) -> Iterator[dict[int, float]]:
    """Return the features of each example, by column number; examples of one conversation stand together."""
    scale = load_coefficients().foresight
    for _, group in groupby(examples, key=lambda e: id(e.conversation)):
        held = list(group)
        conversation = held[0].conversation
        dialogue = read_dialogue(conversation.blinded())
        found = read_features(dialogue, find_signals(dialogue, "foresight"), "foresight")
        stops = {t.number: t.stop for t in conversation.turns}
        for example in held:
            if example.nothing_said:
                yield {}
                continue
            seen = [found[n] for n in sorted(found) if stops[n] <= example.stop]
            yield {
                **_words(conversation.messages[: example.stop]),
                **_signals(seen, scale),
                **_state(example),
            }


def _state(example: Example) -> dict[int, float]:
    """Whether the whole is rated, and whether the user had the last word."""
    last = example.conversation.messages[example.stop - 1].role
    return {_WHOLE: float(example.turn is None), _OPEN: float(last == "user")}


def _words(messages: Sequence[Message]) -> dict[int, float]:
    out: dict[int, float] = {}
    for role, newest, all_of_it in (("assistant", "reply", "replies"), ("user", "request", "requests")):
        texts = [m.text for m in reversed(messages) if m.role == role and m.text]
        if not texts:
            continue
        out.update(_block(newest, Counter(_grams(texts[0], 2))))
        weights: Counter[str] = Counter()
        for age, text in enumerate(texts):
            for gram in _grams(text, _EARLIER_WORDS):
                weights[gram] += _FADING**age  # type: ignore[assignment]
        out.update(_block(all_of_it, weights))
    return out


def _grams(text: str, longest: int) -> list[str]:
    return word_grams(text, longest)


def _block(name: str, counts: Counter[str]) -> dict[int, float]:
    values: dict[int, float] = {}
    for gram, count in counts.items():
        number = gram_number(gram, name)
        values[number] = values.get(number, 0.0) + (1 + math.log(count) if count >= 1 else count)
    length = math.sqrt(sum(v * v for v in values.values()))
    return {number: v / length for number, v in values.items()} if length else {}


def _signals(seen: Sequence[Sequence[float]], scale: ModeCoefficients) -> dict[int, float]:
    """Return the signals of the last turn, their mean and their greatest value so far, standardised.

    The scale is that of the coefficients that ship, so that nothing of the data at hand is needed.
    """
    if not seen:
        return {}
    columns = list(zip(*seen, strict=True))
    of_each = (seen[-1], [sum(c) / len(c) for c in columns], [max(c) for c in columns])
    room = math.sqrt(3 * len(columns))
    limits = list(zip(scale.centre, scale.spread, scale.low, scale.high, strict=True))
    out: dict[int, float] = {}
    for block, values in enumerate(of_each):
        for index, (value, (centre, spread, low, high)) in enumerate(zip(values, limits, strict=True)):
            z = (max(low, min(high, value)) - centre) / spread
            out[_SIGNALS + block * len(columns) + index] = z / room
    return out
