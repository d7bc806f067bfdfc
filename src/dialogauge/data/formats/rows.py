"""Tables with one message a row, or a prompt and its reply: CSV, flat JSON records, data frames.

Rows of one conversation are put together and in order of time; see `threads`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, FileFault, Message, Place, RecordFault, Role
from dialogauge.core.values import Value
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, fault_in
from dialogauge.data.formats.columns import (
    USUAL,
    RowColumns,
    has_column,
    is_whole,
    named_columns,
    rating_columns,
)
from dialogauge.data.formats.fields import INTERNAL, PERHAPS, UNNAMED, is_internal, is_rating, ratings_in
from dialogauge.data.formats.lists import exchanged
from dialogauge.data.formats.openai import MessageReader, unknown_role, used_tools, with_replies
from dialogauge.data.formats.payloads import OTHER_CHOICES, asked, messages_in, others_in, replied
from dialogauge.data.formats.rendered import is_rendered, unrendered
from dialogauge.data.formats.roles import ROLE_ALIASES, note_shared, role_named
from dialogauge.data.formats.threads import DataRow, Rows, Threads, each_differs, in_threads, whole_rows
from dialogauge.data.json_values import is_message_list, json_values
from dialogauge.data.notes import LONGEST, MESSAGE, excerpt, file_fault, record_fault, too_long
from dialogauge.data.paths import MISSING, look_up
from dialogauge.data.sources import LineStream
from dialogauge.data.splits import message_turns

_OF_TOOLS: Final = frozenset({"tool_calls", "tool_call_id", "name", "function_call"})
_CALLS: Final = ("tool_calls", "function_call")
_MOST_COLUMNS: Final = 10_000


class RowTable(Value):
    """Rows, as often as they are asked for."""

    columns: tuple[str, ...]
    rows: Rows


@dataclass(slots=True)
class _Group:
    """The rows of one conversation so far."""

    id: str
    place: Place
    messages: list[Message] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    rated: list[tuple[int, dict[str, Any], str | None, Place]] = field(default_factory=list)
    """Index of the message, dimension: score, rater, place."""
    turns: list[str | None] = field(default_factory=list)
    fault: RecordFault | None = None
    size: int = 0
    """What it takes so far."""
    names: dict[Role, set[str]] = field(default_factory=dict)
    """Who speaks in each role."""
    differing: set[str] = field(default_factory=set)
    """Fields in which its rows differ."""


def _columns(table: RowTable, context: Context) -> RowColumns:
    mapping, columns, place = context.mapping, table.columns, Place(context.source.name)
    named = named_columns(columns, mapping)
    mapped = {name: getattr(mapping, name, None) for name in USUAL}
    if (own := mapped["conversation_id"]) and (instead := named.get("conversation_id", own)) != own:
        mapped.pop("conversation_id")
        context.notes.assume(f"tables have no {own!r}: read with conversation_id = {instead}", place)
    missing = [p for p in (*mapped.values(), *mapping.ratings.values()) if p and not has_column(columns, p)]
    if missing or not is_whole(named):
        what = f"no column {missing[0]!r}" if missing else "no column for the role or for the content"
        hint = f"it has {', '.join(columns)}; name them in a field map (--map)"
        raise file_fault(place, f"the table has {what}", hint)
    guessed = [f"{n} = {c}" for n, c in named.items() if not getattr(mapping, n, None) and n != "order_by"]
    if any(part.split(" = ")[0] != part.split(" = ")[1] for part in guessed):
        context.notes.assume(f"tables were read without a full field map, as {', '.join(guessed)}", place)
    _settle_threads(named, table, context)
    rated = rating_columns(columns, mapping)
    unused = [c for c in columns if c.lower() in UNNAMED and c not in {*named.values(), *rated.values()}]
    if unused and not mapping.ratings:
        names = ", ".join(unused)
        context.notes.recognise(
            f"tables have {names}: no ratings unless a field map (--map) names them", place
        )
    return RowColumns(named, rated, frozenset({*named.values(), *rated.values()}))


def _settle_threads(named: dict[str, str], table: RowTable, context: Context) -> None:
    """Decide which column says what belongs together, where the usual ones do not."""
    place, column = Place(context.source.name), named.get("conversation_id")
    if "reply" in named:
        if column is None:
            context.notes.assume("tables have no id column: each row read as one conversation", place)
        return
    guessed = column is not None and context.mapping.conversation_id is None and column.lower() == "id"
    own, roles = RowColumns(named, {}), set[str | None]()

    def id_of(row: DataRow) -> str | None:
        roles.add(own.get(row, "role"))
        return own.get(row, "conversation_id")

    if guessed and each_differs(table.rows, id_of) and len(roles) > 1:
        context.notes.assume(f"tables have another {column!r} in each row: it is no conversation's", place)
        column = named.pop("conversation_id", None) and None
    if column is None and "user_id" in named:
        named["conversation_id"] = named["user_id"]
        context.notes.assume("tables have no id column: the rows of a user read as one conversation", place)
    elif column is None:
        context.notes.assume("tables have no id column: each read as one conversation", place)


def conversations_of(table: RowTable, context: Context) -> Iterator[Outcome]:
    """Yield the conversations of a table; raises `FileFault` where it breaks off."""
    columns = _columns(table, context)
    group: _Group | None = None
    try:
        for row in in_threads(table.rows, _threads(columns, context), context.notes, context.source.name):
            if isinstance(row, RecordFault):
                # The row may belong to the current conversation, which is then incomplete.
                group, done = _after(row, group, columns, context)
                yield from done
                continue
            name = _thread(row, columns, context)
            if group is not None and group.id != name:
                yield _finish(group, context)
                group = None
            group = group or _Group(name, Place(row.place.file, row.place.line, name))
            _take(group, row, columns, context)
    except FileFault:
        if group is not None:
            yield record_fault(group.place, "the file breaks off within this conversation")
        raise
    if group is not None:
        yield _finish(group, context)


def _thread(row: DataRow, columns: RowColumns, context: Context) -> str:
    made = f"{context.source.label}:{row.number}" if columns.exchanges else context.source.label
    return columns.get(row, "conversation_id") or made


def _threads(columns: RowColumns, context: Context) -> Threads:
    named, mapping = columns.named, context.mapping
    whole = columns.exchanges or named.get("conversation_id") not in (None, named.get("user_id"))
    order = named.get("order_by") or (named.get("turn") if whole else None)
    column = order or ""

    def is_user(row: DataRow) -> bool:
        role = (columns.get(row, "role") or "").strip().lower()
        return (mapping.role_of(role) or ROLE_ALIASES.get(role) or role) == "user"

    return Threads(
        named.get("conversation_id"),
        lambda row: _thread(row, columns, context),
        order,
        lambda row: row.cells[column] if column in row.cells else look_up(row.cells, column),
        ordered=mapping.order_by is not None,
        is_user=None if columns.exchanges or named.get("order_by") else is_user,
    )


def count_threads(table: RowTable, context: Context) -> int:
    """Count the conversations of a table, at most."""
    columns = _columns(table, context)
    return len({_thread(row, columns, context) for row in table.rows() if isinstance(row, DataRow)})


def _take(group: _Group, row: DataRow, columns: RowColumns, context: Context) -> None:
    values = row.cells.values()
    group.size += MESSAGE + sum([len(v) if type(v) is str else len(str(v)) for v in values])
    if group.size > LONGEST:
        group.messages.clear()
        group.rated.clear()
        group.turns.clear()
        group.fault = group.fault or too_long(group.place)
    if group.fault is not None:
        return
    place = Place(row.place.file, row.place.line, group.id)
    if not columns.exchanges and context.mapping.role is None and is_internal(row.cells):
        context.notes.leave_out(INTERNAL, place)
        return
    entry, before = Entry(context, place, group.id), len(group.messages)
    try:
        rated = _rated(row, columns, entry)
        _name(group, row, columns, entry)
        group.messages += _without(group.messages, list(_messages(row, columns, before, entry)), entry)
        last = len(group.messages) - 1
        role = group.messages[last].role if last >= before else "user"
        if rated and role not in ("user", "assistant"):
            entry.recognise(f"messages of the {role} have a rating: not used, it belongs to the reply")
        elif rated:
            group.rated.append((max(last, 0), rated, columns.get(row, "rater"), place))
    except RecordFault as fault:
        group.fault = fault
        return
    turn = None if columns.exchanges else columns.get(row, "turn")
    group.turns += [turn] * (len(group.messages) - before)
    for name in columns.of_conversation:
        value = columns.get(row, name)
        differs = value is not None and group.about.setdefault(name, value) != value
        if differs and name not in group.differing:
            group.differing.add(name)
            context.notes.assume(f"conversations have rows that differ in {name}: the first is used", place)


def _name(group: _Group, row: DataRow, columns: RowColumns, entry: Entry) -> None:
    name = None if columns.exchanges else columns.get(row, "role")
    plain = (name or "").strip().lower()
    role = entry.mapping.role_of(name or "") or entry.mapping.role_of(plain) or ROLE_ALIASES.get(plain)
    if role is not None:
        group.names.setdefault(role, set()).add(plain)


def _without(past: Sequence[Message], coming: list[Message], entry: Entry) -> list[Message]:
    """Return the messages of a row without those of the rows before, which its prompt may repeat."""
    size = len(past)
    if not size or len(coming) <= size:
        return coming
    if any((a.role, a.text) != (b.role, b.text) for a, b in zip(past, coming, strict=False)):
        return coming
    entry.recognise("rows repeat the messages of those before: read once")
    return coming[size:]


def _rated(row: DataRow, columns: RowColumns, entry: Entry) -> dict[str, Any]:
    """Return dimension -> what stands in its column, where that is a rating."""
    rated: dict[str, Any] = {}
    for dimension, column in columns.ratings.items():
        value = look_up(row.cells, column)
        if value is MISSING or value is None or (isinstance(value, str) and not value.strip()):
            continue
        if column.lower() in PERHAPS and not entry.mapping.ratings:
            if not is_rating(value):
                entry.recognise(f"rows have a {column} that is neither a number nor a thumb: not used")
                continue
            entry.recognise(f"rows have a {column}: read as a rating of the turn")
        rated[dimension] = value
    return rated


def _messages(row: DataRow, columns: RowColumns, before: int, entry: Entry) -> Iterator[Message]:
    if not columns.exchanges:
        content = look_up(row.cells, columns.named["content"])
        yield _message(columns.get(row, "role") or "", content, columns.rest(row), before, entry)
    else:
        yield from _exchange(row, columns, before, entry)


def _exchange(row: DataRow, columns: RowColumns, before: int, entry: Entry) -> Iterator[Message]:
    if before == 0:
        yield from _first(row, columns, entry)
    rest = columns.rest(row)
    prompt, reply = _prompt(row, columns, entry), columns.value(row, "reply")
    if prompt is None and reply is None:
        entry.leave_out("neither prompt nor reply", what="rows")
    if isinstance(prompt, str) and isinstance(reply, str | None) and is_rendered(prompt):
        yield from _listed(unrendered(prompt, entry, reply), entry)
        return
    exchange: tuple[tuple[Role, object], ...] = (("user", prompt), ("assistant", reply))
    for role, value in exchange:
        if (items := _items(role, value)) is not None:
            entry.recognise("rows hold messages as JSON: read as messages")
            yield from _listed(items, entry, others_in(value) if role == "assistant" else 0)
        elif isinstance(value, str | int | float):
            if role == "assistant":
                yield from used_tools(rest, before + 1, entry)
            yield Message(role, str(value), extra=rest if role == "assistant" or reply is None else {})
        elif value is not None:
            raise fault_in(
                entry, f"the {'prompt' if role == 'user' else 'reply'} is {excerpt(value)}: no text"
            )


def _first(row: DataRow, columns: RowColumns, entry: Entry) -> Iterator[Message]:
    """Yield what stands beside the first prompt and comes before it: the system prompt, and messages."""
    if system := columns.get(row, "system"):
        yield Message("system", system)
    value, column = columns.value(row, "history"), columns.named.get("history")
    if value is None:
        return
    listed = _unpacked(value)
    items = exchanged(listed)
    if items is None and isinstance(listed, list):
        items = messages_in(listed)
    if items is None:
        entry.leave_out(f"a {column!r} that cannot be read as messages", assumed=True)
    elif items:
        entry.recognise(f"rows have messages before their prompt under {column!r}: read first")
        yield from _listed(items, entry)


def _listed(items: list[dict[str, Any]], entry: Entry, others: int = 0) -> tuple[Message, ...]:
    """Return the messages in a cell, and note others; by a field map the rows are ordered, and not these."""
    if others:
        entry.leave_out(OTHER_CHOICES, others)
    return MessageReader(entry, ordered=entry.mapping.order_by is not None).read(items)


def _items(role: Role, value: object) -> list[dict[str, Any]] | None:
    """Return the messages in a prompt or reply, maybe written as JSON; None where it is a text itself."""
    if is_message_list(value):
        return value
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return None
    items = asked(value) if role == "user" else replied(value)
    return None if items == [{"role": role, "content": value}] else items


def _prompt(row: DataRow, columns: RowColumns, entry: Entry) -> Any:  # noqa: ANN401  # any JSON value
    prompt, more = columns.value(row, "prompt"), columns.value(row, "input")
    if not (isinstance(prompt, str) and isinstance(more, str)):
        return prompt
    entry.recognise("rows have an instruction and an input: joined by an empty line")
    return f"{prompt}\n\n{more}"


def _message(name: str, content: object, rest: dict[str, Any], before: int, entry: Entry) -> Message:
    role = role_named(name, entry)
    if role is None:
        raise fault_in(entry, *unknown_role(before + 1, name))
    if isinstance(content, str) and _OF_TOOLS.isdisjoint(rest):
        return Message(role, content, extra=rest)
    reader = MessageReader(entry, role_of=lambda _: role)
    value = {} if content is MISSING else {reader.content_key: content}
    (message,) = reader.read(
        [{reader.role_key: name, **value, **{k: _unpacked(v) if k in _CALLS else v for k, v in rest.items()}}]
    )
    return message


def _unpacked(value: object) -> Any:  # noqa: ANN401  # any JSON value
    """Return what a cell of a table holds, where that is written as JSON."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def _finish(group: _Group, context: Context) -> Outcome:
    if group.fault is not None:
        return group.fault
    turns = message_turns(group.messages)
    try:
        if any(g and t is not None and g != str(t) for g, t in zip(group.turns, turns, strict=True)):
            text = "conversations number their turns differently: our numbers are used"
            context.notes.assume(text, group.place)
        if not group.messages:
            raise record_fault(group.place, "the conversation has no messages")
        ratings = tuple(
            replace(rating, rater=rater or rating.rater, place=place)
            for index, rated, rater, place in group.rated
            for dimension, value in rated.items()
            for rating in ratings_in(
                value, dimension, group.id, turns[index], Entry(context, place, group.id)
            )
        )
    except RecordFault as fault:
        return fault
    entry = Entry(context, group.place, group.id)
    try:
        note_shared(group.names, entry)
    except RecordFault as fault:
        return fault
    messages = with_replies(tuple(group.messages), entry)
    return Conversation(group.id, messages, ratings=ratings, place=group.place, **group.about)


