"""One form of a text for comparing: width, case, quotes and white space made equal."""

from __future__ import annotations

import unicodedata

__all__ = ["normalise"]

_QUOTES = {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"'}
# What Chinese text is full of; done here, the costlier NFKC is seldom needed.
_WIDE = {chr(0xFF01 + i): chr(0x21 + i) for i in range(94)} | {"\u3000": " ", "\u2026": "..."}
_TABLE = str.maketrans(_QUOTES | _WIDE)


def normalise(text: str) -> str:
    """Return the text in NFKC, lower case, with straight quotes and single spaces.

    Full-width letters and digits become half-width, so `１２３` equals `123`; Chinese full stops stay.
    """
    if not text.isascii():
        text = text.translate(_TABLE)
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", text).translate(_TABLE)
    return " ".join(text.lower().split())
