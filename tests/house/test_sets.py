"""The short set is what it claims: no test that is marked, fewer examples, and tests of each room."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

import conftest
from sets import PART, some_short

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"


def target(name: str) -> tuple[str, str]:
    """Return what a target of the Makefile needs, and its commands."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    match = re.search(rf"^{name}:(.*)\n((?:\t.*\n)*)", text, re.MULTILINE)
    assert match is not None
    return match[1].strip(), match[2].strip()


def test_a_stranger_runs_the_short_set_and_ci_all() -> None:
    assert target("test")[0] == "lint types floors tests"
    assert target("test-all")[0] == "lint types floors tests-all"
    assert target("tests")[1] == target("tests-all")[1] + " --short"
    assert (ROOT / ".ci/run").read_text(encoding="utf-8").endswith("\nmake --silent test-all\n")


class Item(SimpleNamespace):
    """A test with its marks."""

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


@pytest.mark.parametrize("short", [True, False])
def test_what_is_marked_long_is_left_out_of_the_short_set_alone(short: bool) -> None:
    left_out: list[Any] = []
    config: Any = SimpleNamespace(
        getoption=lambda name: short and name == "--short",
        hook=SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items)),
    )
    path = TESTS / "house" / "test_it.py"
    slow, quick = Item(marks=["long", "torch"], path=path), Item(marks=["torch"], path=path)
    items: list[Any] = [slow, quick]
    conftest.pytest_collection_modifyitems(config, items)
    assert (items, left_out) == (([quick], [slow]) if short else ([slow, quick], []))


def test_the_short_set_draws_a_quarter_of_the_examples() -> None:
    assert settings.get_profile("short").max_examples * PART == settings.get_profile("house").max_examples
    kept = [case for case in some_short(range(10)) if isinstance(case, int)]
    assert kept == [0, 4, 8]
    by_hand = {
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("*.py")
        if re.search(r"max_examples=", path.read_text(encoding="utf-8"))
    }
    assert by_hand == {"conftest.py", "sets.py", "house/test_sets.py"}


def is_long(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(mark) == "pytest.mark.long" for mark in function.decorator_list)


def test_no_room_is_without_short_tests() -> None:
    """Of every folder of tests at least half of the test functions are in the short set."""
    every, long = Counter[str](), Counter[str]()
    for path in TESTS.rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                room = str(path.parent.relative_to(TESTS))
                every[room] += 1
                long[room] += is_long(node)
    assert sum(long.values()) > 100
    assert {room for room, number in every.items() if 2 * long[room] > number} == set()
