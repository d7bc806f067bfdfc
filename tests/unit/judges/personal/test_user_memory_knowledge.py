from __future__ import annotations

import asyncio
import json

import pytest

from dialogauge.core import StoreError
from dialogauge.judges.personal.memory_build import MemoryContext, memory_version
from dialogauge.llm import ScriptedClient
from knowing import NOBODY, view_with

FOUND = {
    "three_versus_four": "names the shop",
    "scoring_style": "calm",
    "requirements": [],
    "preferred_format": "",
    "task_observations": [],
}
VIEW = view_with([3, 4])


class Drawer(dict):
    """Keeps values in memory, as a run's file does on disk: JSON in, JSON out."""

    def get(self, key):
        return None if key not in self else json.loads(self[key])

    def put(self, key, value):
        self[key] = json.dumps(value)


def builder(reply=FOUND):
    return ScriptedClient(lambda request: json.dumps(reply))


def told(context, notes, view=VIEW, language="en"):
    return context.context_for(view.targets[0], view, NOBODY, notes, language)


async def test_one_build_for_all_turns_of_a_block() -> None:
    client, drawer = builder(), Drawer()
    context = MemoryContext(client)
    found = await asyncio.gather(*(told(context, drawer) for _ in range(20)))
    assert len(client.requests) == 1
    assert len({c.values["memory"] for c in found}) == 1
    assert sum(c.usage["memory_builder"].calls for c in found if c.usage) == 1
    assert len(drawer) == 1


async def test_what_an_earlier_run_kept_is_not_built_again() -> None:
    drawer = Drawer()
    first = await told(MemoryContext(builder()), drawer)
    client = builder()
    second = await told(MemoryContext(client), drawer)
    assert client.requests == []
    assert second.values == first.values
    assert second.usage == {}


async def test_another_history_or_language_makes_another_memory() -> None:
    client, drawer = builder(), Drawer()
    await told(MemoryContext(client), drawer)
    await told(MemoryContext(client), drawer, view_with([3, 4, 4]))
    await told(MemoryContext(client), drawer, language="zh")
    assert len(client.requests) == len(drawer) == 3


async def test_a_memory_of_another_prompt_version_is_refused() -> None:
    drawer = Drawer()
    await told(MemoryContext(builder()), drawer)
    (key,) = drawer
    drawer.put(key, {**drawer.get(key), "version": "0" * 32})
    client = builder()
    with pytest.raises(StoreError, match="made by another version of the memory prompt") as refused:
        await told(MemoryContext(client), drawer)
    assert memory_version("en") in str(refused.value)
    assert "--fresh" in str(refused.value)
    assert client.requests == []


async def test_a_kept_memory_that_was_tampered_with_is_refused() -> None:
    drawer = Drawer()
    await told(MemoryContext(builder()), drawer)
    (key,) = drawer
    value = drawer.get(key)
    value["memory"]["scale"]["counts"]["1"] = -1
    drawer.put(key, value)
    with pytest.raises(StoreError, match=r"cannot be used: scale\.counts"):
        await told(MemoryContext(builder()), drawer)


async def test_a_memory_that_cannot_be_built_fails_its_block_and_is_not_kept() -> None:
    client, drawer = builder({}), Drawer()
    context = MemoryContext(client)
    found = await asyncio.gather(*(told(context, drawer) for _ in range(5)))
    assert len(client.requests) == 2  # asked once more, then no more
    assert all("memory could not be built" in c.failure.message for c in found)
    assert drawer == {}


def test_versions_differ_by_language_and_hold_still() -> None:
    assert memory_version("en") != memory_version("zh")
    assert memory_version("en") == memory_version("en")
