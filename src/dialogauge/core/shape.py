"""The shape of a JSON document, declared as Python types, and checked before anything reads it.

What a file holds is anybody's: a hand, another program or a broken disk may have been at it. A loader says
once what it expects, and a value that is something else is refused with the place inside the document:

    read_as({"items": [{"gold": "x"}]}, Items)  ->  Misfit: items[0].gold is 'x', not a number

There are `str`, `bytes`, `int` (of 64 bits, as arrays hold it), `float` (any finite number), `bool`, `None`,
`Any`, `Literal`, unions, `list[X]`, `tuple[X, ...]`, `tuple[X, Y]`, `Mapping[str, X]`, typed dictionaries
(other keys may stand beside theirs) and dataclasses (no others may). Lists become tuples and objects
dataclasses where the shape says so. What is none of these, such as a Protocol, is for the loader to check.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import cycle
from typing import (
    Any,
    Final,
    Literal,
    NoReturn,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import orjson

T = TypeVar("T")
Reader = Callable[[Any], Any]

_LARGEST: Final = 2**63
_FINITE: Final = sys.float_info.max
_SURE: Final = frozenset({str, bool, bytes, types.NoneType})
"""Types whose values all fit, where one fits."""
_PARSED: Final = _SURE | {int, float}
"""The same of what orjson has read: it reads no number that is not finite, and none of more than 64 bits."""


class Misfit(ValueError):
    """A value that has not the shape that was asked for; the text says where, and what stands there."""

    def __init__(self, what: str, path: str = "") -> None:
        super().__init__(f"{path.removeprefix('.')} {what}" if path else f"it {what}")
        self.what, self.path = what, path


def read_as(value: object, shape: type[T]) -> T:
    """Return a JSON value in its declared shape, itself where nothing in it is to be built; else Misfit."""
    return reader_of(shape)(value)


def reader_of(shape: type[T], *, parsed: bool = False) -> Callable[[object], T]:
    """Return what reads many values of one shape, as `read_as` does.

    Numbers are not looked at one by one in what was `parsed` by orjson.
    """
    asked: Any = shape
    return _reader(asked, _PARSED if parsed else _SURE)


@cache
def _reader(shape: Any, known: frozenset[type]) -> Reader:  # noqa: ANN401 - any annotation
    """Return what checks a value by a shape, and builds it; made once for each shape."""
    origin, inner = get_origin(shape), get_args(shape)
    if origin in (Union, types.UnionType):
        return _either(inner, known)
    if origin is Literal:
        return _literal(inner)
    if origin in (list, tuple):
        return _sequence(origin, inner, known)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(inner[1], known)
    if is_typeddict(shape) or dataclasses.is_dataclass(shape):
        return _record(shape, known)
    return _PLAIN.get(shape, _any)


def _any(value: Any) -> Any:  # noqa: ANN401 - any value
    return value


def _fail(what: str, path: str = "") -> NoReturn:
    raise Misfit(what, path)


def _refuse(value: object, wanted: str) -> NoReturn:
    _fail(f"is {_shown(value)}, not {wanted}")


def _shown(value: object) -> str:
    """Return a value for a message; of a list or an object only what it is."""
    if isinstance(value, Mapping | list | tuple):
        return "an object" if isinstance(value, Mapping) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value) if isinstance(value, str | float | int) and not _huge(value) else "too large"
    return text if len(text) <= 60 else f"{text[:59]}…"


def _huge(value: object) -> bool:
    return isinstance(value, int) and not -_LARGEST <= value < _LARGEST


def _text(value: object) -> Any:  # noqa: ANN401 - the value
    return value if isinstance(value, str) else _refuse(value, "a text")


def _whole(value: object) -> Any:  # noqa: ANN401 - the value
    fits = type(value) is int and -_LARGEST <= value < _LARGEST
    return value if fits else _refuse(value, "a whole number")


def _number(value: object) -> Any:  # noqa: ANN401 - the value
    fits = type(value) in (float, int) and -_FINITE <= value <= _FINITE  # type: ignore[operator]
    return value if fits else _refuse(value, "a number")


def _flag(value: object) -> Any:  # noqa: ANN401 - the value
    return value if isinstance(value, bool) else _refuse(value, "true or false")


def _packed(value: object) -> Any:  # noqa: ANN401 - the value
    return value if isinstance(value, bytes) else _refuse(value, "packed data")


def _nothing(value: object) -> None:
    if value is not None:
        _refuse(value, "null")


_PLAIN: Final[Mapping[Any, Reader]] = {
    str: _text,
    int: _whole,
    float: _number,
    bool: _flag,
    bytes: _packed,
    types.NoneType: _nothing,
}


def _literal(choices: Sequence[object]) -> Reader:
    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(value, (str, int)) or value not in choices:
            _refuse(value, f"one of {', '.join(map(str, choices))}")
        return value

    return read


def _either(shapes: Sequence[Any], known: frozenset[type]) -> Reader:
    readers = [_reader(one, known) for one in shapes]
    likely: dict[type, list[tuple[frozenset[str], Reader]]] = {}
    for shape, reader in zip(shapes, readers, strict=True):
        for kind in _kinds(shape):
            likely.setdefault(kind, []).append((_needed(shape), reader))

    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        for needed, reader in likely.get(type(value), ()):
            if needed and not needed <= value.keys():
                continue
            try:
                return reader(value)
            except Misfit:
                continue
        return _first(readers, value)

    return read


def _first(readers: Sequence[Reader], value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return what the first reader makes of a value; else the first Misfit, or one of what is inside."""
    deepest: Misfit | None = None
    for reader in readers:
        try:
            return reader(value)
        except Misfit as misfit:
            if deepest is None or (misfit.path and not deepest.path):
                deepest = misfit
    raise deepest or Misfit("fits nothing")


