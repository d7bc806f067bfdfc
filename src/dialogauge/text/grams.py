"""Hashed character n-grams: the same text has the same hashes in every process."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["containment", "gram_overlap", "hashed_grams"]

_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so multiplying loses nothing modulo 2**64


def hashed_grams(text: str, n: int, *, one_in: int = 1) -> NDArray[np.uint64]:
    """Return the distinct hashes of the character n-grams, sorted; empty when the text is shorter.

    With `one_in` only the hashes divisible by it are kept: a sample that is the same in every text.
    A polynomial hash of the code points modulo 2**64, mixed once: no use of Python's salted `hash`.

    Raises:
        ValueError: n < 1.
    """
    if n < 1 or one_in < 1:
        msg = f"an n-gram needs n >= 1 and one_in >= 1, not {n} and {one_in}"
        raise ValueError(msg)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    if points.size < n:
        return np.empty(0, dtype=np.uint64)
    points += np.uint64(1)
    hashes, width = points, 1
    power = _BASE
    for bit in f"{n:b}"[1:]:  # two halves make a whole: log n steps
        hashes, width = hashes[:-width] * power + hashes[width:], 2 * width
        power = np.multiply(power, power)
        if bit == "1":
            hashes, width = hashes[:-1] * _BASE + points[width:], width + 1
            power = np.multiply(power, _BASE)
    hashes ^= hashes >> np.uint64(29)
    if one_in > 1:
        hashes = hashes[hashes % np.uint64(one_in) == 0]
    hashes.sort()  # several times as fast as np.unique on a page of text
    return hashes[np.concatenate(([True], hashes[1:] != hashes[:-1]))] if hashes.size else hashes


def containment(part: NDArray[np.uint64], whole: NDArray[np.uint64]) -> float:
    """Return the share of `part`'s grams that `whole` holds, 0..1; 0 when `part` is empty."""
    if part.size == 0 or whole.size == 0:
        return 0.0
    nearest = whole.take(np.searchsorted(whole, part), mode="clip")
    return int(np.count_nonzero(nearest == part)) / part.size


def gram_overlap(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> float:
    """Return the Jaccard overlap of two sets of grams, 0..1; 0 when both are empty."""
    shared = containment(a, b) * a.size
    total = a.size + b.size - shared
    return float(shared / total) if total else 0.0
