"""A reply as numbers: its form, its place, and what it takes up of the conversation. No word list, no label.

Of a reply its substance is read. Everything is read off the messages up to the reply (in hindsight also off
the user message that follows), so a reply has the same numbers whether or not its conversation goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dialogauge.core import Conversation, Message
from dialogauge.core.protocols import Reply, Sight
from dialogauge.judges.local_user.substance import substance_of, terms_of
from dialogauge.text import BUCKETS, SHAPE, TextShape, gram_buckets, presence, shape_of

_READ: Final = 4000
"""Characters of a message that n-grams are taken of."""

_REQUEST: Final = ("length", "numbers", "questions", "lines", "comma_share")
Seen = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ReadReply:
    """The numbers of one reply; equal to itself only."""

    features: tuple[float, ...]
    """In the order of `feature_names_of`."""
    grams: NDArray[np.uint16]
    """Distinct buckets of its character n-grams."""
    counts: NDArray[np.float32]
    """How often each occurs."""


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    text: str
    shape: TextShape
    grams: NDArray[np.intp]
    """Distinct buckets of its pairs of characters."""
    seen: Seen
    """Which these are."""

    @property
    def size(self) -> int:
        """How many distinct n-grams it has."""
        return self.grams.size

    def number(self, name: str) -> float:
        """Return one of the numbers of `SHAPE`."""
        return self.shape[SHAPE.index(name)]


@lru_cache(maxsize=128)
def _text_of(text: str) -> _Text:
    """Read a text; kept, for the messages before one reply are mostly those before another too."""
    seen = presence(gram_buckets(text[:_READ], 2, shortest=2))
    return _Text(text, shape_of(text), np.flatnonzero(seen), seen)


_NOTHING: Final = np.zeros(BUCKETS, np.bool_)
_EMPTY: Final = _text_of("")


@dataclass(slots=True)
class _Before:
    """The messages before one; grows as the conversation is walked."""

    context: Seen
    asked: set[str]
    """Terms of the context and of all user messages."""
    request: _Text = _EMPTY
    last: _Text = _EMPTY
    requests: Seen = field(default_factory=lambda: _NOTHING.copy())
    """Of all user messages before the last one."""
    replies: Seen = field(default_factory=lambda: _NOTHING.copy())
    replied: int = 0
    lengths: float = 0.0
    characters: int = 0
    reply_characters: int = 0

    def add(self, role: str, text: _Text) -> None:
        self.characters += len(text.text)
        if role == "user":
            self.asked |= terms_of(text.text[:_READ])
            self.requests |= self.request.seen
            self.request = text
        else:
            self.last = text
            self.replies |= text.seen
            self.replied += 1
            self.lengths += text.number("length")
            self.reply_characters += len(text.text)


def _share(text: _Text, seen: Seen, of: int) -> float:
    """Return how many of a text's n-grams have been seen, as a share of `of`; 0 of nothing."""
    return float(np.count_nonzero(seen[text.grams])) / of if of else 0.0


def _known(text: _Text, before: _Before) -> int:
    """Return how many of a text's n-grams any message before had."""
    before_it = before.replies[text.grams] | before.requests[text.grams] | before.request.seen[text.grams]
    return int(np.count_nonzero(before_it))


def _longer(a: _Text, b: _Text) -> float:
    return a.number("length") - b.number("length")


_RELATION: Final[Mapping[str, Callable[[_Text, _Before], float]]] = {
    "position": lambda _, b: math.log1p(b.replied),
    "first": lambda _, b: b.replied == 0,
    "second": lambda _, b: b.replied == 1,
    "said_before": lambda _, b: math.log1p(b.characters),
    "replied_before": lambda _, b: math.log1p(b.reply_characters),
    "longer_than_usual": lambda r, b: r.number("length") - b.lengths / b.replied if b.replied else 0.0,
    "longer_than_last": lambda r, b: _longer(r, b.last) if b.replied else 0.0,
    "longer_than_request": lambda r, b: _longer(r, b.request),
    "takes_up_request": lambda r, b: _share(r, b.request.seen, b.request.size),
    "takes_up_context": lambda r, b: _share(r, b.context, r.size),
    "takes_up_earlier_requests": lambda r, b: _share(r, b.requests, int(np.count_nonzero(b.requests))),
    "repeats_last_reply": lambda r, b: _share(r, b.last.seen, min(r.size, b.last.size)),
    "repeats_any_reply": lambda r, b: _share(r, b.replies, r.size),
    "request_repeats_request": lambda _, b: _share(b.request, b.requests, b.request.size),
    "request_takes_up_reply": lambda _, b: _share(b.request, b.last.seen, b.request.size),
    "new": lambda r, b: 1 - _known(r, b) / r.size if r.size else 1.0,
}
"""A reply's place, and how it relates to the messages before it."""

