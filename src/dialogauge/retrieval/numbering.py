"""What the growing indexes share: ids and their numbers, marks of removal, the best k."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Sequence
from copy import copy
from typing import Final

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]
Hits = list[tuple[str, float]]
"""Ids with their scores, the best first."""

_SPARE: Final = 64
"""So many removed entries stay in any case."""


class Numbering:
    """The ids of an index, numbered in the order in which they were added.

    A removed entry keeps its number, and a mark.
    """

    def __init__(self, ids: Sequence[str] = ()) -> None:
        self.ids = list(ids)
        """By number, those of removed entries too."""
        self.numbers = {id: number for number, id in enumerate(self.ids)}
        """Of the present entries."""
        self._present = bytearray(b"\1" * len(self.ids))

    def add(self, id: str) -> int:
        """Number an id; ValueError where it is present already."""
        if id in self.numbers:
            msg = f"{id!r} is in the index already: remove it first"
            raise ValueError(msg)
        number = self.numbers[id] = len(self.ids)
        self.ids.append(id)
        self._present.append(1)
        return number

    def remove(self, id: str) -> int:
        """Mark an entry as removed and return its number; KeyError where there is none."""
        number = self.numbers.pop(id)
        self._present[number] = 0
        return number

    @property
    def present(self) -> NDArray[np.bool_]:
        """By number, a view: it must be dropped before the next `add`."""
        return np.frombuffer(self._present, np.bool_)

    @property
    def removed(self) -> int:
        """How many numbers belong to removed entries."""
        return len(self.ids) - len(self.numbers)

    @property
    def crowded(self) -> bool:
        """Whether so many are removed that to index the others anew costs little by entry."""
        return self.removed > max(len(self.numbers), _SPARE)

    def __copy__(self) -> Numbering:
        twin = Numbering()
        vars(twin).update({name: copy(value) for name, value in vars(self).items()})
        return twin


def among_first(scores: NDArray[np.floating], k: int) -> NDArray[np.bool_]:
    """Return which scores are not below the k-th highest."""
    return scores >= (np.partition(scores, -k)[-k] if scores.size > k else -np.inf)


def best(ids: Sequence[str], numbers: Numbers, scores: Floats, k: int) -> Hits:
    """Return the k highest scores with their ids; of equal scores those whose ids come first.

    Args:
        ids: By number.
        numbers: Distinct, shape (n,).
        scores: Of these numbers, shape (n,).
        k: At least 1, else ValueError.
    """
    if k < 1:
        msg = f"a search returns at least 1 entry, not {k}"
        raise ValueError(msg)
    enough = among_first(scores, k)
    numbers, scores = numbers[enough], scores[enough]
    hits = ((-score, ids[number]) for number, score in zip(numbers.tolist(), scores.tolist(), strict=True))
    return [(id, -score) for score, id in heapq.nsmallest(k, hits)]


def view(values: array[int]) -> NDArray[np.intc]:
    """Return a view of an array that grows; it must be dropped before the array grows."""
    return np.frombuffer(values, np.intc)
