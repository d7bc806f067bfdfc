"""What the growing indexes share: numbered ids, marks of removal, copies, the best k."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]
Hits = list[tuple[str, float]]
"""Ids with their scores, the best first."""


class GrowingIndex:
    """Entries with ids, numbered in the order of adding; a removed one keeps its number, and a mark.

    Not for several threads of which one adds or removes.
    """

    def __init__(self, ids: Sequence[str] = ()) -> None:
        self._ids = list(ids)
        self._numbers = {id: number for number, id in enumerate(self._ids)}
        self._marks = bytearray(b"\1" * len(self._ids))

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, id: object) -> bool:
        return id in self._numbers

    def copy(self) -> Self:
        """Return a copy that changes on its own."""
        twin = object.__new__(type(self))
        vars(twin).update({name: copy(value) for name, value in vars(self).items()})
        return twin

    def __copy__(self) -> Self:
        return self.copy()

    def _numbered(self, id: str) -> int:
        if id in self._numbers:
            msg = f"{id!r} is in the index already: remove it first"
            raise ValueError(msg)
        number = self._numbers[id] = len(self._ids)
        self._ids.append(id)
        self._marks.append(1)
        return number

    def _unmarked(self, id: str) -> int:
        number = self._numbers.pop(id)
        self._marks[number] = 0
        return number

    @property
    def _present(self) -> NDArray[np.bool_]:
        """By number, a view: it must be dropped before the next entry."""
        return np.frombuffer(self._marks, np.bool_)

    @property
    def _crowded(self) -> bool:
        """Whether so many are removed that to build the index anew costs little by entry."""
        return len(self._ids) > 64 + 2 * len(self)


def among_first(scores: NDArray[np.floating], k: int) -> NDArray[np.bool_]:
    """Return which scores are not below the k-th highest."""
    return scores >= (np.partition(scores, -k)[-k] if scores.size > k else -np.inf)


def best(ids: Sequence[str], numbers: NDArray[np.integer], scores: Floats, k: int) -> Hits:
    """Return the k highest of scores, shape (n,), with their ids; of equal scores the first ids.

    `numbers` are distinct, of the same shape: by them `ids` are looked up. ValueError for k < 1.
    """
    if k < 1:
        msg = f"a search returns at least 1 entry, not {k}"
        raise ValueError(msg)
    enough = among_first(scores, k)
    hits = zip((-scores[enough]).tolist(), [ids[n] for n in numbers[enough].tolist()], strict=True)
    return [(id, -score) for score, id in heapq.nsmallest(k, hits)]


def view(values: array[int]) -> NDArray[np.intc]:
    """Return a view of an array that grows; it must be dropped before the array grows."""
    return np.frombuffer(values, np.intc)
