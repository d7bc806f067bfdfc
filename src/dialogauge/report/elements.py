"""HTML elements that cannot be written unescaped.

A `str` given to an element is text, and is escaped; only what an element made is taken as it is. So no
renderer has to think of escaping, and none can forget it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from dialogauge.report.visible import INVISIBLE, visible


class Html(str):
    """Markup that is safe to put on a page: made by `element`, `text`, `quotable` or `joined`."""

    __slots__ = ()


Child = str | Html | None | Iterable["Child"]
"""A `str` is text; None is nothing; of an iterable, each."""

_EMPTY = frozenset({"br", "input", "line", "meta", "polygon", "polyline", "rect"})
"""Elements without content."""


_SPECIAL = re.compile(f"[&<>]|{INVISIBLE}")


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
