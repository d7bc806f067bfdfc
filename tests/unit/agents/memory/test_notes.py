"""Notes: what a model writes, what links bring, what is forgotten, and what a broken reply is."""

from __future__ import annotations

import json

import pytest

from dialogauge.agents.memory import NotesMemory, Room, SystemFault, build_memory
from dialogauge.core import Conversation, Message, UsageError
from dialogauge.llm import ScriptedClient


def talk(name, *texts):
    messages = tuple(Message(("user", "assistant")[n % 2], text) for n, text in enumerate(texts))
    return Conversation(name, messages, metadata={"date": "3 May 2024"})


def note(context, *, links=(), changes=(), keywords=("boat",)):
    value = {"keywords": list(keywords), "tags": ["sport"], "context": context}
    return json.dumps({**value, "links": list(links), "changes": list(changes)})


KAYAK = talk("D1", "I bought a red kayak at the harbour.")
HARBOUR = talk("D2", "The red kayak from the harbour has a leak.")
CHANGE = {"note": 1, "tags": ["repair"], "context": "The kayak turned out to be broken."}


async def given(memory, question, room=None):
    return (await memory.retrieve(question, room or Room())).items


async def test_a_note_is_found_by_what_the_model_wrote_and_shows_it() -> None:
    client = ScriptedClient([note("Ann owns a canoe.", keywords=["watercraft"])])
    memory = NotesMemory("notes", client=client)
    usage = await memory.add_corpus([KAYAK])
    (item,) = await given(memory, "Which watercraft?")
    assert (item.dialogue, item.position, item.kind) == ("D1", 0, "episodic")
    assert item.text == "I bought a red kayak at the harbour. (Ann owns a canoe.)"
    assert usage.calls == len(client.requests) == 1
    assert client.requests[0].role == "memory"


async def test_a_later_message_changes_a_note_until_it_is_forgotten() -> None:
    # The two share red, kayak and harbour: the second is shown the first, links it and changes it.
    client = ScriptedClient([note("A new boat."), note("A leak.", changes=[CHANGE])])
    memory = NotesMemory("notes", client=client)
    await memory.add_corpus([KAYAK, HARBOUR])
    assert '"note":1' in client.requests[1].messages[-1]["content"]
    assert (await given(memory, "broken"))[0].text.endswith("(The kayak turned out to be broken.)")
    other = memory.fork()
    await memory.delete("D2")
    assert [i.text for i in await given(memory, "kayak")] == [
        "I bought a red kayak at the harbour. (A new boat.)"
    ]
    assert memory.notes["D1\n0"].links == ()
    assert (await given(other, "broken"))[0].dialogue == "D1"


async def test_what_is_forgotten_leaves_nothing() -> None:
    memory, never = (build_memory("notes-reduced") for _ in range(2))
    await memory.add_corpus([KAYAK, HARBOUR])
    await memory.delete("D2")
    await never.add_corpus([KAYAK])
    for one in (memory, never):
        await one.add_dialogue(talk("D3", "The kayak at the harbour has a leak."))
    assert memory.notes == never.notes
    assert vars(memory.words) == vars(never.words)
    assert await given(memory, "leak kayak") == await given(never, "leak kayak")


async def test_the_model_is_shown_what_was_said_before() -> None:
    client = ScriptedClient([note("one"), note("two"), note("three")])
    memory = NotesMemory("notes", client=client)
    await memory.add_corpus([talk("D1", "I sail.", "Where?"), HARBOUR])
    told = ["I sail." in request.messages[-1]["content"] for request in client.requests]
    assert told == [True, True, False]  # itself, the one before, and none of another dialogue


async def test_what_is_linked_follows_and_says_by_what() -> None:
    memory = build_memory("notes-reduced")
    await memory.add_corpus([KAYAK, HARBOUR, talk("D3", "Nothing of that.")])
    # Only the second message has a leak; the first is linked with it, at a quarter of its score.
    leak, kayak = await given(memory, "leak")
    assert (leak.dialogue, leak.why) == ("D2", None)
    assert (kayak.dialogue, kayak.why) == ("D1", "linked with D2 0")
    assert kayak.score == leak.score / 4
    assert [item.dialogue for item in await given(memory, "leak", Room(1))] == ["D2"]


async def test_chinese_messages_are_linked_and_asked_about_in_chinese() -> None:
    client = ScriptedClient([note("买了皮划艇。"), note("皮划艇漏水。", links=[1])])
    memory = NotesMemory("notes", client=client)
    await memory.add_corpus([talk("D1", "我在码头买了红色皮划艇"), talk("D2", "红色皮划艇漏水了")])
    assert "你负责" in client.requests[0].messages[0]["content"]
    assert [item.dialogue for item in await given(memory, "漏水")] == ["D2", "D1"]


@pytest.mark.parametrize(
    "reply",
    [
        "no object",
        note(" "),
        note("x", keywords=[]),
        note("x", links=[1]),
        note("x", changes=[CHANGE]),
        json.dumps({"keywords": ["x"], "tags": [], "context": "x"}),
    ],
)
async def test_a_broken_reply_is_asked_for_once_more_and_then_a_fault(reply) -> None:
    client = ScriptedClient([reply, reply, note("fine")])
    memory = NotesMemory("notes", client=client)
    with pytest.raises(SystemFault, match="the model that writes failed") as fault:
        await memory.add_dialogue(KAYAK)
    assert (fault.value.booked().calls, fault.value.booked().calls) == (2, 0)
    assert (memory.notes, memory.known, len(client.requests)) == ({}, {}, 2)
    await memory.add_dialogue(KAYAK)  # what failed left nothing in the way
    assert len(await given(memory, "kayak")) == 1


async def test_a_memory_that_is_loaded_pays_nothing_and_goes_on_alike(tmp_path) -> None:
    client = ScriptedClient([note("one"), note("two", links=[1]), *[note("three", links=[1, 2])] * 2])
    memory = NotesMemory("notes", client=client)
    await memory.add_corpus([KAYAK, HARBOUR])
    memory.save(tmp_path)
    again = NotesMemory("notes", client=client)
    await again.load(tmp_path)
    assert len(client.requests) == 2
    assert await given(again, "leak harbour") == await given(memory, "leak harbour")
    for one in (memory, again):
        await one.add_dialogue(talk("D3", "A kayak, red, in a harbour!"))
    assert client.requests[2].messages == client.requests[3].messages
    assert again.notes == memory.notes


def test_the_form_with_a_model_needs_one() -> None:
    with pytest.raises(UsageError, match="notes needs a model that writes"):
        build_memory("notes")
    assert build_memory("notes", client=ScriptedClient([])).digest != build_memory("notes-reduced").digest
