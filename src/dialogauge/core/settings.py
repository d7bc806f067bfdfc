"""A setting is declared once: as a field of a frozen dataclass, with its help, its range and its names.

The command line makes its options of the declarations, the configuration file and Python check values by
them. A field without a declaration is not a setting: it holds what was made of settings.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from dialogauge.core.errors import without_user_info
from dialogauge.core.files import shown_path

S = TypeVar("S")

_DECLARED: Final = "setting"
_KINDS: Final[Mapping[type, tuple[Any, str]]] = {
    str: (str, "no text"),
    int: (int, "no whole number"),
    float: ((int, float), "no number"),
    bool: (bool, "neither true nor false"),
}
"""By kind: what Python calls it, and what a value is that is not of it."""
_LARGEST: Final = 2**63 - 1
"""What databases, JSON and other people's servers take for a number ends here."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting as it was declared."""

    name: str
    """Of the field: the keyword in Python, and the name in `manifest.json`."""
    kind: type
    """Of one value: str, int, float or bool."""
    many: bool
    """Whether there may be several values."""
    values: int | None
    """So many values stand behind the flag, which is given once; None where each has a flag of its own."""
    choices: tuple[str, ...]
    """All values there are; empty where any value of the kind may stand."""
    default: Any
    """`dataclasses.MISSING` where the setting is required."""
    otherwise: str | None
    """In words for `--help`: what holds without a value, where that is no fixed default."""
    help: str
    """One line, for `--help` and the command reference."""
    flags: tuple[str, ...]
    """On the command line, where they do not follow from the name."""
    metavar: str | None
    """What stands for the value on the command line."""
    argument: bool
    """Whether it stands on the command line without a flag."""
    low: float | None
    high: float | None
    heading: str | None
    """Of the group of settings that it stands under in `--help`; None for a command's own."""
    key: str | None
    """In the table `[judge]` of a configuration file; None where no file may hold it."""
    recorded: bool
    """Whether `manifest.json` holds it."""

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is dataclasses.MISSING

    @property
    def option(self) -> str:
        """The long name on the command line."""
        return self.flags[-1] if self.flags else f"--{self.name.replace('_', '-')}"

    def checked(self, value: object) -> Any:  # noqa: ANN401 - of the setting's kind
        """Return a value in the form in which settings hold it.

        Raises ValueError, which says what is wrong with the value.
        """
        if value is None and self.default is None:
            return None
        if not self.many:
            return self._one(value)
        if isinstance(value, str) or not isinstance(value, Sequence):
            msg = f"{_shown(value)} is no list"
            raise ValueError(msg)  # noqa: TRY004 - the one kind of complaint
        return tuple(self._one(one) for one in value)

    def _one(self, value: Any) -> Any:  # noqa: ANN401 - of the setting's kind
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        types, complaint = _KINDS[self.kind]
        if not isinstance(value, types) or (isinstance(value, bool) and self.kind is not bool):
            msg = f"{_shown(value)} is {complaint}"
        elif self.choices and value not in self.choices:
            msg = f"{_shown(value)} is not one of {', '.join(self.choices)}"
        elif self.low is not None and not value >= self.low:  # nan is in no range
            msg = f"{_shown(value)} is less than {self.low}"
        elif self.high is not None and not value <= self.high:
            msg = f"{_shown(value)} is more than {self.high}"
        elif self.kind in (int, float) and not abs(value) <= _LARGEST:
            msg = f"{_shown(value)} is no number between -{_LARGEST} and {_LARGEST}"
        elif self.kind is str and (not value or "\0" in value):
            nul = f"{_shown(value)} holds the character 0, which no name has"
            msg = nul if value else "is empty (is a variable not set?)"
        else:
            return float(value) if self.kind is float else value
        raise ValueError(msg)


