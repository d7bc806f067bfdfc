"""Patterns of two languages that search a text only for what it can hold.

A wording list in one alternation is tried at every character. Most texts are in one script: English ones
are ASCII, and most Chinese sentences hold no Latin letter. Such a text is searched for one half alone; the
other half could not match there, so the result is the same.
"""

from __future__ import annotations

import re
from functools import cached_property

__all__ = ["Marker"]

_CHINESE = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"(?<!\\)[a-z]{2}")
_LATIN = re.compile("[a-z?!]")  # some English parts hold marks without a word


class Marker:
    """A list of patterns, of which any may match, for `normalise`d text."""

    def __init__(self, *parts: str) -> None:
        """Take patterns; each is English, Chinese, or (where it holds words of both) mixed."""
        self._parts = parts

    @cached_property
    def _all(self) -> re.Pattern[str]:
        return re.compile("|".join(self._parts))

    @cached_property
    def _english(self) -> re.Pattern[str]:
        return re.compile("|".join(p for p in self._parts if _WORD.search(p) or not _CHINESE.search(p)))

    @cached_property
    def _chinese(self) -> re.Pattern[str]:
        return re.compile("|".join(p for p in self._parts if _CHINESE.search(p)) or "(?!)")

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in the text, as one alternation of all parts would."""
        if text.isascii():
            return self._english.search(text)
        return (self._all if _LATIN.search(text) else self._chinese).search(text)
