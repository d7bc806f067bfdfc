"""What replies are about, in few numbers: the main directions in which the known replies' n-grams differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dialogauge.judge.user.reading import ReadReply
from dialogauge.text import BUCKETS

__all__ = ["Topics", "fit_topics"]

_TOPICS: Final = 64
_COLUMNS: Final = 8192
"""Buckets that are looked at, the most widespread ones."""
_REPLIES: Final = 3000
"""Replies that the directions are taken from, evenly spread over all."""
_LEAST: Final = 3
"""Replies that an n-gram must occur in."""
_SPARE, _ROUNDS, _SEED = 16, 3, 0

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Topics:
    """Latent semantic analysis over hashed character n-grams; nothing of a text can be read back from it."""

    column: NDArray[np.int64]
    """By bucket its column; -1 for one that is not looked at."""
    idf: Singles
    """By column."""
    directions: Singles
    """Shape (columns, topics)."""
    scale: float
    """Makes the mean squared length of the known replies 1."""

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
        """Return the numbers of one reply, shape (topics,)."""
        column, values = self.weighted(reply)
        out: Floats = (values @ self.directions[column]).astype(np.float64) * self.scale
        return out


def fit_topics(replies: Sequence[ReadReply]) -> Topics:
    """Find the main directions by a randomised singular value decomposition of fixed seed.

    Fewer replies or n-grams than topics give fewer topics, none at all where there is nothing to compare.
    """
    step = max(1, -(-len(replies) // _REPLIES))
    kept = replies[::step]
    found = np.zeros(BUCKETS, np.int64)
    for reply in kept:
        found[reply.grams] += 1
    order = np.argsort(-found, kind="stable")[:_COLUMNS]
    order = order[found[order] >= _LEAST]
    column = np.full(BUCKETS, -1, np.int64)
    column[order] = np.arange(order.size)
    idf = (np.log((1 + len(kept)) / (1 + found[order])) + 1).astype(np.float32)
    empty = Topics(column, idf, np.zeros((order.size, 0), np.float32), 1.0)
    topics = min(_TOPICS, len(kept) - 1, order.size)
    if topics < 1:
        return empty
    table = np.zeros((len(kept), order.size), np.float32)
    for row, reply in zip(table, kept, strict=True):
        at, values = empty.weighted(reply)
        row[at] = values
    directions = _directions(table, topics)
    length = float(np.mean(np.sum((table @ directions).astype(np.float64) ** 2, axis=1)))
    return Topics(column, idf, directions, 1 / np.sqrt(length) if length > 0 else 1.0)


def _directions(table: Singles, topics: int) -> Singles:
    """Return the leading right singular vectors, shape (columns, topics), by subspace iteration."""
    rng = np.random.default_rng(_SEED)
    width = min(topics + _SPARE, *table.shape)
    basis = rng.standard_normal((table.shape[1], width)).astype(np.float32)
    for _ in range(_ROUNDS):
        basis, _r = np.linalg.qr(table.T @ (table @ basis))
    _u, _s, right = np.linalg.svd(table @ basis, full_matrices=False)
    found: Singles = (basis @ right[:topics].T).astype(np.float32)
    return found
