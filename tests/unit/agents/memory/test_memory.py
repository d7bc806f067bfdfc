"""Memory systems: what they give, forget, keep apart and are held to."""

from __future__ import annotations

import asyncio
import sys
import threading
import time

import pytest
from aiohttp import web

from dialogauge.agents.memory import (
    CheckedMemory,
    EndpointMemory,
    FullMemory,
    IndexedMemory,
    MemoryAgent,
    MemoryItem,
    NoMemory,
    OracleMemory,
    Retrieved,
    Room,
    SystemFault,
    build_memory,
    own_memory,
)
from dialogauge.agents.memory.systems import Meaning, Ranked, Words
from dialogauge.core import Conversation, Message, Usage
from dialogauge.core.protocols import AgentFailure, AgentReply, AgentTurn
from dialogauge.llm import JsonEndpoint


def session(name, *texts, date="3 May 2024", speakers=("Ann", "Bo")):
    """Return a session of two people; the messages have ids of their own, as in LoCoMo."""
    messages = [
        Message(("user", "assistant")[n % 2], text, name=speakers[n % 2], extra={"id": f"{name}:{n + 1}"})
        for n, text in enumerate(texts)
    ]
    return Conversation(name, tuple(messages), metadata={"date": date})


SESSIONS = (
    session("D1", "I bought a red kayak.", "Where will you paddle it?", "On the river Tamar."),
    session("D2", "My sister moved to Lisbon.", "When was that?", date="9 June 2024"),
)
BM25 = {
    "bm25-message": lambda: IndexedMemory("bm25-message", "message", Words()),
    "bm25-session": lambda: IndexedMemory("bm25-session", "session", Words()),
    "bm25-both": lambda: IndexedMemory("bm25-both", "both", Words()),
    "ranked-message": lambda: IndexedMemory("ranked-message", "message", Ranked()),
}


async def given(memory, question, room=None):
    return (await memory.retrieve(question, room or Room())).items


async def filled(memory):
    await memory.add_corpus(SESSIONS)
    return memory


def test_an_item_is_shown_with_date_and_speaker() -> None:
    assert MemoryItem("D1", 0, "Yes.", "Ann", "3 May").shown == "[3 May] Ann: Yes."
    assert MemoryItem("D1", None, "Ann: Yes.").shown == "Ann: Yes."


def test_room_is_filled_in_order_and_ends_at_the_first_that_does_not_fit() -> None:
    items = [MemoryItem("D", n, text) for n, text in enumerate(("a" * 30, "b" * 60, "c" * 3))]
    # 10, 20 and 1 tokens, one for three bytes
    assert Room(2).fill(items) == tuple(items[:2])
    assert Room(None, 30).fill(items) == tuple(items[:2])
    assert Room(None, 29).fill(items) == tuple(items[:1])
    assert Room(None, 9).fill(items) == ()
    assert Room(None).fill(items) == tuple(items)


async def test_nothing_everything_and_the_evidence() -> None:
    assert await given(await filled(NoMemory()), "Which kayak?") == ()
    everything = await given(await filled(FullMemory()), "?")
    assert [item.dialogue for item in everything] == ["D1", "D2"]
    assert everything[0].shown.startswith("[3 May 2024] Ann: I bought a red kayak.\nBo: Where")
    # 88 and 60 bytes: with 29 tokens only the first is given
    assert len(await given(await filled(FullMemory()), "?", Room(5, 33))) == 1
    oracle = await filled(OracleMemory(evidence={"Where?": ["D1:3", "D9:1"]}))
    assert [item.text for item in await given(oracle, "Where?")] == ["On the river Tamar."]
    assert await given(oracle, "Who?") == ()


@pytest.mark.parametrize("name", BM25)
async def test_what_is_asked_for_comes_first_and_once(name) -> None:
    items = await given(await filled(BM25[name]()), "Which kayak did Ann buy?")
    assert items[0].dialogue == "D1"
    assert len({(item.dialogue, item.position) for item in items}) == len(items)
    assert [item.score for item in items] == sorted((item.score for item in items), reverse=True)
    if name == "bm25-both":
        assert [item.position for item in items] == [None] * len(items)