_NEXT: Final[Mapping[str, Callable[[_Text, _Text, _Text], float]]] = {
    "no_next": lambda *_: 0.0,
    "next_length": lambda _, request, after: _longer(after, request),
    "next_questions": lambda _r, _q, after: after.number("questions"),
    "next_exclamations": lambda _r, _q, after: after.number("exclamations"),
    "next_repeats_request": lambda _, request, after: _share(after, request.seen, after.size),
    "next_takes_up_reply": lambda reply, _, after: _share(after, reply.seen, after.size),
    "next_new": lambda reply, request, after: 1 - _share(after, reply.seen | request.seen, after.size),
}
"""How the next user message relates to reply and request; without one all are 0 and `no_next` is 1."""


def feature_names_of(sight: Sight) -> tuple[str, ...]:
    """Return the names of a reply's numbers, in their order."""
    names = (*(f"reply_{n}" for n in SHAPE), *(f"request_{n}" for n in _REQUEST), *_RELATION)
    return (*names, *(_NEXT if sight == "hindsight" else ()))


@cache
def relation_columns() -> tuple[int, ...]:
    """Return the positions of the numbers that relate a reply to the messages before it.

    These are shares, and what the shares depend on: place and both lengths.
    """
    names = feature_names_of("foresight")
    return tuple(names.index(name) for name in ("reply_length", "request_length", *_RELATION))


def _walked(conversation: Conversation) -> Iterator[tuple[int, Message, _Text, _Before]]:
    """Yield every message of user and assistant with its index and what comes before it.

    Of a reply its substance is read.
    """
    context = (conversation.context or "")[:_READ]
    before = _Before(presence(gram_buckets(context, 2, shortest=2)), set(terms_of(context)))
    for index, message in enumerate(conversation.messages):
        if message.role in ("user", "assistant"):
            user = message.role == "user"
            text = _text_of(message.text if user else substance_of(message.text, before.asked))
            yield index, message, text, before
            before.add(message.role, text)


def read_replies(
    conversation: Conversation, sight: Sight, wanted: Collection[int]
) -> Iterator[tuple[int, ReadReply]]:
    """Yield for each assistant message whose index is wanted its numbers; linear in the conversation."""
    for index, message, text, before in _walked(conversation):
        if message.role == "assistant" and index in wanted:
            features = _foresight(text, before)
            if sight == "hindsight":
                following = conversation.messages[index + 1 :]
                after = next((m.text for m in following if m.role == "user"), None)
                features += _hindsight(text, before, after)
            grams, counts = np.unique(gram_buckets(text.text[:_READ]), return_counts=True)
            yield index, ReadReply(features, grams, counts.astype(np.float32))


def read_instead(conversation: Conversation, texts: Mapping[int, str]) -> dict[int, tuple[float, ...]]:
    """Return the numbers in foresight that other texts would have in the place of replies.

    Args:
        conversation: It goes on from its own replies.
        texts: By index of an assistant message what to read in its place.
    """
    return {
        index: _foresight(_text_of(substance_of(texts[index], before.asked)), before)
        for index, _, _, before in _walked(conversation)
        if index in texts
    }


def _foresight(reply: _Text, before: _Before) -> tuple[float, ...]:
    of_request = (before.request.number(name) for name in _REQUEST)
    return (*reply.shape, *of_request, *(float(rule(reply, before)) for rule in _RELATION.values()))


def _hindsight(reply: _Text, before: _Before, following: str | None) -> tuple[float, ...]:
    if following is None:
        return (1.0,) + (0.0,) * (len(_NEXT) - 1)
    after = _text_of(following)
    return tuple(float(rule(reply, before.request, after)) for rule in _NEXT.values())


_TOPICS: Final = 64
_COLUMNS: Final = 8192
"""Buckets that are looked at, the most widespread ones."""
_REPLIES: Final = 3000
"""Replies that the directions are taken from, evenly spread over all."""
_LEAST: Final = 3
"""Replies that an n-gram must occur in."""
_SPARE, _ROUNDS, _SEED = 16, 3, 0

Singles = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Topics:
    """Latent semantic analysis over hashed character n-grams: no text can be read back from it."""

    column: NDArray[np.int64]
    """By bucket its column; -1 for one that is not looked at."""
    idf: Singles
    """By column."""
    directions: Singles
    """Shape (columns, topics)."""
    scale: float
    """Makes the mean squared length of the known replies 1."""
    _of: WeakKeyDictionary[ReadReply, Floats] = field(
        default_factory=WeakKeyDictionary, repr=False, compare=False
    )

    @property
    def size(self) -> int:
        """How many numbers a reply becomes."""
        return int(self.directions.shape[1])

    def weighted(self, reply: ReadReply) -> tuple[NDArray[np.int64], Singles]:
        """Return the columns that a reply has something in, and its TF-IDF there, of length 1."""
        column = self.column[reply.grams]
        known = column >= 0
        column = column[known]
        values = (1 + np.log(reply.counts[known])) * self.idf[column]
        length = float(np.sqrt(values @ values))
        return column, values / length if length else values

    def of(self, reply: ReadReply) -> Floats:
        """Return the numbers of one reply, shape (topics,); computed once while the reply lives."""
        out = self._of.get(reply)
        if out is None:
            column, values = self.weighted(reply)
            out = (values @ self.directions[column]).astype(np.float64) * self.scale
            self._of[reply] = out
        return out