def _kinds(shape: Any) -> Sequence[type]:  # noqa: ANN401 - any annotation
    """Return the types of the values that mostly are of a shape, so that a union need not try them all."""
    origin = get_origin(shape) or shape
    if origin is Literal:
        return tuple({type(choice) for choice in get_args(shape)})
    if origin in _PLAIN:
        return (int, float) if origin is float else (origin,)
    return (list, tuple) if origin in (list, tuple) else (dict,)


def _sequence(kind: type, inner: Sequence[Any], known: frozenset[type]) -> Reader:
    count = len(inner) if kind is tuple and inner[-1] is not ... else None
    each = [(_sure(one, known), _reader(one, known)) for one in inner if one is not ...]
    sure = each[0][0] if count is None else frozenset()

    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(value, (list, tuple)):
            _refuse(value, "a list")
        if count is not None and len(value) != count:
            _fail(f"has {len(value)} entries, not {count}")
        if sure.issuperset(map(type, value)):
            return value if type(value) is kind else kind(value)
        out: list[Any] = []
        try:
            for (fits, reader), one in zip(cycle(each), value):
                out.append(one if type(one) in fits else reader(one))
        except Misfit as misfit:
            _fail(misfit.what, f"[{len(out)}]{misfit.path}")
        return out if kind is list else tuple(out)

    return read


def _mapping(shape: Any, known: frozenset[type]) -> Reader:  # noqa: ANN401 - any annotation
    reader, sure = _reader(shape, known), _sure(shape, known)

    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(value, (dict, Mapping)):
            _refuse(value, "an object")
        if reader is _any or sure.issuperset(map(type, value.values())):
            return value
        out = {}
        key = ""
        try:
            for key, one in value.items():
                out[key] = reader(one)
        except Misfit as misfit:
            _fail(misfit.what, f".{key}"[:60] + misfit.path)
        return out

    return read


