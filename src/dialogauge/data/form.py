"""What an entry says of a source: where its messages stand, who speaks, and what is left out.

An entry is a table of TOML, in `sources/` or in a field map of somebody's own; `paths` says how paths are
written. `described` reads records by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
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
    all: bool = False
    """Whether each branch is a conversation; what stands on several is rated on the first alone."""
    rank: str | None = None
    """In a message: which of `children` is the first."""
    message: str | None = None
    """In an item of the tree: the message, if it has one. Other paths begin there."""


class FileBeside(Value):
    """A file of JSON beside the source; paths find it under @beside."""

    file: str
    what: str
    """The word for its content, in the plural."""
    list: bool = False
    """Whether it is a list, and no object."""
    above: int = 0
    """So many folders above are looked into too."""
    key: str | None = None
    """In the record: what names something in the file; it is noted where it is not there."""


class Calls(Value):
    """The calls of tools in a message, each maybe with its result."""

    list: str = "."
    name: str = "name"
    """Without a name there is a result alone."""
    id: str = "id"
    arguments: str = "arguments"
    result: str | None = None
    first: bool = False
    """Whether they come before the text of the message."""
    only: bool = False
    """Whether a message that calls has no other text."""


class ListedRatings(Value):
    """Ratings that the record lists; paths begin in one of them, and @record is the record."""

    list: str
    dimension: str = "dimension"
    score: str = "score"
    scores: str | None = None
    """In place of these: a table of dimensions and scores."""
    notes: str | None = None
    """A table of dimensions and what was said with their scores."""
    rater: str | None = None


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
    block: str | None = None
    """The type of a provider's block that it is."""


