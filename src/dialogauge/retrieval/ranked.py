"""The fitted ranker: a linear score over what a message, those beside it and its session say of a query.

`python -m benchmarks.retrieval fit` fits the weights to questions with evidence. `ranked.json` holds names of
features and numbers: nothing of the texts.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.core.patterns import lazy_pattern
from dialogauge.retrieval.lexical import LexicalIndex
from dialogauge.retrieval.numbering import (
    Floats,
    Hits,
    Numbers,
    best,
    view,
)
from dialogauge.text import BUCKETS, gram_buckets, listed_terms, pieces

FEATURES: Final = tuple(
    "own session before after two_before two_after session_best speaker answers length question first_person"
    " when grams grams_before".split()
)
"""`own` and the next six are BM25. `answers` is that of the message before where it is a question; `when` a
time word where the query asks for a time; `grams` the share of the query's character 3-grams, by idf."""
_LATE: Final = 13
"""From here on features are computed of the first messages only."""
_FIRST: Final = 200
GROUP_FEATURES: Final = ("session", "best_message")

_COLUMNS: Final = (
    "_group",
    "_before",
    "_after",
    "_speaker",
    "_traits",
    "_grams",
    "_last",
    "_sizes",
    "_terms",
)
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
    r"\b(?:when|how long|(?:what|which) (?:date|day|month|year|time))\b|什么时[候间]|何时|哪[天年月]|几[号月点]|多久"
)


@dataclass(frozen=True)
class RankedWeights:
    """What `ranked.json` holds."""

    message: Mapping[str, float]
    """By name of `FEATURES`."""
    group: Mapping[str, float]
    """By name of `GROUP_FEATURES`."""
    fitted_on: str


@cache
def load_weights() -> RankedWeights:
    """Return the weights that ship."""
    file = resources.files(__package__) / "ranked.json"
    return RankedWeights(**json.loads(file.read_text(encoding="utf-8")))


def linear(features: Floats, names: Sequence[str], weights: Mapping[str, float]) -> Floats:
    """Return the score of each column of features, shape (names, n): the same in whatever company it stands."""
    scores = np.zeros(features.shape[1])
    for row, name in zip(features, names, strict=True):
        scores += weights[name] * row
    return scores


