"""One description of a record's keys, for its JSON and for the schema of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from dialogauge.core.json_keys import INSIDE, as_json, keys
from dialogauge.core.json_schema import schema_of


@keys(length="words", first="first")
@dataclass(frozen=True, slots=True)
class Line:
    """One line."""

    name: str
    length: int
    """In words."""

    @property
    def first(self) -> str | None:
        """Its first letter.

        More of it.
        """
        return self.name[:1] or None


@keys(head=INSIDE, lines="lines{name}", note="note?", secret=None)
@dataclass(frozen=True, slots=True)
class Poem:
    """A poem."""

    name: str
    head: Line
    lines: tuple[Line, ...] = ()
    note: str | None = None
    secret: str = "x"
    counts: Mapping[float, tuple[int, ...]] = field(default_factory=dict)


def test_a_record_is_written_as_its_keys_say() -> None:
    poem = Poem("whole", Line("head", 3), (Line("a", 1), Line("", 2)), counts={4.0: (1, 2), 0.5: ()})
    assert as_json(poem) == {
        "name": "head",  # what comes later counts
        "words": 3,
        "first": "h",
        "lines": {
            "a": {"name": "a", "words": 1, "first": "a"},
            "": {"name": "", "words": 2, "first": None},
        },
        "counts": {"4": [1, 2], "0.5": []},
    }
    assert as_json({"poems": [Poem("p", Line("h", 0), note="n")]})["poems"][0]["note"] == "n"


def test_the_schema_has_the_same_keys() -> None:
    schema = schema_of(Poem, "poem")
    poem, line = schema["$defs"]["Poem"], schema["$defs"]["Line"]
    assert poem["properties"] == {
        "name": {"type": "string"},
        "words": {"type": "integer", "description": "In words."},
        "first": {"type": ["string", "null"], "description": "Its first letter."},
        "lines": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Line"}},
        "note": {"type": "string"},
        "counts": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "integer"}},
        },
    }
    assert sorted(poem["required"]) == ["counts", "first", "lines", "name", "words"]
    assert list(line["properties"]) == ["name", "words", "first"]


def test_a_key_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(TypeError, match="Line has no lenght"):
        keys(lenght="words")(Line)


@keys(best=None, **{"best.length": "longest", "best.first": "initial"})
@dataclass(frozen=True, slots=True)
class Contest:
    """A contest of lines."""

    best: Line | None
    """The winner."""


def test_of_a_record_in_a_field_some_attributes_are_written() -> None:
    assert as_json(Contest(Line("head", 3))) == {"longest": 3, "initial": "h"}
    assert as_json(Contest(None)) == {"longest": None, "initial": None}
    assert schema_of(Contest, "contest")["$defs"]["Contest"]["properties"] == {
        "longest": {"type": ["integer", "null"], "description": "The winner. In words."},
        "initial": {"type": ["string", "null"], "description": "The winner. Its first letter."},
    }
    with pytest.raises(TypeError, match="Contest has no worst"):
        keys(**{"worst.length": "shortest"})(Contest)