class SourceForm(MessagePart):
    """An entry; paths begin at the record, or where it says so at the message."""

    when: Paths = ()
    """Conditions that a record of this form meets, all of them."""
    records: str | None = None
    """The list of records in a document; a condition then is one of a record in it."""
    document: tuple[str, ...] = ()
    """Keys beside that list, which paths find under @document."""
    group: str | None = None
    """In a record: what those have in common that are one conversation, and stand together as @rows."""
    speaker: str | None = None
    """Who says a record that is one message, in the conversation of its group."""
    name: str | None = None
    """The name of that speaker."""
    bot: str | None = None
    """A condition on it: an assistant speaks. Where none does, a map says who it is."""
    deleted: str | None = None
    """A condition on it: somebody deleted it. It is left out, and counted."""
    edited: str | None = None
    """A condition on it: it was changed. It is read, and counted."""
    each: str | None = None
    """A list in the record: each object or name (@each) in it is a conversation, with the record beside."""
    sides: tuple[Any, ...] = ()
    """Lists of words: for each a conversation, in whose paths $1, $2 are these words."""
    merge: bool = False
    """Whether records of one id that say the same are one conversation, with the ratings of all."""
    ignore: Mapping[str, str] = field(default_factory=dict)
    """Condition -> why a record that meets it is no conversation: it is left out, and counted."""
    beside: FileBeside | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    """Condition -> the fault of a record without it; {path} is what stands there."""
    id: Paths = ()
    """Of several the first that is new. @made is made of file and line, @stem of the file."""
    user: str | None = None
    candidate: str | None = None
    """May find several: they are joined by +."""
    scenario: str | None = None
    context: str | None = None
    profile: str | None = None
    language: str | None = None
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Key of this entry, as scenario -> what the words that stand there are called."""
    metadata: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)
    """Name -> path of what is kept besides, or a table of names and paths in each item of its `list`."""
    system: str | None = None
    """The system prompt; a table is written as lines."""
    messages: Paths = "messages"
    """The list of messages, or several that stand one after the other."""
    plain: bool | Literal["items"] = False
    """Whether messages are as OpenAI writes them: role, content, calls; or items of its Responses API."""
    together: bool = False
    """Whether messages of one role in a row are one."""
    messages_need: Mapping[str, str] = field(default_factory=dict)
    """As `needs`, of each message."""
    inner: str | None = None
    """In the message: a list of messages that stand in its place."""
    set: Mapping[str, str] = field(default_factory=dict)
    """Key of a message -> path of what stands there instead; nothing where there is none."""
    exchange: tuple[str, str] | None = None
    """In place of messages: the prompts and the replies of a record, a text or a list each."""
    answer: str | None = None
    """The reply that stands beside the messages before it."""
    judged: Literal["all", "last"] = "all"
    """Whether the last exchange alone is judged, as where one reply was rated."""
    asker: tuple[str, str] | None = None
    """Two paths, in the message and in the record: equal, the user speaks; else the assistant."""
    replier: tuple[str, str] | None = None
    """The same of the assistant."""
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
    """In place of role and text: prompt and reply in one message, with its calls between."""
    edit: Mapping[str, str] = field(default_factory=dict)
    """In the message: pattern -> what takes its place in a text; in a pair in the prompt."""
    keep: tuple[str, ...] = ()
    """Keys of a message that are kept beside its text."""
    skip: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """In the message: path -> values, or ~patterns, of messages that are left out, and counted."""
    only: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """In the message: path -> values of those that are read; the others are left out, and counted."""
    silent: bool = False
    """Whether messages without a text are read, and not left out."""
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
    reply_note: str | None = None
    """In the message: what was said with the first of these scores."""
    reply_rater: str | None = None
    rating_rows: ListedRatings | None = None
    note: str | None = None
    """What was said with the score of a record."""
    rater: str | None = None
    rated_turn: str | None = None
    """The turn that has that score."""
    scale: str | None = None
    """The lowest and the highest score: another is a fault."""
    about: tuple[str, ...] | None = None
    """Keys of a record that are kept as metadata; without it all that are not read."""
    drop: tuple[str, ...] = ()
    """Keys of a record that are not, or of its profile (profile.KEY)."""
    says: Mapping[str, str] = field(default_factory=dict)
    """Condition -> a note on each record that meets it."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """The same of what may be wrong."""
    rest: Mapping[str, str] = field(default_factory=dict)
    """List of which the first alone is read -> a note on the others, which counts them."""
    absent: bool = False
    """Whether a record without messages is a conversation that is absent, and no fault."""


SpanKind = Literal["model", "tool", "root", "step"]


class ScoreForm(Value):
    """The scores of a record; all paths but the first begin at a score."""

    list: str = "."
    """Where they stand, in the record."""
    name: str | None = None
    """Without it they stand by their names."""
    value: str = "value"
    rater: str | None = None
    note: str | None = None
    of_session: str | None = None
    """Whether it is of a whole session: a condition."""
    automatic: Paths = ()
    """Conditions, of which one is met where an evaluator gave it."""
    people: Paths = ()
    """The same of a person; where none is met, its name says who gives it."""


class TraceForm(Value):
    """One kind of record; `@outer` in a path is the record around it."""

    when: Paths = ()
    """Conditions that it meets, all of them."""
    records: str | None = None
    """The list of records in a page."""
    inner: Mapping[str, str] = field(default_factory=dict)
    """List of records within it -> their table; its trace, session and time are theirs if they name none."""
    trace: str | None = None
    """Without it the record holds others, and is no step of a trace itself."""
    id: str | None = None
    session: str | None = None
    user: str | None = None
    time: str | None = None
    name: str = "name"
    input: str = "input"
    output: str = "output"
    model: str | None = None
    kinds: Mapping[SpanKind, Paths] = field(default_factory=dict)
    """Kind of a step -> conditions, of which one is met. Any other step is the whole trace."""
    drop: tuple[str, ...] = ()
    """Keys of the input that are none of it."""
    scores: tuple[ScoreForm, ...] = ()
    """The first of them that stand there."""
    about: tuple[str, ...] = ()
    """What is kept as metadata of the whole trace, maybe with ` as NAME`; as `*`, each key of it."""


AnyForm = SourceForm | TraceForm
FORM_KEYS: Final = frozenset(SourceForm.__dataclass_fields__)


def read_form(table: Mapping[str, Any]) -> SourceForm:
    """Return an entry as it is written; raises `Misfit`, which says what cannot be read."""
    form = read_as(dict(table), SourceForm)
    if not form.sides:
        return form
    sides = (
        read_form(_filled({**table, "says": {}} if number else table, words))
        for number, words in enumerate(table["sides"])
    )
    return replace(form, sides=tuple(sides))


def checked_form(table: Mapping[str, Any]) -> SourceForm:
    """Return the entry that somebody wrote; raises ValueError, which says what cannot be read, also of paths.

    Those that ship are checked by a test, and not at each start.
    """
    try:
        form = read_form(table)
    except Misfit as misfit:
        msg = f"the key {misfit}" if misfit.path else f"the entry {misfit}"
        raise ValueError(msg) from misfit
    for path in _paths(form):
        path_of(path)
    for condition in (*listed(form.when), *form.parts, *_conditions(form)):
        condition_of(condition)
    return form


def checked_traces(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, AnyForm]:
    """Return the entries of traces that somebody wrote; raises ValueError, as `checked_form`."""
    try:
        forms = {name: read_as(dict(table), TraceForm) for name, table in tables.items()}
    except Misfit as misfit:
        msg = f"the key {misfit}" if misfit.path else f"the entry {misfit}"
        raise ValueError(msg) from misfit
    for form in forms.values():
        for inner in (form, *form.scores):
            for name in _OF_TRACES & vars(inner).keys():
                path_of(getattr(inner, name) or ".")
        for condition in (*listed(form.when), *(one for of in form.kinds.values() for one in listed(of))):
            condition_of(condition)
    return {**forms}


_OF_TRACES: Final = frozenset(
    {"trace", "id", "session", "user", "time", "name", "input", "output", "model", "list", "value", "note"}
)


def read_forms(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, AnyForm]:
    """Return the entries of a file; one that is `like` another says what that does, and more."""
    if are_of_traces(tables):
        return {name: read_as(dict(table), TraceForm) for name, table in tables.items()}
    return {name: read_form(table) for name, table in whole_tables(tables).items()}


def are_of_traces(tables: Mapping[str, Mapping[str, Any]]) -> bool:
    """Say whether the entries of a file are of the steps of traces."""
    return any("trace" in table for table in tables.values())


def whole_tables(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the entries of a file with what others say to which they are `like`."""
    tables = {name: {**tables.get(table.get("like", ""), {}), **table} for name, table in tables.items()}
    return {name: {k: v for k, v in table.items() if k != "like"} for name, table in tables.items()}


