"""Exact cosine over vectors that come and go one by one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from dialogauge.core.errors import InputError
from dialogauge.retrieval.growing import Floats, GrowingIndex, Hits, among_first, best

Vector = Sequence[float] | NDArray[np.floating]

_CLOSE: Final = 1e-5
"""More than float32 errs in the cosine of two unit vectors of some thousand dimensions."""


class VectorIndex(GrowingIndex):
    """Vectors of one width and their exact cosine with another; any embedding will do.

    Kept as unit vectors in float32, in a matrix that doubles when it is full. A vector of zeros has the
    cosine 0 with every other.
    """

    def __init__(self, width: int, *, ids: Sequence[str] = ()) -> None:
        """Take the number of dimensions; ValueError below 1."""
        if width < 1:
            msg = f"a vector has at least one dimension, not {width}"
            raise ValueError(msg)
        super().__init__(ids)
        self._matrix = np.empty((0, width), np.float32)
        self._shared = False

    @property
    def width(self) -> int:
        """The number of dimensions."""
        return self._matrix.shape[1]

    def add(self, id: str, vector: Vector) -> None:
        """Keep a vector; ValueError for another width, a number not finite, or an id present already."""
        unit = self._unit(vector)
        number = self._numbered(id)
        if self._shared or number == len(self._matrix):
            larger = np.empty((max(2 * number, 64), self.width), np.float32)
            larger[:number] = self._matrix[:number]
            self._matrix, self._shared = larger, False
        self._matrix[number] = unit

    def remove(self, id: str) -> None:
        """Forget a vector; KeyError where there is none of this id."""
        self._unmarked(id)
        if self._crowded:
            self._close_gaps()

    def search(self, query: Vector, k: int) -> Hits:
        """Return the k ids of highest cosine, -1 to 1; of equal ones the first ids.

        ValueError for a query that `add` would refuse, and for k < 1.
        """
        unit, numbers = self._unit(query), np.flatnonzero(self._present)
        rough = self._rough(unit)
        if numbers.size > k > 0:
            # A product of matrices rounds by where a row stands: what may be among the best is computed anew.
            numbers = numbers[rough >= rough[among_first(rough, k)].min() - _CLOSE]
        return best(self._ids, numbers, self._cosines(unit, numbers), k)

    def standardised(self, query: Vector, ids: Sequence[str | None]) -> Floats:
        """Return the cosines of some entries, less the mean of all, by the standard deviation of all.

        0 for None and for ids that are not here. ValueError for a query that `add` would refuse.
        """
        unit = self._unit(query)
        rough = self._rough(unit) if len(self) else np.zeros(1, np.float32)
        out, here = np.zeros(len(ids)), np.array([id in self for id in ids], np.bool_)
        numbers = np.array([self._numbers[id] for id in ids if id is not None and id in self], np.intp)
        out[here] = (self._cosines(unit, numbers) - rough.mean(dtype=float)) / (rough.std(dtype=float) or 1.0)
        return out

    def copy(self) -> Self:
        """Return a copy that changes on its own; the two share their matrix until one adds to it."""
        matrix, self._matrix, self._shared = self._matrix, self._matrix[:0], True
        twin = super().copy()
        self._matrix = twin._matrix = matrix
        return twin

    def save(self) -> bytes:
        """Return the index as bytes, for `load`: a line of JSON, then the matrix."""
        self._close_gaps()
        head = json.dumps({"width": self.width, "ids": self._ids}).encode()
        return head + b"\n" + self._matrix.astype("<f4").tobytes()

    @classmethod
    def load(cls, data: bytes) -> Self:
        """Return the index that `save` wrote; InputError for any other bytes."""
        head, _, matrix = data.partition(b"\n")
        try:
            index = cls(**json.loads(head))
            index._matrix = np.frombuffer(matrix, "<f4").reshape(len(index._ids), index.width)
        except (TypeError, ValueError) as error:
            msg = "these bytes are no saved index"
            raise InputError(msg, hint="index the vectors anew") from error
        index._shared = True
        return index

    def _rough(self, unit: Floats) -> NDArray[np.float32]:
        """Return the cosine of each present entry, in the order of adding."""
        products: NDArray[np.float32] = self._matrix[: len(self._ids)] @ unit.astype(np.float32)
        return products[self._present]

    def _cosines(self, unit: Floats, numbers: NDArray[np.intp]) -> Floats:
        cosines: Floats = (self._matrix[numbers] * unit).sum(axis=1)
        return cosines.clip(-1.0, 1.0)

    def _unit(self, vector: Vector) -> Floats:
        values = np.asarray(vector, np.float64)
        if values.shape != (self.width,) or not np.isfinite(values).all():
            msg = f"a vector of this index has {self.width} finite numbers, not shape {values.shape}"
            raise ValueError(msg)
        values = values / (np.abs(values).max() or 1.0)  # so that no square overflows
        unit: Floats = values / (np.sqrt(values @ values) or 1.0)
        return unit

    def _close_gaps(self) -> None:
        self._matrix, self._shared = self._matrix[np.flatnonzero(self._present)], False
        super().__init__(list(self._numbers))
