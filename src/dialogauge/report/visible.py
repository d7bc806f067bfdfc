"""Foreign text made harmless: for a page, and for one line of a terminal."""

from __future__ import annotations

import re
import unicodedata

INVISIBLE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Control, bidi, zero-width, filler and tag characters, lone surrogates; not tab and line feed."""
_INVISIBLE = re.compile(INVISIBLE)


def visible(text: str) -> str:
    """Return the text with every invisible or direction-changing character written as `⟨U+202E⟩`.

    A zero-width joiner between two symbols (family emoji) is kept: there it is what makes the picture.
    """
    return _INVISIBLE.sub(_mark, text.replace("\r\n", "\n"))


def _mark(match: re.Match[str]) -> str:
    character, text, at = match[0], match.string, match.start()
    if character == "\u200d" and 0 < at < len(text) - 1 and min(text[at - 1], text[at + 1]) > "\u2190":
        return character
    return f"⟨U+{ord(character):04X}⟩"


def plain(text: str) -> str:
    """Make one line harmless for a terminal: what is no visible character is written as its escape.

    A line break too, so that no text can forge a line of ours. Spaces of other scripts and the joiners
    within emoji and words are kept.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _harmless(c) else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    """Return the escape of a character; of a byte of a name that is not UTF-8 that of the byte."""
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()


def _harmless(character: str) -> bool:
    return character.isprintable() or character in "\u200c\u200d" or unicodedata.category(character) == "Zs"
