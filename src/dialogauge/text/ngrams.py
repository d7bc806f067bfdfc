"""Character and word n-grams; hashes are the same in every process."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dialogauge.text.tokens import words

BUCKETS: Final = 1 << 16
"""Number of buckets; different n-grams may share one."""
_FACTORS: Final = tuple(np.uint32(f) for f in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D))
_MIX: Final = np.uint32(0x27D4EB2F)

Buckets = NDArray[np.uint16]


def gram_buckets(text: str, longest: int = 3, *, shortest: int = 1) -> Buckets:
    """Return the bucket of every n-gram of `shortest` to `longest` characters (at most 3), with repeats.

    Text is in lower case, with single spaces.
    """
    return np.concatenate(gram_parts(text, longest, shortest=shortest))


def gram_parts(text: str, longest: int = 3, *, shortest: int = 1) -> list[Buckets]:
    """Return the same by the length of the n-grams, ascending."""
    plain = " ".join(text.lower().split())
    points = np.frombuffer(plain.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return [_hashed(points, n) for n in range(shortest, longest + 1)]


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
    present = np.zeros(BUCKETS, np.bool_)
    present[buckets] = True
    return present


def word_grams(text: str, longest: int = 2) -> list[str]:
    """Return the words of a text, then its runs of up to `longest` words, in order, with repeats.

    Every number is the word `0`, every Chinese character a word, and a question mark adds a last word `?`.

    Raises:
        ValueError: longest < 1.
    """
    if longest < 1:
        msg = f"n-grams have at least one word, not {longest}"
        raise ValueError(msg)
    single: list[str] = []
    for token in words(text):
        if "\u3400" <= token[0] <= "\u9fff":
            single.extend(token)
        else:
            single.append("0" if token[0].isdigit() else token)
    if "?" in text or "？" in text:
        single.append("?")
    runs = list(single)
    for n in range(2, longest + 1):
        runs += [" ".join(single[i : i + n]) for i in range(len(single) - n + 1)]
    return runs


@lru_cache(maxsize=1 << 18)
def gram_number(gram: str, room: str) -> int:
    """Return a number for an n-gram, 0 to 2**32 - 1, which also depends on the room."""
    return crc32(f"{room}\0{gram}".encode("utf-8", "surrogatepass"))


_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so multiplication is invertible modulo 2**64


def hashed_grams(text: str, n: int, *, one_in: int = 1) -> NDArray[np.uint64]:
    """Return the distinct hashes of the character n-grams, sorted; empty for a shorter text.

    With `one_in`, only hashes divisible by it: the same sample in every text. The hash is a polynomial of the
    code points modulo 2**64, mixed once.

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
    hashes.sort()  # several times faster than np.unique
    return hashes[np.concatenate(([True], hashes[1:] != hashes[:-1]))] if hashes.size else hashes


def containment(part: NDArray[np.uint64], whole: NDArray[np.uint64]) -> float:
    """Return the share of `part`'s grams in `whole`, 0..1; 0 for an empty `part`."""
    if part.size == 0 or whole.size == 0:
        return 0.0
    nearest = whole.take(np.searchsorted(whole, part), mode="clip")
    return int(np.count_nonzero(nearest == part)) / part.size
