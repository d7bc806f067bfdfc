"""What has a declared shape is read, and what has not is refused with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from dialogauge.core.shape import Misfit, read_as, reader_of


@dataclass(frozen=True)
class Point:
    x: float
    names: tuple[str, ...] = ()
    more: Mapping[str, int] = field(default_factory=dict)


class Row(TypedDict):
    id: str
    points: tuple[Point, ...]
    kind: NotRequired[Literal["a", "b"]]
    score: float | Literal["n/a"] | None


ROW = {"id": "r", "points": [{"x": 1, "names": ["n"]}], "score": None}


def test_what_fits_is_read_and_built() -> None:
    assert read_as(ROW, Row) == {"id": "r", "points": (Point(1, ("n",)),), "score": None}
    assert read_as({**ROW, "other": {}}, Row)["other"] == {}  # other keys may stand beside those of a row
    assert read_as({**ROW, "kind": "b", "score": "n/a"}, Row)["score"] == "n/a"
    assert read_as([1, "x"], tuple[int, str]) == (1, "x")
    assert read_as({"a": [True, b"x"]}, dict[str, list[Any]]) == {"a": [True, b"x"]}


@pytest.mark.parametrize(
    ("value", "shape", "said"),
    [
        (3, Row, "it is 3, not an object"),
        ([], Row, "it is a list, not an object"),
        ({**ROW, "id": None}, Row, "id is null, not a text"),
        ({"points": [], "score": 1}, Row, "id is missing"),
        ({**ROW, "kind": "c"}, Row, "kind is 'c', not one of a, b"),
        ({**ROW, "kind": []}, Row, "kind is a list, not one of a, b"),
        ({**ROW, "score": "5"}, Row, "score is '5'"),
        ({**ROW, "points": "x"}, Row, "points is 'x', not a list"),
        ({"x": 1, "names": "n"}, Point, "names is 'n', not a list"),
        ({"x": 1, "names": [None]}, Point, "names[0] is null, not a text"),
        ({"x": 1, "more": {"j": 1, "k": "2"}}, Point, "more.k is '2', not a whole number"),
        ({**ROW, "score": float("nan")}, Row, "score is nan"),
        ({**ROW, "points": {"0": 1}}, Row, "points is an object, not a list"),
        ({**ROW, "points": [{"x": True}]}, Row, "points[0].x is true, not a number"),
        ({**ROW, "points": [{"x": 10**400}]}, Row, "points[0].x is too large, not a number"),
        ({**ROW, "points": [{"x": 1, "y": 2}]}, Row, "points[0].y is an unknown key"),
        ({**ROW, "points": [{"x": 1, "more": {"k": 1.5}}]}, Row, "points[0].more.k is 1.5, not a whole"),
        ([1], tuple[int, str], "it has 1 entries, not 2"),
        (2**63, int, "it is too large, not a whole number"),
        (2**70, int, "it is too large, not a whole number"),
        ("x", bytes, "it is 'x', not packed data"),
        ("x" * 100, int, "…, not a whole number"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(value: object, shape: Any, said: str) -> None:
    with pytest.raises(Misfit) as refused:
        read_as(value, shape)
    assert said in str(refused.value)


def test_what_was_parsed_is_read_alike() -> None:
    row = {**ROW, "other": {"a": 1}}
    assert reader_of(Row, parsed=True)(row) == read_as(row, Row)
    for value in ({**ROW, "id": 3}, {**ROW, "score": True}, {**ROW, "points": [{"x": "1"}]}, {"id": "r"}):
        with pytest.raises(Misfit) as refused:
            read_as(value, Row)
        with pytest.raises(Misfit) as also:
            reader_of(Row, parsed=True)(value)
        assert str(also.value) == str(refused.value)
    assert read_as([["a", 1.5, None]], list[tuple[str, float | None, int | None]]) == [("a", 1.5, None)]
