"""Patterns that are compiled when they are first used do what compiled ones do."""

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping

import pytest

import dialogauge
from dialogauge.core.patterns import lazy_pattern


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    lazy, compiled = (make(r"(?P<word>[a-z]+)(\d*)", re.IGNORECASE) for make in (lazy_pattern, re.compile))
    assert lazy.pattern == compiled.pattern
    assert lazy.flags == compiled.flags
    assert lazy.groupindex == compiled.groupindex
    assert lazy.sub(r"\2\1", "Ab1 c2") == compiled.sub(r"\2\1", "Ab1 c2")
    assert lazy.findall("Ab1 c2") == compiled.findall("Ab1 c2")
    match = lazy.fullmatch("Ab1")
    assert match is not None
    assert match["word"] == "Ab"


def test_what_is_wrong_with_it_shows_when_it_is_used() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("")


def test_all_patterns_of_the_package_can_be_compiled() -> None:
    values: dict[int, re.Pattern[str]] = {}
    for module in pkgutil.walk_packages(dialogauge.__path__, "dialogauge."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ModuleNotFoundError:  # an extra that is not installed
            continue
        values |= {id(one): one for one in _patterns(vars(loaded).values())}
    assert len(values) > 200
    for one in values.values():
        assert re.compile(one.pattern, one.flags) is not None


def _patterns(values: Iterable[object]) -> Iterator[re.Pattern[str]]:
    for value in values:
        if isinstance(value, type(lazy_pattern(""))):
            yield value
        elif isinstance(value, Mapping):
            yield from _patterns(value.values())
        elif isinstance(value, tuple):
            yield from _patterns(value)
