"""Records as JSON: one description of the keys, from which both the value and its schema are made.

A dataclass is written with a key for each of its fields. `keys` says where that is otherwise:

    @keys(
        difference="a_better_by",
        unit=None,
        side="side",
        question=INSIDE,
        absent="absent?",
        checks="checks{name}",
    )

Here one field has another name, one is not written, a property is written too, the keys of a record stand
among those of the record that holds it, what is None, empty or 0 has no key, and a tuple of records becomes a
map by their names.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_type_hints

T = TypeVar("T")

INSIDE: Final = "*"
_NAMES: Final = "__json_keys__"


@dataclasses.dataclass(frozen=True, slots=True)
class Key:
    """One key of a record."""

    attribute: str
    name: str
    """`INSIDE` for those of another record."""
    hint: Any
    note: str | None
    """What the docstring of a property says; None for a field."""
    optional: bool
    """Whether it is left out where the value is None, empty or 0."""
    by: str
    """The attribute by which a tuple of records becomes a map; empty for what is written as it is."""


def keys(**names: str | None) -> Callable[[type[T]], type[T]]:
    """Say by attribute under which key it is written; see the module."""

    def mark(record: type[T]) -> type[T]:
        if missing := [name for name in names if name not in _attributes(record)]:
            msg = f"{record.__name__} has no {', '.join(missing)}"
            raise TypeError(msg)
        setattr(record, _NAMES, {**getattr(record, _NAMES, {}), **names})
        return record

    return mark


@cache
def keys_of(record: Any) -> tuple[Key, ...]:  # noqa: ANN401 - a class with fields
    """Return the keys of a dataclass, those of its fields first."""
    names: Mapping[str, str | None] = getattr(record, _NAMES, {})
    fields = {field.name: field.name for field in dataclasses.fields(record)}
    return tuple(
        _key(record, attribute, name) for attribute, name in {**fields, **names}.items() if name is not None
    )


def as_json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return a record, or what holds records, as plain JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dict(_items(value))
    if isinstance(value, Mapping):
        return {f"{k:g}" if isinstance(k, float) else k: as_json(one) for k, one in value.items()}
    return [as_json(one) for one in value] if isinstance(value, list | tuple) else value


def _items(record: object) -> Iterator[tuple[str, Any]]:
    kind: Any = type(record)
    for key in keys_of(kind):
        value = getattr(record, key.attribute)
        if key.optional and not value:
            continue
        if key.by:
            yield key.name, {getattr(one, key.by): as_json(one) for one in value}
        elif key.name != INSIDE:
            yield key.name, as_json(value)
        elif value is not None:
            yield from as_json(value).items()


def _attributes(record: Any) -> set[str]:  # noqa: ANN401 - a class with fields
    return {field.name for field in dataclasses.fields(record)} | set(dir(record))


def _key(record: Any, attribute: str, written: str) -> Key:  # noqa: ANN401 - a class with fields
    of = getattr(record, attribute, None)
    optional = written.endswith("?")
    name, _, by = written.rstrip("?}").partition("{")
    getter = of.fget if isinstance(of, property) else None
    hint = get_type_hints(record)[attribute] if getter is None else get_type_hints(getter)["return"]
    if by:
        hint = Mapping[str, get_args(hint)[0]]  # type: ignore[misc] # made while it runs
    return Key(attribute, name, hint, None if getter is None else inspect.getdoc(getter), optional, by)