def _shown(value: object) -> str:
    """Return a value for a message; of a list or a table only what it is, since it may be endless."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "a list"
    if isinstance(value, int) and abs(value) > 10**40:  # Python does not write numbers of any length
        return f"a number of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def setting(  # noqa: PLR0913 - all there is to say of a setting
    default: Any,  # noqa: ANN401 - of the setting's kind
    help: str = "",
    *flags: str,
    otherwise: str | None = None,
    metavar: str | None = None,
    low: float | None = None,
    high: float | None = None,
    key: str | None = None,
    recorded: bool = True,
    values: int | None = None,
) -> Any:  # noqa: ANN401 - a dataclass field
    """Declare a field as a setting; its type is the annotation, and a Literal gives the choices.

    The arguments are the fields of `Setting`. The default is `...` where a value is required; without
    flags, the flag is `--` and the name.
    """
    words = {"help": help, "flags": flags, "otherwise": otherwise, "metavar": metavar, "argument": False}
    declared = {**words, "low": low, "high": high, "key": key, "recorded": recorded, "values": values}
    default = dataclasses.MISSING if default is ... else default
    return dataclasses.field(default=default, metadata={_DECLARED: declared})


def argument(metavar: str, help: str, default: Any = ...) -> Any:  # noqa: ANN401 - a dataclass field
    """Declare a setting that stands on the command line without a flag; required unless it has a default."""
    field = setting(default, help, metavar=metavar)
    metadata = {_DECLARED: {**field.metadata[_DECLARED], "argument": True}}
    return dataclasses.field(default=field.default, metadata=metadata)


def settings_of(kind: type) -> Mapping[str, Setting]:
    """Return the settings of a class by name: required ones, its own, those of its groups in their order."""
    return _settings_of(kind)


@cache
def _settings_of(kind: type) -> Mapping[str, Setting]:
    fields = {f.name: f for f in dataclasses.fields(kind) if _DECLARED in f.metadata}
    order = dict.fromkeys(name for one in kind.__mro__ for name in inspect.get_annotations(one))
    declared = [_read(kind, fields[name]) for name in order if name in fields]
    return {one.name: one for one in sorted(declared, key=lambda one: not one.required)}


def _read(owner: type, field: dataclasses.Field[Any]) -> Setting:
    annotation: Any = get_type_hints(owner)[field.name] if isinstance(field.type, str) else field.type
    if get_origin(annotation) in (Union, UnionType):  # one and the same from Python 3.14 on
        annotation = next(a for a in get_args(annotation) if a is not NoneType)
    many = get_origin(annotation) is tuple
    if many:
        annotation = get_args(annotation)[0]
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    declaring = [one for one in owner.__mro__ if field.name in inspect.get_annotations(one)]
    headings = [vars(one)["heading"] for one in declaring if "heading" in vars(one)]
    return Setting(
        name=field.name,
        kind=str if choices else annotation,
        many=many,
        choices=choices,
        default=field.default,
        heading=headings[-1] if headings else None,
        **field.metadata[_DECLARED],
    )


def recorded(settings: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass of settings
    """Return settings as `manifest.json` holds them: paths as they are shown, without secrets in URLs."""
    declared = settings_of(type(settings))
    left_out = {"command", *(name for name, one in declared.items() if not one.recorded)}
    left_out |= {f.name for f in dataclasses.fields(settings) if not f.metadata.get("recorded", True)}
    return {k: _kept(v) for k, v in dataclasses.asdict(settings).items() if k not in left_out}


def _kept(value: Any) -> Any:  # noqa: ANN401 - of any setting
    if isinstance(value, str):
        return shown_path(without_user_info(value) if "://" in value else value)
    return tuple(_kept(one) for one in value) if isinstance(value, tuple) else value


def narrowed(kind: type[S], settings: Any, /, **changes: Any) -> S:  # noqa: ANN401 - any settings
    """Return the part of settings that a class has, with some of it changed."""
    names = [f.name for f in dataclasses.fields(kind) if hasattr(settings, f.name)]  # type: ignore[arg-type]
    return kind(**{name: getattr(settings, name) for name in names} | changes)


def nearest(name: str, names: Iterable[str], *, alike: float = 0.6) -> str | None:
    """Return which of the names may have been meant; None where none is alike, by a measure from 0 to 1."""
    from difflib import get_close_matches  # for messages only

    return next(iter(get_close_matches(name, list(names), 1, alike)), None)
