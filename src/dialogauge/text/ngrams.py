"""Character and word n-grams; hashes are the same in every process."""

from __future__ import annotations

from collections.abc import Sequence
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
    plain = " ".join(text.lower().split())
    points = np.frombuffer(plain.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return np.concatenate([_hashed(points, n) for n in range(shortest, longest + 1)])


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


def hashed_grams(texts: Sequence[str], n: int, *, one_in: Sequence[int]) -> list[frozenset[int]]:
    """Return the distinct hashes of the character n-grams of each text; none for a shorter text.

    Only those that can be divided by the text's number in `one_in`: the same sample in every text. The hash
    is a polynomial of the code points modulo 2**64, mixed once; those of all texts are computed in one pass.

    Raises:
        ValueError: n < 1.
    """
    if n < 1 or min(one_in, default=1) < 1:
        msg = f"an n-gram needs n >= 1 and one_in >= 1, not {n} and {min(one_in, default=1)}"
        raise ValueError(msg)
    code = "".join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(code, dtype=np.uint32).astype(np.uint64)
    points += np.uint64(1)
    hashes, width = points, 1
    power = _BASE
    for bit in f"{n:b}"[1:] if points.size >= n else "":  # two halves make a whole: log n steps
        hashes, width = hashes[:-width] * power + hashes[width:], 2 * width
        power = np.multiply(power, power)
        if bit == "1":
            hashes, width = hashes[:-1] * _BASE + points[width:], width + 1
            power = np.multiply(power, _BASE)
    hashes = hashes ^ (hashes >> np.uint64(29))
    out, start = [], 0
    for text, divisor in zip(texts, one_in, strict=True):
        grams = hashes[start : start + max(0, len(text) - n + 1)]
        if divisor > 1:
            grams = grams[grams % np.uint64(divisor) == 0]
        out.append(frozenset(grams.tolist()))
        start += len(text)
    return out
