"""Tables with one message a row, the rows of a conversation together."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dialogauge.core import Conversation, FileFault, Message, Place, Rating, RecordFault, Role
from dialogauge.data.field_map import FieldMap
from dialogauge.data.formats.base import Context, Outcome, Sample, TextFormat
from dialogauge.data.formats.fields import MESSAGE_KEYS
from dialogauge.data.formats.openai import unknown_role
from dialogauge.data.formats.turns import ROLE_ALIASES
from dialogauge.data.notes import LONGEST, MESSAGE, file_fault, record_fault, too_long
from dialogauge.data.ratings import as_score
from dialogauge.data.splits import message_turns
from dialogauge.data.tables import DelimitedTable, Row, find_column, open_table, read_header

_USUAL: dict[str, tuple[str, ...]] = {
    "conversation_id": ("conversation_id", "conversation", "dialogue_id", "dialog_id", "session_id", "id"),
    "role": ("role", "speaker", "from", "author", "sender"),
    "content": ("content", "text", "message", "utterance", "value"),
    "user_id": ("user_id", "user"),
    "scenario": ("scenario",),
    "context": ("scenario_description", "task_context", "context"),
    "candidate": ("candidate", "model"),
    "language": ("language", "lang"),
    "turn": ("turn", "turn_id"),
    "rater": ("rater", "annotator"),
}
_OF_CONVERSATION = ("user_id", "scenario", "context", "candidate", "language")


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of the fields and of the dimensions."""

    named: dict[str, str]
    ratings: dict[str, str]

    def get(self, row: Row, name: str) -> str | None:
        column = self.named.get(name)
        return row.cells[column] or None if column is not None else None


@dataclass(slots=True)
class _Group:
    """The rows of one conversation so far."""

    id: str
    line: int
    messages: list[Message] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    rated: list[tuple[int, str, float | str, str | None, Place]] = field(default_factory=list)
    """Index of the message, dimension, score, rater, place."""
    turns: list[str | None] = field(default_factory=list)
    fault: RecordFault | None = None
    size: int = 0
    """What it takes so far."""
    differing: set[str] = field(default_factory=set)
    """Fields in which its rows differ."""


def _recognises(sample: Sample) -> bool:
    """Say whether the header names a role and a content."""
    try:
        columns = read_header(enumerate(sample.lines, 1)).columns
    except csv.Error:
        return False
    named = named_columns(columns, sample.mapping)
    return "role" in named and "content" in named


def conversations_of(table: DelimitedTable, context: Context) -> Iterator[Outcome]:
    """Yield the conversations of a table with one message a row; raises `FileFault` where it breaks off."""
    columns = _columns(table.columns, context)
    group: _Group | None = None
    try:
        for row in table.rows:
            if isinstance(row, RecordFault):
                # The row may belong to the current conversation, which is then incomplete.
                group, done = None, row if group is None else _spoilt(group, row)
                yield done
                continue
            name = columns.get(row, "conversation_id") or context.source.label
            if group is not None and group.id != name:
                yield _finish(group, context)
                group = None
            group = group or _Group(name, row.line)
            _take(group, row, columns, context)
    except FileFault:
        if group is not None:
            place = Place(context.source.name, group.line, group.id)
            yield record_fault(place, "the file breaks off within this conversation")
        raise
    if group is not None:
        yield _finish(group, context)


def named_columns(columns: list[str] | tuple[str, ...], mapping: FieldMap) -> dict[str, str]:
    """Return field -> column, by the field map or a usual name."""
    named: dict[str, str] = {}
    for name, usual in _USUAL.items():
        mapped = getattr(mapping, name)
        column = mapped if mapped in columns else None if mapped else find_column(columns, usual)
        if column is not None:
            named[name] = column
    return named


