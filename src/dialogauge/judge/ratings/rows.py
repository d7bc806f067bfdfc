"""Sparse rows of numbers, and the sums over them that a linear model needs; NumPy alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["SparseRows"]

Floats = NDArray[np.float64]
_AT_ONCE = 2048


class SparseRows:
    """A matrix of n rows whose columns are named by numbers; only what is not 0 is kept."""

    def __init__(
        self,
        rows: Iterable[Mapping[int, float]],
        *,
        columns: NDArray[np.int64] | None = None,
        most: int | None = None,
    ) -> None:
        """Lay out the rows.

        Args:
            rows: By column number the value.
            columns: Sorted numbers of the columns to keep; those that occur when None.
            most: Of those that occur, keep only so many, those in the most rows; of equally frequent
                ones the lower numbers.
        """
        numbers, values, lengths = [], [], []
        for row in rows:
            lengths.append(len(row))
            numbers.append(np.fromiter(row.keys(), dtype=np.int64, count=len(row)))
            values.append(np.fromiter(row.values(), dtype=np.float64, count=len(row)))
        flat = np.concatenate([np.empty(0, np.int64), *numbers])
        data = np.concatenate([np.empty(0), *values])
        owner = np.repeat(np.arange(len(lengths)), lengths)
        if columns is None:
            columns, often = np.unique(flat, return_counts=True)
            if most is not None and columns.size > most:
                columns = np.sort(columns[np.argsort(-often, kind="stable")[:most]])
        self.columns = columns
        at = np.searchsorted(columns, flat)
        at[at == columns.size] = 0
        kept = columns[at] == flat if columns.size else np.zeros(flat.size, bool)
        self._at, self._values, self._owner = at[kept], data[kept], owner[kept]
        self._starts = np.searchsorted(self._owner, np.arange(len(lengths) + 1))
        self.size = len(lengths)

    def times(self, weights: Floats) -> Floats:
        """Return rows @ weights, shape (columns, k) -> (n, k)."""
        out = [np.bincount(self._owner, self._values * w[self._at], minlength=self.size) for w in weights.T]
        return np.array(out, dtype=np.float64).T.reshape(self.size, weights.shape[1])

    def dense(self, mask: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float32]]]:
        """Yield the rows of a mask, some at a time: their indices, and the rows in full."""
        chosen = np.flatnonzero(mask)
        for first in range(0, chosen.size, _AT_ONCE):
            indices = chosen[first : first + _AT_ONCE]
            block = np.zeros((indices.size, self.columns.size), dtype=np.float32)
            for row, index in enumerate(indices):
                part = slice(self._starts[index], self._starts[index + 1])
                block[row, self._at[part]] = self._values[part]
            yield indices, block
