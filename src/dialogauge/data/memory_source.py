"""Conversations from memory: records, lists of messages, conversations, spans and traces, DataFrames.

They pass the same formats and checks as records of a file. A fault names the position from 0: `source[3]`,
or `DataFrame:3` for a row.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, Final, Protocol, TypeGuard, cast

import orjson

from dialogauge.core import ROLES, Conversation, InputError, Message, Place, Rating, RecordFault
from dialogauge.core.shape import Misfit, read_as
from dialogauge.data.field_map import NO_MAP, FieldMap
from dialogauge.data.formats import forced_format, format_of
from dialogauge.data.formats.base import Context, Entry, Format, RecordFormat, Sample, TextFormat
from dialogauge.data.formats.columns import named_columns
from dialogauge.data.formats.fields import rating_in
from dialogauge.data.formats.openai import NO_MESSAGES
from dialogauge.data.formats.rows import ROWS, RowTable, conversations_of, count_threads, table_of
from dialogauge.data.formats.threads import DataRow
from dialogauge.data.json_values import too_deep
from dialogauge.data.notes import Note, NoteBook, excerpt, record_fault
from dialogauge.data.opening import InputSource
from dialogauge.data.reader import admit, expect_order, name_of
from dialogauge.data.sources import LineStream

SOURCE: Final = "source"
"""What messages call records in memory."""
TABLE: Final = "DataFrame"
_SNIFFED: Final = 20


class DataFrame(Protocol):
    """A table of pandas or polars, known by what it can do; neither is imported."""

    @property
    def columns(self) -> Any:  # noqa: ANN401 - an index of pandas, a list of polars
        """The names of the columns."""


def is_table(value: object) -> TypeGuard[DataFrame]:
    """Whether a value is a DataFrame."""
    return hasattr(value, "columns") and (hasattr(value, "to_dicts") or hasattr(value, "to_dict"))


def memory_conversations(
    items: Iterable[object] | DataFrame,
    *,
    format: str | None = None,  # the name of the setting
    mapping: FieldMap | None = None,
    strict: bool = False,
) -> MemoryReader:
    """Return a reader of conversations in memory.

    Args:
        items: Records as a reader of JSONL takes them, lists of messages, conversations, spans and traces, or
            a DataFrame with one message a row (conversation_id, role, content), a prompt and its reply, one
            conversation a row (messages), or one span or trace a row. A fault among them is handed on.
        format: Forces one of `format_names()`; otherwise the first records decide.
        mapping: The names of fields or columns.
        strict: Whether the first fault, and the first thing that had to be assumed, is raised.

    Raises:
        RecordFault: Nothing at the beginning is a conversation in a known format.
        UsageError: The format is unknown.
    """
    mapping = mapping or NO_MAP
    forced = forced_format(format, mapping)
    if not is_table(items):
        return MemoryReader(list(cast("Iterable[object]", items)), forced, mapping, strict=strict)
    frame = _whole(items)
    columns, rows = tuple(str(c) for c in frame.columns), _rows_of(frame)
    described = bool(mapping.forms) or (mapping.messages or "messages").split(".")[0] in columns
    if described or _is_traced(rows[:1], mapping):
        records = [_without_missing(row) for row in rows]
        return MemoryReader(records, forced, mapping, strict=strict, name=TABLE)
    return MemoryReader(_table(columns, rows, mapping), None, mapping, strict=strict, name=TABLE)


@dataclass(frozen=True, slots=True)
class MemorySource(InputSource):
    """Items in memory, as the lines of JSONL that a file would hold."""

    lines: Callable[[], Iterable[bytes]] = tuple

    def _raw(self) -> io.BufferedReader:
        return io.BufferedReader(io.BytesIO(b"\n".join(self.lines())))


class MemoryReader:
    """An iterable of conversations, and of faults in place of those that cannot be read."""

    def __init__(
        self,
        items: Sequence[object] | RowTable,
        forced: Format | None,
        mapping: FieldMap,
        *,
        strict: bool,
        name: str = SOURCE,
    ) -> None:
        self._items = items
        self._source = MemorySource(name, name, None, lines=self._lines)
        self._mapping = mapping
        self._strict = strict
        self._records = 0 if isinstance(items, RowTable) else len(items)
        self._book = NoteBook(strict=strict)
        if not next(items.rows(), None) if isinstance(items, RowTable) else not items:
            msg = f"the {name} is empty"
            raise InputError(msg, hint="it has no conversation")
        self._format = None if isinstance(items, RowTable) else forced or self._recognised(items)
        if self._format is not None:
            expect_order(self._format, mapping, name)
        if self._format is ROWS and not isinstance(items, RowTable):
            self._items = self._rows(items)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was recognised and what was assumed, in the latest iteration so far."""
        return self._book.notes

    def count(self) -> int:
        """Count what iterating would hand out, at most."""
        if isinstance(self._items, RowTable):
            return count_threads(self._items, Context(self._source, self._mapping, NoteBook()))
        if isinstance(self._format, TextFormat):
            context = Context(self._source, self._mapping, NoteBook())
            return self._format.count(LineStream(self._source), context)
        return len(self._items)

    def __iter__(self) -> Iterator[Conversation | InputError]:
        """Read everything from the beginning."""
        self._book = NoteBook(strict=self._strict)
        if self._format is not None:
            self._book.recognise(f"records read as {self._format.name}", count=self._records)
        first_places: dict[str, Place] = {}
        for outcome in self._outcomes():
            checked = self._checked(outcome, first_places) if isinstance(outcome, Conversation) else outcome
            if self._strict and isinstance(checked, InputError):
                raise checked
            yield checked

    def _outcomes(self) -> Iterator[Conversation | InputError]:
        context = Context(self._source, self._mapping, self._book)
        if isinstance(self._items, RowTable):
            yield from conversations_of(self._items, context)
            return
        apart = isinstance(self._format, TextFormat)
        for index, item in enumerate(self._items):
            try:
                if not apart or isinstance(item, Conversation | InputError):
                    yield self._read(item, index, context)
                else:
                    _as_json(item, self._place(index))
            except InputError as fault:
                yield fault
        if isinstance(self._format, TextFormat):
            outcomes = self._format.read(LineStream(self._source), context)
            yield from (_placed(outcome, self._source.name) for outcome in outcomes)

    def _lines(self) -> Iterator[bytes]:
        """Yield each item as JSON; nothing for one that is none, or that is a conversation or a fault."""
        for item in self._items if not isinstance(self._items, RowTable) else ():
            try:
                known = isinstance(item, Conversation | InputError)
                yield b"" if known else orjson.dumps(_as_json(item, Place(self._source.name)))
            except RecordFault:
                yield b""

    def _read(self, item: object, index: int, context: Context) -> Conversation | InputError:
        if isinstance(item, InputError):
            return item
        place = self._place(index)
        entry = Entry(context, place, str(index), "the position in the source")
        if isinstance(item, Conversation):
            return _complete(item, entry)
        if not isinstance(self._format, RecordFormat):
            raise record_fault(place, f"this is {excerpt(item)}: no conversation", _KINDS)
        return self._format.convert(_as_json(item, place), entry)

    def _checked(
        self, conversation: Conversation, first_places: dict[str, Place]
    ) -> Conversation | RecordFault:
        place = conversation.place or Place(self._source.name)
        name = name_of(conversation)
        first = first_places.get(name)
        first_places.setdefault(name, place)
        if first is not None:
            before = Place(first.file, first.line)
            return record_fault(place, f"the id was seen before, at {before}", "ids must differ")
        try:
            return admit(conversation, place, self._book)
        except RecordFault as fault:
            return fault

    def _recognised(self, items: Sequence[object]) -> Format | None:
        """Return the format of the first records; None where there are conversations only."""
        records = [
            (i, r) for i, r in enumerate(items[:_SNIFFED]) if not isinstance(r, Conversation | InputError)
        ]
        unwritable: RecordFault | None = None
        for index, record in records:
            try:
                sample = Sample(self._source, self._mapping, record=_as_json(record, self._place(index)))
            except RecordFault as fault:
                unwritable = unwritable or fault
                continue
            known = format_of(sample)
            if known is not None and known.json:
                return known
        if not records:
            return None
        if unwritable is not None:
            raise unwritable
        index, record = records[0]
        raise record_fault(self._place(index), f"unknown format: this is {excerpt(record)}", _KINDS)

    def _rows(self, items: Sequence[object]) -> RowTable:
        """Return flat records as the rows of a table."""

        def row(index: int, item: object) -> DataRow | RecordFault:
            if isinstance(item, RecordFault):
                return item
            place = self._place(index)
            try:
                cells = _as_json(item, place)
            except RecordFault as fault:
                return fault
            if not isinstance(cells, dict):
                return record_fault(place, f"the row is {excerpt(cells)}: not an object")
            return DataRow(cells, place, index)

        def rows() -> Iterator[DataRow | RecordFault]:
            return (row(index, item) for index, item in enumerate(items))

        return table_of(rows)

    def _place(self, index: int) -> Place:
        return Place(f"{self._source.name}[{index}]")


