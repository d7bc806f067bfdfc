"""The text of HTML, as exports hold it in the place of messages."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final

from dialogauge.core.patterns import lazy_pattern

_SPACE: Final = lazy_pattern(r"\s+")


def html_text(html: str) -> str:
    """Return the text of HTML: a line for each block, `- ` before an item of a list, code as it stands."""
    reader = _HtmlText()
    reader.feed(html)
    reader.close()
    lines = (line.rstrip() for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line)


class _HtmlText(HTMLParser):
    """Collects the text of HTML."""

    _BLOCKS: Final = frozenset(
        ("p", "div", "br", "li", "ul", "ol", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote")
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = [""]
        self._in_code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._in_code += tag == "pre"
        if tag in self._BLOCKS:
            self.parts.append("\n- " if tag == "li" else "\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._in_code -= tag == "pre"
        if tag in self._BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._in_code:
            data = _SPACE.sub(" ", data)
            data = data.lstrip() if self.parts[-1][-1:] in ("", "\n", " ") else data
        if data:
            self.parts.append(data)
