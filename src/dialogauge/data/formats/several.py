"""Conversations that an entry finds in several records, several in one, or on the branches of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from dialogauge.core import Conversation, Rating, RecordFault
from dialogauge.data.form import SourceForm, Tree
from dialogauge.data.formats.base import Context, Entry, Outcome, entries, fault_in
from dialogauge.data.formats.documents import listed
from dialogauge.data.formats.order import branch, latest, leaves
from dialogauge.data.notes import LONGEST, MESSAGE, excerpt, too_long
from dialogauge.data.paths import is_there, path_of, text_of, word_of
from dialogauge.data.sources import LineStream

_BRANCHES: Final = "regenerated or edited, and on no branch that was shown"
_APART: Final = "the record stands apart from the others of its conversation"
_DEEPEST: Final = 200
"""Messages that stand within each other at most."""

Item = dict[str, Any]


def several(form: SourceForm) -> bool:
    """Say whether a record of a form may be more, or less, than one conversation."""
    return bool(form.document or form.group or form.each or form.sides or form.merge or form.ignore) or (
        form.tree is not None and form.tree.all
    )


def is_document(record: Any, form: SourceForm) -> bool:  # noqa: ANN401  # any JSON value
    """Say whether a record is a document that lists records of a form."""
    if form.records is None or not isinstance(record, dict):
        return False
    return isinstance(record.get(form.records), list) and any(key in record for key in form.document)


def units_of(
    stream: LineStream,
    context: Context,
    form: SourceForm | None,
    fits: Callable[[Any], SourceForm | None],
) -> Iterator[tuple[Any, Entry]]:
    """Yield the records of a source, or a `RecordFault`; of a document, where `form` says so, what it lists.

    Records that stand together because of their group are one.
    """
    rows: list[Any] = []
    start: Entry | None = None
    key, size = None, 0
    ended: set[str] = set()
    for record, entry in _records(stream, context, form):
        own = None if isinstance(record, RecordFault) else fits(record)
        group = None if own is None or own.group is None else word_of(path_of(own.group)(record))
        if group in ended:
            hint = None if own is None else f"sort the file by {own.group}"
            yield fault_in(entry, _APART, hint), entry
            continue
        if start is not None and key is not None and key != group and own is not None:
            yield _group(rows, size, start), start
            ended.add(key)
            rows, start, size = [], None, 0
        if group is None:
            yield record, entry
        else:
            start, key = start or entry, group
            size += MESSAGE + len(str(record))
            if size <= LONGEST:
                rows.append(record)
            else:
                rows.clear()
    if start is not None:
        yield _group(rows, size, start), start


def _group(rows: list[Any], size: int, start: Entry) -> Any:  # noqa: ANN401  # any JSON value
    return too_long(start.place) if size > LONGEST else {**rows[0], "@rows": rows}


def _records(stream: LineStream, context: Context, form: SourceForm | None) -> Iterator[tuple[Any, Entry]]:
    if form is None or form.records is None:
        yield from entries(stream, context)
        return
    for head, record, entry in listed(stream, context, form.records, form.document):
        yield {**record, "@document": head} if isinstance(record, dict) else record, entry


def flat(
    items: Sequence[Item], tree: Tree, before: str | None, entry: Entry, depth: int = 0
) -> Iterator[Item]:
    """Yield all messages, each before those that follow it, which may stand within it."""
    for item in items:
        if depth > _DEEPEST:
            raise fault_in(entry, f"more than {_DEEPEST} messages stand within each other")
        inner = item.get(tree.children) if tree.children else None
        own = {key: value for key, value in item.items() if key != tree.children}
        yield own if before is None or tree.parent is None else {**own, tree.parent: before}
        if not isinstance(inner, list) and is_there(inner):
            raise fault_in(entry, f"a message has under {tree.children!r} {excerpt(inner)}: no list")
        if isinstance(inner, list):
            children = [one for one in inner if isinstance(one, dict)]
            if tree.rank is not None:
                rank = path_of(tree.rank)
                children.sort(key=lambda one: at if isinstance(at := rank(one), int) else len(children))
            yield from flat(children, tree, text_of(path_of(tree.id)(item)), entry, depth + 1)


def shown_branch(items: list[Item], record: Any, tree: Tree, entry: Entry) -> Sequence[Item]:  # noqa: ANN401
    """Return the messages on the branch that is read; all where none names the one before it."""
    by_id, parents = _parents(items, tree)
    if len(by_id) < len(items) or not any(one in by_id for one in parents.values()):
        return items
    last = text_of(path_of(tree.last)(record)) if tree.last is not None else None
    numbers = {id: number for number, id in enumerate(by_id)}
    time = path_of(tree.time or "time")
    try:
        if last not in by_id:
            last = latest(parents, lambda id: f"{_sortable(time(by_id[id]))}\0{numbers[id]:09}")
        shown = branch(parents, last or "")
    except ValueError as error:
        raise fault_in(entry, str(error)) from error
    if len(shown) < len(items):
        entry.leave_out(_BRANCHES, len(items) - len(shown))
    return [by_id[id] for id in shown]


def _sortable(time: object) -> str:
    return f"{time:020.6f}" if isinstance(time, int | float) else text_of(time) or ""


def all_branches(items: list[Item], tree: Tree, entry: Entry) -> Iterator[list[Item]]:
    """Yield the messages on each branch of a tree, in the order of their last ones."""
    by_id, parents = _parents(items, tree)
    if len(by_id) < len(items) or not any(parent not in by_id for parent in parents.values()):
        raise fault_in(
            entry, "the messages make no tree: ids are missing or double, or there is no first one"
        )
    entry.recognise("trees were read as conversations, one for each path to a last message")
    for last in leaves(parents):
        try:
            yield [by_id[id] for id in branch(parents, last)]
        except ValueError as error:
            raise fault_in(entry, str(error)) from error


def _parents(items: list[Item], tree: Tree) -> tuple[dict[str, Item], dict[str, str | None]]:
    by_id = {id: item for item in items if (id := text_of(path_of(tree.id)(item))) is not None}
    parent = path_of(tree.parent or "parent")
    return by_id, {id: text_of(parent(item)) for id, item in by_id.items()}


def merged(
    first: Iterator[tuple[Outcome, Entry]], again: Iterator[tuple[Outcome, Entry]]
) -> Iterator[Outcome]:
    """Yield conversations of one id once, with the ratings of all; the source is read twice for it."""
    ratings: dict[tuple[str, int], list[Rating]] = {}
    for talk, _ in first:
        if isinstance(talk, Conversation):
            ratings.setdefault((talk.id, hash(repr(talk.messages))), []).extend(talk.ratings)
    read: dict[str, int] = {}
    for talk, entry in again:
        if isinstance(talk, RecordFault):
            yield talk
            continue
        digest = hash(repr(talk.messages))
        if talk.id not in read:
            read[talk.id] = digest
            yield replace(talk, ratings=tuple(ratings[talk.id, digest]))
        elif read[talk.id] == digest:
            entry.recognise("conversations stand in several records: read once, with the ratings of all")
        else:
            yield fault_in(entry, f"{talk.id} says something else than it did in a record before")
