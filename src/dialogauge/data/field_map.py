"""Field maps: files that name the fields of other people's tables and logs."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, cast

import orjson

from dialogauge.core import ROLES, ConfigError, Place, Role, read_text, shown_path
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.data.notes import excerpt

_INDEX = lazy_pattern(r"-?[0-9]{1,9}")
MISSING: Any = object()
"""The result of `look_up` for an empty path."""


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

    def role_of(self, name: str) -> Role | None:
        """Return our role for a name, by `roles` first; None for an unknown one."""
        return self.roles.get(name) or (name if name in ROLES else None)


NO_MAP = FieldMap()


def paths_of(mapping: FieldMap) -> list[str]:
    """Return the columns, keys and paths that a map names."""
    values = (getattr(mapping, one.name) for one in fields(mapping) if one.name not in ("ratings", "roles"))
    return [*filter(None, values), *mapping.ratings.values()]


_ALIASES = {"session": "conversation_id", "rating": "ratings"}
"""Other keys of a map -> ours."""


def look_up(record: Any, path: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return the value at a key or dotted path, or `MISSING`.

    A key may itself have dots; a list item is named by its position, from the end by a negative one.
    """
    if isinstance(record, dict):
        if path in record:
            return record[path]
        head, dot, rest = path.partition(".")
        while dot:
            if head in record and (value := look_up(record[head], rest)) is not MISSING:
                return value
            more, dot, rest = rest.partition(".")
            head = f"{head}.{more}"
    elif isinstance(record, list):
        head, dot, rest = path.partition(".")
        number = int(head) if _INDEX.fullmatch(head) else len(record)
        if -len(record) <= number < len(record):
            return look_up(record[number], rest) if dot else record[number]
    return MISSING


def read_field_map(path: str | Path) -> FieldMap:
    """Read a field map from a TOML file, a JSON file by its ending, or a text like `prompt=q,reply=a`.

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
    known = [f.name for f in fields(FieldMap)]
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
