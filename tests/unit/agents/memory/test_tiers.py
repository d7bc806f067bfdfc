"""Tiers: pairs of which no half is lost, segments by heat, and a profile."""

from __future__ import annotations

import json

import pytest

from dialogauge.agents.memory import Room, SystemFault, TiersMemory, build_memory, tiers
from dialogauge.agents.memory.tiers import EMPTY, pairs_of
from dialogauge.core import Conversation, Message
from dialogauge.llm import ScriptedClient


def talk(name, *messages):
    made = tuple(Message(role, text) for role, text in messages)
    return Conversation(name, made, metadata={"date": "3 May 2024"})


def asked(name, text, reply="Noted."):
    return talk(name, ("user", text), ("assistant", reply))


async def given(memory, question, room=None):
    return (await memory.retrieve(question, room or Room())).items


ABOUT_BEES = [asked(f"B{n}", f"My bees in hive {n} swarm in spring.") for n in range(4)]
OTHER = [asked(f"O{c}", f"qu{c}rk zo{c}nt mu{c}lb") for c in "abcdefghijklmnopqrst"]


def test_messages_are_paired_and_a_side_may_be_missing() -> None:
    u, a = ("user", "u"), ("assistant", "a")
    for messages, sizes in (
        ((u, a, u, a), [2, 2]),
        ((u, u, a, u), [1, 2, 1]),
        ((a, u, a), [1, 2]),  # a greeting is no question
        ((u, a, a), [2, 1]),
    ):
        assert [len(pair) for pair in pairs_of(talk("D", *messages))] == sizes


@pytest.mark.parametrize("role", ["user", "assistant"])
async def test_half_pairs_are_kept_every_one(role) -> None:
    """The published MemoryOS kept 6 of 419 such messages."""
    memory = build_memory("tiers-reduced")
    await memory.add_corpus([talk("D1", *((role, f"number{n} told") for n in range(419)))])
    found = [item for n in range(419) for item in await given(memory, f"number{n}", Room(1))]
    assert [item.position for item in found] == [*range(419)]


async def test_what_was_said_last_fills_the_room() -> None:
    memory = build_memory("tiers-reduced")
    await memory.add_corpus([asked("D1", "I have a parrot."), asked("D2", "It rains.")])
    items = await given(memory, "parrot", Room(4))
    assert [(i.dialogue, i.position, i.why) for i in items] == [
        ("D1", 0, None),
        ("D1", 1, None),
        ("D2", 0, "said last"),
        ("D2", 1, "said last"),
    ]


async def test_the_coldest_segment_is_forgotten_and_a_hot_one_stays(monkeypatch) -> None:
    monkeypatch.setattr(tiers, "_MID", 5)
    memory = build_memory("tiers-reduced")
    await memory.add_corpus([*ABOUT_BEES, *OTHER])
    # 24 pairs, 7 in short term: the bees are one segment of four, and of the 13 others four are left.
    assert sorted(len(s.pairs) for s in memory.segments.values()) == [1, 1, 1, 1, 4]
    assert len(await given(memory, "hive", Room(8))) == 8
    assert all(i.why == "said last" for i in await given(memory, "quark"))


async def test_a_segment_is_read_while_it_is_hot_and_holds_20_pairs(monkeypatch) -> None:
    bees = [asked(f"B{n}", "My bees in the hive swarm.") for n in range(30)]
    memory = build_memory("tiers-reduced")
    await memory.add_corpus([*bees, *OTHER[:7]])
    assert [len(segment.pairs) for segment in memory.segments.values()] == [20, 10]
    # Four others come between: of three bees, those before count a quarter and a sixteenth by then.
    monkeypatch.setattr(tiers, "_HALF", 2.5)
    apart = [one for n in range(3) for one in (bees[n], *OTHER[4 * n : 4 * n + 4])]
    for dialogues, read in (([*bees[:3], *OTHER[:7]], 1), ([*apart, *OTHER[12:19]], 0)):
        memory = build_memory("tiers-reduced")
        await memory.add_corpus(dialogues)
        assert (max(len(s.pairs) for s in memory.segments.values()), len(memory.facts)) == (3, read)


def facts(*found):
    return json.dumps({"facts": [{"fact": f, "kind": kind, "exchange": n} for f, kind, n in found]})


async def test_a_hot_segment_is_read_once_and_gives_facts_and_rules(tmp_path) -> None:
    reply = facts(("The user keeps bees.", "semantic", 1), ("Never smoke the hive.", "procedural", 3))
    client = ScriptedClient([reply])
    memory = TiersMemory("tiers", client=client)
    for one in [*ABOUT_BEES, *OTHER]:
        await memory.add_dialogue(one)
    assert len(client.requests) == 1  # at the third pair that came into the segment
    told = client.requests[0].messages[-1]["content"]
    assert [f"hive {n}" in told for n in range(4)] == [True, True, True, False]
    items = await given(memory, "Who keeps bees?")
    assert (items[4].text, items[4].kind, items[4].why) == ("The user keeps bees.", "semantic", "profile")
    assert (items[4].dialogue, items[4].position) == ("B0", None)
    memory.save(tmp_path)
    again = TiersMemory("tiers", client=client)
    await again.load(tmp_path)
    assert await given(again, "keep bees smoke") == await given(memory, "keep bees smoke")
    assert {name: getattr(again, name) for name in TiersMemory.state} == {
        name: getattr(memory, name) for name in TiersMemory.state
    }
    other = memory.fork()
    await memory.delete("B0")
    assert [fact.dialogue for fact in memory.facts.values()] == ["B2"]
    assert all(i.dialogue != "B0" for i in await given(memory, "hive 0 bees", Room(99)))
    assert len(other.facts) == 2


async def test_a_model_is_shown_both_sides_of_half_a_pair() -> None:
    client = ScriptedClient([facts()])
    memory = TiersMemory("tiers", client=client)
    bees = [talk(f"B{n}", ("user", f"My bees in hive {n} swarm.")) for n in range(3)]
    await memory.add_corpus([*bees, *OTHER[:8]])
    told = client.requests[0].messages[-1]["content"]
    assert told.count(f'"reply":"{EMPTY}"') == 3


@pytest.mark.parametrize("broken", ["none", facts(("x", "episodic", 1)), facts(("x", "semantic", 4))])
async def test_a_broken_reply_is_a_fault_and_the_pairs_stay_unread(broken) -> None:
    client = ScriptedClient([broken, broken, facts()])
    memory = TiersMemory("tiers", client=client)
    await memory.add_corpus([*ABOUT_BEES, *OTHER[:5]])
    with pytest.raises(SystemFault, match="the model that writes failed"):
        await memory.add_dialogue(OTHER[5])
    assert OTHER[5].id not in memory.known
    await memory.add_dialogue(ABOUT_BEES[0])  # the fourth of the segment comes in, and it is read


async def test_the_reduced_profile_is_what_people_state_and_is_not_told_twice() -> None:
    memory = build_memory("tiers-reduced")
    rule = "请用蓝色表格登记蜂箱。蜂箱多少？"
    bees = [asked(f"Z{n}", f"{rule}蜂箱登记用蓝色表格") for n in range(3)]
    await memory.add_corpus([*bees, *OTHER[:7]])
    assert {(f.text, f.kind) for f in memory.facts.values()} == {("请用蓝色表格登记蜂箱。", "procedural")}
    assert all(item.why != "profile" for item in await given(memory, "蓝色表格", Room(9)))
