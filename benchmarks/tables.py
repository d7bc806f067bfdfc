"""Small tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["table"]


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a table in Markdown, columns padded so that it reads well in a terminal too."""
    cells = [[_cell(c) for c in row] for row in rows]
    widths = [max(len(h), *(len(r[i]) for r in cells)) for i, h in enumerate(head)]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in (list(head), *cells)]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join((f"\n{title}", "", *lines))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
