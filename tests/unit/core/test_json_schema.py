from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from dialogauge.core.json_schema import schema_of


class Place(TypedDict):
    """Where it is."""

    file: str
    line: NotRequired[int]
    """From 1; None is never
    written."""


class Town(Place):
    inside: Town | None


@dataclass
class Figure:
    """A figure.

    More of it.
    """

    value: float | None = None
    """None where it is undefined."""


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (str, {"type": "string"}),
        (int | None, {"type": ["integer", "null"]}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (Literal["a"] | None, {"anyOf": [{"enum": ["a"]}, {"type": "null"}]}),
        (list[bool], {"type": "array", "items": {"type": "boolean"}}),
        (Sequence[float], {"type": "array", "items": {"type": "number"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Any, {}),
        (
            tuple[str, int],
            {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "integer"}],
                "minItems": 2,
                "items": False,
            },
        ),
    ],
    ids=str,
)
def test_plain_shapes(shape: Any, expected: Any) -> None:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "it"}
    assert schema_of(shape, "it") == {**head, **expected, "$defs": {}}


def test_a_record_is_closed_and_says_what_stands_below_its_fields() -> None:
    schema = schema_of(Place, "it")
    assert schema["$ref"] == "#/$defs/Place"
    assert schema["$defs"]["Place"] == {
        "description": "Where it is.",
        "type": "object",
        "properties": {
            "file": {"type": "string"},
            "line": {"type": "integer", "description": "From 1; null is never written."},
        },
        "required": ["file"],
        "additionalProperties": False,
    }


def test_a_record_has_the_fields_of_what_it_extends_and_may_hold_itself() -> None:
    town = schema_of(list[Town], "it")["$defs"]["Town"]
    assert list(town["properties"]) == ["file", "line", "inside"]
    assert town["properties"]["inside"] == {"anyOf": [{"$ref": "#/$defs/Town"}, {"type": "null"}]}
    assert town["properties"]["line"]["description"] == "From 1; null is never written."
    assert town["required"] == ["file", "inside"]


def test_every_field_of_a_dataclass_is_there() -> None:
    figure = schema_of(Figure, "it")["$defs"]["Figure"]
    assert figure["description"] == "A figure."
    assert figure["required"] == ["value"]
    undefined = "Null where it is undefined."
    assert figure["properties"]["value"] == {"type": ["number", "null"], "description": undefined}
