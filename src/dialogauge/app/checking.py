"""What an input is: the work behind `dialogauge check`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import Place, RecordFault
from dialogauge.data import (
    InputReport,
    inspect_conversations,
    read_conversations,
    read_field_map,
    read_ratings,
)

__all__ = ["check_input", "unknown_ids"]


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
    reader = read_conversations(inputs, format=format, mapping=mapping, strict=strict)
    if ratings_file is None:
        return inspect_conversations(reader, min_turns=min_turns)
    ratings, seen = read_ratings(ratings_file, mapping=mapping), set[str]()

    def rated(conversation: Conversation) -> Conversation:
        seen.add(conversation.id)
        given = ratings.for_conversation(conversation.id)
        return replace(conversation, ratings=(*conversation.ratings, *given))

    report = inspect_conversations(reader, min_turns, rated)
    faults = [*ratings.faults, *unknown_ids(ratings.ids - seen, ratings_file)]
    return replace(
        report,
        notes=(*report.notes, *ratings.notes),
        faults=(*report.faults, *(str(f) for f in faults)),
        fault_count=report.fault_count + len(faults),
    )


def unknown_ids(unknown: Collection[str], file: str) -> list[RecordFault]:
    """Return one fault that names the conversations that were rated and are not in the input."""
    if not unknown:
        return []
    shown = ", ".join(repr(i) for i in sorted(unknown)[:5]) + (" ..." if len(unknown) > 5 else "")
    msg = f"ratings for {len(unknown)} conversations that the input does not hold: {shown}"
    return [RecordFault(msg, place=Place(file), hint="check the ids, or the column that holds them")]