def _record(shape: Any, known: frozenset[type]) -> Reader:  # noqa: ANN401 - a typed dictionary or a dataclass
    hints, _ = _fields(shape)
    closed = dataclasses.is_dataclass(shape)
    needed = _needed(shape)
    checked = [(name, _sure(hint, known), _reader(hint, known)) for name, hint in hints.items()]

    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(value, (dict, Mapping)):
            _refuse(value, "an object")
        if not needed <= value.keys() or (closed and not value.keys() <= hints.keys()):
            _refuse_keys(value, needed, hints)
        made: dict[str, Any] = {}
        name = ""
        try:
            for name, sure, reader in checked:
                if name in value and type(one := value[name]) not in sure:
                    new = reader(one)
                    if new is not one:
                        made[name] = new
        except Misfit as misfit:
            _fail(misfit.what, f".{name}{misfit.path}")
        out = {**value, **made} if made else value
        return shape(**out) if closed else out

    return read


def _refuse_keys(value: Mapping[str, Any], needed: frozenset[str], known: Mapping[str, Any]) -> NoReturn:
    if not needed <= value.keys():
        _fail("is missing", f".{min(needed - value.keys())}")
    _fail("is an unknown key", f".{next(key for key in value if key not in known)}"[:60])


def _fields(shape: Any) -> tuple[dict[str, Any], set[str]]:  # noqa: ANN401 - a typed dictionary or a dataclass
    """Return the annotations of all fields, and the names of those that may be missing."""
    hints = get_type_hints(shape, include_extras=True)
    if not dataclasses.is_dataclass(shape):
        optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
        return {n: get_args(h)[0] if n in optional else h for n, h in hints.items()}, optional
    fields, bare = dataclasses.fields(shape), (dataclasses.MISSING, dataclasses.MISSING)
    optional = {field.name for field in fields if (field.default, field.default_factory) != bare}
    return {field.name: hints[field.name] for field in fields}, optional


def _needed(shape: Any) -> frozenset[str]:  # noqa: ANN401 - any annotation
    """Return the fields that a record has in any case; none for any other shape."""
    if not is_typeddict(shape) and not dataclasses.is_dataclass(shape):
        return frozenset()
    hints, optional = _fields(shape)
    return frozenset(hints.keys() - optional)


def _sure(shape: Any, known: frozenset[type]) -> frozenset[type]:  # noqa: ANN401 - any annotation
    """Return the types of which every value fits a shape as it is."""
    shapes = get_args(shape) if get_origin(shape) in (Union, types.UnionType) else (shape,)
    return known.intersection((*shapes, int) if float in shapes else shapes)


def may_repeat_keys(raw: bytes, value: object) -> bool:
    """Say whether an object in JSON may have a key twice, of which orjson took the last; False is certain.

    There are then fewer strings in the value that was read than in its text.
    """
    try:
        return _strings(raw) != _strings(orjson.dumps(value))
    except orjson.JSONEncodeError:  # of numbers and signs that other readers take
        return True


def repeated_keys(raw: bytes, value: object) -> frozenset[str]:
    """Return the keys that an object in JSON has twice with different members.

    Args:
        raw: Faultless JSON.
        value: What orjson read of it, at most 254 levels deep.
    """
    repeated: set[str] = set()

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        first: dict[str, object] = {}
        repeated.update(key for key, member in pairs if first.setdefault(key, member) != member)
        return first

    if may_repeat_keys(raw, value):
        json.loads(raw, object_pairs_hook=members, parse_int=float)  # an int has at most 4,300 digits
    return frozenset(repeated)


def _strings(raw: bytes) -> int:
    r"""Return twice the strings in faultless JSON, less those that end in `\\`: all quotes but escaped ones.

    A value has no more of the former than its text, and where a string may be written in two ways (`\\`,
    `\u005c`), orjson writes the one that counts for less. So if a member was lost, its value counts for less.
    """
    return raw.count(b'"') - (raw.count(b'\\"') if b"\\" in raw else 0)
