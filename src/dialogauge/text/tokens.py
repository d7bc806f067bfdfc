"""Tokens: English words, numbers, and Chinese character bigrams."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from operator import add

from dialogauge.text.stopwords import ENGLISH_STOP, HAN_STOP

__all__ = ["Pieces", "content_marks", "content_terms", "count_units", "pieces", "stem", "words"]

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


# A word or a number, beginning with one set: a regular expression skips to such a set quickly.
_WORD = re.compile(rf"[^\W_{_HAN}](?:(?<=\d)\d*(?:[.,:/]\d+)*|(?<!\d)[^\W\d_{_HAN}]*(?:'[a-z]+)?)")
_CHINESE = re.compile(f"[{_HAN}]+")
_TELLING = re.compile(f"[{_telling()}]+")
_SUFFIXES = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "er", "ed", "es", "ly", "s")


def words(text: str) -> list[str]:
    """Return words, numbers and runs of Chinese characters in order, in lower case."""
    return _TOKEN.findall(text.lower().replace("\u2019", "'"))


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text cut up for counting and for what it is about."""

    words: list[str]
    """Words and numbers in order, in lower case."""
    chinese: str
    """The text in lower case where it may hold Chinese; empty where it cannot."""

    @property
    def units(self) -> float:
        """The length in words, a Chinese character counting as 0.6 of a word."""
        return len(self.words) + 0.6 * sum(map(len, _CHINESE.findall(self.chinese)))


def pieces(text: str) -> Pieces:
    """Cut a text into words, numbers and Chinese."""
    lowered = text.lower().replace("\u2019", "'")
    return Pieces(_WORD.findall(lowered), "" if text.isascii() else lowered)


def content_terms(text: Pieces) -> frozenset[str]:
    """Return what carries the topic: stems of words, numbers, bigrams of Chinese.

    Function words fall away; a single Chinese character that is left alone stays as it is.
    """
    out = set(map(_term, text.words))
    out.discard("")
    for run in _TELLING.findall(text.chinese):
        if len(run) > 2:
            out.update(map(add, run, run[1:]))
        else:
            out.add(run)
    return frozenset(out)


def content_marks(text: Pieces) -> frozenset[str]:
    """Return the content terms, those that are not in ASCII taken apart into their characters."""
    out = set("".join(_TELLING.findall(text.chinese)))
    for term in set(map(_term, text.words)):
        if term.isascii():
            out.add(term)
        else:
            out.update(term)
    out.discard("")
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
    """Return the length in words of `words`, a Chinese character counting as 0.6 of a word."""
    han = [len(t) for t in tokens if "\u3400" <= t[0] <= "\u9fff"]
    return len(tokens) - len(han) + 0.6 * sum(han)
