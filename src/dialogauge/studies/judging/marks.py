"""The words of a message that a judge quoted for the criteria of a whole session."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from dialogauge.report import Mark, words


def marks_in(text: str, quotes: Iterable[tuple[str, str]], weights: Mapping[str, float]) -> tuple[Mark, ...]:
    """Return where quotes stand in a text, in its order; a quote of another message has no mark.

    A judge writes white space, quotation marks and capitals in its own way: words and their order decide.

    Args:
        text: As it is shown.
        quotes: Words and the criterion that they show.
        weights: By criterion.
    """
    marks = []
    for quote, criterion in quotes:
        start = text.find(quote)
        end = start + len(quote)
        if start < 0:
            pieces = re.findall(r"\w+", quote)
            match = re.search(r"\W+".join(pieces), text, re.IGNORECASE) if pieces else None
            start, end = match.span() if match else (0, 0)
        if end:
            weight = weights[criterion]
            label = f"{words.name(criterion)} {weight:+.2g}"
            marks.append(Mark(start, end, label, weight < 0))
    return tuple(sorted(marks, key=lambda one: (one.start, -one.end)))
