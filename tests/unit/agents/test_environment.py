"""Worlds of tables."""

import sys

import pytest

from dialogauge.agents import TableEnvironment, World, tau_bench_environment
from dialogauge.core import MissingExtra, UsageError


def put(tables, key, value):
    tables["a"][key] = value


def half(tables, key):
    tables["a"][key] = 1
    raise ValueError(key)


WORLD = World({"a": {}, "b": {"x": 1}}, {"put": put, "half": half})


def test_the_same_state_has_the_same_digests_whatever_the_way():
    there = WORLD.after([("put", {"key": "k", "value": 2}), ("put", {"key": "j", "value": 3})])
    back = WORLD.after(
        [
            ("put", {"key": "j", "value": 3}),
            ("put", {"key": "k", "value": 9}),
            ("put", {"key": "k", "value": 2}),
        ]
    )
    assert there == back
    assert there["b"] == WORLD.after([])["b"]
    assert there["a"] != WORLD.after([])["a"]
    assert WORLD.tables == {"a": {}, "b": {"x": 1}}, "the initial state stays"


def test_what_is_refused_or_unknown_raises_nothing():
    assert WORLD.after([("put", {"colour": "red"}), ("fly", {})]) == WORLD.after([])
    assert WORLD.after([("half", {"key": "k"})]) != WORLD.after([]), "what a tool did before it refused stays"


def test_domains():
    environment = TableEnvironment({"shop": WORLD})
    assert environment.after([], "shop") == WORLD.after([])
    with pytest.raises(UsageError, match=r"no domain 'airline'.*it has shop"):
        environment.after([], "airline")
    assert TableEnvironment({None: WORLD}).after([], "anything") == WORLD.after([])
    assert environment.digest != TableEnvironment({None: WORLD}).digest


def test_a_missing_tau_bench_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tau_bench", None)
    with pytest.raises(MissingExtra, match=r"tau_bench cannot be imported.*pip install"):
        tau_bench_environment()
