"""Figures and foreign text in words: the same honest line on the page and on the terminal."""

from __future__ import annotations

import re

from dialogauge.report.view import Figure
from dialogauge.text import counted

__all__ = [
    "bounds",
    "cell",
    "cost",
    "counted",
    "counts_line",
    "figure_line",
    "interval",
    "language",
    "mean",
    "name",
    "number",
    "score",
    "share",
    "visible",
]

_DASH = "–"
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Control, bidi, zero-width, filler and tag characters, lone surrogates; not tab and line feed."""


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


def number(count: int) -> str:
    """Write a count with thin groups: 12,345."""
    return f"{count:,}"


def mean(value: float | None, decimals: int = 2, *, sign: bool = False) -> str:
    """Write a mean with two decimals, or a dash when it is undefined; what rounds to zero has no minus."""
    return _DASH if value is None else f"{value:{'+' if sign else ''}z.{decimals}f}"


def interval(ends: tuple[float, float] | None, decimals: int = 2) -> str:
    """Write an interval as `[3.98, 4.25]`, or say that there is none."""
    return "[no interval]" if ends is None else f"[{ends[0]:z.{decimals}f}, {ends[1]:z.{decimals}f}]"


def bounds(figure: Figure) -> str:
    """Write the bounds of a mean as `3.40–4.50`, or a dash when it has none."""
    if figure.bounds is None:
        return _DASH
    return _DASH.join(mean(end, figure.decimals) for end in figure.bounds)


def share(value: float) -> str:
    """Write a share as a percentage; a little is not nothing and almost all is not all."""
    if 0 < value < 0.001:
        return "<0.1 %"
    if 0.999 < value < 1:
        return ">99.9 %"
    return f"{value:.0%}".replace("%", " %") if value in (0, 1) else f"{value:.1%}".replace("%", " %")


def score(value: float | str | None) -> str:
    """Write a score: whole numbers without decimals, `n/a`, `failed` for none."""
    if value is None:
        return "failed"
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value == int(value) else f"{value:z.2f}"


def cell(value: float | str | None, level: str) -> str:
    """Write a conversation's score in the list: two decimals for a mean over turns, a dash for none."""
    if value is None:
        return _DASH
    return score(value) if isinstance(value, str) or level == "conversation" else mean(value)


def cost(value: float | None) -> str:
    """Write a cost, or say that it is unknown; never 0 for what is not known."""
    if value is None:
        return "unknown"
    return f"{value:.4f}" if 0 < value < 1 else f"{value:,.2f}"


def name(identifier: str) -> str:
    """Write a key such as `context_use` as words."""
    return identifier.replace("_", " ")


def language(code: str) -> str:
    """Write `en` and `zh` as names; any other code as it is."""
    return {"en": "English", "zh": "Chinese"}.get(code, code)


def figure_line(figure: Figure) -> str:
    """Write a mean with all that belongs to it.

    `4.12 [3.98, 4.25] · 160/200 scored · 40 failed · bounds 3.40–4.50`; n/a only where there are some.
    """
    if not figure.n:
        return f"no score · {counts_line(figure)}"
    told = f"{mean(figure.mean, figure.decimals)} {interval(figure.interval, figure.decimals)}"
    return f"{told} · {counts_line(figure)}"


def counts_line(figure: Figure) -> str:
    """Write the counts and bounds of a mean that is shown beside them."""
    parts = [f"{number(figure.n)}/{number(figure.requested)} scored"]
    if figure.n_na:
        parts.append(f"{number(figure.n_na)} n/a")
    parts.append(f"{number(figure.n_failed)} failed")
    if figure.bounds is not None:
        parts.append(f"bounds {bounds(figure)}")
    return " · ".join(parts)