_KINDS: Final = "give conversations, lists of messages, records with 'messages', a DataFrame, or paths"


def _placed(outcome: Conversation | RecordFault, name: str) -> Conversation | RecordFault:
    """Return what was read of a line with its position in the source."""
    place = outcome.place
    if place is None or place.line is None or place.file != name:
        return outcome
    place = replace(place, file=f"{name}[{place.line - 1}]", line=None)
    if isinstance(outcome, RecordFault):
        return record_fault(place, outcome.message, outcome.hint)
    return replace(outcome, place=place)


def _complete(conversation: Conversation, entry: Entry) -> Conversation:
    """Check a conversation and return it with a place, a tuple of messages, and ratings as of a file."""
    place = entry.place
    if not isinstance(conversation.id, str) or not conversation.id:
        raise record_fault(place, f"the conversation has the id {excerpt(conversation.id)}: not a text")
    place = Place(place.file, None, conversation.id)
    for what in ("messages", "ratings"):
        if not isinstance(values := getattr(conversation, what), tuple | list):
            raise record_fault(place, f"its {what} are {excerpt(values)}: not a tuple")
    _expect_messages(conversation.messages, place)
    if not conversation.messages:
        entry.recognise(NO_MESSAGES)
    try:
        read_as(_as_json(replace(conversation, ratings=(), place=None), place), Conversation)
    except Misfit as misfit:
        raise record_fault(place, f"its {misfit}") from misfit
    own = replace(entry, place=place)
    return replace(
        conversation,
        messages=tuple(conversation.messages),
        ratings=tuple(_rating(rating, conversation.id, own) for rating in conversation.ratings),
        place=conversation.place or place,
    )


