"""What an input is: the work behind `dialogauge check`."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.data import InputReport, inspect_conversations, read_conversations, read_field_map, read_ratings

__all__ = ["check_input"]


def check_input(
    inputs: Sequence[str],
    *,
    format: str | None = None,
    map_file: str | None = None,
    ratings_file: str | None = None,
    min_turns: int = 2,
    strict: bool = False,
) -> InputReport:
    """Read an input whole, in constant memory, and count what is in it.

    Raises FileFault when nothing can be read; faulty records are counted and listed in the report.
    """
    mapping = read_field_map(map_file) if map_file is not None else None
    ratings = read_ratings(ratings_file, mapping=mapping) if ratings_file is not None else None
    reader = read_conversations(inputs, format=format, mapping=mapping, strict=strict)
    return inspect_conversations(reader, min_turns=min_turns, ratings=ratings)
