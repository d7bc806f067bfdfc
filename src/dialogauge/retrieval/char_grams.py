"""Character n-grams within word boundaries, as sorted numbers that keep the order of the texts.

The n-grams are those of scikit-learn's analyzer `char_wb`: the text in lower case, cut at white space,
every word with a space on either side; windows of n characters that lie within one padded word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Alphabet", "Grams"]

Codes = NDArray[np.int64]
Keys = NDArray[np.uint64]


class Grams:
    """The distinct n-grams of one text with their counts."""

    __slots__ = ("counts", "keys")

    def __init__(self, keys: Keys, counts: Codes) -> None:
        self.keys = keys
        """Sorted; the order of the n-grams as texts."""
        self.counts = counts


class Alphabet:
    """The characters of some texts, numbered from 1 in their own order; 0 stands for the end of an n-gram.

    Packed n-grams of up to `longest` characters fit 64 bits while the alphabet has fewer than
    2 ** (64 // longest) - 1 characters: 4,095 for n-grams of 5. In a larger alphabet the rarest characters
    share one number, which only blurs which of them is meant.
    """

    def __init__(self, texts: Sequence[str], longest: int) -> None:
        self._longest = longest
        self._bits = 64 // longest
        room = (1 << self._bits) - 1
        written = np.concatenate([_points(" " + text.lower()) for text in texts])
        points, counts = np.unique(written, return_counts=True)
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
        """Pack every window of n characters that does not reach over the end of its word."""
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
        known = self._points[at] == points
        return np.where(known, at + 1, self._other).astype(np.uint64)


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
