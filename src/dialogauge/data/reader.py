"""A lazy reader of conversations from files, folders and standard input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from dialogauge.core import Conversation, FileFault, Message, Place, RecordFault, UsageError
from dialogauge.core.values import Value
from dialogauge.data.field_map import NO_MAP, FieldMap, paths_of
from dialogauge.data.formats import forced_format, format_of
from dialogauge.data.formats.base import Context, Format, Outcome, Sample
from dialogauge.data.formats.chat import CHAT
from dialogauge.data.formats.columns import named_columns
from dialogauge.data.formats.csv_table import CSV
from dialogauge.data.formats.payloads import asked, replied
from dialogauge.data.formats.rated_studies import reading_order
from dialogauge.data.formats.requests import REQUESTS
from dialogauge.data.formats.rows import ROWS
from dialogauge.data.formats.sources import LANGSMITH
from dialogauge.data.formats.spans import SAME_ID
from dialogauge.data.json_values import (
    JsonValue,
    is_document,
    is_object,
    json_values,
    outline,
    starts_json,
)
from dialogauge.data.notes import (
    LONGEST,
    MESSAGE,
    NAMED,
    UNNAMED,
    IdPlaces,
    Note,
    NoteBook,
    file_fault,
    record_fault,
    too_long,
)
from dialogauge.data.opening import locate
from dialogauge.data.paths import MISSING, look_up
from dialogauge.data.ratings import absent_turns
from dialogauge.data.reasoning import REASONING, without_reasoning
from dialogauge.data.sources import LineStream
from dialogauge.data.unknown import of_another_kind, unrecognised

_SNIFFED = 20
"""Records or lines that decide the format."""
_FLAT: Final = (ROWS, CSV, CHAT)
"""Formats that take almost anything: what stands in strings may be in a better one."""
_FORMAT: Final = "format"
"""Under which a source keeps its format."""
_SAMPLED = 1 << 16
"""Bytes of such a line."""
_REASONED: Final = f"messages have reasoning: kept under {REASONING!r}, no judge reads it"


class FileCounts(Value):
    """The counts of one file so far."""

    format: str
    conversations: int = 0
    faults: int = 0


def read_conversations(
    inputs: Sequence[str],
    *,
    format: str | None = None,  # the name of the option
    mapping: FieldMap | None = None,
    strict: bool = False,
) -> ConversationReader:
    """Return a lazy reader of the conversations in files, folders, or `-` for standard input.

    `format` forces one of `format_names()`, otherwise the content decides. `mapping` names the fields of
    other people's records. Raises `FileFault` at once for a missing path, an empty file or folder, and a
    file (not from a folder) in no known format; `UsageError` for an unknown format.
    """
    mapping = mapping or NO_MAP
    return ConversationReader(inputs, forced_format(format, mapping), mapping, strict=strict)


class ConversationReader:
    """An iterable of conversations, and of faults in place of those that cannot be read.

    A bad record yields a `RecordFault`, and the next record follows. A file that breaks off yields a
    `FileFault` after its readable part, and the next file follows; it is raised if nothing could be read.
    With `strict`, the first fault or assumption is raised. Each iteration reads again; `notes` and `files`
    describe the latest.
    """

    def __init__(
        self, inputs: Sequence[str], forced: Format | None, mapping: FieldMap, *, strict: bool
    ) -> None:
        self._forced = forced
        self._mapping = mapping
        self._strict = strict
        if not inputs:
            msg = "no input is named"
            raise UsageError(msg, hint="name files or folders of conversations")
        sources, self._left_out = locate(inputs, reading_order)
        self._streams = [LineStream(source) for source in sources]
        self._files: dict[str, FileCounts] = {}
        self._refused = 0
        self._book = NoteBook(strict=strict)
        for stream in self._streams:
            if not stream.source.member:
                # Refuse an unreadable file early; large documents are not loaded yet.
                if self._forced is None and starts_json(stream) and is_document(stream):
                    next(stream.written(), None)
                elif self._format(stream) is None:
                    raise unrecognised(stream, self._mapping)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes of the latest iteration so far."""
        return self._book.notes

    @property
    def files(self) -> dict[str, FileCounts]:
        """File -> its format and its counts of conversations and faults."""
        return dict(self._files)

    def __iter__(self) -> Iterator[Conversation | RecordFault | FileFault]:
        """Read all inputs from the beginning."""
        self._book = NoteBook(strict=self._strict)
        self._files = {}
        self._refused = 0
        ids = IdPlaces()
        if self._left_out:
            reason = "in a folder, and their ending is none of ours"
            self._book.leave_out(reason, count=self._left_out, what="files")
        anything, broken = False, None
        for number, stream in enumerate(self._streams):
            try:
                for outcome in self._source(stream, number, ids):
                    anything = True
                    yield outcome
            except FileFault as fault:
                if self._strict or not (anything or stream.source.member):
                    raise
                anything, broken = True, broken or fault
                yield fault
        if not self._files:
            if broken is not None:
                raise broken
            first = unrecognised(self._streams[0], self._mapping)
            what = f"no file here holds conversations in a known format; the first is of {first.message}"
            raise file_fault(first.place or Place(self._streams[0].source.name), what, first.hint)

    def count(self) -> int:
        """Return the largest possible number of outcomes, without a check for repeated ids.

        Raises `FileFault` where a file breaks off.
        """
        total = 0
        for stream in self._streams:
            file_format = self._format(stream)
            if file_format is not None:
                total += file_format.count(stream, Context(stream.source, self._mapping, NoteBook()))
        return total

    def _source(self, stream: LineStream, number: int, ids: IdPlaces) -> Iterator[Outcome]:
        source = stream.source
        file_format = self._format(stream)
        if file_format is None:
            if not source.member:
                raise unrecognised(stream, self._mapping)
            place = Place(source.name)
            self._book.leave_out("in a folder, and not recognised as conversations", place, what="files")
            return
        name, text = file_format.name, f"conversations read as {file_format.name}"
        converted = failed = 0
        self._files[source.name] = FileCounts(name)
        drawn = file_format is REQUESTS and len(self._streams) > 1
        try:
            for outcome in file_format.read(stream, Context(source, self._mapping, self._book)):
                checked = self._checked(outcome, number, ids, drawn=drawn)
                if isinstance(checked, Conversation):
                    converted += 1
                else:
                    failed += 1
                    if self._strict:
                        raise checked
                    self._refused += 1
                    checked = checked if self._refused <= NAMED else UNNAMED
                yield checked
        finally:
            self._files[source.name] = FileCounts(name, converted, failed)
            self._book.recognise(text, Place(source.name), count=converted)
        stream.note_unread(self._book)
        if converted + failed == 0:
            raise file_fault(Place(source.name), "the file has no conversations", f"read as {name}")

    def _checked(self, outcome: Outcome, number: int, ids: IdPlaces, *, drawn: bool) -> Outcome:
        """Return what is handed on; ids that are drawn may come again with other words, in another file."""
        if isinstance(outcome, RecordFault):
            return outcome
        place = outcome.place or Place(self._streams[number].source.name)
        first = ids.add(name_of(outcome), number, place.line or 0)
        if drawn and ids.add(repr((outcome.id, outcome.messages)), number, place.line or 0) is None and first:
            self._book.recognise(SAME_ID, place)
            outcome = replace(outcome, id=f"{outcome.id}~{number + 1}:{place.line or 0}")
        elif first is not None:
            before = Place(self._streams[first[0]].source.name, first[1] or None)
            return record_fault(place, f"the id was seen before, at {before}", "ids must differ")
        try:
            return admit(outcome, place, self._book)
        except RecordFault as fault:
            return fault

    def _format(self, stream: LineStream) -> Format | None:
        """Return the format that is forced or recognised; raises `FileFault` for one that cannot be used."""
        if _FORMAT not in stream.memo:
            forced = self._forced
            if forced is not None and (fault := of_another_kind(stream, forced)):
                raise fault
            known = _sniff(stream, self._mapping) if forced in (None, CSV) else forced
            if forced is None or (forced is CSV and known is not CSV):
                known = _of_opened(stream, known if forced is None else None, self._mapping)
            stream.memo[_FORMAT] = known or forced
        settled: Format | None = stream.memo[_FORMAT]
        if settled is not None:
            expect_order(settled, self._mapping, stream.source.name)
        return settled


