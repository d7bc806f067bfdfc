from __future__ import annotations

import copy
import pickle

import pytest

from dialogauge.core import errors
from dialogauge.core.errors import DialogaugeError, Place, RecordFault

KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, DialogaugeError)
]
BUILT_IN = {
    "UsageError": ValueError,
    "DialogueTooLong": ValueError,
    "ConfigError": ValueError,
    "RubricError": ValueError,
    "MissingExtra": ImportError,
    "InputError": ValueError,
    "FileFault": ValueError,
    "RecordFault": ValueError,
    "StoreError": OSError,
    "EndpointError": ConnectionError,
    "BudgetSpent": RuntimeError,
    "NotConverged": ArithmeticError,
}


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place("a.jsonl"), "a.jsonl"),
        (Place("a.jsonl", 3), "a.jsonl:3"),
        (Place("a.jsonl", 3, "c1", 2), "a.jsonl:3, conversation 'c1', turn 2"),
        (Place("a.jsonl", None, "c1"), "a.jsonl, conversation 'c1'"),
        (Place("a.jsonl", turn=0), "a.jsonl, turn 0"),
    ],
)
def test_a_place_is_written_as_a_user_would_look_for_it(place: Place, text: str) -> None:
    assert str(place) == text


def test_an_error_says_where_what_and_what_to_do() -> None:
    assert str(DialogaugeError("found")) == "found"
    assert str(DialogaugeError("found", hint="do")) == "found (do)"
    assert str(RecordFault("found", place=Place("a", 1), hint="do")) == "a:1: found (do)"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_is_written_copied_and_pickled_alike(kind: type[DialogaugeError]) -> None:
    error = kind("found", place=Place("a.jsonl", 3, "c", 1), hint="do")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is kind
        assert str(again) == "a.jsonl:3, conversation 'c', turn 1: found (do)"
        assert (again.message, again.place, again.hint) == (error.message, error.place, error.hint)


@pytest.mark.parametrize(
    "kind", KINDS[1:] if KINDS[0] is DialogaugeError else KINDS, ids=lambda k: k.__name__
)
def test_every_error_is_also_the_matching_built_in(kind: type[DialogaugeError]) -> None:
    if kind is not DialogaugeError:
        assert issubclass(kind, BUILT_IN[kind.__name__])


def test_the_tree_in_the_docstring_names_every_error() -> None:
    for kind in KINDS:
        assert kind.__name__ in (errors.__doc__ or "")
