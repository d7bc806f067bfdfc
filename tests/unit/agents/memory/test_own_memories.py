"""The two examples of a memory of one's own run on the tasks that ship."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from aiohttp import web

import dialogauge.data.tasks
from dialogauge.agents.memory import CheckedMemory, EndpointMemory, Room, own_memory
from dialogauge.data.tasks import read_tasks
from dialogauge.llm import JsonEndpoint

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
READ = read_tasks(str(Path(dialogauge.data.tasks.__file__).parent / "family.jsonl"))
CORPUS = "family-wanda-felix"
ASKED = [t for t in READ.tasks if t.corpus == CORPUS and t.gold["category"] in (2, 4)]


@pytest.fixture
def examples(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module


async def recalled(memory):
    """The share of the evidence among five messages, over questions with one."""
    await memory.add_corpus(READ.corpora[CORPUS])
    shares = []
    for task in ASKED:
        items = (await memory.retrieve(task.question, Room(5))).items
        assert len(items) == 5
        places = {f"{item.dialogue.rpartition('/')[2]}:{item.position + 1}" for item in items}
        shares.append(len(places & set(task.evidence)) / len(task.evidence))
    return sum(shares) / len(shares)


async def test_a_class_of_ten_lines_finds_evidence(examples) -> None:
    memory = CheckedMemory(own_memory(examples("own_memory").WordMemory, "words"))
    assert await recalled(memory) > 0.3


async def test_a_server_of_ten_lines_finds_the_same(examples) -> None:
    runner = web.AppRunner(examples("memory_server").app(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    memory = EndpointMemory(JsonEndpoint(f"http://127.0.0.1:{runner.addresses[0][1]}"), "server")
    own = own_memory(examples("own_memory").WordMemory, "words")
    assert await recalled(CheckedMemory(memory)) == await recalled(own)
    await memory.close()
    await runner.cleanup()
