"""Character n-grams as numbers below 65,536: the same in every process, and a text is a short array."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["BUCKETS", "gram_buckets", "presence"]

BUCKETS: Final = 1 << 16
"""How many buckets there are; different n-grams may share one."""
_FACTORS: Final = tuple(np.uint32(f) for f in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D))
_MIX: Final = np.uint32(0x27D4EB2F)

Buckets = NDArray[np.uint16]


def gram_buckets(text: str, longest: int = 3, *, shortest: int = 1) -> Buckets:
    """Return the bucket of every n-gram of `shortest` to `longest` characters (at most 3), repeats included.

    Case is folded and every run of white space is one space.
    """
    plain = " ".join(text.lower().split())
    points = np.frombuffer(plain.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    parts = [_hashed(points, n) for n in range(shortest, longest + 1)]
    return np.concatenate(parts)


def _hashed(points: NDArray[np.uint32], n: int) -> Buckets:
    width = points.size - n + 1
    if width < 1:
        return np.empty(0, np.uint16)
    total = np.full(width, np.uint32(n), np.uint32)
    for offset, factor in enumerate(_FACTORS[:n]):
        total += points[offset : offset + width] * factor
    total ^= total >> np.uint32(15)
    total *= _MIX
    return (total >> np.uint32(16)).astype(np.uint16)


def presence(buckets: Buckets) -> NDArray[np.bool_]:
    """Return which buckets occur, shape (65536,)."""
    seen = np.zeros(BUCKETS, np.bool_)
    seen[buckets] = True
    return seen
