"""What the model reads of a context: words of the last and the earlier messages, and the local signals.

Nothing here is learnt or chosen from the data: the columns and their scale depend on the context alone. The
words of a block are counted (1 + ln of the count), and the block has length 1.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import Conversation, InputError, Message, digest, whole_score
from dialogauge.data.ratings import LEVELS, usable_ratings
from dialogauge.judges.local.model import ModeCoefficients, load_coefficients
from dialogauge.signals import find_signals, read_dialogue, read_features
from dialogauge.stats import reply_length
from dialogauge.text import gram_number, word_grams


@dataclass(frozen=True, slots=True)
class RatedPlace:
    """One rated place."""

    conversation: Conversation
    turn: int | None
    """The turn that precedes the rating; None where the whole conversation was rated."""
    number: int
    """From 0; above 0 where the same raters rated the same turn again."""
    votes: tuple[int, ...]
    """How many raters gave 1, 2 ... 5."""

    @property
    def stop(self) -> int:
        """How many messages the raters had seen."""
        if self.turn is None:
            return len(self.conversation.messages)
        return next((t.stop for t in self.conversation.turns if t.number == self.turn), 0)

    @property
    def nothing_said(self) -> bool:
        """Whether there is no turn before the rating: nothing to judge by but the prior."""
        return self.stop == 0

    @property
    def group(self) -> str:
        """The user where one is known, else the conversation."""
        return self.conversation.user_id or f"\0{self.conversation.id}"

    @property
    def majority(self) -> int:
        """The most frequent rating; the lower of several."""
        return 1 + max(range(LEVELS), key=lambda k: (self.votes[k], -k))

    @property
    def reply_length(self) -> int:
        """Of the last reply before the rating; 0 without one."""
        seen = reversed(self.conversation.messages[: self.stop])
        last = next((m for m in seen if m.role == "assistant" and not m.tool_calls), None)
        return 0 if last is None else reply_length(last.text)


def rated_places(
    conversation: Conversation, dimension: str
) -> tuple[tuple[RatedPlace, ...], list[InputError]]:
    """Return the rated places of a conversation in their order, and a fault for each rating that is none.

    Several raters of one place are one example. Where a rater rated the same turn twice (two lines of the
    user in a row), the second time is an example of its own. Fractions count as the nearest whole rating.
    """
    votes: dict[tuple[int | None, int], Counter[int]] = {}
    times: Counter[tuple[int | None, str | None]] = Counter()
    usable, faults = usable_ratings(conversation, dimension)
    for rating, score in usable:
        number = times[rating.turn, rating.rater] if rating.rater is not None else 0
        times[rating.turn, rating.rater] += 1
        votes.setdefault((rating.turn, number), Counter())[whole_score(score)] += 1
    in_order = sorted(votes, key=lambda place: (place[0] is None, place[0] or 0, place[1]))
    examples = (
        RatedPlace(conversation, turn, number, tuple(votes[turn, number][k] for k in range(1, LEVELS + 1)))
        for turn, number in in_order
    )
    return tuple(examples), faults


Floats = NDArray[np.float64]
_AT_ONCE = 2048


class SparseRows:
    """A matrix of n rows whose columns are named by numbers; only what is not 0 is kept."""

    def __init__(
        self,
        rows: Iterable[Mapping[int, float]],
        *,
        columns: NDArray[np.int64] | None = None,
        most: int | None = None,
    ) -> None:
        """Lay out the rows.

        Args:
            rows: By column number the value.
            columns: Sorted numbers of the columns to keep; those that occur when None.
            most: Of those that occur, keep only so many, those in the most rows; of equally frequent
                ones the lower numbers.
        """
        numbers, values, lengths = [], [], []
        for row in rows:
            lengths.append(len(row))
            numbers.append(np.fromiter(row.keys(), dtype=np.int64, count=len(row)))
            values.append(np.fromiter(row.values(), dtype=np.float64, count=len(row)))
        flat = np.concatenate([np.empty(0, np.int64), *numbers])
        data = np.concatenate([np.empty(0), *values])
        owner = np.repeat(np.arange(len(lengths)), lengths)
        if columns is None:
            columns, often = np.unique(flat, return_counts=True)
            if most is not None and columns.size > most:
                columns = np.sort(columns[np.argsort(-often, kind="stable")[:most]])
        self.columns = columns
        at = np.searchsorted(columns, flat)
        at[at == columns.size] = 0
        kept = columns[at] == flat if columns.size else np.zeros(flat.size, bool)
        self._at, self._values, self._owner = at[kept], data[kept], owner[kept]
        self._starts = np.searchsorted(self._owner, np.arange(len(lengths) + 1))
        self.size = len(lengths)

    def times(self, weights: Floats) -> Floats:
        """Return rows @ weights, shape (columns, k) -> (n, k)."""
        out = [np.bincount(self._owner, self._values * w[self._at], minlength=self.size) for w in weights.T]
        return np.array(out, dtype=np.float64).T.reshape(self.size, weights.shape[1])

    def dense(self, mask: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float32]]]:
        """Yield the rows of a mask, some at a time: their indices, and the rows in full."""
        chosen = np.flatnonzero(mask)
        for first in range(0, chosen.size, _AT_ONCE):
            indices = chosen[first : first + _AT_ONCE]
            block = np.zeros((indices.size, self.columns.size), dtype=np.float32)
            for row, index in enumerate(indices):
                part = slice(self._starts[index], self._starts[index + 1])
                block[row, self._at[part]] = self._values[part]
            yield indices, block


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


def rows_of(examples: Sequence[RatedPlace]) -> Iterator[dict[int, float]]:
    """Return the features of each example, by column number; examples of one conversation stand together."""
    scale = load_coefficients().foresight
    for _, group in groupby(examples, key=lambda e: id(e.conversation)):
        places = list(group)
        conversation = places[0].conversation
        dialogue = read_dialogue(conversation.blinded())
        features = read_features(dialogue, find_signals(dialogue, "foresight"), "foresight")
        ends = [t.stop for t in conversation.turns if t.number in features]
        summed = list(_summed(features.values()))
        words = _MessageWords(conversation.messages)
        for example in places:
            stop = example.stop
            if not stop:
                yield {}
                continue
            before = bisect_right(ends, stop)
            yield {
                **words.before(stop),
                **(_signals(summed[before - 1], scale) if before else {}),
                _WHOLE: float(example.turn is None),
                _OPEN: float(conversation.messages[stop - 1].role == "user"),
            }


class _MessageWords:
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
            weights: defaultdict[str, float] = defaultdict(float)
            for age, (_, text) in enumerate(reversed(texts[max(0, count - _OLDEST) : count])):
                if text not in self._words:
                    self._words[text] = word_grams(text, _EARLIER_WORDS)
                for gram in self._words[text]:
                    weights[gram] += _FADING**age
            out.update(_block(all_of_it, weights))
        return out


def _summed(rows: Iterable[Sequence[float]]) -> Iterator[tuple[Sequence[float], ...]]:
    """Yield for each turn its signals, their mean and their greatest value so far."""
    sums: list[float] = []
    most: list[float] = []
    for count, row in enumerate(rows, start=1):
        sums = [s + v for s, v in zip(sums, row, strict=True)] if sums else list(row)
        most = [max(m, v) for m, v in zip(most, row, strict=True)] if most else list(row)
        yield row, [s / count for s in sums], most


def _block(name: str, counts: Mapping[str, float]) -> dict[int, float]:
    values: dict[int, float] = {}
    for gram, count in counts.items():
        number = gram_number(gram, name)
        values[number] = values.get(number, 0.0) + (1 + math.log(count) if count >= 1 else count)
    length = math.sqrt(sum(v * v for v in values.values()))
    return {number: v / length for number, v in values.items()} if length else {}


def _signals(of_each: Sequence[Sequence[float]], scale: ModeCoefficients) -> dict[int, float]:
    """Standardise the signals of the last turn, their mean and their greatest value so far.

    The scale is that of the coefficients that ship, so nothing of the data at hand is needed.
    """
    columns = len(scale.names)
    length = math.sqrt(3 * columns)
    limits = list(zip(scale.centre, scale.spread, scale.low, scale.high, strict=True))
    out: dict[int, float] = {}
    for block, values in enumerate(of_each):
        for index, (value, (centre, spread, low, high)) in enumerate(zip(values, limits, strict=True)):
            z = (max(low, min(high, value)) - centre) / spread
            out[_SIGNALS + block * columns + index] = z / length
    return out
