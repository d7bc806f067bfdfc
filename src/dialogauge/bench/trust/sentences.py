"""How a check says that it saw too few."""

from __future__ import annotations

from dialogauge.text import counted

__all__ = ["only"]


def only(n: int, one: str, several: str) -> str:
    """Begin a sentence: `No reply was`, `Only 1 reply was`, `Only 4 replies were`."""
    return f"Only {counted(n, one, several)}" if n else f"No {one}"
