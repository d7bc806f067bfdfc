"""Patterns of two languages that try a wording only on texts that can contain it.

`re` tries one long alternation at every character, and most texts contain none of the wordings. So each
wording is tried alone, and only if the text contains the strings that every match needs. Which strings a
text contains is looked up once for all patterns: by its words in Latin script, which are the same in many
texts, and by its pairs of other characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import blake2b
from operator import add
from pathlib import Path
from typing import ClassVar, Final

import orjson

from dialogauge.core.patterns import lazy_pattern
from dialogauge.signals.caching import lazy_property
from dialogauge.text import ENGLISH_STOP, required, spread

_LATIN = lazy_pattern("[!-~]+")
_TEXTS, _WORDS, _WORD = 512, 1 << 16, 40
"""Texts and words of which it is kept what they may contain, and the longest such word."""
_COMMON: Final = {c: n for n, c in enumerate(" etaoinshrdlcumwfgypbvkjxqz")}
"""Characters of English text by frequency; all others count as rarer."""


NEEDLES: Final = Path(__file__).with_name("needles.json")
"""The alternatives of all markers and their needles, by the digest of the pattern, written by
`tools/needles.py`, since to find them takes half a second. Of a marker that is not in the file they are found
when it is first used."""


StoredNeedles = list[tuple[str, list[list[str]]]]
"""The alternatives of a pattern, each with the strings of which a match contains at least one."""


@cache
def _stored_needles() -> dict[str, StoredNeedles]:
    stored: dict[str, StoredNeedles] = orjson.loads(NEEDLES.read_bytes())
    return stored


def needles_by_alternative(pattern: str) -> StoredNeedles:
    """Return the alternatives of a pattern, each with what `required` says of it."""
    return [(source, [sorted(strings) for strings in required(source)]) for source in spread(pattern)]


def digest_of(pattern: str) -> str:
    """Return the key of a pattern in the file of needles."""
    return blake2b(pattern.encode(), digest_size=8).hexdigest()


class Marker:
    """Alternative patterns for `normalise`d text."""

    _all: ClassVar[list[Marker]] = []
    """The markers that are looked up together, by their number."""
    _index: ClassVar[_Index]

    def __init__(self, *parts: str) -> None:
        """Take patterns without flags and without numbered references."""
        self._parts = parts
        self._number = len(self._all)
        self._all.append(self)

    @lazy_property
    def wordings(self) -> list[Wording]:
        """The alternatives in order."""
        stored = _stored_needles().get(digest_of(self.pattern))
        return [Wording(*one) for one in stored or needles_by_alternative(self.pattern)]

    @property
    def pattern(self) -> str:
        """All parts as one pattern."""
        return "|".join(self._parts)

    def may_match(self, text: str) -> bool:
        """Say at little cost whether a text has what a match cannot do without."""
        return self._number in self.possible(text)

    @classmethod
    def possible(cls, text: str) -> dict[int, int]:
        """Return the wordings that a text may contain, as bits by the number of their marker."""
        if cls._index.size != len(cls._all):  # a module that is loaded later adds its own
            cls._index.extend(cls._all)
        possible = cls._index.texts.get(text)
        return cls._index.read(text) if possible is None else possible

    def search(self, text: str, within: str = "") -> re.Match[str] | None:
        """Return the match that one alternation of all parts would return.

        It is the leftmost one, of several at one place that of the first wording. If the text is a part of
        another one, `within`, in which it is looked for too, it is not looked up by itself.
        """
        best: re.Match[str] | None = None
        bits = self.possible(within or text).get(self._number, 0)
        while bits:
            number = (bits & -bits).bit_length() - 1
            bits &= bits - 1
            hit = self.wordings[number].search(text)
            if hit is not None and (best is None or hit.start() < best.start()):
                best = hit
        return best


class ReplyMarker(Marker):
    """A marker of what assistants say: it is looked up apart from those of what users say."""

    _all: ClassVar[list[Marker]] = []


class Wording:
    """One alternative, compiled when it is first tried."""

    def __init__(self, source: str, needles: Sequence[Sequence[str]]) -> None:
        """Take the source of the alternative, and what `required` says of it."""
        self.source = source
        self._required = [tuple(strings) for strings in needles]
        self.needles = self._required[0] if self._required else ()
        """Every match contains one of these strings; empty without such strings."""

    @lazy_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled alternative."""
        return re.compile(self.source)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match; the needles that are most often missing are looked for first."""
        for strings in self._required:
            for string in strings:
                if string in text:
                    break
            else:
                return None
        return self.pattern.search(text)


class MarkerSet:
    """Markers under names; several may share one."""

    def __init__(self, markers: Iterable[tuple[str, Marker]]) -> None:
        """Take names and markers."""
        self._markers: dict[type[Marker], list[tuple[str, Marker]]] = {}
        for name, marker in markers:
            self._markers.setdefault(type(marker), []).append((name, marker))

    def matching(self, text: str) -> frozenset[str]:
        """Return the names with a marker that matches the text."""
        names: set[str] = set()
        for kind, markers in self._markers.items():
            possible = kind.possible(text)
            names |= {name for name, m in markers if m._number in possible and m.search(text)}
        return frozenset(names)


class _Index:
    """The needles of markers by the string under which they are looked up, and what it said of texts."""

    def __init__(self) -> None:
        self.size = 0
        self.texts: dict[str, dict[int, int]] = {}
        self._words: dict[str, tuple[tuple[str, int, int], ...]] = {}
        self._always: list[tuple[int, int]] = []
        self._by_word: dict[str, list[tuple[str, str, bool, bool, int, int]]] = {}
        """Up to three characters of a word: the needle, its rarest word, whether that begins and ends in
        the text where it does in the needle, and marker and bit of the wording."""
        self._by_pair: dict[str, list[tuple[str, int, int]]] = {}
        """A character or a pair beyond ASCII: the needle, empty where that is all, and marker and bit."""

    def extend(self, markers: list[Marker]) -> None:
        """Take those of the markers that are not in it yet, and forget what was said of texts."""
        self.texts.clear()
        self._words.clear()
        for marker in markers[self.size :]:
            for number, wording in enumerate(marker.wordings):
                if not wording.needles:
                    self._always.append((marker._number, 1 << number))
                for needle in wording.needles:
                    self._add(needle, marker._number, 1 << number)
        self.size = len(markers)

    def _add(self, needle: str, marker: int, bit: int) -> None:
        if not needle.isascii():
            strings = (*map(add, needle, needle[1:]), *needle)
            key = max(strings, key=lambda string: (not any(map(str.isascii, string)), _rarity(string)))
            self._by_pair.setdefault(key, []).append(("" if needle == key else needle, marker, bit))
        elif needle.isspace():
            self._always.append((marker, bit))
        else:
            words = needle.split()
            word = words[0] if len(words) == 1 else max(words, key=_tells)
            key = (
                word if len(word) <= 3 else max((word[i : i + 3] for i in range(len(word) - 2)), key=_rarity)
            )
            begins, ends = f" {word}" in needle, f"{word} " in needle
            self._by_word.setdefault(key, []).append((needle, word, begins, ends, marker, bit))

    def read(self, text: str) -> dict[int, int]:
        """Return the wordings that a text may contain, as bits by the number of their marker."""
        possible: dict[int, int] = {}
        for marker, bit in self._always:
            possible[marker] = possible.get(marker, 0) | bit
        if text.isascii():
            words = set(text.split())
        else:
            words = set(_LATIN.findall(text))
            for key in self._by_pair.keys() & {*text, *map(add, text, text[1:])}:
                for needle, marker, bit in self._by_pair[key]:
                    if needle in text:
                        possible[marker] = possible.get(marker, 0) | bit
        for word in words:
            needles = self._words.get(word)
            for needle, marker, bit in self._of_word(word) if needles is None else needles:
                if needle in text:
                    possible[marker] = possible.get(marker, 0) | bit
        if len(self.texts) >= _TEXTS:
            self.texts.clear()
        self.texts[text] = possible
        return possible

    def _of_word(self, word: str) -> tuple[tuple[str, int, int], ...]:
        """Return the needles whose rarest word is in a word, empty where that is all of the needle."""
        strings = {word[i : i + n] for n in (1, 2, 3) for i in range(len(word) - n + 1)}
        needles = tuple(
            ("" if needle == part else needle, marker, bit)
            for key in strings & self._by_word.keys()
            for needle, part, begins, ends, marker, bit in self._by_word[key]
            if part in word
            if not begins or word.startswith(part)
            if not ends or word.endswith(part)
        )
        if len(word) <= _WORD:
            if len(self._words) >= _WORDS:
                self._words.clear()
            self._words[word] = needles
        return needles


Marker._index, ReplyMarker._index = _Index(), _Index()


def _tells(word: str) -> tuple[bool, int]:
    return word not in ENGLISH_STOP, len(word)


@cache
def _rarity(string: str) -> int:
    return sum(_COMMON.get(c, 100) for c in string)