async def test_a_dialogue_is_searched_by_its_first_question_a_session_by_its_text() -> None:
    memory = IndexedMemory("bm25-session", "session", Words())
    talk = Conversation(
        "T", (Message("user", "How do I bake bread?"), Message("assistant", "Knead the dough."))
    )
    await memory.add_dialogue(talk)
    assert await given(memory, "dough") == ()
    (item,) = await given(memory, "bread")
    assert item.text == "user: How do I bake bread?\nassistant: Knead the dough."
    await memory.add_corpus([talk])
    assert [i.dialogue for i in await given(memory, "dough")] == ["T"]


@pytest.mark.parametrize("name", BM25)
async def test_what_is_forgotten_is_gone_and_forks_know_nothing_of_each_other(name, tmp_path) -> None:
    memory = await filled(BM25[name]())
    other = memory.fork()
    await memory.delete("D1")
    await memory.delete("D9")
    assert "D1" not in {item.dialogue for item in await given(memory, "red kayak river")}
    assert (await given(other, "red kayak river"))[0].dialogue == "D1"
    await other.update(session("D1", "I bought a green canoe."))
    if name != "ranked-message":  # which has an order of everything
        assert await given(other, "kayak") == ()
    assert (await given(other, "canoe"))[0].dialogue == "D1"
    other.save(tmp_path)
    again = BM25[name]()
    await again.load(tmp_path)
    assert await given(again, "green canoe Lisbon") == await given(other, "green canoe Lisbon")
    assert again.digest == other.digest


class Letters:
    """Embeds a text by its letters a to c."""

    def describe(self):
        return {"model": "letters"}

    async def embed(self, texts):
        return [[text.count(letter) + 0.1 for letter in "abc"] for text in texts], Usage(calls=1)


async def test_meaning_takes_calls_and_is_exact() -> None:
    memory = IndexedMemory("embed-message", "message", Meaning(embedder=Letters()))
    await memory.add_corpus([session("D1", "aaaa", "bbbb"), session("D2", "cccc")])
    recalled = await memory.retrieve("bb", Room(2))
    assert (recalled.items[0].text, recalled.usage.calls) == ("bbbb", 1)
    fork = memory.fork()
    await fork.delete("D1")
    assert [i.text for i in await given(fork, "bb")] == ["cccc"]


async def test_everything_and_the_evidence_are_bounded_by_tokens_alone() -> None:
    checked = CheckedMemory(FullMemory())
    await checked.add_corpus(SESSIONS)
    assert len((await checked.retrieve("?", Room(1))).items) == 2


class Own:
    """The least that a system of one's own is."""

    def __init__(self):
        self.texts = []

    def add_dialogue(self, dialogue):
        self.texts += [{"text": m["content"], "dialogue": dialogue["id"]} for m in dialogue["messages"]]

    def retrieve(self, question, k):
        return self.texts[:k]


async def test_a_class_of_ones_own_is_a_system() -> None:
    memory = CheckedMemory(own_memory(Own, "mine"))
    await memory.add_corpus(SESSIONS)
    assert [item.text for item in await given(memory, "?", Room(2))] == [
        "I bought a red kayak.",
        "Where will you paddle it?",
    ]
    assert memory.abilities == set()
    with pytest.raises(TypeError, match="has no method retrieve"):
        own_memory(object, "mine")


class Counting:
    """Embeds by the number of letters, and counts the texts."""

    texts = 0

    def describe(self):
        return {"kind": "counting"}

    async def embed(self, texts):
        self.texts += len(texts)
        return [[float(text.lower().count(c)) + 0.1 for c in "abcdefgh"] for text in texts], Usage()


@pytest.mark.parametrize("name", ["embed-message", "embed-session"])
async def test_vectors_are_kept_and_no_text_is_embedded_twice(name, tmp_path) -> None:
    embedder = Counting()
    memory = build_memory(name, embedder=embedder)
    await memory.add_corpus(SESSIONS)
    memory.save(tmp_path)
    before, embedded = await memory.retrieve("a red kayak", Room(2)), embedder.texts
    again = build_memory(name, embedder=embedder)
    await again.load(tmp_path)
    assert embedder.texts == embedded
    assert (await again.retrieve("a red kayak", Room(2))).items == before.items
    await again.delete(SESSIONS[0].id)
    assert all(i.dialogue != SESSIONS[0].id for i in (await again.retrieve("a red kayak", Room(9))).items)


