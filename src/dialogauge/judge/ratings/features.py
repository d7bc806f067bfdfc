"""What the model reads of a context: words of the last and the earlier messages, and the local signals.

Nothing here is learnt or chosen from the data: which columns there are, and their scale, hang on the
context alone. The words of a block are counted (1 + ln of the count), and the block has length 1.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
_OLDEST = 64
"""Messages of a side that are read: those before weigh less than a millionth."""
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
        ends, summed = [stops[n] for n in sorted(found)], list(_summed(found[n] for n in sorted(found)))
        said = _Said(conversation.messages)
        for example in held:
            stop = example.stop
            if not stop:
                yield {}
                continue
            before = bisect_right(ends, stop)
            yield {
                **said.before(stop),
                **(_signals(summed[before - 1], scale) if before else {}),
                _WHOLE: float(example.turn is None),
                _OPEN: float(conversation.messages[stop - 1].role == "user"),
            }


class _Said:
    """The words of a conversation's messages, cut once."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._sides = [
            (newest, all_of_it, [(i, m.text) for i, m in enumerate(messages) if m.role == role and m.text])
            for role, newest, all_of_it in (
                ("assistant", "reply", "replies"),
                ("user", "request", "requests"),
            )
        ]
        self._words: dict[str, list[str]] = {}

    def before(self, stop: int) -> dict[int, float]:
        """Return the columns of words of the first `stop` messages."""
        out: dict[int, float] = {}
        for newest, all_of_it, texts in self._sides:
            count = bisect_left(texts, (stop, ""))
            if not count:
                continue
            out.update(_block(newest, Counter(word_grams(texts[count - 1][1], 2))))
            weights: Counter[str] = Counter()
            for age, (_, text) in enumerate(reversed(texts[max(0, count - _OLDEST) : count])):
                for gram in self._of(text):
                    weights[gram] += _FADING**age  # type: ignore[assignment]
            out.update(_block(all_of_it, weights))
        return out

    def _of(self, text: str) -> list[str]:
        if text not in self._words:
            self._words[text] = word_grams(text, _EARLIER_WORDS)
        return self._words[text]


def _summed(rows: Iterable[Sequence[float]]) -> Iterator[tuple[Sequence[float], ...]]:
    """Yield for each turn its signals, their mean and their greatest value so far."""
    sums: list[float] = []
    most: list[float] = []
    for count, row in enumerate(rows, start=1):
        sums = [s + v for s, v in zip(sums, row, strict=True)] if sums else list(row)
        most = [max(m, v) for m, v in zip(most, row, strict=True)] if most else list(row)
        yield row, [s / count for s in sums], most


def _block(name: str, counts: Counter[str]) -> dict[int, float]:
    values: dict[int, float] = {}
    for gram, count in counts.items():
        number = gram_number(gram, name)
        values[number] = values.get(number, 0.0) + (1 + math.log(count) if count >= 1 else count)
    length = math.sqrt(sum(v * v for v in values.values()))
    return {number: v / length for number, v in values.items()} if length else {}


def _signals(of_each: Sequence[Sequence[float]], scale: ModeCoefficients) -> dict[int, float]:
    """Return the signals of the last turn, their mean and their greatest value so far, standardised.

    The scale is that of the coefficients that ship, so that nothing of the data at hand is needed.
    """
    columns = len(scale.names)
    room = math.sqrt(3 * columns)
    limits = list(zip(scale.centre, scale.spread, scale.low, scale.high, strict=True))
    out: dict[int, float] = {}
    for block, values in enumerate(of_each):
        for index, (value, (centre, spread, low, high)) in enumerate(zip(values, limits, strict=True)):
            z = (max(low, min(high, value)) - centre) / spread
            out[_SIGNALS + block * columns + index] = z / room
    return out
