"""What a file in no known format is, and a field map that would read it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import orjson

from dialogauge.core import ROLES, ConfigError, Conversation, FileFault, Place, RecordFault
from dialogauge.core.patterns import lazy_pattern
from dialogauge.data.field_map import FieldMap, read_field_map
from dialogauge.data.formats import LIST, forced_format, format_of
from dialogauge.data.formats.base import Context, Format, Sample
from dialogauge.data.formats.roles import ROLE_ALIASES
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.json_values import JsonValue, begins_json, json_values, starts_json
from dialogauge.data.notes import NoteBook, excerpt, file_fault
from dialogauge.data.paths import look_up, plain_name
from dialogauge.data.sources import LineStream, as_utf8
from dialogauge.data.tables import Row, open_table, read_header

if TYPE_CHECKING:
    from dialogauge.data.proposals import Trial

Leaves = Mapping[str, Any]
"""Path -> value, of what is no object."""

_MOST_KEYS: Final = 20
_TRIED: Final = 4
"""Maps at most."""
_LOOKED_AT: Final = 20
"""Records or lines."""
_DEEP: Final = 4
_LONGEST_ROLE: Final = 40
_A_SENTENCE: Final = 10
"""Characters on average of what may be said."""
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split())
    for name, words in {
        "compared": "chosen rejected winner loser preferred",
        "role": "role speaker sender author from who actor party side",
        "session": "session conv conversation thread chat dialog dialogue ticket case",
        "order_by": "timestamp time date datetime created ts at index seq turn position",
        "rating": "rating score stars thumb thumbs satisfaction csat vote feedback",
        "prompt": "prompt question query request input instruction user human customer ask asked q in",
        "reply": "reply response answer output completion assistant bot agent model ai generated a out",
    }.items()
}
"""Words in the names of fields that hold it."""
_IDS: Final = frozenset({"id", "ids", "uuid", "hash", "key"})
_NAMING: Final = _IDS | {"type", "subtype", "kind", "name", "model", "version", "status", "url"}
"""Words at the end of the name of a field that says what something is, and nothing that was spoken."""
_NUMBER: Final = lazy_pattern(r"[0-9]+")
_TWO_SIDED: Final = lazy_pattern(r"(?:is|from|by)\W?(\w+)|(inbound|incoming|outbound|outgoing)")
"""The name of a field that says whether somebody speaks, or is spoken to."""
_PARTED: Final = lazy_pattern(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


_LIST: Final = f"--format {LIST} names the formats, --format NAME forces one"


def format_hint(records: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return what to do about a file in no known format: a map to fill in, and where the formats are."""
    if not records:
        return f"write each message as 'User: ...' or 'Assistant: ...', or export JSON or CSV; {_LIST}"
    lists = [(path, _paths(items), items[0]) for path, items in _lists(records[0])]
    if lists:
        path, keys, first = max(lists, key=lambda one: len(one[1]))
        fill = f"messages={path},role=...,content=..., of the keys in {excerpt(path)}"
        if inner := next(iter(_lists(first)), None):
            fill = (
                f"records={path},messages={inner[0]},role=...,content=..., of the keys in {excerpt(inner[0])}"
            )
            keys = _paths(inner[1])
    else:
        keys = _paths(records)
        if not keys:
            return f"write a line of JSON for each message, with session, role and text; {_LIST}"
        fill = "prompt=...,reply=... or session=...,role=...,content=..., of the keys"
    return f"name the fields: --map {fill}: {_listed(keys)}; {_LIST}"


def _paths(items: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(path for one in items for path, _ in _leaves(one)))


def unrecognised(stream: LineStream, mapping: FieldMap) -> FileFault:
    """Return the fault of a file in no known format, with a map that would read it where one is plain.

    Raises `FileFault` for a file that is not UTF-8 or cannot be read.
    """
    place = Place(stream.source.name)
    if not starts_json(stream):
        lines = [as_utf8(raw, place.file, number) for number, raw in islice(stream.written(), _LOOKED_AT)]
        columns = _columns(lines)
        content = "it is text, and no table with a role and a content"
        if columns:
            what = "a role and a content are not both among them"
            content = f"as a table it has the columns {_listed(columns)}; {what}"
        elif _is_json(lines[0]):
            content = "its lines are JSON, but no objects and no lists of messages"
        records = [dict(row.cells) for row in islice(_table(stream), _LOOKED_AT)] if columns else []
    else:
        first = next(json_values(stream))
        if isinstance(first, RecordFault):
            return file_fault(first.place or place, first.message, first.hint or format_hint())
        records = _records_of(stream)
        content = f"it is JSON, and its first record has {_described(first.value)}"
    fault = f"unknown format: {content}"
    proposed, withheld = _proposed(stream, records) if mapping == FieldMap() else ("", "")
    return file_fault(place, fault, proposed or f"{withheld}{format_hint(records)}")


