"""HTML elements that cannot be written unescaped, and foreign text made harmless."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from dialogauge.core.patterns import lazy_pattern


class Html(str):
    """Markup that is safe to put on a page: made by `element`, `text`, `quotable` or `joined`."""

    __slots__ = ()


Child = str | Html | None | Iterable["Child"]
"""A `str` is text; None is nothing; of an iterable, each."""

_EMPTY = frozenset({"br", "input", "line", "meta", "polygon", "polyline", "rect"})
"""Elements without content."""
INVISIBLE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Control, bidi, zero-width, filler and tag characters, lone surrogates; not tab and line feed."""
_SPECIAL = lazy_pattern(f"[&<>]|{INVISIBLE}")
_INVISIBLE = lazy_pattern(INVISIBLE)


def text(words: str) -> Html:
    """Escape a text for an element, and make its invisible characters visible."""
    if _SPECIAL.search(words) is None:
        return Html(words)
    return Html(visible(words).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def page_bytes(words: str) -> int:
    """Return how many bytes a text takes on a page at most."""
    size = len(words.encode("utf-8", "replace"))
    if _SPECIAL.search(words) is None:
        return size
    marks = 4 * words.count("&") + 3 * (words.count("<") + words.count(">"))
    return size + marks + 11 * len(re.findall(INVISIBLE, words))


def quotable(words: str) -> Html:
    """Escape a text for an attribute, between double quotes."""
    return Html(text(words).replace('"', "&quot;"))


def joined(*children: Child) -> Html:
    """Put children one after the other."""
    pieces: list[str] = []
    _gather(children, pieces)
    return Html("".join(pieces))


def _gather(children: Iterable[Child], pieces: list[str]) -> None:
    for child in children:
        if isinstance(child, str):
            pieces.append(child if isinstance(child, Html) else text(child))
        elif child is not None:
            _gather(child, pieces)


LATER = Html("\0")
"""Stands where `filled` puts in what is written later. No text holds this character: it is made visible."""


def filled(markup: str, parts: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield markup piece by piece, with a part in each place of `LATER`, so that no whole of it is made."""
    first, *rest = markup.split(LATER)
    yield first
    for part, after in zip(parts, rest, strict=True):
        yield from part
        yield after


def element(tag: str, *children: Child, **attributes: str | float | bool | None) -> Html:
    """Write an element.

    Args:
        tag: Its name.
        children: What stands in it.
        attributes: `class_` is `class`, and `aria_label` is `aria-label`; None and False leave one out, True
            writes its name alone.
    """
    pieces = [f"<{tag}"]
    for name, value in attributes.items():
        if value is not None and value is not False and value != "":
            pieces.append(_attribute(name, value))
    if tag in _EMPTY:
        pieces.append("/>")
    else:
        pieces.append(">")
        _gather(children, pieces)
        pieces.append(f"</{tag}>")
    return Html("".join(pieces))


@lru_cache(maxsize=1024, typed=True)
def _attribute(name: str, value: str | float | bool) -> str:  # noqa: FBT001 - one of its values
    written = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {written}"
    return f' {written}="{quotable(value) if isinstance(value, str) else f"{value:g}"}"'


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
    return "".join(
        c if (c.isprintable() or c in "\u200c\u200d" or unicodedata.category(c) == "Zs") else _escaped(c)
        for c in text
    )


def _escaped(character: str) -> str:
    """Return the escape of a character; of a byte of a name that is not UTF-8 that of the byte."""
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()
