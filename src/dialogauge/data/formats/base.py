"""The two kinds of file formats, and their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dialogauge.core import Conversation, Place, RecordFault
from dialogauge.core.values import Value
from dialogauge.data.field_map import FieldMap
from dialogauge.data.json_values import count_values, json_values
from dialogauge.data.notes import NoteBook, record_fault
from dialogauge.data.opening import InputSource
from dialogauge.data.sources import LineStream

Outcome = Conversation | RecordFault
"""A conversation, or why it could not be read."""


class Sample(Value):
    """The beginning of a source, for the recognition of its format."""

    source: InputSource
    mapping: FieldMap
    record: Any = None
    """A JSON value; None for a source that is not JSON."""
    lines: tuple[str, ...] = ()
    """The first non-blank lines of a source that is not JSON."""


class Context(Value):
    """The context of a source."""

    source: InputSource
    mapping: FieldMap
    notes: NoteBook
    memo: dict[str, Any] = field(default_factory=dict)
    """What a format keeps for all records of the source."""


@dataclass(slots=True)
class Entry:
    """The context of one record."""

    context: Context
    place: Place
    made_id: str
    """The id for a record without one."""
    made_from: str = "file name and line"
    """What that id is made from."""

    @property
    def mapping(self) -> FieldMap:
        """The user's field map."""
        return self.context.mapping

    def recognise(self, text: str) -> None:
        """Note something that follows from the format."""
        self.context.notes.recognise(text, self.place)

    def assume(self, text: str, hint: str | None = None) -> None:
        """Note something that may be wrong."""
        self.context.notes.assume(text, self.place, hint=hint)


def fault_in(entry: Entry, message: str, hint: str | None = None) -> RecordFault:
    """Return a fault of the current record."""
    return record_fault(entry.place, message, hint)


def entries(stream: LineStream, context: Context) -> Iterator[tuple[Any, Entry]]:
    """Yield the JSON values of a source, each with its context; a `RecordFault` for one that cannot be read.

    Raises `FileFault` where the source breaks off.
    """
    name, label = context.source.name, context.source.label
    for value in json_values(stream):
        if isinstance(value, RecordFault):
            yield value, Entry(context, value.place or Place(name), label)
        else:
            yield value.value, Entry(context, value.place, f"{label}:{value.number}")


class TextFormat(Value):
    """A format in which a conversation is several lines or records of a source."""

    name: str
    """Its name in `--format`."""
    recognises: Callable[[Sample], bool]
    """Whether the beginning of a source looks like this format."""
    read: Callable[[LineStream, Context], Iterator[Outcome]]
    """Yields the conversations of a source; raises `FileFault` where it breaks off."""
    json: bool | None = True
    """Whether the source is JSON; None where it may be a table too."""
    takes_order: bool = False
    """Whether a field map may say by what its messages are ordered; else the format itself says it."""

    def count(self, stream: LineStream, context: Context) -> int:
        """Count the outcomes of `read`, by reading."""
        return sum(1 for _ in self.read(stream, context))


class RecordFormat(Value):
    """A format in which one JSON value is one conversation, in JSONL or in one JSON array."""

    name: str
    """Its name in `--format`."""
    recognise: Callable[[Any, FieldMap], bool]
    convert: Callable[[Any, Entry], Conversation]
    """Raises `RecordFault` for a record that cannot be read."""
    takes_order: bool = True
    """As that of `TextFormat`."""
    json: ClassVar[bool | None] = True

    def recognises(self, sample: Sample) -> bool:
        """Say whether the first record looks like this format."""
        return sample.record is not None and self.recognise(sample.record, sample.mapping)

    def count(self, stream: LineStream, context: Context) -> int:
        """Count the values of the source."""
        return count_values(stream)

    def read(self, stream: LineStream, context: Context) -> Iterator[Outcome]:
        """Convert the values of the source one by one."""
        for value, entry in entries(stream, context):
            try:
                yield value if isinstance(value, RecordFault) else self.convert(value, entry)
            except RecordFault as fault:
                yield fault


Format = RecordFormat | TextFormat
