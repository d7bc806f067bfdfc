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
    empty = World({}, {})
    both = TableEnvironment({None: empty, "shop": WORLD})
    assert both.after([], "shop") == WORLD.after([]) != empty.after([])
    assert both.after([], "airline") == empty.after([])


def test_a_missing_tau_bench_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tau_bench", None)
    with pytest.raises(MissingExtra, match=r"tau_bench cannot be imported.*pip install"):
        tau_bench_environment()


DATA = "def load_data(): return {'orders': {}}"
TOOLS = """
class Put:
    @staticmethod
    def get_info(): return {"type": "function", "function": {"name": "put"}}
    @staticmethod
    def invoke(data, key): data["orders"][key] = 1
ALL_TOOLS = [Put]
"""


def test_the_tables_and_tools_of_an_installed_tau_bench(tmp_path, monkeypatch):
    """A package laid out as tau_bench is; that of Sierra is tried in tests/golden, where it is installed."""
    for domain in ("retail", "airline"):
        folder = tmp_path / "tau_bench" / "envs" / domain
        folder.mkdir(parents=True)
        (folder / "data.py").write_text(DATA)
        (folder / "tools.py").write_text(TOOLS)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "tau_bench"]:
        monkeypatch.delitem(sys.modules, name)
    both = tau_bench_environment()
    assert both.after([("put", {"key": "k"})], "retail") != both.after([], "retail")
    assert both.final == {"transfer_to_human_agents"}
    assert tau_bench_environment("retail").after([], None) == both.after([], "airline")
    with pytest.raises(UsageError, match="no domain 'bank'"):
        tau_bench_environment("bank")
    for name in [name for name in sys.modules if name.partition(".")[0] == "tau_bench"]:
        del sys.modules[name]
