"""BM25 over texts that come and go one by one."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.retrieval.growing import Floats, GrowingIndex, Hits, Numbers, best, view
from dialogauge.text import listed_terms, pieces

_K1: Final = 1.5
_B: Final = 0.75


class LexicalIndex(GrowingIndex):
    """Texts and their BM25 for a query, as Lucene computes it (`bm25s` calls it `lucene`).

    The terms are those of `text`: stems without function words, numbers, Chinese bigrams. A ranking depends
    on the texts that are present alone: not on those that were removed, nor on the order of adding.

    score = sum over terms of ln(1 + (N - df + .5) / (df + .5)) * tf / (tf + k1 (1 - b + b length / mean)),
    a term counting as often as the query has it; k1 1.5, b .75.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sources: dict[str, tuple[Any, ...]] = {}
        self._lengths = array("i")
        self._total = 0
        # By term: number, count, number, count ... Copies of an index share what neither has appended to.
        self._postings: dict[str, array[int]] = {}
        self._unshared: set[str] = set()

    def add(self, id: str, text: str) -> None:
        """Index a text; ValueError where its id is present already."""
        terms = listed_terms(pieces(text))
        number = self._numbered(id)
        self._sources[id] = (id, text)
        self._lengths.append(len(terms))
        self._total += len(terms)
        postings, unshared = self._postings, self._unshared
        for term, count in Counter(terms).items():
            if term not in unshared:
                unshared.add(term)
                postings[term] = array("i", postings.get(term, ()))
            posting = postings[term]
            posting.append(number)
            posting.append(count)

    def remove(self, id: str) -> None:
        """Forget a text; KeyError where there is none of this id."""
        self._total -= self._lengths[self._unmarked(id)]
        del self._sources[id]
        if self._crowded:
            index = type(self)()
            for source in self._sources.values():
                index.add(*source)
            vars(self).update(vars(index))

    def search(self, query: str, k: int) -> Hits:
        """Return the k best texts with their scores; of equal ones those whose ids come first.

        Texts that share no term with the query score 0, and fill up where fewer than k do. ValueError for
        k < 1.
        """
        scores = self._bm25(listed_terms(pieces(query)))
        numbers = np.flatnonzero(scores)
        if numbers.size < k:
            numbers = np.flatnonzero(self._present)
        return best(self._ids, numbers, scores[numbers], k)

    def copy(self) -> Self:
        """Return a copy that changes on its own; the two share what neither has added to since."""
        self._unshared = set()
        return super().copy()

    def _bm25(self, terms: Iterable[str]) -> Floats:
        """Return the score of each number, 0 for removed ones, and one more that is 0."""
        size, lengths = len(self._ids) + 1, view(self._lengths)
        mean = self._total / max(len(self), 1)
        numbers, weights = [np.empty(0, np.intp)], [np.empty(0)]
        for rows, counts, times in self._matches(terms):
            numbers.append(rows)
            weights.append(times * idf(rows.size, len(self)) * self._saturated(counts, lengths[rows], mean))
        scores = np.bincount(np.concatenate(numbers), np.concatenate(weights), minlength=size)
        return scores.astype(np.float64, copy=False)

    def _matches(self, terms: Iterable[str]) -> Iterator[tuple[Numbers, NDArray[np.intc], int]]:
        """Give for each distinct term the numbers that have it, how often, and how often the terms do."""
        present = self._present if len(self) < len(self._ids) else None
        for term, times in Counter(terms).items():
            if term in self._postings:
                pairs = view(self._postings[term]).reshape(-1, 2)
                if present is not None:
                    pairs = pairs[present[pairs[:, 0]]]
                if pairs.size:
                    yield pairs[:, 0].astype(np.intp), pairs[:, 1], times

    def _saturated(self, counts: NDArray[Any], lengths: NDArray[Any], mean: float) -> Floats:
        """Return what a term that texts of some lengths have so often counts in them, 0 to 1."""
        out: Floats = counts / (counts + _K1 * (1 - _B + _B * lengths / (mean or 1.0)))
        return out


def idf(having: int, of: int) -> float:
    """Return the weight of a term that so many of some texts have."""
    return math.log1p((of - having + 0.5) / (having + 0.5))