BROKEN = {
    "failed to retrieve: KeyError: 'x'": lambda self, question, k: {}["x"],
    "took more than 0.2 s": lambda self, question, k: asyncio.sleep(5),
    "took more than 0.2 s to": lambda self, question, k: time.sleep(0.5),
    "gave an item that is neither": lambda self, question, k: [3],
    "gave an item without a text": lambda self, question, k: [" "],
    "gave an item of 'D7', which it does not hold": lambda self, question, k: [
        {"text": "x", "dialogue": "D7"}
    ],
    "gave 3 items, more than there is room for": lambda self, question, k: ["a", "b", "c"],
    "gave message 9 of 'D1', which has no such one": lambda self, question, k: [
        {"text": "x", "dialogue": "D1", "position": 9}
    ],
    "with the position 'first'": lambda self, question, k: [{"text": "x", "position": "first"}],
    "with the score 'high'": lambda self, question, k: [{"text": "x", "score": "high"}],
    "of the kind 'old'": lambda self, question, k: [{"text": "x", "kind": "old"}],
    "gave no list of items, but str": lambda self, question, k: "a text",
    "gave no list of items, but dict": lambda self, question, k: {"text": "x"},
    "SystemExit": lambda self, question, k: sys.exit(3),
}


async def test_of_a_class_of_ones_own_what_fits_into_the_tokens_is_taken() -> None:
    memory = CheckedMemory(own_memory(Own, "mine"))
    await memory.add_corpus(SESSIONS)
    # 21 bytes are seven tokens, so the second message of eight does not fit into 14.
    assert [i.text for i in await given(memory, "?", Room(None, 14))] == ["I bought a red kayak."]


async def test_what_a_class_gives_beside_the_text_is_made_text() -> None:
    retrieve = {
        "retrieve": lambda self, question, k: [{"text": "x", "date": 2024, "speaker": "", "score": 1}]
    }
    (item,) = await given(own_memory(type("Odd", (Own,), retrieve), "odd"), "?")
    assert (item.date, item.speaker, item.score) == ("2024", None, 1)


async def test_a_system_that_hangs_takes_no_thread_from_others_and_is_not_asked_again() -> None:
    released = threading.Event()
    hang = {"retrieve": lambda self, question, k: released.wait(20)}
    stuck = CheckedMemory(own_memory(type("Hang", (Own,), hang), "stuck"), deadline=0.05)
    with pytest.raises(SystemFault, match="stuck took more than"):
        await stuck.retrieve("?", Room())
    with pytest.raises(SystemFault, match="and is not asked again"):
        await stuck.retrieve("?", Room())
    released.set()


async def test_calls_wait_for_their_turn_outside_of_deadline_and_measured_time() -> None:
    inside, most = 0, 0

    def retrieve(self, question, k):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.05)
        inside -= 1
        return []

    memory = CheckedMemory(own_memory(type("Slow", (Own,), {"retrieve": retrieve}), "slow"), deadline=0.3)
    begun = time.monotonic()
    came = await asyncio.gather(*(memory.retrieve("?", Room()) for _ in range(10)))
    assert most == 1
    assert max(one.seconds for one in came) < 0.3 < time.monotonic() - begun


async def test_a_fork_that_throws_is_a_fault() -> None:
    broken = {"fork": lambda self: {}["x"], "describe": lambda self: {}["y"]}
    memory = CheckedMemory(own_memory(type("Bad", (Own,), broken), "bad"))
    with pytest.raises(SystemFault, match="bad failed to fork: KeyError: 'x'"):
        memory.fork()
    assert memory.describe() == {"system": "bad", "describe": "failed: KeyError: 'y'"}