def name_of(conversation: Conversation) -> str:
    """Return what names a conversation in a log: its id, with the candidate where one is named."""
    candidate = conversation.candidate
    return conversation.id if candidate is None else f"{conversation.id}\0{candidate}"


def expect_order(known: Format, mapping: FieldMap, name: str) -> None:
    """Raise `FileFault` where a map orders the messages of a format that has an order of its own."""
    if mapping.order_by is not None and not known.takes_order:
        what = f"the format {known.name} has an order of its own, and takes none from `order_by`"
        raise file_fault(Place(name), what, "leave `order_by` out of the field map (--map)")


def admit(conversation: Conversation, place: Place, book: NoteBook) -> Conversation:
    """Return a conversation with reasoning apart from its replies; note that, and what is odd about it.

    Raises `RecordFault` for one that is too long, and with a strict book for the first oddity.
    """
    messages = without_reasoning(conversation.messages)
    if messages is not conversation.messages:
        conversation = replace(conversation, messages=messages)
    _note_oddities(conversation, place, book)
    if any(REASONING in message.extra for message in messages):
        _note_reasoning(messages, place, book)
    return conversation


def _note_oddities(conversation: Conversation, place: Place, book: NoteBook) -> None:
    """Note what is odd about the order of the messages, and ratings of no turn."""
    previous, in_a_row, replied, tools, size = "", False, False, False, 0
    for message in conversation.messages:
        role = message.role
        size += MESSAGE + len(message.text)
        in_a_row = in_a_row or (role == previous and role in ("user", "assistant"))
        tools = tools or role == "tool" or bool(message.tool_calls)
        if role == "assistant" and not message.tool_calls:
            replied = True
        previous = role
    if size > LONGEST:
        raise too_long(place)
    if in_a_row:
        book.assume("conversations have consecutive messages of one role: read as one turn", place)
    if not replied and conversation.messages:  # one without messages is absent, as its format says
        book.assume("conversations have no assistant reply", place)
    if tools:
        _note_steps(conversation, place, book)
    # A rating of turn 0 is one before anything was said.
    if any(turn for _, turn in absent_turns(conversation, conversation.ratings)):
        text = "conversations have a rated turn that is not there: the rating is not used"
        book.assume(text, place, hint="turns are numbered from 1, one for each time the user speaks")