def _columns(columns: tuple[str, ...], context: Context) -> _Columns:
    mapping, place = context.mapping, Place(context.source.name, 1)
    mapped = [getattr(mapping, name) for name in _USUAL] + list(mapping.ratings.values())
    missing = [column for column in mapped if column and column not in columns]
    named = named_columns(columns, mapping)
    if missing or "role" not in named or "content" not in named:
        what = f"no column {missing[0]!r}" if missing else "no column for the role or for the content"
        hint = f"it has {', '.join(columns)}; name them in a field map (--map)"
        raise file_fault(place, f"the table has {what}", hint)
    guessed = [f"{name} = {column}" for name, column in named.items() if not getattr(mapping, name)]
    if guessed and any(part.split(" = ")[0] != part.split(" = ")[1] for part in guessed):
        context.notes.assume(f"tables were read without a full field map, as {', '.join(guessed)}", place)
    if "conversation_id" not in named:
        context.notes.assume("tables have no id column: each read as one conversation", place)
    return _Columns(named, rating_columns(columns, mapping))


def rating_columns(columns: Sequence[str], mapping: FieldMap) -> dict[str, str]:
    """Return dimension -> column, by the field map or a usual name."""
    return dict(mapping.ratings) or {c: c for c in columns if c.lower() in MESSAGE_KEYS}


def _take(group: _Group, row: Row, columns: _Columns, context: Context) -> None:
    place = Place(context.source.name, row.line, group.id)
    group.size += MESSAGE + sum(map(len, row.cells.values()))
    if group.size > LONGEST:
        group.messages.clear()
        group.rated.clear()
        group.turns.clear()
        group.fault = group.fault or too_long(replace(place, line=group.line))
        return
    number = len(group.messages) + 1
    name = columns.get(row, "role") or ""
    role = _role(name, context, place)
    if role is None:
        message, hint = unknown_role(number, name)
        group.fault = group.fault or record_fault(place, message, hint)
        return
    used = {*columns.named.values(), *columns.ratings.values()}
    extra = {key: cell for key, cell in row.cells.items() if key not in used and cell}
    group.messages.append(Message(role, row.cells[columns.named["content"]], extra=extra))
    group.turns.append(columns.get(row, "turn"))
    for name in _OF_CONVERSATION:
        value = columns.get(row, name)
        differs = value is not None and group.about.setdefault(name, value) != value
        if differs and name not in group.differing:
            group.differing.add(name)
            context.notes.assume(f"conversations have rows that differ in {name}: the first is used", place)
    for dimension, column in columns.ratings.items():
        if row.cells[column].strip():
            try:
                score = as_score(row.cells[column])
            except ValueError as error:
                group.fault = group.fault or record_fault(place, f"column {column!r}: {error}")
                continue
            group.rated.append((number - 1, dimension, score, columns.get(row, "rater"), place))


def _role(name: str, context: Context, place: Place) -> Role | None:
    plain = name.strip().lower()
    role = context.mapping.role_of(name) or context.mapping.role_of(plain)
    if role is None and plain in ROLE_ALIASES:
        role = ROLE_ALIASES[plain]
        context.notes.assume(f"messages have the role {name!r}: read as {role}", place)
    return role


def _finish(group: _Group, context: Context) -> Outcome:
    place = Place(context.source.name, group.line, group.id)
    if group.fault is not None:
        return group.fault
    turns = message_turns(group.messages)
    if any(g is not None and t is not None and g != str(t) for g, t in zip(group.turns, turns, strict=True)):
        try:
            context.notes.assume("conversations number their turns differently: our numbers are used", place)
        except RecordFault as fault:
            return fault
    ratings = tuple(
        Rating(group.id, dimension, score, turns[index], rater, place=own_place)
        for index, dimension, score, rater, own_place in group.rated
    )
    return Conversation(group.id, tuple(group.messages), ratings=ratings, place=place, **group.about)


def _spoilt(group: _Group, fault: RecordFault) -> RecordFault:
    place = replace(fault.place or Place("?"), conversation_id=group.id)
    return record_fault(place, f"{fault.message}: the conversation is left out", fault.hint)


CSV = TextFormat("csv", _recognises, lambda stream, context: conversations_of(open_table(stream), context))
