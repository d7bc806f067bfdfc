"""Adapters of vendors' packages, against tiny packages of the same names and calls."""

from __future__ import annotations

import importlib
import json

import pytest

from dialogauge.agents.memory import CheckedMemory, Room, SystemFault, start_vendor
from dialogauge.core import Conversation, Message, MissingExtra, Usage, UsageError
from servers.openai_stub import OpenAIStub

MEM0 = """
import os, socket, threading, urllib.request
import httpx

class Memory:
    @classmethod
    def from_config(cls, config):
        memory = cls()
        memory.model, memory.facts = config["llm"]["config"], []
        return memory

    def add(self, messages, *, user_id, metadata, does="", infer=True):
        print("a notice of the vendor")
        os.write(1, b"and one from below Python")
        if does == "ends":
            os._exit(3)
        if does == "throws":
            raise SystemExit(self.model["api_key"])
        if does == "looks up":
            try:
                socket.getaddrinfo("telemetry.example", 443)
            except OSError:
                pass  # as telemetry does
        if does == "connects":
            def phone_home():
                with socket.socket() as phone:
                    phone.connect_ex(("127.0.0.1", 9))
            thread = threading.Thread(target=phone_home)
            thread.start()
            thread.join()
        texts = [m["content"] for m in messages]
        reply = httpx.Client().send(httpx.Request(self.model["openai_base_url"] + "/chat/completions", texts))
        owner = "somebody" if does == "mixes up" else user_id
        self.facts += [{"memory": t, "user_id": owner, "metadata": metadata, "score": 1.0} for t in texts]

    def search(self, question, *, filters, top_k, threshold):
        assert (filters.keys(), threshold) == ({"user_id"}, 0.0)
        return {"results": self.facts[:top_k]}
"""
HTTPX = """
import json, urllib.error, urllib.request
from urllib.parse import urlsplit

class Request:
    def __init__(self, url, texts):
        self.address, self.url = url, urlsplit(url)
        body = {"model": "m", "messages": [{"role": "user", "content": t} for t in texts]}
        self.data = json.dumps(body).encode()

class Response:
    def __init__(self, status_code, body):
        self.status_code, self.body = status_code, body

    def json(self):
        return json.loads(self.body)

class Client:
    def send(self, request, **more):
        head = {"Content-Type": "application/json"}
        try:
            asked = urllib.request.Request(request.address, request.data, head)
            with urllib.request.urlopen(asked) as answer:
                return Response(answer.status, answer.read())
        except urllib.error.HTTPError as error:
            return Response(error.code, b"")
"""
FACTORY = """
class EmbedderFactory:
    @staticmethod
    def create(provider, config, store):
        return EmbedderFactory

    @staticmethod
    def embed(text):
        return [0.0, 0.0]
"""
AMEM = """
import os
from types import SimpleNamespace

class AgenticMemorySystem:
    def __init__(self, model_name, llm_model, api_key, storage_path, evo_threshold, cache_size):
        assert os.environ["OPENAI_BASE_URL"].startswith("http://127.0.0.1")
        self.notes = {}

    def add_note(self, content, time):
        note = SimpleNamespace(content=content, context=f"of {time}", keywords=["k", 7], tags=[])
        self.notes[str(len(self.notes))] = note
        return str(len(self.notes) - 1)

    def search(self, question, k):
        return [{"id": name, "score": 0.5} for name in [*self.notes, "strange"][: k if k < 9 else None]]

    def read(self, name):
        return self.notes[name]
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts tiny packages where Python finds them, of the versions that are asked for."""

    def put(**versions):
        folder = tmp_path / "packages"
        files = {"mem0/__init__.py": MEM0, "mem0/utils/__init__.py": "", "mem0/utils/factory.py": FACTORY}
        files |= {"httpx.py": HTTPX, "httpx2.py": "raise ImportError"}
        files |= {"agentic_memory/__init__.py": "", "agentic_memory/memory_system.py": AMEM}
        for name, number in versions.items():
            folder_name = name.lower().replace("-", "_")
            files[f"{folder_name}-{number}.dist-info/METADATA"] = f"Name: {name}\nVersion: {number}\n"
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        monkeypatch.syspath_prepend(folder)
        importlib.invalidate_caches()

    return put


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
    system = memory.inner.system
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