@pytest.mark.parametrize("message", BROKEN)
async def test_a_broken_promise_is_a_fault_and_a_failure_of_the_agent(message) -> None:
    deadline = 0.2 if message.startswith("took") else 60.0
    memory = CheckedMemory(own_memory(type("Bad", (Own,), {"retrieve": BROKEN[message]}), "bad"), deadline)
    await memory.add_corpus(SESSIONS)
    with pytest.raises(SystemFault, match=message.replace("(", r"\(")):
        await memory.retrieve("?", Room(2))
    agent = MemoryAgent(memory, Echo(), Room(2))
    turn = await agent.reply(Conversation("q", (Message("user", "?"),)))
    assert isinstance(turn.outcome, AgentFailure)
    assert message in turn.outcome.message


class Echo:
    """Answers with what it was shown."""

    name = digest = "echo"

    def describe(self):
        return {"model": "echo"}

    async def reply(self, conversation, *, seed=0):
        return AgentTurn(AgentReply(conversation.messages[-1].text), Usage(calls=1))


@pytest.mark.parametrize(
    ("question", "words"), [("Which kayak?", "Below are notes"), ("哪只皮划艇？", "下面是")]
)
async def test_an_agent_answers_from_what_was_recalled(question, words) -> None:
    memory = await filled(FullMemory())
    turn = await MemoryAgent(memory, Echo()).reply(Conversation("q", (Message("user", question),)))
    assert isinstance(turn.outcome, AgentReply)
    assert turn.outcome.text.startswith(words)
    assert "- [3 May 2024] Ann: I bought a red kayak." in turn.outcome.text
    assert turn.outcome.text.endswith(question)
    bare = await MemoryAgent(NoMemory(), Echo()).reply(Conversation("q", (Message("user", question),)))
    assert bare.outcome == AgentReply(question)


async def test_an_agent_has_the_digest_of_all_that_changes_a_reply() -> None:
    one = MemoryAgent(NoMemory(), Echo())
    others = [MemoryAgent(FullMemory(), Echo()), MemoryAgent(NoMemory(), Echo(), Room(7))]
    assert len({agent.digest for agent in (one, *others)}) == 3
    assert isinstance((await one.reply(Conversation("q", ()))).outcome, AgentFailure)
    assert Retrieved(()).usage == Usage()


async def test_a_server_of_ten_lines_is_a_system() -> None:
    kept: list[dict[str, str]] = []

    async def add(request):
        dialogue = (await request.json())["dialogue"]
        kept.extend({"text": m["content"], "dialogue": dialogue["id"]} for m in dialogue["messages"])
        return web.json_response({})

    async def retrieve(request):
        asked = await request.json()
        words = asked["question"].lower().split()
        found = [one for one in kept if any(word in one["text"].lower() for word in words)]
        return web.json_response({"items": found[: asked["k"]]})

    app = web.Application()
    app.router.add_post("/add", add)
    app.router.add_post("/retrieve", retrieve)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    memory = EndpointMemory(JsonEndpoint(f"http://127.0.0.1:{runner.addresses[0][1]}"), "theirs")
    checked = CheckedMemory(memory)
    await checked.add_corpus(SESSIONS)
    assert [item.text for item in await given(checked, "kayak")] == ["I bought a red kayak."]
    await runner.cleanup()
    with pytest.raises(SystemFault, match="theirs at http://127"):
        await checked.retrieve("kayak", Room())
    await memory.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (web.Response(status=500), "answered /retrieve with HTTP 500"),
        (web.json_response({"answer": "x"}), "without a list of items"),
        (web.Response(text="<html>"), "without a list of items"),
        (web.json_response({"items": [{"text": 3}]}), "neither a text nor a mapping"),
    ],
    ids=["500", "no items", "no JSON", "no text"],
)
async def test_a_server_that_answers_otherwise_is_at_fault(answer, message) -> None:
    async def retrieve(request):
        return answer

    app = web.Application()
    app.router.add_post("/retrieve", retrieve)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    memory = EndpointMemory(JsonEndpoint(f"http://127.0.0.1:{runner.addresses[0][1]}"), "theirs")
    with pytest.raises(SystemFault, match=message):
        await memory.retrieve("?", Room())
    await memory.close()
    await runner.cleanup()
