"""Remembers which ids were seen, and where, in 16 bytes each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SeenIds"]

_FRESH = 1 << 16
_LINE_BITS = 44
_MASK = (1 << 64) - 1
_MARKS = 1 << 22


class SeenIds:
    """A growing set of ids that tells the place of the first one.

    An id is kept as its hash of 64 bits and its place as 64 bits (file number and line), so a log of
    ten million conversations takes 160 MB. Two different ids share a hash with a probability of
    about n^2 / 2^65: 3e-6 for ten million. New ids wait in a dict and move to sorted arrays by the
    65,536, of which equal sizes are merged, so there are at most log2(n / 65,536) to search. Marks by
    the low bits of the hashes in the arrays tell of most new ids that no search is needed.
    """

    def __init__(self) -> None:
        self._fresh: dict[int, int] = {}
        self._runs: list[tuple[NDArray[np.uint64], NDArray[np.uint64]]] = []
        self._marks = bytearray()

    def add(self, name: str, file: int, line: int) -> tuple[int, int] | None:
        """Remember the id; return (file number, line) of the first one if it was there before."""
        key = hash(name) & _MASK
        place = self._fresh.get(key)
        if place is None and self._runs and self._marks[key % _MARKS]:
            place = self._find(key)
        if place is not None:
            return place >> _LINE_BITS, place & ((1 << _LINE_BITS) - 1)
        self._fresh[key] = file << _LINE_BITS | line
        if len(self._fresh) >= _FRESH:
            self._settle()
        return None

    def _find(self, key: int) -> int | None:
        import numpy as np

        wanted = np.uint64(key)
        for keys, places in self._runs:
            at = int(keys.searchsorted(wanted))
            if at < len(keys) and keys[at] == wanted:
                return int(places[at])
        return None

    def _settle(self) -> None:
        import numpy as np

        if not self._marks:
            self._marks = bytearray(_MARKS)
        keys = np.fromiter(self._fresh.keys(), np.uint64, len(self._fresh))
        places = np.fromiter(self._fresh.values(), np.uint64, len(self._fresh))
        self._fresh = {}
        np.frombuffer(self._marks, np.uint8)[keys % np.uint64(_MARKS)] = 1
        while self._runs and len(self._runs[-1][0]) <= len(keys):
            older = self._runs.pop()
            keys, places = np.concatenate((older[0], keys)), np.concatenate((older[1], places))
        order = keys.argsort()
        self._runs.append((keys[order], places[order]))