def _proposed(stream: LineStream, records: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return a map that reads all records, as a question; else why the likeliest one is withheld."""
    from dialogauge.data.json_cells import opened_streams

    withheld = ""
    opened = ((view, _records_of(view)) for view in opened_streams(stream))
    views: Iterator[tuple[LineStream, Sequence[Mapping[str, Any]]]] = chain([(stream, records)], opened)
    for view, own in views:
        for named in islice(chain(likely_maps(own), likely_maps(_within(own))), _TRIED):
            trial = _read_by(named, view)
            if trial is None or trial.first is None:
                continue
            every = (row.cells for row in _table(view)) if not starts_json(view) else _values(view)
            why = trial.objection(every, named)
            if not why:
                reads = f"reads the first as {_outlined(trial.first)}"
                return f"--map '{named}' {reads}, and {trial.conversations:,} in all: is that meant?", ""
            withheld = withheld or f"no map is proposed: by {named} {why}; "
    return "", withheld


def _values(stream: LineStream) -> Iterator[Any]:
    return (value.value for value in json_values(stream) if isinstance(value, JsonValue))


def _records_of(stream: LineStream) -> list[dict[str, Any]]:
    return [value for value in islice(_values(stream), _LOOKED_AT) if isinstance(value, dict)]


def _within(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the first records of one document that holds a list of them; none of several documents."""
    values = records[0].values() if len(records) == 1 else ()
    lists = [v for v in values if isinstance(v, list) and v and all(isinstance(one, dict) for one in v)]
    return lists[0][:_LOOKED_AT] if len(lists) == 1 else []


def of_another_kind(stream: LineStream, wanted: Format) -> FileFault | None:
    """Return the fault of a file that is JSON where a format is text, or text where it is JSON."""
    begins = [begins_json(line) for _, line in islice(stream.written(), _LOOKED_AT)]
    if not begins or wanted.json is None or (any(begins) if wanted.json else not begins[0]):
        return None
    is_json, other = ("text", "JSON") if wanted.json else ("JSON", "text")
    hint = "leave out --format, and the content decides; or name another one"
    message = f"the file is {is_json}, and the format {wanted.name} is {other}"
    return file_fault(Place(stream.source.name), message, hint)


def _is_json(line: str) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(excerpt, names[:_MOST_KEYS])) + (" ..." if len(names) > _MOST_KEYS else "")


