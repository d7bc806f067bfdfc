"""Adapters of vendors' packages, against tiny packages of the same names and calls."""

from __future__ import annotations

import json
from functools import partial

import pytest

from dialogauge.agents.memory import CheckedMemory, Room, SystemFault, start_vendor
from dialogauge.core import Conversation, Message, MissingExtra, Usage, UsageError
from servers.openai_stub import OpenAIStub
from tiny_vendors import install_vendors


@pytest.fixture
def install(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "packages")
    return partial(install_vendors, tmp_path / "packages")


@pytest.fixture
def stub():
    with OpenAIStub("[]") as server:
        yield server


@pytest.fixture
async def started(stub, tmp_path):
    """Starts systems, and ends their processes."""
    processes = []

    def start(system="mem0", does="", key="secret-key-of-the-run", embedder=None):
        file = tmp_path / "theirs.toml"
        file.write_text(f'[add]\ndoes = "{does}"\n[search]\nthreshold = 0.0\n', "utf-8")
        model = {"model": "m", "base_url": stub.url, "api_key": key}
        process, make = start_vendor(system, str(file) if does else None, model, embedder or model)
        processes.append(process)
        return lambda: CheckedMemory(make("theirs"), deadline=20.0)

    yield start
    for process in processes:
        await process.close()


def talk(*texts, name="talk"):
    roles = ("user", "assistant")
    messages = [Message(roles[n % 2], text) for n, text in enumerate(texts)]
    return Conversation(name, (Message("system", "Be kind."), *messages), metadata={"date": "3 May 2024"})


async def test_facts_come_back_with_their_dialogue_and_calls_are_those_at_the_server(
    install, started, stub, capfd
):
    install(mem0ai="2.2.1")
    make = started()
    memory, other = make(), make()
    used = await memory.add_corpus([talk("My cat is called Plum.", "Noted.")])
    given = await memory.retrieve("Which cat?", Room(1))
    item = given.items[0]
    assert (item.text, item.dialogue, item.kind) == (
        "[3 May 2024] My cat is called Plum.",
        "talk",
        "semantic",
    )
    assert (await other.retrieve("Which cat?", Room(1))).items == ()  # one process, two memories
    assert (used.calls, len(stub.requests), given.usage) == (1, 1, Usage())
    assert used.prompt_tokens > 0
    about = memory.describe()
    assert about["package"] == "mem0ai 2.2.1"
    assert about["settings"]["search"] == {"threshold": 0.0}
    assert "secret-key" not in json.dumps(about)
    assert capfd.readouterr() == ("", "")  # what the package printed is in no terminal


async def test_notes_are_known_by_message(install, started, tmp_path):
    install(**{"A-mem": "0.2.6"})
    (tmp_path / "encoder").mkdir()
    memory = started("amem", embedder={"folder": str(tmp_path / "encoder")})()
    await memory.add_dialogue(talk("My cat is called Plum.", "Noted."))
    first, second = (await memory.retrieve("Which cat?", Room(2))).items
    assert first.text == "user: My cat is called Plum. (context: of 3 May 2024; keywords: k, 7; tags: )"
    assert [(i.dialogue, i.position, i.date) for i in (first, second)] == [
        ("talk", 1, "3 May 2024"),
        ("talk", 2, "3 May 2024"),
    ]
    with pytest.raises(SystemFault, match="the note strange of another memory"):
        await memory.retrieve("Which cat?", Room(None, 1000))


@pytest.mark.parametrize(
    ("does", "fault"),
    [
        ("looks up", "connects to telemetry.example, which is none of its endpoints"),
        ("connects", "connects to 127.0.0.1:9, which is none of its endpoints"),
        ("throws", r"SystemExit: \*\*\*"),
        ("ends", "its process ended: .*and one from below Python"),
        ("mixes up", "a fact of 'somebody', another memory"),
    ],
)
async def test_a_broken_word_is_a_fault(install, started, does, fault):
    install(mem0ai="2.2.1")
    memory = started(does=does)()

    async def used():
        await memory.add_dialogue(talk("My cat is called Plum."))
        await memory.retrieve("Which cat?", Room(1))

    with pytest.raises(SystemFault, match=fault):
        await used()


async def test_what_an_endpoint_refused_is_a_fault_though_the_package_passes_over_it(install, started, stub):
    install(mem0ai="2.2.1")
    stub.model = "another"
    memory = started()()
    with pytest.raises(SystemFault, match="its endpoint gave HTTP 404 for /v1/chat/completions"):
        await memory.add_dialogue(talk("My cat is called Plum."))


async def test_a_folder_that_holds_a_memory_is_never_opened(install, started):
    install(mem0ai="2.2.1")
    memory = started()()
    system = memory.inner
    (system.process.folder / system.memory).mkdir(parents=True)
    with pytest.raises(SystemFault, match="FileExistsError"):
        await memory.add_dialogue(talk("My cat is called Plum."))


@pytest.mark.parametrize(
    ("versions", "system", "settings", "error", "message"),
    [
        ({}, "mem0", None, MissingExtra, r"needs the package mem0ai \(pip install 'dialogauge\[mem0\]'\)"),
        ({"agentic-memory": "0.1.2"}, "amem", None, MissingExtra, "needs the package A-mem"),
        ({"mem0ai": "3.0.0"}, "mem0", None, UsageError, "by mem0ai 2.x, and 3.0.0 is installed"),
        (
            {"mem0ai": "2.2.1"},
            "mem0",
            "[searches]",
            UsageError,
            "no table 'searches'.*llm, memory, add, search",
        ),
        ({"A-mem": "0.2.6"}, "amem", None, UsageError, "can ask no endpoint.*embedder=file:FOLDER"),
    ],
)
def test_what_cannot_be_measured_is_said_at_once(
    install, tmp_path, versions, system, settings, error, message
):
    install(**versions)
    file = tmp_path / "settings.toml"
    file.write_text(settings or "", "utf-8")
    model = {"model": "m", "base_url": "http://127.0.0.1:9/v1", "api_key": None}
    with pytest.raises(error, match=message):
        start_vendor(system, str(file) if settings else None, model, model)
