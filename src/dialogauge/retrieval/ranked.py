"""The fitted ranker: a linear score over what a message, those beside it and its session say of a query.

`python -m benchmarks.retrieval fit` fits the weights to questions with evidence. `ranked.json` holds names of
features and numbers: nothing of the texts.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.core.patterns import lazy_pattern
from dialogauge.retrieval.growing import Floats, Hits, Numbers, among_first, best, view
from dialogauge.retrieval.lexical import LexicalIndex, idf
from dialogauge.retrieval.vectors import Vector, VectorIndex
from dialogauge.text import BUCKETS, gram_buckets, listed_terms, pieces

EARLY: Final = (
    *("own", "session", "before", "two_before", "two_after", "speaker", "answers", "question"),
    *("first_person", "when", "opening", "header"),
)
"""BM25 of the message, of its session, of messages beside it; of the message before where it is a question; a
time word where the query asks for a time; one of the first two of its session; idf of what the header has."""
_LATE: Final = ("with_before", "with_both", "grams", "grams_before", "cosine", "cosine_before")
"""BM25 of the message and those beside it as one text; the share of the query's character 3-grams, by idf, in
the message and in that before, and their cosine. Only of the messages that are best without them."""
FEATURES: Final = (*EARLY, *_LATE)
EMBEDDED: Final = (*FEATURES, "vector", "vector_before", "vector_after")
"""And the cosine of the embedding, in standard deviations from the mean: the message, those beside it."""
_FIRST: Final = 200
"""So many messages."""
_DIRECT: Final = 2000
"""So many messages by BM25, and those beside them, are looked at."""

_NONE: Final = -1
_QUESTION, _FIRST_PERSON, _TIME = 1, 2, 4
_I = lazy_pattern(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself|we|our|us)\b|我|咱")
_TIME_WORD = lazy_pattern(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|(?:week(?:end)?|month|year|day)s?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|spring|summer|autumn|winter|morning|evening|recently|since"
    r"|(?:19|20)\d\d)\b|昨天|今天|明天|前天|后天|[上下这]个?(?:周|月|星期)|[去今明]年|[年月日号]|最近"
)
_ASKS_WHEN = lazy_pattern(
    r"\b(?:when|how long|(?:what|which) (?:date|day|month|year|time))\b"
    r"|什么时[候间]|何时|哪[天年月]|几[号月点]|多久"
)


@cache
def load_weights() -> Mapping[str, Mapping[str, float]]:
    """Return the weights that ship: `early`, `all` and `embedded`, by name of the features of each."""
    file = resources.files(__package__) / "ranked.json"
    weights: dict[str, dict[str, float]] = json.loads(file.read_text(encoding="utf-8"))
    return weights


def linear(features: Floats, names: Sequence[str], weights: Mapping[str, float]) -> Floats:
    """Return the score of each column of features, shape (names, n).

    Added up by name: a product of matrices rounds by where a column stands.
    """
    scores = np.zeros(features.shape[1])
    for row, name in zip(features, names, strict=True):
        scores += weights[name] * row
    return scores


class RankedIndex(LexicalIndex):
    """Messages with their speakers and sessions, ranked for a query by a fitted linear score.

    A group (a session) is its messages in the order in which they were added. The ranking depends on the
    messages that are present, and on their order within the groups.
    """

    def __init__(self) -> None:
        super().__init__()
        # By message: its group, the messages beside it there, its speaker, its traits, its distinct 3-grams.
        self._group, self._before, self._after, self._speaker = (array("i") for _ in range(4))
        self._traits = array("i")
        self._grams: list[NDArray[np.uint16]] = []
        self._having = np.zeros(BUCKETS, np.intc)
        # By group: its last message, its messages, its terms.
        self._last, self._sizes, self._terms = (array("i") for _ in range(3))
        self._group_ids: list[str] = []
        self._groups: dict[str, int] = {}
        self._headed: dict[str, array[int]] = {}
        # By speaker: messages.
        self._spoken = array("i")
        self._speakers: dict[str, int] = {}
        self._named: dict[str, set[int]] = {}
        self._vectors: VectorIndex | None = None

    def add(
        self, id: str, text: str, speaker: str | None = None, group: str | None = None, header: str = ""
    ) -> None:
        """Index a message; ValueError where its id is present already.

        Of its group, the session, it is the last message so far; None is a session of its own. The header,
        such as the date, is that of the session: the one of its first message counts.
        """
        number = len(self._ids)
        super().add(id, text)
        self._sources[id] = (id, text, speaker, group, header)
        lowered = text.lower().replace("\u2019", "'")
        bits = ("?" in text or "？" in text, bool(_I.search(lowered)), bool(_TIME_WORD.search(lowered)))
        self._traits.append(bits[0] * _QUESTION + bits[1] * _FIRST_PERSON + bits[2] * _TIME)
        name = id if group is None else group
        code = self._groups.setdefault(name, len(self._group_ids))
        if code == len(self._group_ids):
            self._group_ids.append(name)
            for numbers, start in ((self._last, _NONE), (self._sizes, 0), (self._terms, 0)):
                numbers.append(start)
            for term in set(listed_terms(pieces(header))):
                self._headed.setdefault(term, array("i")).append(code)
        self._sizes[code] += 1
        self._terms[code] += self._lengths[number]
        before = self._last[code]
        self._group.append(code)
        self._before.append(before)
        self._after.append(_NONE)
        if before != _NONE:
            self._after[before] = number
        self._last[code] = number
        voice = self._speakers.setdefault(speaker or "", len(self._speakers))
        if voice == len(self._spoken):
            self._spoken.append(0)
            for term in listed_terms(pieces(speaker or "")):
                self._named.setdefault(term, set()).add(voice)
        self._spoken[voice] += 1
        self._speaker.append(voice)
        grams = np.unique(gram_buckets(text, 3, shortest=3))
        self._grams.append(grams)
        self._having[grams] += 1

    def embed(self, id: str, vector: Vector) -> None:
        """Give a message its embedding, once; KeyError without the message, else as `VectorIndex.add`."""
        self._vectors = self._vectors or VectorIndex(len(vector))
        self._vectors.add(self._ids[self._numbers[id]], vector)

    def remove(self, id: str) -> None:
        """Forget a message; KeyError where there is none of this id. Those beside it become neighbours."""
        number = self._numbers[id]
        before, after = self._before[number], self._after[number]
        if before != _NONE:
            self._after[before] = after
        if after != _NONE:
            self._before[after] = before
        else:
            self._last[self._group[number]] = before
        self._spoken[self._speaker[number]] -= 1
        code = self._group[number]
        self._sizes[code] -= 1
        self._terms[code] -= self._lengths[number]
        if not self._sizes[code]:
            del self._groups[self._group_ids[code]]
        self._having[self._grams[number]] -= 1
        vectors = self._vectors
        if vectors is not None and id in vectors:
            vectors.remove(id)
        super().remove(id)
        self._vectors = vectors

    def search(self, query: str, k: int, vector: Vector | None = None) -> Hits:
        """Return the k best messages with their scores, which may be negative; of equal ones the first ids.

        Messages that neither share a term with the query nor stand within two of one that does fill up where
        fewer than k do. `vector` is the embedding of the question, for messages that have theirs. ValueError
        for k < 1.
        """
        numbers, scores = self._scored(query, k, vector)
        return best(self._ids, numbers, scores, k)

    def search_groups(self, query: str, k: int, vector: Vector | None = None) -> Hits:
        """Return the k best groups, as `search` does; the score of a group is that of its best message."""
        numbers, scores = self._scored(query, k, vector)
        codes, owner = np.unique(view(self._group)[numbers], return_inverse=True)
        highest = np.full(codes.size, -np.inf)
        np.maximum.at(highest, owner, scores)
        return best(self._group_ids, codes, highest, k)

    def _scored(self, query: str, k: int, vector: Vector | None) -> tuple[Numbers, Floats]:
        numbers, features = self.features(query, max(_FIRST, k), vector)
        names, kind = (FEATURES, "all") if len(features) == len(FEATURES) else (EMBEDDED, "embedded")
        return numbers, linear(features, names, load_weights()[kind])

    def features(self, query: str, first: int, vector: Vector | None = None) -> tuple[Numbers, Floats]:
        """Return what the index knows of its messages for a query.

        Args:
            query: The bare question.
            first: How many messages: those that are best by `EARLY`. Of messages that share a term with the
                query, or stand within two of one that does, if there are so many.
            vector: The embedding of the query: so many of the nearest messages besides.

        Returns:
            The numbers of the messages, shape (n,), and `FEATURES` of each, shape (features, n); `EMBEDDED`
            where there are embeddings.
        """
        terms = listed_terms(pieces(query))
        names = {
            term: voices
            for term in terms
            if (voices := [v for v in self._named.get(term, ()) if self._spoken[v]])
        }
        bare = [term for term in terms if term not in names] or terms
        own = self._bm25(bare)
        # What stands beside the last of a group is the entry behind the last message, which scores 0.
        before, after = (np.append(view(links), _NONE) for links in (self._before, self._after))
        direct = np.flatnonzero(own)
        direct = direct[among_first(own[direct], _DIRECT)]
        reached = np.zeros(own.size, np.bool_)
        for links in (before, after):
            reached[links[direct]] = reached[links[links[direct]]] = True
        reached[direct] = True
        vectors = self._vectors if vector is not None else None
        near = [] if vectors is None or vector is None else vectors.search(vector, first)
        nearest = [self._numbers[id] for id, _ in near]
        reached[nearest] = True
        if np.count_nonzero(reached) <= first:
            reached[:-1] = self._present
        reached[_NONE] = False
        numbers = np.flatnonzero(reached)
        named = np.zeros(len(self._speakers) + 1, np.bool_)
        named[[voice for voices in names.values() for voice in voices]] = True
        traits = np.append(view(self._traits), 0)
        one, mine = before[numbers], traits[numbers]
        columns = (
            own[numbers],
            self._group_bm25(bare)[view(self._group)[numbers]],
            own[one],
            own[before[one]],
            own[after[after[numbers]]],
            named[view(self._speaker)[numbers]],
            own[one] * (traits[one] & _QUESTION > 0),
            mine & _QUESTION > 0,
            mine & _FIRST_PERSON > 0,
            (mine & _TIME > 0) & (_ASKS_WHEN.search(query.lower()) is not None),
            before[one] == _NONE,
            self._header_idf(bare)[view(self._group)[numbers]],
        )
        features = np.stack(columns).astype(np.float64)
        enough = among_first(linear(features, EARLY, load_weights()["early"]), first)
        enough |= np.isin(numbers, nearest)
        numbers, features = numbers[enough], features[:, enough]
        texts = np.stack([numbers, before[numbers], after[numbers]])
        parts = [(word, set(listed_terms(pieces(word)))) for word in query.split()]
        words = (word for word, stems in parts if not stems or stems - names.keys())
        shares, cosines = self._gram_likeness(" ".join(words), texts[:2])
        late = [self._joined_bm25(bare, texts[:2]), self._joined_bm25(bare, texts), *shares, *cosines]
        if vectors is not None and vector is not None:
            ids = [None if number == _NONE else self._ids[number] for number in texts.ravel().tolist()]
            late += [*vectors.standardised(vector, ids).reshape(texts.shape)]
        return numbers, np.concatenate([features, late])

    def _group_bm25(self, terms: Sequence[str]) -> Floats:
        """Return the BM25 of each group, a group being one text."""
        group, filled = view(self._group), len(self._groups)
        scores = np.zeros(len(self._sizes))
        for numbers, counts, times in self._matches(terms):
            tf = np.bincount(group[numbers], counts, minlength=scores.size)
            saturated = self._saturated(tf, view(self._terms), self._total / max(filled, 1))
            scores += times * idf(int(np.count_nonzero(tf)), filled) * saturated
        return scores

    def _header_idf(self, terms: Sequence[str]) -> Floats:
        """Return for each group the idf of the terms in its header, added up."""
        sizes = view(self._sizes)
        scores = np.zeros(sizes.size)
        for codes in (view(self._headed[term]) for term in dict.fromkeys(terms) if term in self._headed):
            present = codes[sizes[codes] > 0]
            scores[present] += idf(present.size, len(self._groups))
        return scores

    def _joined_bm25(self, terms: Sequence[str], texts: Numbers) -> Floats:
        """Return the BM25 of texts of some messages, shape (messages, n), by idf of messages; -1 is none."""
        lengths = np.append(view(self._lengths), 0)[texts].sum(axis=0)
        mean = len(texts) * self._total / max(len(self), 1)
        scores = np.zeros(texts.shape[1])
        for numbers, counts, times in self._matches(terms):
            by_number = np.zeros(len(self._lengths) + 1)
            by_number[numbers] = counts
            tf = by_number[texts].sum(axis=0)
            scores += times * idf(numbers.size, len(self)) * self._saturated(tf, lengths, mean)
        return scores

    def _gram_likeness(self, query: str, texts: Numbers) -> tuple[Floats, Floats]:
        """Return what share of the query's distinct 3-grams messages have, by idf, and the cosine; -1: 0."""
        grams = np.unique(gram_buckets(query, 3, shortest=3))
        squares = np.log((1 + len(self)) / (1 + self._having)) ** 2
        total = squares[grams].sum()
        wanted = np.zeros(BUCKETS)
        wanted[grams] = squares[grams]
        shares, cosines = np.zeros((2, len(self._grams) + 1))
        numbers = np.unique(texts[texts != _NONE])
        if numbers.size and total > 0:
            messages = [self._grams[number] for number in numbers.tolist()]
            owner = np.repeat(np.arange(numbers.size), [message.size for message in messages])
            every = np.concatenate(messages)
            common = np.bincount(owner, wanted[every], numbers.size)
            lengths = np.sqrt(np.bincount(owner, squares[every], numbers.size))
            shares[numbers] = common / total
            cosines[numbers] = common / np.maximum(lengths, 1e-9) / np.sqrt(total)
        return shares[texts], cosines[texts]

    def copy(self) -> Self:
        """Return a copy that changes on its own; the two share what neither has added to since."""
        twin = super().copy()
        twin._headed = {term: codes[:] for term, codes in self._headed.items()}
        twin._named = {term: voices.copy() for term, voices in self._named.items()}
        return twin
