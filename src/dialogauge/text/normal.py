"""One form of a text for comparing: width, case, quotes and white space made equal."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["normalise"]

_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"'})


def normalise(text: str) -> str:
    """Return the text in NFKC, lower case, with straight quotes and single spaces.

    Full-width letters and digits become half-width, so `１２３` equals `123`; Chinese full stops stay.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return _SPACE.sub(" ", text.lower()).strip()
