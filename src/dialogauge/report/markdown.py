"""Markdown of a reply as elements: headings, lists, tables, code, bold and italics; no link, nothing else.

A parser of the whole language would drop what a judge quotes: addresses behind links, line breaks, numbers
of lists, HTML. Here every character that is no mark of layout stays on the page, escaped; what is no
Markdown stays as it came.

Example:
    >>> markdown("# Plan\\n1. **Friday** <b>")
    '<p><b>Plan</b></p><ul><li class="d0 n">1. <b>Friday</b> &lt;b&gt;</li></ul>'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

from dialogauge.core.patterns import lazy_pattern
from dialogauge.report.elements import Html, text

_MARKS: Final = lazy_pattern(r"[*`~|]|^ {0,9}(?:#|>|[-+•] |\d+[.)] )", re.MULTILINE)
"""Without one of these a text is no Markdown."""
_FENCE: Final = lazy_pattern(r" {0,9}(`{3,}+|~{3,}+)[ \t]*+[\w+#.-]{0,20}[ \t]*$")
_HEADING: Final = lazy_pattern(r" {0,3}#{1,6}\s+(.*)$")
_CLOSING: Final = lazy_pattern(r"(?<!\S)#++$")
"""The marks that may end a heading."""
_ITEM: Final = lazy_pattern(r"([ \t]*)(?:([-*+•])|(\d{1,9}[.)]))[ \t]+(?=\S)(.*)$")
_QUOTE: Final = lazy_pattern(r" {0,3}&gt;[ \t]?(.*)$")
_RULE: Final = lazy_pattern(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_ROW: Final = lazy_pattern(r"[ \t]*\|(.*)\|[ \t]*$")
_BETWEEN: Final = lazy_pattern(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$")
"""The line below the head of a table."""
_STARTS: Final = "-*_+•#&0123456789"
"""How a line begins that is no prose; a `>` is `&gt;` here."""
_INLINE: Final = lazy_pattern(
    r"(?<!`)(?P<tick>`++)(?P<code>[^`\n]+)(?P=tick)"
    r"|\*\*(?![\s*])(?P<b>(?:[^*]|\*(?!\*))+?)(?<!\s)\*\*"
    r"|~~(?![\s~])(?P<del>[^~]+?)(?<!\s)~~"
    r"|(?<![\w*])\*(?![\s*])(?P<i>[^*]+?)(?<!\s)\*(?![\w*])"
)
_DEEPEST: Final = 3
"""Levels of a list."""


def is_markdown(words: str) -> bool:
    """Whether a text holds a character that could be a mark of layout."""
    return _MARKS.search(words) is not None


def markdown(words: str) -> Html:
    """Return a text as elements; see the module."""
    # Escaped once and as a whole: below only elements without attributes are put between its characters.
    lines = text(words.replace("\r\n", "\n")).split("\n")
    blocks = groupby(_kinds(lines), key=lambda pair: pair[0])
    return Html("".join(_WRITERS[kind]([line for _, line in group]) for kind, group in blocks))


def _kinds(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each line with what it belongs to; two neighbours of one kind are one block."""
    fence, table = "", False
    for at, line in enumerate(lines):
        opened = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if opened is not None and (not fence or (line.strip().startswith(fence) and not line.strip(" `~"))):
            fence = "" if fence else opened[1]
            yield "fence", line
        elif fence:
            yield "code", line
        else:
            table = "|" in line and _is_row(line, _at(lines, at + 1), within=table)
            yield "table" if table else _kind(line), line


def _is_row(line: str, after: str, *, within: bool) -> bool:
    return _ROW.match(line) is not None and (within or _BETWEEN.match(after) is not None)


def _at(lines: list[str], place: int) -> str:
    return lines[place] if place < len(lines) else ""


def _kind(line: str) -> str:
    start = line.lstrip()[:1]
    if start not in _STARTS:
        return "prose"
    if not start:
        return "blank"
    kinds = (("rule", _RULE), ("heading", _HEADING), ("list", _ITEM), ("quote", _QUOTE))
    return next((kind for kind, pattern in kinds if pattern.match(line)), "prose")


def _in(tag: str, inside: str) -> str:
    return f"<{tag}>{inside}</{tag}>"


def _inline(words: str) -> str:
    return _INLINE.sub(_marked, words) if "*" in words or "`" in words or "~" in words else words


def _marked(match: re.Match[str]) -> str:
    tag = match.lastgroup or ""
    inside = match[tag]
    # What is bold may hold italics; deeper than that nobody writes.
    return _in(tag, inside if tag == "code" else _INLINE.sub(_innermost, inside))


def _innermost(match: re.Match[str]) -> str:
    tag = match.lastgroup or ""
    return _in(tag, match[tag])


def _headings(lines: list[str]) -> str:
    headings = filter(None, map(_HEADING.match, lines))
    words = (_CLOSING.sub("", match[1].rstrip()).rstrip() for match in headings)
    return "".join(_in("p", _in("b", _inline(line))) for line in words)


def _list(lines: list[str]) -> str:
    """Write the items, deeper ones further in; a number stays text, so that none is counted anew."""
    items = [match for match in map(_ITEM.match, lines) if match]
    indents = sorted({len(m[1].expandtabs(4)) for m in items})
    pieces = []
    for item in items:
        depth = min(indents.index(len(item[1].expandtabs(4))), _DEEPEST)
        classes = f"d{depth} n" if item[3] else f"d{depth}"
        number = f"{item[3]} " if item[3] else ""
        pieces.append(f'<li class="{classes}">{number}{_inline(item[4])}</li>')
    return _in("ul", "".join(pieces))


def _quote(lines: list[str]) -> str:
    return _in("blockquote", _inline("\n".join(m[1] for m in map(_QUOTE.match, lines) if m)))


def _table(lines: list[str]) -> str:
    rows = (line.strip()[1:-1].split("|") for line in lines if not _BETWEEN.match(line))
    written = (_in("tr", "".join(_in("td", _inline(cell.strip())) for cell in row)) for row in rows)
    return f'<div class="scroll"><table>{_in("tbody", "".join(written))}</table></div>'


_WRITERS: Final[dict[str, Callable[[list[str]], str]]] = {
    "prose": lambda lines: _in("p", _inline("\n".join(lines))),
    "heading": _headings,
    "list": _list,
    "quote": _quote,
    "table": _table,
    "code": lambda lines: _in("pre", _in("code", "\n".join(lines))),
    "rule": lambda _: "<hr/>",
    "fence": lambda _: "",
    "blank": lambda _: "",
}
