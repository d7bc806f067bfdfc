"""Counts in words: apart from tokens, since every command needs this and few need those."""

from __future__ import annotations


def counted(n: int, noun: str, several: str | None = None) -> str:
    """Write a count before its noun: `1 turn`, `1,200 turns`, `2 replies`.

    Args:
        n: How many.
        noun: For one, with what stands before it: `rated turn`.
        several: For any other number, where it is not the noun and an s.
    """
    return f"{n:,} {noun if n == 1 else several or noun + 's'}"
