"""Words and word pairs of a text, numbered by a hash that is the same in every process."""

from __future__ import annotations

from functools import lru_cache
from zlib import crc32

from dialogauge.text.tokens import words

__all__ = ["gram_number", "word_grams"]


def word_grams(text: str, longest: int = 2) -> list[str]:
    """Return the words of a text, then its runs of up to `longest` words, in order and with repetitions.

    Numbers count as one word `0`, every Chinese character as a word, and a question mark anywhere in the
    text as a last word `?`.

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
    """Return the number of an n-gram, 0 to 2**32 - 1; the same n-gram has another number in another room."""
    return crc32(f"{room}\0{gram}".encode("utf-8", "surrogatepass"))