class RankedIndex(LexicalIndex):
    """Messages with their speakers and sessions, ranked for a query by a fitted linear score.

    A group (a session) is its messages in the order in which they were added. The ranking depends on the
    messages that are present, and on their order within the groups.
    """

    kind = "ranked"

    def __init__(self, *, k1: float = 1.5, b: float = 0.75) -> None:
        super().__init__(k1=k1, b=b)
        # By message: its group, the messages beside it there, its speaker, its traits, its distinct 3-grams.
        self._group, self._before, self._after, self._speaker = (array("i") for _ in range(4))
        self._traits = array("i")
        self._grams: list[NDArray[np.uint16]] = []
        self._having = np.zeros(BUCKETS, np.intc)
        # By group: its last message, its messages, its terms.
        self._last, self._sizes, self._terms = (array("i") for _ in range(3))
        self._groups: dict[str, int] = {}
        self._speakers: dict[str, int] = {}
        self._named: dict[str, set[int]] = {}

    def add(
        self, id: str, text: str, speaker: str | None = None, group: str | None = None, header: str = ""
    ) -> None:
        """Index a message; ValueError where its id is present already.

        Args:
            id: Of the message.
            text: What it says.
            speaker: Whose name is found in queries, and in the message.
            group: Its session, of which it is the last message so far; None: a session of its own.
            header: Words that are found too, but that nobody says: a date.
        """
        number = len(self._numbering.ids)
        super().add(id, f"{header} {speaker or ''} {text}")
        self._sources[id] = (id, text, speaker, group, header)
        lowered = text.lower().replace("\u2019", "'")
        asks = "?" in text or "？" in text
        traits = (bool(_I.search(lowered)), bool(_TIME_WORD.search(lowered)))
        self._traits.append(_QUESTION * asks + _FIRST_PERSON * traits[0] + _TIME * traits[1])
        code = self._groups.setdefault(id if group is None else group, len(self._groups))
        if code == len(self._last):
            self._last.append(_NONE)
            self._sizes.append(0)
            self._terms.append(0)
        self._sizes[code] += 1
        self._terms[code] += self._lengths[number]
        before = self._last[code]
        self._group.append(code)
        self._before.append(before)
        self._after.append(_NONE)
        if before != _NONE:
            self._after[before] = number
        self._last[code] = number
        self._speaker.append(self._number_of(speaker or ""))
        grams = np.unique(gram_buckets(text, 3, shortest=3))
        self._grams.append(grams)
        self._having[grams] += 1

    def remove(self, id: str) -> None:
        """Forget a message; KeyError where there is none of this id. Those beside it become neighbours."""
        number = self._numbering.numbers[id]
        before, after = self._before[number], self._after[number]
        if before != _NONE:
            self._after[before] = after
        if after != _NONE:
            self._before[after] = before
        else:
            self._last[self._group[number]] = before
        self._sizes[self._group[number]] -= 1
        self._terms[self._group[number]] -= self._lengths[number]
        self._having[self._grams[number]] -= 1
        super().remove(id)

    def search(self, query: str, k: int) -> Hits:
        """Return the k best messages with their scores, which may be negative; of equal ones the first ids.

        Only messages that share a term with the query, or stand within two of one that does.

        Args:
            query: The bare question.
            k: At least 1, else ValueError.
        """
        numbers, features = self.features(query, first=max(_FIRST, k))
        return best(self._numbering.ids, numbers, linear(features, FEATURES, load_weights().message), k)

    def search_groups(self, query: str, k: int) -> Hits:
        """Return the k best groups with their scores, as `search` does: by all they say and their best message."""
        codes, features = self.group_features(query, load_weights().message, first=max(_FIRST, k))
        return best(list(self._groups), codes, linear(features, GROUP_FEATURES, load_weights().group), k)

    def features(self, query: str, *, first: int | None = None) -> tuple[Numbers, Floats]:
        """Return what the index knows of its messages for a query.

        Args:
            query: The bare question.
            first: Only of so many that are best without the features of n-grams; None: of all.

        Returns:
            The numbers of the messages, shape (n,), and `FEATURES` of each, shape (features, n).
        """
        terms = listed_terms(pieces(query))
        speaking = set().union(*(self._named.get(term, ()) for term in terms))
        bare = [term for term in terms if term not in self._named] or terms
        own = self._bm25(bare)
        # What stands beside the last of a group is the entry behind the last message, which scores 0.
        before, after = (np.append(view(links), _NONE) for links in (self._before, self._after))
        direct = np.flatnonzero(own)
        reached = np.zeros(own.size, np.bool_)
        for links in (before, after):
            reached[links[direct]] = reached[links[links[direct]]] = True
        reached[direct] = True
        reached[_NONE] = False
        numbers = np.flatnonzero(reached)
        group = view(self._group)
        sessions = self._group_bm25(bare)
        highest = np.zeros(sessions.size)
        np.maximum.at(highest, group[direct], own[direct])
        named = np.zeros(len(self._speakers) + 1, np.bool_)
        named[list(speaking)] = True
        traits = np.append(view(self._traits), 0)
        group, traits_of = group[numbers], traits[numbers]
        one_before, one_after = before[numbers], after[numbers]
        columns = (
            own[numbers],
            sessions[group],
            own[one_before],
            own[one_after],
            own[before[one_before]],
            own[after[one_after]],
            highest[group],
            named[view(self._speaker)[numbers]],
            own[one_before] * (traits[one_before] & _QUESTION > 0),
            np.log1p(view(self._lengths)[numbers]),
            traits_of & _QUESTION > 0,
            traits_of & _FIRST_PERSON > 0,
            (traits_of & _TIME > 0) & (_ASKS_WHEN.search(query.lower()) is not None),
        )
        features = np.zeros((len(FEATURES), numbers.size))
        features[:_LATE] = columns
        if first is not None and numbers.size > first:
            scores = linear(features, FEATURES[:_LATE], load_weights().message)
            enough = scores >= np.partition(scores, -first)[-first]
            numbers, features = numbers[enough], features[:, enough]
        words = (w for w in query.split() if self._named.keys().isdisjoint(listed_terms(pieces(w))))
        shares = self._gram_shares(" ".join(words), np.concatenate([numbers, before[numbers]]))
        features[_LATE:] = shares[numbers], shares[before[numbers]]
        return numbers, features

    def group_features(
        self, query: str, weights: Mapping[str, float], *, first: int | None = None
    ) -> tuple[Numbers, Floats]:
        """Return the groups of the messages that `features` returns, and `GROUP_FEATURES` of each group."""
        numbers, features = self.features(query, first=first)
        codes, at = np.unique(view(self._group)[numbers], return_inverse=True)
        highest = np.full(codes.size, -np.inf)
        np.maximum.at(highest, at, linear(features, FEATURES, weights))
        sessions = np.zeros(codes.size)
        sessions[at] = features[FEATURES.index("session")]
        return codes, np.stack([sessions, highest])

    def _group_bm25(self, terms: Sequence[str]) -> Floats:
        """Return the BM25 of each group, a group being one text."""
        sizes, group = view(self._sizes), view(self._group)
        filled = np.count_nonzero(sizes)
        mean = self._total / max(filled, 1) or 1.0
        saturation = self._k1 * (1 - self._b + self._b * view(self._terms) / mean)
        scores = np.zeros(sizes.size)
        for numbers, counts, times in self._matches(terms):
            tf = np.bincount(group[numbers], counts, minlength=sizes.size)
            scores += times * self._idf(np.count_nonzero(tf), filled) * tf / (tf + saturation)
        return scores

    def _gram_shares(self, query: str, numbers: Numbers) -> Floats:
        """Return the share of the query's 3-grams, by squared idf, in each of some messages; 0 elsewhere.

        A number of -1 stands for no message.
        """
        shares = np.zeros(len(self._grams) + 1)
        grams = np.unique(gram_buckets(query, 3, shortest=3))
        weights = np.zeros(BUCKETS)
        weights[grams] = np.log((1 + len(self)) / (1 + self._having[grams])) ** 2
        total = weights.sum()
        numbers = np.unique(numbers[numbers != _NONE])
        if total > 0 and numbers.size:
            texts = [self._grams[number] for number in numbers.tolist()]
            owner = np.repeat(np.arange(numbers.size), [text.size for text in texts])
            shares[numbers] = np.bincount(owner, weights[np.concatenate(texts)], numbers.size) / total
        return shares

    def _number_of(self, speaker: str) -> int:
        """Number a speaker, and keep by which terms queries name them."""
        number = self._speakers.setdefault(speaker, len(self._speakers))
        for term in listed_terms(pieces(speaker)):
            self._named.setdefault(term, set()).add(number)
        return number

    def copy(self) -> Self:
        """Return a copy that changes on its own; the two share what neither has added to since."""
        twin = super().copy()
        for name in _COLUMNS:
            setattr(twin, name, getattr(self, name)[:])
        twin._having = self._having.copy()
        twin._groups, twin._speakers = self._groups.copy(), self._speakers.copy()
        twin._named = {term: set(numbers) for term, numbers in self._named.items()}
        return twin
