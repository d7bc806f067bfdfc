"""What an input is: the work behind `dialogauge check`."""

from __future__ import annotations

from dataclasses import replace
from secrets import token_bytes

from dialogauge import data  # by attribute: each of its modules is loaded when it is needed
from dialogauge.app.settings import CheckOptions
from dialogauge.app.sources import field_map, refuse_one_pipe_twice
from dialogauge.core.conversation import Conversation
from dialogauge.core.errors import InputError


def check_input(options: CheckOptions) -> data.InputReport:
    """Read an input whole, in constant memory, and count what is in it.

    With `personal` it counts what looks personal too, and nothing in the report quotes the data.

    Raises FileFault when nothing can be read; faulty records are counted and listed in the report.
    """
    mask = data.Mask(redact=True, hash_ids=False, salt=token_bytes(32)) if options.personal else None
    refuse_one_pipe_twice(options)
    mapping = field_map(options)
    reader = data.read_conversations(
        options.inputs, format=options.format, mapping=mapping, strict=options.strict
    )
    if options.ratings_file is None:
        return data.inspect_conversations(reader, min_turns=options.min_turns, mask=mask)
    ratings, seen = data.read_ratings(options.ratings_file, mapping=mapping), set[str]()
    absent = set[tuple[str, int]]()

    def rated(conversation: Conversation) -> Conversation:
        seen.add(conversation.id)
        absent.update(data.absent_turns(conversation, ratings.for_conversation(conversation.id)))
        return ratings.joined(conversation)

    report = data.inspect_conversations(reader, options.min_turns, rated, mask=mask)
    unknown = [
        *data.unknown_ids(ratings.ids - seen, options.ratings_file),
        *data.unknown_turns(absent, options.ratings_file),
    ]
    faults: list[InputError] = [*ratings.faults, *unknown]
    if mask is not None:
        faults = [mask.fault(fault) for fault in faults]
    return replace(
        report,
        notes=(*report.notes, *ratings.notes),
        faults=(*report.faults, *(str(f) for f in faults)),
        fault_count=report.fault_count + len(faults),
    )
