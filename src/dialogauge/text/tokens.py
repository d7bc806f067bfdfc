"""Tokens: English words, numbers, and Chinese character bigrams; one pass of one pattern."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import add

from dialogauge.text.stopwords import ENGLISH_STOP, HAN_STOP

__all__ = ["content_terms", "count_units", "pieces", "stem", "words"]

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"[^\W\d_{_HAN}]+(?:'[a-z]+)?|\d+(?:[.,:/]\d+)*|[{_HAN}]+")
_STOP = "".join(sorted(HAN_STOP))


def _telling() -> str:
    """The ranges of Chinese characters between those of function."""
    out = []
    for first, last in ((0x3400, 0x4DBF), (0x4E00, 0x9FFF)):
        start = first
        for code in [c for c in map(ord, _STOP) if first <= c <= last] + [last + 1]:
            if start < code:
                out.append(f"{chr(start)}-{chr(code - 1)}")
            start = code + 1
    return "".join(out)


_PIECE = re.compile(rf"[^\W\d_{_HAN}]+(?:'[a-z]+)?|\d+(?:[.,:/]\d+)*|[{_STOP}]+|[{_telling()}]+")
_SUFFIXES = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "er", "ed", "es", "ly", "s")


def words(text: str) -> list[str]:
    """Return words, numbers and runs of Chinese characters in order, in lower case."""
    return _TOKEN.findall(text.lower().replace("\u2019", "'"))


def pieces(text: str) -> list[str]:
    """Return the same as `words`, runs of Chinese cut before and after function characters."""
    return _PIECE.findall(text.lower().replace("\u2019", "'"))


def content_terms(tokens: list[str]) -> frozenset[str]:
    """Return what carries the topic of `pieces`: stems of words, numbers, bigrams of Chinese.

    Function words fall away; a single Chinese character that is left alone stays as it is.
    """
    out: set[str] = set()
    for token in tokens:
        if "\u3400" <= token[0] <= "\u9fff":
            if token[0] in HAN_STOP:
                continue
            if len(token) > 2:
                out.update(map(add, token, token[1:]))
            else:
                out.add(token)
        elif term := _term(token):
            out.add(term)
    return frozenset(out)


@lru_cache(maxsize=65536)
def _term(token: str) -> str:
    """A number as it stands, the stem of a word; empty for a function word and a single letter."""
    if token[0].isdigit():
        return token
    return stem(token) if len(token) > 1 and token not in ENGLISH_STOP else ""


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Cut common English endings so that `booked`, `booking` and `books` meet; crude on purpose."""
    word = word.removesuffix("'s")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "eyi" else word


def count_units(tokens: list[str]) -> float:
    """Return the length in words, a Chinese character counting as 0.6 of a word."""
    han = [len(t) for t in tokens if "\u3400" <= t[0] <= "\u9fff"]
    return len(tokens) - len(han) + 0.6 * sum(han)