def _columns(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the columns in the first line; none if it is no table."""
    try:
        columns = read_header(enumerate(lines, 1)).columns
    except csv.Error:
        return ()
    return columns if len(columns) > 1 else ()


def _table(stream: LineStream) -> Iterator[Row]:
    try:
        yield from (row for row in open_table(stream).rows if isinstance(row, Row))
    except FileFault:
        return


def _described(value: object) -> str:
    if not isinstance(value, dict):
        return f"the type {type(value).__name__}"
    kinds = [f"{excerpt(key)} ({_kind(one)})" for key, one in islice(value.items(), _MOST_KEYS)]
    return ", ".join(kinds) + (" ..." if len(value) > _MOST_KEYS else "") or "nothing in it"


def _kind(value: object) -> str:
    names = {str: "text", list: "list", dict: "object", bool: "yes or no", type(None): "null"}
    return names.get(type(value), "number")


def _outlined(talk: Conversation) -> str:
    return ", ".join(f"{m.role}: {excerpt(m.text, 24)}" for m in talk.messages[:3])


def _read_by(named: str, stream: LineStream) -> Trial | None:
    """Return what a map makes of all records; None where it reads none."""
    from dialogauge.data.proposals import Trial

    try:
        mapping = read_field_map(named)
    except ConfigError:
        return None
    if starts_json(stream):
        sample = Sample(stream.source, mapping, record=next(_values(stream), None))
    else:
        texts = tuple(raw.decode("utf-8", "replace") for _, raw in islice(stream.written(), _LOOKED_AT))
        sample = Sample(stream.source, mapping, lines=texts)
    reading = forced_format(None, mapping) or format_of(sample)
    context = Context(stream.source, mapping, NoteBook())
    return None if reading is None else Trial().read(reading.read(stream, context))


def likely_maps(records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield maps that may read records, as `--map` takes them, the likeliest first."""
    if not records:
        return
    about = _about([dict(_leaves(record)) for record in records])
    for path, listed in _lists(records[0]):
        items = _in_time(listed)
        if spoken := _spoken([dict(_leaves(item)) for item in items]):
            yield _written({k: v for k, v in about.items() if k != "order_by"} | {"messages": path} | spoken)
            continue
        for prompt, reply in _exchanges([dict(_leaves(item)) for item in items]):
            yield _written({"messages": path, "prompt": prompt, "reply": reply})
    yield from _nested(records[0])
    rows = [dict(_leaves(record)) for record in records]
    if spoken := _spoken(rows):
        yield _written(about | spoken)
    for prompt, reply in _exchanges(rows):
        yield _written(
            {k: v for k, v in about.items() if v not in (prompt, reply)} | {"prompt": prompt, "reply": reply}
        )


def _nested(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield maps of a document that lists records, of which each lists its messages."""
    for path, listed in _lists(document) if isinstance(document, dict) else ():
        about = _about([dict(_leaves(one)) for one in listed])
        for inner in dict.fromkeys(name for one in listed for name, _ in _lists(one)):
            own = [look_up(one, inner) for one in listed]
            items = [
                dict(_leaves(one)) for each in own if isinstance(each, list) for one in each[:_LOOKED_AT]
            ]
            if items and (spoken := _spoken(items)):
                kept = {k: v for k, v in about.items() if k != "order_by"} | {"records": path}
                yield _written(kept | {"messages": inner} | spoken)


def _in_time(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages from the first to the latest, as far as one field has the times of all."""
    leaves = [dict(_leaves(item)) for item in items]
    path = _about(leaves).get("order_by")
    times = [moment_of(row.get(path)) for row in leaves] if path is not None else []
    known = [time for time in times if time is not None]
    if len(known) < len(items) or known != sorted(known, reverse=True):
        return items
    return [items[n] for n in sorted(range(len(items)), key=lambda n: (known[n], -n))]


def _written(fields: Mapping[str, str]) -> str:
    order = ("records", "session", "messages", "role", "content", "prompt", "reply", "order_by", "rating")
    known = sorted(fields.items(), key=lambda item: order.index(item[0]) if item[0] in order else 99)
    return ",".join(f"{key}={value}" for key, value in known)


def _is(what: str, path: str) -> bool:
    """Say whether a field by its name holds something."""
    return not _WORDS[what].isdisjoint(_PARTED.sub(" ", path).lower().split())


def _last(path: str) -> str:
    """Return the last word of the name of a field."""
    return next(reversed(_PARTED.sub(" ", path).lower().split()), "")


def _leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # any JSON
    """Yield the paths of all that is no object; of a list of parts the first text."""
    if isinstance(value, dict) and depth < _DEEP:
        for key, one in islice(value.items(), _MOST_KEYS):
            yield from _leaves(one, f"{path}.{key}" if path else str(key), depth + 1)
    elif not isinstance(value, list):
        yield path, value
    elif len(value) == 1 and isinstance(value[0], dict) and depth < _DEEP:
        yield from _leaves(value[0], f"{path}.0", depth + 1)


def _lists(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, list[dict[str, Any]]]]:  # noqa: ANN401
    """Yield the lists of several objects in a record, the outer first."""
    if isinstance(value, list) and len(value) > 1 and all(isinstance(one, dict) for one in value):
        yield path, value[:_LOOKED_AT]
    elif isinstance(value, dict) and depth < _DEEP:
        for key, one in islice(value.items(), _MOST_KEYS):
            yield from _lists(one, f"{path}.{key}" if path else str(key), depth + 1)


def _texts(rows: Sequence[Leaves]) -> dict[str, float]:
    """Return the paths of which all values are texts, no times, and the mean length of their texts."""
    values = {path: [row.get(path) for row in rows] for path in rows[0]}
    return {
        path: fmean(len(v) for v in of if isinstance(v, str))
        for path, of in values.items()
        if any(isinstance(v, str) and v and moment_of(v) is None for v in of)
        and all(v is None or isinstance(v, str) for v in of)
    }


def _spoken(rows: Sequence[Leaves]) -> dict[str, str] | None:
    """Return the fields of messages: who speaks, and what; None where no field says who."""
    lengths = _texts(rows)
    for path in rows[0]:
        values = [row.get(path) for row in rows]
        if (
            True in values
            and all(isinstance(v, bool) for v in values)
            and (role := _of_two(path)) is not None
        ):
            others = {p: n for p, n in lengths.items() if _says(p, rows)}
            other = "user" if role == "assistant" else "assistant"
            plain = {"roles.true": role, "roles.false": other}
            return {"role": path, "content": _content(others, rows)} | plain if others else None
    for path in sorted(lengths, key=lambda p: (not _is("role", p), _last(p) in _IDS)):
        names = list(dict.fromkeys(str(row.get(path)) for row in rows))
        others = {p: n for p, n in lengths.items() if p != path and _last(p) not in _NAMING}
        if not others or not 1 < len(names) <= 4 or max(map(len, names)) > _LONGEST_ROLE:
            continue
        roles = _roles(names)
        named = _is("role", path) or all(n.lower() in (*ROLES, *ROLE_ALIASES) for n in names)
        if roles is not None and named:
            return {"role": path, "content": _content(others, rows)} | roles
    return None


def _content(lengths: Mapping[str, float], rows: Sequence[Leaves]) -> str:
    """Return the field with the longest texts, one of plain texts before one of HTML."""
    longest = max(lengths, key=lambda p: (not str(rows[0].get(p)).startswith("<"), lengths[p]))
    whole = longest.removesuffix(".0.text")
    return whole if any(isinstance(row.get(whole), str) for row in rows) else longest


def _of_two(path: str) -> str | None:
    """Return who speaks where a field of yes and no is yes; None where its name does not say it."""
    match = _TWO_SIDED.fullmatch(plain_name(path.rpartition(".")[2]).replace("_", " "))
    name = "" if match is None else (match[1] or match[2]).strip().replace(" ", "_")
    return name if name in ("user", "assistant") else ROLE_ALIASES.get(name)


def _roles(names: Sequence[str]) -> dict[str, str] | None:
    """Return what a map says of the names of speakers: whoever is unknown and speaks first is the user."""
    known: dict[str, str | None] = {
        name: name if name in ROLES else ROLE_ALIASES.get(name.lower()) for name in names
    }
    free = [role for role in ("user", "assistant") if role not in known.values()]
    unknown = [name for name, role in known.items() if role is None]
    if len(unknown) > len(free):
        return None
    known |= dict(zip(unknown, free, strict=False))
    return {f"roles.{name}": role for name, role in known.items() if role and name != role}


def _exchanges(rows: Sequence[Leaves]) -> Iterator[tuple[str, str]]:
    """Yield fields that may be a prompt and its reply: by their names, else the two longest texts."""
    lengths = {path: mean for path, mean in _texts(rows).items() if _says(path, rows)}
    if any(_is("compared", p) for p in lengths):
        return
    numbered = [_NUMBER.sub("#", p) for p in lengths]
    lengths = {p: n for p, n in lengths.items() if numbered.count(_NUMBER.sub("#", p)) == 1}
    prompts = [p for p in lengths if _is("prompt", p)]
    replies = [p for p in lengths if _is("reply", p)]
    yield from ((p, r) for p in prompts for r in replies if p != r)
    longest = sorted((p for p in lengths if lengths[p] >= _A_SENTENCE), key=lambda p: -lengths[p])[:2]
    if len(longest) == 2:
        prompt, reply = sorted(longest, key=list(lengths).index)
        yield prompt, reply


def _says(path: str, rows: Sequence[Leaves]) -> bool:
    """Say whether a field may hold what somebody says: one of names and marks does not."""
    if _last(path) in _NAMING:
        return False
    texts = [text for row in rows if isinstance(text := row.get(path), str)]
    return any(len(text.split()) > 1 or not text.isascii() for text in texts)


def _about(rows: Sequence[Leaves]) -> dict[str, str]:
    """Return the fields of session, order and rating, as far as their names and values say."""
    out: dict[str, str] = {}
    for path in rows[0]:
        values = [row.get(path) for row in rows]
        if any(isinstance(v, bool | list) for v in values):
            continue
        fits = {
            "session": all(isinstance(v, str | int) and v != "" for v in values),
            "order_by": all(moment_of(v) is not None for v in values),
            "rating": any(moment_of(v) is not None and len(str(v)) < 4 for v in values),
        }
        for name, fit in fits.items():
            other = name == "session" and (_is("rating", path) or _last(path) in _NAMING - _IDS)
            if fit and name not in out and path not in out.values() and _is(name, path) and not other:
                out[name] = path
    return out
