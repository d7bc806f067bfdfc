"""Sentences of English and Chinese text; lines count as ends, as they do in lists."""

from __future__ import annotations

import re

__all__ = ["sentences"]

# An English full stop ends a sentence only before white space: "3.5", "e.g" and "a.com" stay whole.
_END = re.compile(r"(?<=[。！？；!?])[\"'”’）)]*\s*|(?<=[.;])\s+|\n+")
_MARKS = re.compile(r"^[\s>#*\-•·|]+|[\s*|]+$")


def sentences(text: str) -> list[str]:
    """Return the sentences in order, without list marks and white space at their ends.

    Rules, not a model: an abbreviation before a space ("Dr. Li") ends a sentence too.
    """
    parts = (_MARKS.sub("", part) for part in _END.split(text))
    return [part for part in parts if part]
