"""What an entry says of a source: where its messages stand, who speaks, and what is left out.

An entry is a table of TOML, in `sources/` or in a field map of somebody's own; `paths` says how paths are
written. `described` reads records by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal

from dialogauge.core import Role
from dialogauge.core.shape import Misfit, read_as
from dialogauge.core.values import Value
from dialogauge.data.paths import condition_of, path_of

Paths = str | tuple[str, ...]
Words = Mapping[str, str | int | float]
"""What stands in a record -> the score that it is."""


class Tree(Value):
    """How messages follow each other: each names itself and the one before it, or holds those after it."""

    id: str
    parent: str | None = None
    children: str | None = None
    """The list in a message of those that follow it."""
    last: str | None = None
    """In the record: the message that ends the branch that is read."""
    time: str | None = None
    """In a message: without `last`, the latest one that nothing follows ends the branch."""


class Calls(Value):
    """The calls of tools in a message, each maybe with its result."""

    list: str = "."
    name: str = "name"
    """Without a name there is a result alone."""
    id: str = "id"
    arguments: str = "arguments"
    result: str | None = None


class MessagePart(Value):
    """What a message says, or a part of it; all paths begin there. A part without any is left out."""

    text: Paths = ()
    """Several stand one after the other."""
    thinking: str | None = None
    """Reasoning, which no judge reads; maybe a list."""
    files: str | None = None
    """What is attached, maybe a list."""
    shown: str | None = None
    """An object of what is shown beside the text, by its kinds."""
    tools: Calls | None = None


class SourceForm(MessagePart):
    """An entry; paths begin at the record, or where it says so at the message."""

    when: Paths = ()
    """Conditions that a record of this form meets, all of them."""
    records: str | None = None
    """The list of records in a document; a condition then is one of a record in it."""
    id: str | None = None
    user: str | None = None
    candidate: str | None = None
    """May find several: they are joined by +."""
    scenario: str | None = None
    context: str | None = None
    profile: str | None = None
    language: str | None = None
    system: str | None = None
    """The system prompt."""
    messages: Paths = "messages"
    """The list of messages, or several that stand one after the other."""
    asker: tuple[str, str] | None = None
    """Two paths, in the message and in the record: equal, the user speaks; else the assistant."""
    role: str | None = None
    """In the message: who speaks."""
    roles: Mapping[str, Role] = field(default_factory=dict)
    """Name -> role; `*` is any other, which without it is a fault."""
    parts: Mapping[str, MessagePart] = field(default_factory=dict)
    """Type of a part of the text, or a condition -> what it says; others are blocks of providers."""
    join: str | None = None
    """What stands between the texts of a message that are one."""
    version: tuple[str, str] | None = None
    """In the message: the list of its versions, and which of them was chosen. The others are counted."""
    pair: tuple[str, str] | None = None
    """In place of role and text: prompt and reply in one message."""
    edit: Mapping[str, str] = field(default_factory=dict)
    """In the message: pattern -> what takes its place in a text."""
    keep: tuple[str, ...] = ()
    """Keys of a message that are kept beside its text."""
    skip: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """In the message: path -> values of messages that are left out, and counted."""
    only: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """In the message: path -> values of those that are read; the others are left out, and counted."""
    left_out: str | None = None
    """What these are, in words."""
    order: str | None = None
    """In the message: time or position."""
    same: str | None = None
    """In the message: what is the same in all of one conversation."""
    tree: Tree | None = None
    rated: Mapping[str, Words] = field(default_factory=dict)
    """Path of a score, maybe with ` as DIMENSION` -> what its words mean; nothing where they say it."""
    rated_replies: Mapping[str, Words] = field(default_factory=dict)
    """The same in a message."""
    note: str | None = None
    """What was said with that score."""
    rater: str | None = None
    about: tuple[str, ...] | None = None
    """Keys of a record that are kept as metadata; without it all that are not read."""
    drop: tuple[str, ...] = ()
    """Keys of a record that are not."""
    says: tuple[str, ...] = ()
    """Notes on every conversation."""
    absent: bool = False
    """Whether a record without messages is a conversation that is absent, and no fault."""


class SpokenForm(SourceForm):
    """An entry of messages that are a record each; all paths begin there."""

    document: tuple[str, ...] = ()
    """Keys beside the list of records, which paths find under @document."""
    group: str | None = None
    """The conversation. A message whose `id` it is begins that one."""
    speaker: str = "speaker"
    name: str | None = None
    bot: str | None = None
    """A condition: an assistant speaks. Where none does, a field map says who it is."""
    deleted: Paths = ()
    """Conditions, of which one is met by what somebody deleted: it is left out, and counted."""
    edited: Paths = ()
    """The same of what was changed: it is read, and counted."""


FORM_KEYS: Final = frozenset(SourceForm.__dataclass_fields__)
Kind = Literal["record", "message"]


def read_form(table: Mapping[str, Any]) -> SourceForm:
    """Return an entry as it is written; raises ValueError, which says what cannot be read."""
    try:
        form = read_as(dict(table), SourceForm)
        for path in _paths(form):
            path_of(path)
        for one in (*listed(form.when), *form.parts):
            condition_of(one)
    except Misfit as misfit:
        msg = f"the entry {misfit}" if not misfit.path else f"the key {misfit}"
        raise ValueError(msg) from misfit
    return form


def listed(paths: Paths) -> tuple[str, ...]:
    """Return one path or several as several."""
    return (paths,) if isinstance(paths, str) else paths


def _paths(form: SourceForm) -> Iterator[str]:
    """Yield the paths of an entry."""
    yield from (of for name in _ONE if (of := getattr(form, name)) is not None)
    yield from (*listed(form.messages), *(form.asker or ()), *(form.pair or ()), *form.skip, *form.only)
    yield from (of for part in (form, *form.parts.values()) for of in listed(part.text))
    yield from (scored(of)[0] for of in (*form.rated, *form.rated_replies))
    for inner in (form.tree, form.tools, *form.parts.values()):
        yield from () if inner is None else (of for of in vars(inner).values() if isinstance(of, str))


_ONE: Final = (
    *("records", "id", "user", "candidate", "scenario", "context", "profile", "language", "system"),
    *("role", "thinking", "files", "shown", "order", "same", "note", "rater"),
)


def scored(path: str) -> tuple[str, str]:
    """Return path and dimension of a score: without a name of its own the last part of the path."""
    where, _, name = path.partition(" as ")
    return where, name or where.split(" | ")[0].rpartition(".")[2]
