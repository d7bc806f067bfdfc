"""Many markers asked about the same text at once.

Hardly any text holds one of the strings that the wordings of the markers cannot do without. So the text is
cut into its short strings once, and these are looked up together; only what they point to is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from dialogauge.signals.lazy import lazy
from dialogauge.signals.marker import Marker, Wording

__all__ = ["MarkerSet"]

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