def _filled(value: Any, words: Sequence[str]) -> Any:  # noqa: ANN401  # any value of TOML
    """Return an entry for one of its sides."""
    if isinstance(value, Mapping):
        inner = ((_filled(key, words), _filled(of, words)) for key, of in value.items() if key != "sides")
        return dict(inner)
    if isinstance(value, list):
        return [_filled(one, words) for one in value]
    return re.sub(r"\$(\d)", lambda at: words[int(at[1]) - 1], value) if isinstance(value, str) else value


def listed(paths: Paths) -> tuple[str, ...]:
    """Return one path or several as several."""
    return (paths,) if isinstance(paths, str) else paths


def _conditions(form: SourceForm) -> Iterator[str]:
    """Yield the conditions of an entry that have words of their own."""
    yield from (*form.needs, *form.messages_need, *form.ignore, *form.says, *form.doubts)


def _paths(form: SourceForm) -> Iterator[str]:
    """Yield the paths of an entry."""
    yield from (of for name in _ONE if (of := getattr(form, name)) is not None)
    yield from (*listed(form.messages), *listed(form.id), *form.skip, *form.only)
    yield from (*(form.asker or ()), *(form.replier or ()), *(form.pair or ()), *(form.exchange or ()))
    yield from (*form.set.values(), *form.rest)
    for value in form.metadata.values():
        yield from [value] if isinstance(value, str) else value.values()
    yield from (of for part in (form, *form.parts.values()) for of in listed(part.text))
    yield from (scored(of)[0] for of in (*form.rated, *form.rated_replies))
    for inner in (form.tree, form.tools, form.rating_rows, *form.parts.values()):
        yield from () if inner is None else (of for of in vars(inner).values() if isinstance(of, str))


_ONE: Final = (
    *("records", "group", "each", "user", "candidate", "scenario", "context", "profile", "language"),
    *("system", "inner", "answer", "role", "thinking", "files", "shown", "order", "same", "note", "rater"),
    *("rated_turn", "scale", "reply_note", "reply_rater"),
)


def scored(path: str) -> tuple[str, str]:
    """Return path and dimension of a score: without a name of its own the last part of the path."""
    where, _, name = path.partition(" as ")
    return where, name or where.split(" | ")[0].rpartition(".")[2]
