"""Patterns of two languages that try a wording only on texts that can contain it.

`re` tries one long alternation at every character, and most texts contain none of the wordings. So each
wording is tried alone, and only if the text contains a string that every match needs. English texts are
ASCII and most Chinese sentences have no Latin letter: they skip the wordings of the other language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from dialogauge.signals.caching import lazy_property
from dialogauge.text import alternatives, needles_of

_LATIN = re.compile("[a-z?!]")  # some English wordings have marks and no word
_SHORT = 32  # characters up to which one alternation is faster


class Marker:
    """Alternative patterns for `normalise`d text."""

    def __init__(self, *parts: str) -> None:
        """Take patterns without flags and without numbered references."""
        self._parts = parts

    @lazy_property
    def wordings(self) -> list[Wording]:
        """The alternatives in order."""
        return [Wording(a) for a in alternatives("|".join(self._parts))]

    @lazy_property
    def _mixed(self) -> _Wordings:
        return _Wordings(self.wordings)

    @lazy_property
    def _english(self) -> _Wordings:
        return _Wordings([w for w in self.wordings if not w.needles or any(map(str.isascii, w.needles))])

    @lazy_property
    def _chinese(self) -> _Wordings:
        return _Wordings([w for w in self.wordings if not w.needles or not all(map(_latin, w.needles))])

    def search(self, text: str) -> re.Match[str] | None:
        """Return the match that one alternation of all parts would return."""
        if text.isascii():
            return self._english.search(text)
        return (self._mixed if _LATIN.search(text) else self._chinese).search(text)


def _latin(needle: str) -> bool:
    return _LATIN.search(needle) is not None


class Wording:
    """One alternative, compiled when it is first tried."""

    def __init__(self, source: str) -> None:
        """Take the source of the alternative."""
        self.source = source
        self.needles = needles_of(source)
        """Every match contains one of these strings; None without such strings."""

    @lazy_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled alternative."""
        return re.compile(self.source)


class _Wordings:
    """Alternatives in order."""

    def __init__(self, wordings: list[Wording]) -> None:
        self.all = wordings
        self._always = [(n, w) for n, w in enumerate(wordings) if not w.needles]
        self._by_needle = [(x, n, w) for n, w in enumerate(wordings) for x in sorted(w.needles or ())]

    @lazy_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(w.source for w in self.all) or "(?!)")

    def search(self, text: str) -> re.Match[str] | None:
        """Return the leftmost match, of several at one place that of the first wording."""
        if len(text) <= _SHORT:
            return self._pattern.search(text)
        possible = dict(self._always)
        for needle, number, wording in self._by_needle:
            if needle in text:
                possible[number] = wording
        best: re.Match[str] | None = None
        for number in sorted(possible):
            hit = possible[number].pattern.search(text)
            if hit is not None and (best is None or hit.start() < best.start()):
                best = hit
        return best


_COMMON: Final = {c: n for n, c in enumerate(" etaoinshrdlcumwfgypbvkjxqz")}
"""Characters of English text by frequency; all others count as rarer."""


class MarkerSet:
    """Markers under names."""

    def __init__(self, markers: Iterable[tuple[str, Marker]]) -> None:
        """Take names and markers; several markers may share a name."""
        self._markers = tuple(markers)

    def matching(self, text: str) -> frozenset[str]:
        """Return the names with a marker that matches the text."""
        names: set[str] = set()
        for name, wording in self._possible(text):
            if name not in names and wording.pattern.search(text):
                names.add(name)
        return frozenset(names)

    def _possible(self, text: str) -> Iterator[tuple[str, Wording]]:
        yield from self._always
        for key in self._keys & _strings(text):
            for needle, name, wording in self._by_key[key]:
                if needle in text:
                    yield name, wording

    @lazy_property
    def _always(self) -> list[tuple[str, Wording]]:
        return [(name, w) for name, marker in self._markers for w in marker.wordings if not w.needles]

    @lazy_property
    def _by_key(self) -> Mapping[str, list[tuple[str, str, Wording]]]:
        """Key of a needle -> the needle, the name of its marker, the wording."""
        by_key: dict[str, list[tuple[str, str, Wording]]] = {}
        for name, marker in self._markers:
            for wording in marker.wordings:
                for needle in wording.needles or ():
                    by_key.setdefault(_key(needle), []).append((needle, name, wording))
        return by_key

    @lazy_property
    def _keys(self) -> frozenset[str]:
        return frozenset(self._by_key)


def _strings(text: str) -> set[str]:
    """Return all characters and runs of three, and for a text that is not ASCII all pairs."""
    strings = {*text, *map("".join, zip(text, text[1:], text[2:], strict=False))}
    if not text.isascii():
        strings.update(map("".join, pairwise(text)))
    return strings


def _key(needle: str) -> str:
    """Return the rarest string in the `_strings` of every text with the needle."""
    pairs = [needle[i : i + 2] for i in range(len(needle) - 1)]
    beyond = [pair for pair in pairs if not pair.isascii()]
    runs = [needle[i : i + 3] for i in range(len(needle) - 2)]
    return max(beyond or runs or needle, key=_rarity)


def _rarity(string: str) -> int:
    return sum(_COMMON.get(c, 100) for c in string)
