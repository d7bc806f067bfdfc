"""The JSON Schema (draft 2020-12) of a shape that is declared as Python types.

`core/shape.py` reads documents by such types; here they are written down for other programs. An object has
the keys of its typed dictionary or dataclass and no others. What is said of a field below itself becomes its
description. A dataclass stands for what `as_json` makes of it.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import types
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, Final, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from dialogauge.core.json_keys import INSIDE, keys_of

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    types.NoneType: "null",
}

Schema = dict[str, Any]


def schema_of(shape: Any, title: str) -> Schema:  # noqa: ANN401 - any annotation
    """Return the schema of a shape; each of its records is defined once, by the name of its class."""
    records: dict[str, Schema] = {}
    whole = _schema(shape, records)
    return {"$schema": DRAFT, "title": title, **whole, "$defs": dict(sorted(records.items()))}


def _schema(shape: Any, records: dict[str, Schema]) -> Schema:  # noqa: ANN401 - any annotation
    origin, inner = get_origin(shape), get_args(shape)
    if shape in _PLAIN:
        return {"type": _PLAIN[shape]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return _either([_schema(one, records) for one in inner])
    if isinstance(origin, type):
        return _many(origin, inner, records)
    return _record(shape, records) if is_typeddict(shape) or dataclasses.is_dataclass(shape) else {}


def _many(kind: type, inner: tuple[Any, ...], records: dict[str, Schema]) -> Schema:
    """Return the schema of a mapping, of a list, or of a tuple of so many."""
    if issubclass(kind, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], records)}
    if kind is not tuple or inner[-1] is ...:
        return {"type": "array", "items": _schema(inner[0], records)}
    parts = [_schema(one, records) for one in inner]
    return {"type": "array", "prefixItems": parts, "minItems": len(parts), "items": False}


def _either(options: list[Schema]) -> Schema:
    """Return one of several schemas: plain types by a list of their names."""
    plain = [one["type"] for one in options if one.keys() == {"type"}]
    rest = [one for one in options if one.keys() != {"type"}]
    if not rest:
        return {"type": plain}
    return {"anyOf": [*rest, *({"type": name} for name in plain)]}


def _record(shape: type, records: dict[str, Schema]) -> Schema:
    name = shape.__name__.lstrip("_")
    if name not in records:
        records[name] = {}  # it may hold itself
        hints, optional, notes = _fields(shape)
        properties = {
            key: {**_schema(hint, records), **({"description": notes[key]} if key in notes else {})}
            for key, hint in hints.items()
        }
        summary = _words((shape.__doc__ or "").partition("\n\n")[0])
        records[name] = {
            **({"description": summary} if summary else {}),
            "type": "object",
            "properties": properties,
            "required": [key for key in hints if key not in optional],
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{name}"}


def _fields(shape: type) -> tuple[dict[str, Any], set[str], dict[str, str]]:
    """Return the annotations of all keys, the names of those that may be missing, and their descriptions."""
    if dataclasses.is_dataclass(shape):
        return _keys(shape)
    hints = get_type_hints(shape, include_extras=True)
    optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
    plain = {name: get_args(of)[0] if name in optional else of for name, of in hints.items()}
    return plain, optional, _notes(shape)


def _keys(record: type) -> tuple[dict[str, Any], set[str], dict[str, str]]:
    """Return the same of a dataclass, as `as_json` writes it."""
    hints: dict[str, Any] = {}
    optional: set[str] = set()
    notes: dict[str, str] = {}
    below = _notes(record)
    for key in keys_of(record):
        if key.name == INSIDE:
            new, may_miss, words = _fields(key.hint)
        else:
            new = {key.name: _without_none(key.hint) if key.optional else key.hint}
            may_miss = {key.name} if key.optional else set()
            head, _, rest = key.attribute.partition(".")
            parts = (below.get(head), key.note, _notes(key.within).get(rest) if rest else None)
            note = _words(" ".join(filter(None, parts)))
            words = {key.name: re.sub(r"\b[Nn]ull\b", "absent", note) if key.optional else note}
        hints |= new
        optional = (optional - new.keys()) | may_miss
        notes = {name: note for name, note in notes.items() if name not in new} | words
    return hints, optional, {name: f"{note[0].upper()}{note[1:]}" for name, note in notes.items() if note}


def _without_none(hint: Any) -> Any:  # noqa: ANN401 - any annotation
    """Return an annotation without None: what is None has no key."""
    kinds = [one for one in get_args(hint) if one is not types.NoneType]
    return Union[tuple(kinds)] if get_origin(hint) in (Union, types.UnionType) else hint  # noqa: UP007


def _notes(shape: type) -> dict[str, str]:
    """Return by field what is said of it below itself, in the class or in one that it extends."""
    notes: dict[str, str] = {}
    node = _classes(shape.__module__).get(shape.__name__)
    if node is None:
        return notes
    for base in node.bases:
        kind = getattr(sys.modules[shape.__module__], ast.unparse(base), None)
        if isinstance(kind, type):
            notes |= _notes(kind)
    for pair in pairwise(node.body):
        match pair:
            case ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(ast.Constant(str(words))):
                notes[field] = _words(words)
    return notes


@cache
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    """Return the classes of a module as they are written; a typed dictionary forgets what it extends."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _words(text: str) -> str:
    """Return a docstring as one line, in the words of JSON."""
    return re.sub(r"\bNone\b", "null", " ".join(text.split()))
