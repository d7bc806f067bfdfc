"""Sentences of English and Chinese text; lines count as ends, as they do in lists."""

from __future__ import annotations

import re

__all__ = ["sentences"]

# An English full stop ends a sentence only before white space: "3.5", "e.g" and "a.com" stay whole.
# One set first: a regular expression skips to such a set quickly.
_END = re.compile(r"([。！？；!?.;\n])(?:(?<=[。！？；!?])[\"'”’）)]*\s*|(?<=[.;])\s+|(?<=\n)\n*)")
_SPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_BEFORE, _AFTER = _SPACE + ">#*-•·|", _SPACE + "*|"


def sentences(text: str) -> list[str]:
    """Return the sentences in order, without list marks and white space at their ends.

    Rules, not a model: an abbreviation before a space ("Dr. Li") ends a sentence too.
    """
    parts = _END.split(text)
    ends = (*parts[1::2], "")
    found = [(part + end).lstrip(_BEFORE).rstrip(_AFTER) for part, end in zip(parts[::2], ends, strict=True)]
    return [part for part in found if part]
