"""The part of JSON schema that reply schemas use: check a value, and make the plainest one."""

from __future__ import annotations

from typing import Any

_TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}


def resolve(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference within the schema."""
    while "$ref" in schema:
        found: Any = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def types_of(schema: dict[str, Any]) -> list[str]:
    stated = schema.get("type")
    if isinstance(stated, str):
        return [stated]
    if stated:
        return list(stated)
    return ["object"] if "properties" in schema else []


def conforms(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None) -> bool:
    """Say whether the value satisfies the schema."""
    root = root or schema
    schema = resolve(schema, root)
    for key in ("anyOf", "oneOf"):
        if key in schema and not any(conforms(value, option, root) for option in schema[key]):
            return False
    if "const" in schema and not _same(value, schema["const"]):
        return False
    if "enum" in schema and not any(_same(value, option) for option in schema["enum"]):
        return False
    types = types_of(schema)
    if types and not any(_is(value, name) for name in types):
        return False
    return _inside(value, schema, root)


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b


def _is(value: Any, name: str) -> bool:
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, _TYPES[name])


def _inside(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    if isinstance(value, dict):
        return _object_fits(value, schema, root)
    if isinstance(value, list):
        return _array_fits(value, schema, root)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    if isinstance(value, str):
        return schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    return True


def _object_fits(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> bool:
    properties = schema.get("properties", {})
    if any(name not in value for name in schema.get("required", ())):
        return False
    if schema.get("additionalProperties") is False and set(value) - set(properties):
        return False
    return all(conforms(v, properties[k], root) for k, v in value.items() if k in properties)


def _array_fits(value: list[Any], schema: dict[str, Any], root: dict[str, Any]) -> bool:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    prefix = schema.get("prefixItems", [])
    rest = schema.get("items", {})
    if rest is False and len(value) > len(prefix):
        return False
    return all(conforms(v, prefix[i] if i < len(prefix) else rest, root) for i, v in enumerate(value))


def instance(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """Make the plainest value that satisfies the schema: the first option, the least number."""
    root = root or schema
    schema = resolve(schema, root)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return instance(schema[key][0], root)
    name = (types_of(schema) or ["null"])[0]
    if name == "object":
        return {k: instance(v, root) for k, v in schema.get("properties", {}).items()}
    if name == "array":
        items = [instance(s, root) for s in schema.get("prefixItems", [])]
        missing = schema.get("minItems", 0) - len(items)
        return items + [instance(schema["items"], root) for _ in range(missing)]
    number = schema.get("minimum", 0)
    plain = {"string": "x" * max(1, schema.get("minLength", 1)), "integer": number, "number": number}
    return {**plain, "boolean": False}.get(name)
