"""Patterns of two languages that search a text only for what it can hold.

A wording list in one alternation is tried at every character, and most texts hold none of the wordings. So
each wording is tried by itself, and only where the text holds a string that it cannot do without. English
texts are ASCII and most Chinese sentences hold no Latin letter: they are spared the other half.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from dialogauge.signals.lazy import lazy
from dialogauge.text import alternatives, needles_of

_LATIN = re.compile("[a-z?!]")  # some English wordings hold marks without a word
_SHORT = 32  # characters up to which trying all wordings at once takes less time than to look ahead


class Marker:
    """A list of patterns, of which any may match, for `normalise`d text."""

    def __init__(self, *parts: str) -> None:
        """Take patterns without flags and without numbered references."""
        self._parts = parts

    @lazy
    def wordings(self) -> list[Wording]:
        """The alternatives in their order."""
        return [Wording(a) for a in alternatives("|".join(self._parts))]

    @lazy
    def _mixed(self) -> _Wordings:
        return _Wordings(self.wordings)

    @lazy
    def _english(self) -> _Wordings:
        return _Wordings([w for w in self.wordings if not w.needles or any(map(str.isascii, w.needles))])

    @lazy
    def _chinese(self) -> _Wordings:
        return _Wordings([w for w in self.wordings if not w.needles or not all(map(_latin, w.needles))])

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in the text, as one alternation of all parts would."""
        if text.isascii():
            return self._english.search(text)
        return (self._mixed if _LATIN.search(text) else self._chinese).search(text)


def _latin(needle: str) -> bool:
    return _LATIN.search(needle) is not None


class Wording:
    """One alternative; compiled when a text first gives cause to try it."""

    def __init__(self, source: str) -> None:
        """Take the alternative as it is written."""
        self.source = source
        self.needles = needles_of(source)
        """Strings of which every match holds one; None where there are none."""

    @lazy
    def pattern(self) -> re.Pattern[str]:
        """The compiled alternative."""
        return re.compile(self.source)


class _Wordings:
    """Alternatives in their order."""

    def __init__(self, wordings: list[Wording]) -> None:
        self.all = wordings
        self._always = [(n, w) for n, w in enumerate(wordings) if not w.needles]
        self._look_for = [(x, n, w) for n, w in enumerate(wordings) for x in sorted(w.needles or ())]

    @lazy
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(w.source for w in self.all) or "(?!)")

    def search(self, text: str) -> re.Match[str] | None:
        """Return the leftmost match; of several at one place that of the first wording."""
        if len(text) <= _SHORT:
            return self._pattern.search(text)
        worth = dict(self._always)
        for needle, number, wording in self._look_for:
            if needle in text:
                worth[number] = wording
        best: re.Match[str] | None = None
        for number in sorted(worth):
            hit = worth[number].pattern.search(text)
            if hit is not None and (best is None or hit.start() < best.start()):
                best = hit
        return best


_COMMON: Final = {c: n for n, c in enumerate(" etaoinshrdlcumwfgypbvkjxqz")}
"""Characters of English text, the most frequent first; all others are taken to be rarer."""


class MarkerSet:
    """Markers under names."""

    def __init__(self, markers: Iterable[tuple[str, Marker]]) -> None:
        """Take names and markers; several markers may go by one name."""
        self._markers = tuple(markers)

    def matching(self, text: str) -> frozenset[str]:
        """Return the names of the markers of which one matches the text."""
        found: set[str] = set()
        for name, wording in self._worth_trying(text):
            if name not in found and wording.pattern.search(text):
                found.add(name)
        return frozenset(found)

    def _worth_trying(self, text: str) -> Iterator[tuple[str, Wording]]:
        yield from self._always
        for key in self._keys & _strings(text):
            for needle, name, wording in self._needing[key]:
                if needle in text:
                    yield name, wording

    @lazy
    def _always(self) -> list[tuple[str, Wording]]:
        return [(name, w) for name, marker in self._markers for w in marker.wordings if not w.needles]

    @lazy
    def _needing(self) -> Mapping[str, list[tuple[str, str, Wording]]]:
        """By the key of a needle: the needle, the name of its marker, the wording."""
        found: dict[str, list[tuple[str, str, Wording]]] = {}
        for name, marker in self._markers:
            for wording in marker.wordings:
                for needle in wording.needles or ():
                    found.setdefault(_key(needle), []).append((needle, name, wording))
        return found

    @lazy
    def _keys(self) -> frozenset[str]:
        return frozenset(self._needing)


def _strings(text: str) -> set[str]:
    """Return all characters and runs of three; of a text that is not ASCII also all pairs."""
    found = {*text, *map("".join, zip(text, text[1:], text[2:], strict=False))}
    if not text.isascii():
        found.update(map("".join, pairwise(text)))
    return found


def _key(needle: str) -> str:
    """Return the rarest string that `_strings` gives of every text which holds the needle."""
    pairs = [needle[i : i + 2] for i in range(len(needle) - 1)]
    beyond = [pair for pair in pairs if not pair.isascii()]
    runs = [needle[i : i + 3] for i in range(len(needle) - 2)]
    return max(beyond or runs or needle, key=_rarity)


def _rarity(string: str) -> int:
    return sum(_COMMON.get(c, 100) for c in string)