def _expect_messages(messages: Sequence[object], place: Place) -> None:
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, Message):
            raise record_fault(place, f"message {number} is {excerpt(message)}: not a Message")
        if message.role not in ROLES:
            known = ", ".join(ROLES)
            msg = f"message {number} has the unknown role {excerpt(message.role)}"
            raise record_fault(place, msg, f"known: {known}")


def _rating(rating: object, conversation_id: str, entry: Entry) -> Rating:
    """Return a rating as the row of a file would yield it."""
    if not isinstance(rating, Rating):
        raise record_fault(entry.place, f"a rating is {excerpt(rating)}: not a Rating")
    row = _as_json(replace(rating, place=None), entry.place)
    if isinstance(rating.score, float):
        row["score"] = rating.score  # JSON has no NaN, which is to be named
    return replace(rating_in(row, "rating", conversation_id, None, entry), place=rating.place)


def _as_json(item: object, place: Place) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value as a file would yield it; raises `RecordFault` if no file can hold it."""
    try:
        value = orjson.loads(orjson.dumps(item, default=_plain, option=orjson.OPT_SERIALIZE_NUMPY))
    except (orjson.JSONEncodeError, RecursionError) as error:
        cause = error.__cause__ or error
        raise record_fault(place, f"this cannot be written as JSON: {cause}") from error
    if too_deep(value):
        raise record_fault(place, "the record is nested too deep")
    return value


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever JSON does not know
    """Return a JSON value: the fields of a client's object, the list of an array, a time as text."""
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(exclude_none=True)
    if isinstance(value, Mapping):
        return dict(value)
    for name in ("tolist", "to_dict", "isoformat"):
        if callable(plain := getattr(value, name, None)):
            return plain()
    if callable(as_text := getattr(value, "to_json", None)):  # a span of OpenTelemetry
        return orjson.loads(as_text())
    msg = f"{type(value).__name__} is no JSON value"
    raise TypeError(msg)


def _table(columns: tuple[str, ...], rows: Sequence[Mapping[str, Any]], mapping: FieldMap) -> RowTable:
    """Return the rows of a DataFrame; raises `RecordFault` for a message that is no text."""
    named = named_columns(columns, mapping)
    for text in {named[name] for name in ("content", "prompt", "reply") if name in named} & set(columns):
        for number, row in enumerate(rows):
            if not _missing(row[text]) and not isinstance(row[text], str):
                msg = f"column {text!r} holds {excerpt(row[text])}: not a text"
                hint = "give a column `messages` for content in parts and for tool calls"
                raise record_fault(Place(TABLE, number), msg, hint)
    cells = [{column: _cell(value) for column, value in row.items()} for row in rows]
    return RowTable(columns, lambda: (DataRow(c, Place(TABLE, n), n) for n, c in enumerate(cells)))


def _whole(frame: Any) -> Any:  # noqa: ANN401 - of pandas or polars
    """Return a table with its index as a column, where that has a name of its own."""
    name = getattr(getattr(frame, "index", None), "name", None)
    return frame.reset_index() if isinstance(name, str) and name not in frame.columns else frame


def _without_missing(row: Mapping[str, Any]) -> dict[str, Any]:
    return {column: value for column, value in row.items() if not _missing(value)}


def _is_traced(rows: Sequence[Mapping[str, Any]], mapping: FieldMap) -> bool:
    """Say whether the rows of a table are spans or traces, or records of another format than tables."""
    if not rows:
        return False
    try:
        value = _as_json(_without_missing(rows[0]), Place(TABLE))
    except RecordFault:
        return False
    known = format_of(Sample(MemorySource(TABLE, TABLE, None), mapping, record=value))
    return known is not None and known is not ROWS


def _rows_of(frame: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - of pandas or polars
    rows = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")
    return [{str(k): v for k, v in row.items()} for row in rows]


def _missing(value: object) -> bool:
    nothing = value is None or type(value).__name__ in ("NAType", "NaTType")
    return nothing or (isinstance(value, Number) and value != value)


def _cell(value: Any) -> str:  # noqa: ANN401 - any value of a DataFrame
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple | dict):
        return str(value)
    if _missing(value):
        return ""
    # A column of whole numbers with gaps is one of fractions in pandas.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
