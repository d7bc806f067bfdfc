"""Worlds that tools act on: tables in memory, and those of an installed tau_bench."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Final

import orjson

from dialogauge.core import MissingExtra, UsageError, digest_text
from dialogauge.core.protocols import ToolUse

Tool = Callable[..., object]
"""Takes the tables, then its arguments by name; it changes the tables in place, and raises to refuse."""

_TAU_DOMAINS: Final = ("retail", "airline")
_TAU_FINAL: Final = frozenset({"transfer_to_human_agents"})


@dataclass(frozen=True)
class World:
    """Tables, and the tools that act on them."""

    tables: Mapping[str, Any]
    """By name, plain JSON values: what holds before the first call. They are not changed."""
    tools: Mapping[str, Tool]
    """By the name under which an agent calls them."""

    @cached_property
    def start(self) -> bytes:
        """The tables, written down."""
        return orjson.dumps(self.tables, option=orjson.OPT_NON_STR_KEYS)

    def after(self, calls: Sequence[ToolUse]) -> dict[str, str]:
        """Return the digest of each table after calls; a tool that raises has refused."""
        tables = orjson.loads(self.start)
        for name, arguments in calls:
            tool = self.tools.get(name)
            if tool is None:
                continue
            try:
                tool(tables, **arguments)
            except Exception:  # noqa: BLE001 - a tool is foreign code, and to raise is how it refuses
                continue
        options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
        return {
            t: hashlib.sha256(orjson.dumps(rows, option=options)).hexdigest() for t, rows in tables.items()
        }


@dataclass(frozen=True)
class TableEnvironment:
    """An `Environment` of tables in memory: one world, or one for each domain."""

    worlds: Mapping[str | None, World]
    """By domain; the one under None serves any domain that has none."""
    final: frozenset[str] = field(default_factory=frozenset)
    """The tools that end a dialogue."""

    @cached_property
    def digest(self) -> str:
        """Changes with the tables and the names of the tools."""
        parts = [f"{domain}:{w.start!r}:{sorted(w.tools)}" for domain, w in self.worlds.items()]
        return digest_text("\n".join([*parts, *sorted(self.final)]))

    def after(self, calls: Sequence[ToolUse], domain: str | None) -> Mapping[str, str]:
        """Return the digest of each table after calls; UsageError for a domain that it lacks."""
        world = self.worlds.get(domain) or self.worlds.get(None)
        if world is None:
            known = ", ".join(sorted(str(name) for name in self.worlds))
            msg = f"the environment has no domain {domain!r}"
            hint = f"it has {known}: a dialogue names one as its `domain`, or --environment for all of them"
            raise UsageError(msg, hint=hint)
        return world.after(calls)


def tau_bench_environment(domain: str | None = None) -> TableEnvironment:
    """Return retail and airline of an installed tau_bench, with its own tables and tools.

    Args:
        domain: The only one, for dialogues that name none.

    Raises MissingExtra where tau_bench is not installed, UsageError for a domain that it lacks.
    """
    if domain is not None and domain not in _TAU_DOMAINS:
        msg = f"tau_bench has no domain {domain!r}"
        raise UsageError(msg, hint=f"it has {' and '.join(_TAU_DOMAINS)}")
    try:
        names = _TAU_DOMAINS if domain is None else (domain,)
        worlds = {name if domain is None else None: _tau_world(name) for name in names}
    except ImportError as error:
        msg = f"tau_bench cannot be imported: {error}"
        hint = (
            "pip install git+https://github.com/sierra-research/tau-bench; or name an environment of your own"
        )
        raise MissingExtra(msg, hint=hint) from error
    return TableEnvironment(worlds, _TAU_FINAL)


def _tau_world(domain: str) -> World:
    tables = import_module(f"tau_bench.envs.{domain}.data").load_data()
    tools = import_module(f"tau_bench.envs.{domain}.tools").ALL_TOOLS
    return World(tables, {tool.get_info()["function"]["name"]: _invoke(tool) for tool in tools})


def _invoke(tool: Any) -> Tool:  # noqa: ANN401 - a class of tau_bench
    return lambda tables, **arguments: tool.invoke(data=tables, **arguments)