def fit_topics(replies: Sequence[ReadReply]) -> Topics:
    """Find the main directions by a randomised singular value decomposition of fixed seed.

    Fewer replies or n-grams than topics give fewer topics, none at all where there is nothing to compare.
    """
    step = max(1, -(-len(replies) // _REPLIES))
    kept = replies[::step]
    often = np.zeros(BUCKETS, np.int64)
    for reply in kept:
        often[reply.grams] += 1
    order = np.argsort(-often, kind="stable")[:_COLUMNS]
    order = order[often[order] >= _LEAST]
    column = np.full(BUCKETS, -1, np.int64)
    column[order] = np.arange(order.size)
    idf = (np.log((1 + len(kept)) / (1 + often[order])) + 1).astype(np.float32)
    empty = Topics(column, idf, np.zeros((order.size, 0), np.float32), 1.0)
    topics = min(_TOPICS, len(kept) - 1, order.size)
    if topics < 1:
        return empty
    table = np.zeros((len(kept), order.size), np.float32)
    for row, reply in zip(table, kept, strict=True):
        at, values = empty.weighted(reply)
        row[at] = values
    # The leading right singular vectors, shape (columns, topics), by subspace iteration.
    rng = np.random.default_rng(_SEED)
    width = min(topics + _SPARE, *table.shape)
    basis = rng.standard_normal((table.shape[1], width)).astype(np.float32)
    for _ in range(_ROUNDS):
        basis, _r = np.linalg.qr(table.T @ (table @ basis))
    _u, _s, right = np.linalg.svd(table @ basis, full_matrices=False)
    directions: Singles = (basis @ right[:topics].T).astype(np.float32)
    length = float(np.mean(np.sum((table @ directions).astype(np.float64) ** 2, axis=1)))
    return Topics(column, idf, directions, 1 / np.sqrt(length) if length > 0 else 1.0)


@dataclass(slots=True)
class Reader:
    """Reads replies; keeps what it read."""

    sight: Sight
    _walks: dict[str, tuple[Conversation, dict[int, ReadReply]]] = field(default_factory=dict)

    def read(self, replies: Sequence[Reply]) -> list[ReadReply]:
        """Return the numbers of the replies, in their order.

        Several replies of one conversation are read in one walk along its longest part that is shown: what
        follows a reply changes nothing of its numbers in foresight.
        """
        wanted: dict[str, set[int]] = {}
        for reply in replies:
            wanted.setdefault(reply.conversation.id, set()).add(reply.message)
        walks = {name: self._walk(shown, wanted[name]) for name, shown in _longest(replies).items()}
        return [walks[reply.conversation.id][reply.message] for reply in replies]

    def _walk(self, shown: Conversation, wanted: set[int]) -> dict[int, ReadReply]:
        known = self._walks.get(shown.id)
        if known is None or not _goes_on(known[0], shown, self.sight):
            known = self._walks[shown.id] = shown, {}
        if missing := wanted - known[1].keys():
            known[1].update(read_replies(known[0], self.sight, missing))
        return known[1]


def read_misplaced(replies: Sequence[Reply], texts: Sequence[str]) -> list[tuple[float, ...]]:
    """Return the numbers in foresight that each text has in the place of its reply."""
    instead: dict[str, dict[int, str]] = {}
    for reply, text in zip(replies, texts, strict=True):
        instead.setdefault(reply.conversation.id, {})[reply.message] = text
    read = {name: read_instead(shown, instead[name]) for name, shown in _longest(replies).items()}
    return [read[reply.conversation.id][reply.message] for reply in replies]


def _longest(replies: Sequence[Reply]) -> dict[str, Conversation]:
    longest: dict[str, Conversation] = {}
    for reply in replies:
        shown = reply.conversation
        longest[shown.id] = max(longest.get(shown.id, shown), shown, key=lambda c: len(c.messages))
    return longest


def _goes_on(known: Conversation, shown: Conversation, sight: Sight) -> bool:
    """Whether the one is the other, or in foresight begins with it."""
    size = len(shown.messages) if sight == "foresight" else None
    return known.context == shown.context and known.messages[:size] == shown.messages
