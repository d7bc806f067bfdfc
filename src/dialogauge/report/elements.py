"""HTML elements that cannot be written unescaped.

A `str` given to an element is text, and is escaped; only what an element made is taken as it is. So no
renderer has to think of escaping, and none can forget it.
"""

from __future__ import annotations

from collections.abc import Iterable

from dialogauge.report.visible import visible


class Html(str):
    """Markup that is safe to put on a page: made by `element`, `text`, `quotable` or `joined`."""

    __slots__ = ()


Child = str | Html | None | Iterable["Child"]
"""A `str` is text; None is nothing; of an iterable, each."""

_EMPTY = frozenset({"br", "input", "line", "meta", "polygon", "polyline", "rect"})
"""Elements without content."""


def text(words: str) -> Html:
    """Escape a text for an element, and make its invisible characters visible."""
    return Html(visible(words).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def quotable(words: str) -> Html:
    """Escape a text for an attribute, between double quotes."""
    return Html(text(words).replace('"', "&quot;"))


def joined(*children: Child) -> Html:
    """Put children one after the other."""
    return Html("".join(_pieces(children)))


def _pieces(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if isinstance(child, Html):
            yield child
        elif isinstance(child, str):
            yield text(child)
        elif child is not None:
            yield from _pieces(child)


def element(tag: str, *children: Child, **attributes: str | float | bool | None) -> Html:
    """Write an element.

    Args:
        tag: Its name.
        children: What stands in it.
        attributes: `class_` is `class`, and `aria_label` is `aria-label`; None and False leave one out, True
            writes its name alone.
    """
    start = f"<{tag}{''.join(_attributes(attributes))}"
    return Html(f"{start}/>") if tag in _EMPTY else Html(f"{start}>{''.join(_pieces(children))}</{tag}>")


def _attributes(attributes: dict[str, str | float | bool | None]) -> Iterable[str]:
    for key, value in attributes.items():
        if value is None or value is False or value == "":
            continue
        written = key.rstrip("_").replace("_", "-")
        if value is True:
            yield f" {written}"
        else:
            yield f' {written}="{quotable(value) if isinstance(value, str) else f"{value:g}"}"'
