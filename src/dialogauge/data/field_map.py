"""Field maps: files that name the fields of other people's tables and logs."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from pathlib import Path
from typing import Any, cast

import orjson

from dialogauge.core import ROLES, ConfigError, Place, Role, read_text, shown_path
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.data.form import (
    FORM_KEYS,
    AnyForm,
    SourceForm,
    are_of_traces,
    checked_form,
    checked_traces,
    whole_tables,
)
from dialogauge.data.notes import excerpt


class FieldMap(Value):
    """The names of our fields in other people's records; None means the usual names.

    A value is a column name, a key, or a dotted path (`meta.session`, `scores.0`) into a record.
    """

    conversation_id: str | None = None
    messages: str | None = None
    """The list of messages in a record (not used for tables)."""
    turn: str | None = None
    role: str | None = None
    """In each message, or the column."""
    content: str | None = None
    prompt: str | None = None
    """Where a row or record is a prompt and its reply."""
    reply: str | None = None
    order_by: str | None = None
    """The time or position of a row."""
    user_id: str | None = None
    scenario: str | None = None
    context: str | None = None
    profile: str | None = None
    candidate: str | None = None
    language: str | None = None
    dimension: str | None = None
    """In rating files."""
    rater: str | None = None
    score: str | None = None
    """In rating files."""
    note: str | None = None
    weight: str | None = None
    """In rating files: targets that a rating stands for."""
    a: str | None = None
    """In files of pairs."""
    b: str | None = None
    winner: str | None = None
    shown_first: str | None = None
    ratings: Mapping[str, str] = field(default_factory=dict)
    """Dimension -> path of its score, in the message or else in the record."""
    roles: Mapping[str, Role] = field(default_factory=dict)
    """Role name -> our role."""
    forms: Mapping[str, AnyForm] = field(default_factory=dict)
    """Of a map that says more than names: entries as those of formats. The other fields are empty then."""

    def role_of(self, name: str) -> Role | None:
        """Return our role for a name, by `roles` first; None for an unknown one."""
        return self.roles.get(name) or (name if name in ROLES else None)


NO_MAP = FieldMap()


def paths_of(mapping: FieldMap) -> list[str]:
    """Return the columns, keys and paths that a map names."""
    values = (
        getattr(mapping, one.name) for one in fields(mapping) if one.name not in ("ratings", "roles", "forms")
    )
    return [*filter(None, values), *mapping.ratings.values()]


_ALIASES = {"session": "conversation_id", "rating": "ratings"}
"""Other keys of a map -> ours."""
_IN_FORMS = {
    "conversation_id": "id",
    "session": "id",
    "user_id": "user",
    "content": "text",
    "order_by": "order",
}
"""Keys of a map -> those of an entry of a format."""
_PAIRS = ("asker", "pair", "version")
"""Keys of two paths, which a text parts by a space."""
_OPERATOR = lazy_pattern(r"[<!*\[{']| \| ")
"""What only paths of entries have."""


def read_field_map(path: str | Path) -> FieldMap:
    """Read a field map from a TOML file, a JSON file by its ending, or a text like `prompt=q,reply=a`.

    A map with a key or a path that only entries of formats have is such an entry: see docs/maps.md.

    Raises `ConfigError`, with file and key, for an unreadable file, an unknown key, a value that is no
    text, and an unknown role.
    """
    if "=" in str(path) and not os.path.lexists(path):
        return _checked(_in_line(str(path)), Place(f"field map {path}"))
    text, place = read_text(path, "field map"), Place(shown_path(path))
    try:
        data = orjson.loads(text) if Path(path).suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(place, f"the field map is no valid file: {error}") from error
    if not isinstance(data, dict):
        raise _wrong(place, "the field map is not a table of names")
    return _checked(data, place)


def _in_line(text: str) -> dict[str, Any]:
    """Return the table in `key=value,key.key=value`."""
    data: dict[str, Any] = {}
    for part in text.split(","):
        key, _, value = part.partition("=")
        table, _, name = key.strip().partition(".")
        if name:
            before = data.setdefault(table, {})
            data[table] = before | {name: value.strip()} if isinstance(before, dict) else before
        else:
            data[table] = value.strip()
    return data


def _checked(data: dict[str, Any], place: Place) -> FieldMap:
    known = [f.name for f in fields(FieldMap) if f.name != "forms"]
    tables = all(isinstance(of, dict) for of in data.values())
    if tables and are_of_traces(data):
        return FieldMap(forms=_traces(data, place))
    if data and tables and data.keys().isdisjoint({*known, *_ALIASES, *FORM_KEYS}):
        return FieldMap(forms={name: _form(table, place) for name, table in whole_tables(data).items()})
    if _says_more(data, known):
        return FieldMap(forms={"map": _form(data, place)})
    mapping: dict[str, Any] = {}
    for name, value in data.items():
        key = _ALIASES.get(name, name)
        if key not in known:
            raise _wrong(place, f"unknown key {key!r}", f"known: {', '.join(known)}")
        if key in mapping:
            raise _wrong(place, f"keys {name!r} and {key!r} name the same")
        if name == "rating" and isinstance(value, str):
            value = {name: value}
        if key == "ratings":
            mapping[key] = _ratings(value, place)
        elif key == "roles":
            mapping[key] = _roles(value, place)
        elif isinstance(value, str) and value:
            mapping[key] = value
        else:
            raise _wrong(place, f"key {key!r}: expected a name or dotted path, found {excerpt(value)}")
    return FieldMap(**mapping)


def _says_more(data: Mapping[str, Any], known: Sequence[str]) -> bool:
    """Say whether a map has a key, or a path, that only entries of formats have."""
    paths = (value for value in data.values() if isinstance(value, str))
    return not FORM_KEYS.isdisjoint(data.keys() - {*known}) or any(map(_OPERATOR.search, paths))


def _form(data: Mapping[str, Any], place: Place) -> SourceForm:
    """Return a map as an entry of a format; names of fields are said in its words."""
    table: dict[str, Any] = {}
    for key, value in data.items():
        name = _IN_FORMS.get(key, key)
        if key in ("rating", "ratings"):
            rated = {key: value} if isinstance(value, str) else _ratings(value, place)
            table["rated"] = {f"{path} as {dimension}": {} for dimension, path in rated.items()}
        elif name in ("skip", "only") and isinstance(value, dict):
            table[name] = {k: v if isinstance(v, list) else [v] for k, v in value.items()}
        elif name in _PAIRS and isinstance(value, str):
            table[name] = value.split()
        elif name not in FORM_KEYS and key not in ("prompt", "reply"):
            raise _wrong(place, f"unknown key {key!r}", f"known: {', '.join(sorted(FORM_KEYS))}")
        else:
            table[name] = value
    if {"prompt", "reply"} & table.keys():
        table["pair"] = [table.pop(key, "") for key in ("prompt", "reply")]
    if "pair" in table:
        table.setdefault("messages", ".")
    try:
        return checked_form(table)
    except ValueError as error:
        raise _wrong(place, str(error)) from error


def _traces(data: Mapping[str, Any], place: Place) -> dict[str, AnyForm]:
    try:
        return checked_traces(data)
    except ValueError as error:
        raise _wrong(place, str(error)) from error


def _ratings(value: object, place: Place) -> dict[str, str]:
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return {name: name for name in value}
    if isinstance(value, dict) and all(isinstance(v, str) and v for v in value.values()):
        return value
    raise _wrong(place, "key 'ratings': expected a list of columns, or a table of dimension = column")


def _roles(value: object, place: Place) -> dict[str, Role]:
    if not isinstance(value, dict):
        raise _wrong(place, "key 'roles': expected a table like bot = \"assistant\"")
    for name, role in value.items():
        if role not in ROLES:
            hint = f"one of {', '.join(ROLES)}"
            raise _wrong(place, f"key 'roles.{name}': {excerpt(role)} is not a role", hint)
    return cast("dict[str, Role]", value)


def _wrong(place: Place, message: str, hint: str | None = None) -> ConfigError:
    return ConfigError(message, place=place, hint=hint)
