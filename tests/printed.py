"""Holds what a command prints with `--json` against the schema that it says it has."""

from __future__ import annotations

from typing import Any

from dialogauge.app.printed.commands import json_schema, printing_commands

HINT = "name its record in src/dialogauge/app/printed/commands.py"
_TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def command_of(words: tuple[str, ...]) -> str:
    """Return the command that the words of a command line name."""
    two = " ".join(words[:2])
    return two if two in printing_commands() else words[0]


def misfit(value: Any, schema: dict[str, Any]) -> str | None:
    """Say where a value is not as the schema has it; None where it is."""
    return _misfit(value, schema, schema["$defs"], "")


def check_printed(words: tuple[str, ...], value: Any) -> None:
    """Fail where a command prints what its schema does not know."""
    command = command_of(words)
    assert command in printing_commands(), f"`{command} --json` has no schema: {HINT}"
    wrong = misfit(value, json_schema(command))
    assert wrong is None, f"the schema of `{command} --json` does not fit: {wrong}; {HINT}"


def _misfit(value: Any, schema: Any, known: dict[str, Any], at: str) -> str | None:
    if schema is False:
        return f"{at} is one too many"
    if "$ref" in schema:
        schema = known[schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        wrong = [_misfit(value, one, known, at) for one in schema["anyOf"]]
        return None if None in wrong else " / ".join(filter(None, wrong))
    if wrong := _plain_misfit(value, schema, at):
        return wrong
    if isinstance(value, dict):
        return _object_misfit(value, schema, known, at)
    return _array_misfit(value, schema, known, at) if isinstance(value, list) else None


def _plain_misfit(value: Any, schema: dict[str, Any], at: str) -> str | None:
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} is {value!r}, none of {schema['enum']}"
    types = schema.get("type", [*_TYPES])
    names = types if isinstance(types, list) else [types]
    fits = any(_is(value, name) for name in names)
    return None if fits else f"{at} is {str(value)[:60]!r}, not of the type {' or '.join(names)}"


def _is(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _object_misfit(value: dict[str, Any], schema: Any, known: dict[str, Any], at: str) -> str | None:
    if missing := [key for key in schema.get("required", ()) if key not in value]:
        return f"{at}.{missing[0]} is missing"
    inside = schema.get("properties", {})
    rest = schema.get("additionalProperties", {})
    if rest is False and (unknown := value.keys() - inside.keys()):
        return f"{at}.{min(unknown)} is not in the schema"
    parts = (_misfit(one, inside.get(key, rest), known, f"{at}.{key}") for key, one in value.items())
    return next(filter(None, parts), None)


def _array_misfit(value: list[Any], schema: Any, known: dict[str, Any], at: str) -> str | None:
    first = schema.get("prefixItems", [])
    if len(value) < schema.get("minItems", 0):
        return f"{at} has {len(value)} entries, not {schema['minItems']}"
    of = [*first, *[schema.get("items", {})] * (len(value) - len(first))]
    parts = (_misfit(v, s, known, f"{at}[{i}]") for i, (v, s) in enumerate(zip(value, of, strict=False)))
    return next(filter(None, parts), None)
