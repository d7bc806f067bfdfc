"""TF-IDF over character n-grams, and the cosine of a text with each indexed one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Keys = NDArray[np.uint64]


class Grams(NamedTuple):
    """The distinct n-grams of one text with their counts."""

    keys: Keys
    """Sorted, in the order of the n-grams as texts."""
    counts: Codes


class Alphabet:
    """The characters of some texts, numbered from 1 in code point order; 0 ends an n-gram.

    Packed n-grams of up to `longest` characters fit 64 bits if the alphabet has fewer than 2 ** (64 //
    longest) - 1 characters: 4,095 for n-grams of 5. In a larger alphabet the rarest characters share one
    number.
    """

    def __init__(self, texts: Sequence[str], longest: int) -> None:
        self._longest = longest
        self._bits = 64 // longest
        room = (1 << self._bits) - 1
        occurrences = np.concatenate([_points(" " + text.lower()) for text in texts])
        points, counts = np.unique(occurrences, return_counts=True)
        if points.size >= room:
            points = np.sort(points[np.argsort(-counts, kind="stable")[: room - 1]])
        self._points = points
        self._other = points.size + 1

    def grams(self, text: str, shortest: int) -> Grams:
        """Return the n-grams of `shortest` up to `longest` characters of a text."""
        words = text.lower().split()
        if not words:
            return Grams(np.empty(0, np.uint64), np.empty(0, np.int64))
        codes = self._codes(" " + "  ".join(words) + " ")
        ends = np.cumsum([len(w) + 2 for w in words])
        left = np.repeat(ends, [len(w) + 2 for w in words]) - np.arange(codes.size)
        parts = [self._windows(codes, left, n) for n in range(shortest, self._longest + 1)]
        # A word shorter than the shortest n-gram counts once, whole.
        short = [i for i, w in enumerate(words) if len(w) + 2 < shortest]
        starts = [int(ends[i]) - len(words[i]) - 2 for i in short]
        parts += [self._pack(codes[s : s + len(words[i]) + 2]) for i, s in zip(short, starts, strict=True)]
        keys, counts = np.unique(np.concatenate(parts), return_counts=True)
        return Grams(keys, counts)

    def _windows(self, codes: Keys, left: Codes, n: int) -> Keys:
        """Pack every window of n characters within one word."""
        width = codes.size - n + 1
        if width < 1:
            return np.empty(0, np.uint64)
        keys = np.zeros(width, np.uint64)
        bits = np.uint64(self._bits)
        for offset in range(n):
            keys = (keys << bits) | codes[offset : offset + width]
        keys <<= np.uint64(self._bits * (self._longest - n))
        return keys[left[:width] >= n]

    def _pack(self, codes: Keys) -> Keys:
        return self._windows(codes, np.full(codes.size, codes.size), codes.size)

    def _codes(self, text: str) -> Keys:
        points = _points(text)
        at = np.minimum(np.searchsorted(self._points, points), self._points.size - 1)
        in_alphabet = self._points[at] == points
        return np.where(in_alphabet, at + 1, self._other).astype(np.uint64)


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


Floats = NDArray[np.float64]


class TfidfIndex:
    """Texts as TF-IDF vectors; gives the cosine of another text with each of them.

    The figures are those of scikit-learn's `TfidfVectorizer(analyzer="char_wb", ngram_range=(shortest,
    longest), sublinear_tf=sublinear, max_features=max_features)`: idf = ln((1 + n) / (1 + df)) + 1, tf or 1
    + ln tf, vectors of length 1. NumPy's unstable `argsort` breaks ties at the limit of `max_features`, as
    in scikit-learn, because published figures depend on it.
    """

    def __init__(
        self,
        texts: Sequence[str],
        *,
        shortest: int,
        longest: int,
        sublinear: bool = False,
        max_features: int | None = None,
    ) -> None:
        """Index the texts; raises ValueError without a text."""
        if not texts:
            msg = "an index needs at least one text"
            raise ValueError(msg)
        self._shortest, self._sublinear, self._size = shortest, sublinear, len(texts)
        self._alphabet = Alphabet(texts, longest)
        documents = [self._alphabet.grams(text, shortest) for text in texts]
        keys = np.concatenate([d.keys for d in documents])
        counts = np.concatenate([d.counts for d in documents])
        owner = np.repeat(np.arange(len(texts)), [d.keys.size for d in documents])
        self._vocabulary, column = np.unique(keys, return_inverse=True)
        if max_features is not None and self._vocabulary.size > max_features:
            frequent, column = self._limited(column, counts, max_features)
            counts, owner = counts[frequent], owner[frequent]
        frequency = np.bincount(column, minlength=self._vocabulary.size)
        self._idf = np.log((1 + len(texts)) / (1 + frequency)) + 1
        values = self._weighted(counts, column)
        length = np.sqrt(np.bincount(owner, values**2, minlength=len(texts)))
        self._values = values / np.where(length > 0, length, 1.0)[owner]
        self._column, self._owner = column, owner

    def _limited(
        self, column: NDArray[np.intp], counts: NDArray[np.int64], limit: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Keep the most frequent n-grams; return which entries stay, and their new columns."""
        total = np.bincount(column, counts, minlength=self._vocabulary.size).astype(np.int64)
        chosen = np.zeros(self._vocabulary.size, bool)
        chosen[np.argsort(-total)[:limit]] = True
        renumbered = np.cumsum(chosen) - 1
        self._vocabulary = self._vocabulary[chosen]
        frequent = chosen[column]
        return frequent, renumbered[column[frequent]]

    def _weighted(self, counts: NDArray[np.int64], column: NDArray[np.intp]) -> Floats:
        tf = counts.astype(np.float64)
        if self._sublinear:
            tf = np.log(tf) + 1
        weighted: Floats = tf * self._idf[column]
        return weighted

    def cosines(self, text: str) -> Floats:
        """Return the cosine of the text with each indexed one, shape (texts,), 0 to 1."""
        grams = self._alphabet.grams(text, self._shortest)
        at = np.minimum(np.searchsorted(self._vocabulary, grams.keys), max(self._vocabulary.size - 1, 0))
        indexed = self._vocabulary[at] == grams.keys if self._vocabulary.size else np.zeros(0, bool)
        column = at[indexed]
        values = self._weighted(grams.counts[indexed], column)
        length = float(np.sqrt(values @ values))
        query = np.zeros(self._vocabulary.size)
        if length > 0:
            query[column] = values / length
        shared = self._values * query[self._column]
        return np.bincount(self._owner, shared, minlength=self._size).astype(np.float64)
