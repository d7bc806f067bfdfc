"""Records as JSON: one description of the keys, from which both the value and its schema are made.

A dataclass is written with a key for each of its fields. `keys` says where that is otherwise:

    @keys(
        difference="a_better_by",
        unit=None,
        side="side",
        question=INSIDE,
        absent="absent?",
        checks="checks{name}",
        **{"mean.value": "mean", "mean.interval": "mean_interval"},
    )

Here one field has another name, one is not written, a property is written too, the keys of a record stand
among those of the record that holds it, what is None, empty or 0 has no key, a tuple of records becomes a map
by their names, and of a record in a field some attributes alone are written, null where it is None.
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
    within: Any = None
    """The class of the record in a field of which this is an attribute."""


def keys(**names: str | None) -> Callable[[type[T]], type[T]]:
    """Say by attribute under which key it is written; see the module."""

    def mark(record: type[T]) -> type[T]:
        if missing := [name for name in names if name.partition(".")[0] not in _attributes(record)]:
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
        value: Any = record
        for attribute in key.attribute.split("."):
            value = None if value is None else getattr(value, attribute)
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
    optional = written.endswith("?")
    name, _, by = written.rstrip("?}").partition("{")
    head, _, rest = attribute.partition(".")
    hint, note = _described(record, head)
    within = None
    if rest:
        within = next(kind for kind in (*get_args(hint), hint) if dataclasses.is_dataclass(kind))
        (inner, more), outer = _described(within, rest), hint
        hint = inner if outer is within else inner | None
        note = " ".join(filter(None, (note, more))) or None
    if by:
        hint = Mapping[str, get_args(hint)[0]]  # type: ignore[misc] # made while it runs
    return Key(attribute, name, hint, note, optional, by, within)


_hints: Final = cache(get_type_hints)


def _described(record: Any, attribute: str) -> tuple[Any, str | None]:  # noqa: ANN401 - a class with fields
    """Return the annotation of an attribute, and what the docstring of a property says."""
    of = getattr(record, attribute, None)
    if not isinstance(of, property):
        return _hints(record)[attribute], None
    return get_type_hints(of.fget)["return"], (inspect.getdoc(of.fget) or "").partition("\n\n")[0]
