"""The shape of a JSON document, declared as Python types, and checked before anything reads it.

What a file holds is anybody's: a hand, another program or a broken disk may have been at it. A loader says
once what it expects, and a value that is something else is refused with the place inside the document:

    read_as({"items": [{"gold": "x"}]}, Items)  ->  Misfit: items[0].gold is 'x', not a number

There are `str`, `bytes`, `int`, `float` (any finite number), `bool`, `None`, `Any`, `Literal`, unions,
`list[X]`, `tuple[X, ...]`, `tuple[X, Y]`, `Mapping[str, X]`, typed dictionaries (other keys may stand beside
theirs) and dataclasses (no others may). Lists become tuples and objects dataclasses where the shape says so.
What is none of these, such as a Protocol, is for the loader to check.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
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

T = TypeVar("T")
Reader = Callable[[Any], Any]

_LARGEST: Final = 2**63


class Misfit(ValueError):
    """A value that has not the shape that was asked for; the text says where, and what stands there."""

    def __init__(self, what: str, path: str = "") -> None:
        super().__init__(f"{path.removeprefix('.')} {what}" if path else f"it {what}")
        self.what, self.path = what, path


def read_as(value: object, shape: type[T]) -> T:
    """Return a JSON value in its declared shape; Misfit where it has another."""
    asked: Any = shape
    built: T = _reader(asked)(value)
    return built


@cache
def _reader(shape: Any) -> Reader:  # noqa: ANN401 - any annotation
    """Return what checks a value by a shape, and builds it; made once for each shape."""
    origin, inner = get_origin(shape), get_args(shape)
    if origin in (Union, types.UnionType):
        return _either([_reader(one) for one in inner])
    if origin is Literal:
        return _literal(inner)
    if origin in (list, tuple):
        return _sequence(origin, inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(_reader(inner[1]))
    if is_typeddict(shape) or dataclasses.is_dataclass(shape):
        return _record(shape)
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
    return isinstance(value, int) and not -_LARGEST <= value <= 2 * _LARGEST


def _text(value: object) -> Any:  # noqa: ANN401 - the value
    return value if isinstance(value, str) else _refuse(value, "a text")


def _whole(value: object) -> Any:  # noqa: ANN401 - the value
    fits = isinstance(value, int) and not isinstance(value, bool) and -_LARGEST <= value < 2 * _LARGEST
    return value if fits else _refuse(value, "a whole number")


def _number(value: object) -> Any:  # noqa: ANN401 - the value
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    if fits and -sys.float_info.max <= value <= sys.float_info.max:  # type: ignore[operator]
        return value
    _refuse(value, "a number")


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
        if not isinstance(value, str | int) or value not in choices:
            _refuse(value, f"one of {', '.join(map(str, choices))}")
        return value

    return read


def _either(readers: Sequence[Reader]) -> Reader:
    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        deepest: Misfit | None = None
        for reader in readers:
            try:
                return reader(value)
            except Misfit as misfit:
                if deepest is None or misfit.path or not deepest.path:
                    deepest = deepest if deepest is not None and deepest.path else misfit
        raise deepest or Misfit("fits nothing")

    return read


def _at(path: str, reader: Reader, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return reader(value)
    except Misfit as misfit:
        raise Misfit(misfit.what, path + misfit.path) from None


def _sequence(kind: type, inner: Sequence[Any]) -> Reader:
    count = len(inner) if kind is tuple and inner[-1] is not ... else None
    readers = [_reader(one) for one in inner if one is not ...]

    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(value, list | tuple):
            _refuse(value, "a list")
        if count is not None and len(value) != count:
            _fail(f"has {len(value)} entries, not {count}")
        each = readers if count is not None else readers * len(value)
        return kind([_at(f"[{n}]", r, one) for n, (r, one) in enumerate(zip(each, value, strict=True))])

    return read


def _mapping(reader: Reader) -> Reader:
    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(value, Mapping):
            _refuse(value, "an object")
        return {key: _at(f".{key}"[:60], reader, one) for key, one in value.items()}

    return read


def _record(shape: Any) -> Reader:  # noqa: ANN401 - a typed dictionary or a dataclass
    hints = get_type_hints(shape, include_extras=True)
    closed = dataclasses.is_dataclass(shape)
    if closed:
        bare = dataclasses.MISSING
        optional = {
            f.name for f in dataclasses.fields(shape) if (f.default, f.default_factory) != (bare, bare)
        }
        hints = {f.name: hints[f.name] for f in dataclasses.fields(shape)}
    else:
        optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
    needed = hints.keys() - optional
    readers = {n: _reader(get_args(h)[0] if get_origin(h) is NotRequired else h) for n, h in hints.items()}

    def read(value: Any) -> Any:  # noqa: ANN401 - any JSON value
        if not isinstance(value, Mapping):
            _refuse(value, "an object")
        if not needed <= value.keys():
            _fail("is missing", f".{min(needed - value.keys())}")
        out = {}
        for key, one in value.items():
            reader = readers.get(key)
            if reader is not None:
                out[key] = _at(f".{key}", reader, one)
            elif closed:
                _fail("is an unknown key", f".{key}"[:60])
            else:
                out[key] = one
        return shape(**out) if closed else out

    return read