def _after(
    fault: RecordFault, group: _Group | None, columns: RowColumns, context: Context
) -> tuple[_Group | None, list[Outcome]]:
    """Return the current conversation after a row that cannot be read, and what is done with."""
    if group is None or (columns.exchanges and "conversation_id" not in columns.named):
        return None, [*([] if group is None else [_finish(group, context)]), fault]
    place = replace(fault.place or Place("?"), conversation_id=group.id)
    spoilt = record_fault(place, f"{fault.message}: the conversation is left out", fault.hint)
    group.fault = group.fault or spoilt
    return group, []


def table_of(rows: Rows) -> RowTable:
    """Return the table of flat records: a column for each of their keys."""
    keys: dict[str, None] = {}
    for row in whole_rows(rows):
        if len(keys) < _MOST_COLUMNS:
            keys |= dict.fromkeys(row.cells)
    return RowTable(tuple(keys), rows)


def _recognises_rows(sample: Sample) -> bool:
    record = sample.record[0] if isinstance(sample.record, list) and sample.record else sample.record
    if not isinstance(record, dict):
        return False
    columns = RowColumns(named_columns(tuple(record), sample.mapping), {})
    if not is_whole(columns.named):
        return False
    row = DataRow(record, Place(""), 1)
    if not columns.exchanges:
        value = columns.value(row, "content")
        role = columns.value(row, "role")
        named = isinstance(role, str) or (role is not None and bool(sample.mapping.roles))
        return named and not isinstance(value, dict)
    prompt, reply = columns.value(row, "prompt"), columns.value(row, "reply")
    return (isinstance(prompt, str) or is_message_list(prompt)) and (
        reply is None or isinstance(reply, str) or is_message_list(reply)
    )


def _rows(stream: LineStream) -> Iterator[DataRow | RecordFault]:
    for value in json_values(stream):
        if isinstance(value, RecordFault):
            yield value
        elif isinstance(value.value, dict):
            yield DataRow(value.value, value.place, value.number)
        else:
            yield record_fault(value.place, f"the row is {excerpt(value.value)}: not an object")


def _read_rows(stream: LineStream, context: Context) -> Iterator[Outcome]:
    return conversations_of(table_of(lambda: _rows(stream)), context)


ROWS = TextFormat("rows", _recognises_rows, _read_rows, takes_order=True)