def _note_reasoning(messages: Sequence[Message], place: Place, book: NoteBook) -> None:
    thinking = [number for number, message in enumerate(messages) if message.extra.get(REASONING)]
    if not thinking:
        return
    book.recognise(_REASONED, place, count=len(thinking))
    for number in thinking:
        message, after = messages[number], messages[number + 1 : number + 2]
        silent = not message.text.strip() and not message.tool_calls
        if silent and not any(one.role == "assistant" for one in after):
            book.assume("replies are reasoning alone, as if cut off: read as empty", place)


_STEP_NOTES: Final = {
    "calls_without_result": "calls have no result in their turn: kept without one",
    "results_without_call": (
        "results have no call before in their turn: kept by themselves; `tool_call_id` names the call"
    ),
    "arguments_unread": "calls have arguments that are no JSON object: kept as they came",
}
"""What is wrong with a step -> its note."""


def _note_steps(conversation: Conversation, place: Place, book: NoteBook) -> None:
    for turn in conversation.turns:
        here, steps = Place(place.file, place.line, conversation.id, turn.number), turn.tool_steps
        for fault in (fault for step in steps for fault in step.faults):
            book.assume(_STEP_NOTES[fault], here)
        if steps and turn.number and not turn.has_reply:
            book.recognise("turns have calls and no reply: single turns are judged by their reply", here)


def _sniff(stream: LineStream, mapping: FieldMap) -> Format | None:
    """Return the format of the first records."""
    if not stream.begins:
        raise file_fault(Place(stream.source.name), "the file is empty", "is it still being written?")
    formats = (format_of(sample) for sample in _samples(stream, mapping))
    return next((one for one in formats if one is not None), None)


def _of_opened(stream: LineStream, known: Format | None, mapping: FieldMap) -> Format | None:
    """Return the format of a source; where only its opened strings are in one, it is read with these."""
    inside = [path for path in paths_of(mapping) if "." in path]
    if known not in (None, *_FLAT, LANGSMITH) and not inside:
        return known
    from dialogauge.data.json_cells import opened_streams

    for view in opened_streams(stream):
        within, first = _sniff(view, mapping), next(json_values(view))
        record = first.value if isinstance(first, JsonValue) and isinstance(first.value, dict) else {}
        leads = any(look_up(record, path) is not MISSING for path in inside)
        if within is not None and (known is None or leads or within not in _FLAT):
            stream.memo.update(view.memo)
            return within
        if known in _FLAT and mapping == NO_MAP and _is_packed(record):
            return None
    return known


def _is_packed(record: dict[str, Any]) -> bool:
    """Say whether prompt and reply of a row are objects, and hold no messages: they are not what was said."""
    named = named_columns(tuple(record), NO_MAP)
    pair = [record.get(named.get(name, "")) for name in ("prompt", "reply")]
    return all(isinstance(one, dict) for one in pair) and asked(pair[0]) is None and replied(pair[1]) is None


def _samples(stream: LineStream, mapping: FieldMap) -> Iterator[Sample]:
    if not starts_json(stream):
        lines = tuple(line[:_SAMPLED].decode("utf-8", "replace") for _, line in _first_lines(stream))
        yield Sample(stream.source, mapping, lines=lines)
        return
    try:
        for value in islice(json_values(stream), _SNIFFED):
            if isinstance(value, JsonValue):
                yield Sample(stream.source, mapping, record=value.value)
            elif is_object(stream):
                yield Sample(stream.source, mapping, record=outline(stream))
    except FileFault:
        if not is_object(stream):
            raise
        yield Sample(stream.source, mapping, record=outline(stream))


def _first_lines(stream: LineStream) -> list[tuple[int, bytes]]:
    return list(islice(stream.written(), _SNIFFED))
