"""Patterns of two languages that search a text only for what it can hold.

A wording list in one alternation is tried at every character, and most texts hold none of the wordings. So
each wording is tried by itself, and only where the text holds a string that it cannot do without. English
texts are ASCII and most Chinese sentences hold no Latin letter: they are spared the other half.
"""

from __future__ import annotations

import re

from dialogauge.signals.lazy import lazy
from dialogauge.text import alternatives, needles_of

__all__ = ["Marker", "Wording"]

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
