"""Memories of a study: what they cost, fork by fork, and how that grows."""

from __future__ import annotations

import asyncio

import pytest

from dialogauge.agents.memory import IndexedMemory, MemoryItem, NotesMemory, Retrieved, SystemFault
from dialogauge.agents.memory.systems import Words
from dialogauge.core import Conversation, Message
from dialogauge.llm import ScriptedClient
from dialogauge.studies.learning.figures import _system
from dialogauge.studies.learning.memories import Chunk, LearningSystem, Memories, _growth, memory_cost
from dialogauge.studies.learning.recall import recalled_details


def chunk(name, *sizes, corpus=False):
    """Return dialogues of so many messages each."""
    talks = (
        Conversation(f"{name}/{n}", tuple(Message("user", f"word {m}") for m in range(size)))
        for n, size in enumerate(sizes)
    )
    return Chunk(name, tuple((talk, None) for talk in talks), corpus=corpus)


async def test_each_fork_of_a_memory_has_the_costs_of_its_own_dialogues_alone() -> None:
    memories = Memories()
    system = LearningSystem("bm25", lambda corpus, name: IndexedMemory("bm25", "message", Words()))
    logs = chunk("logs", 3, 2)
    for name in ("a", "b"):
        built = await memories.of(system, (logs, chunk(name, 4, corpus=True)))
        # 3 messages, 2 more, 4 more
        assert [[point[0], point[2]] for point in built.cost["points"]] == [[3, 3], [5, 2], [9, 4]]


def test_growth_is_by_message_and_by_quarters_of_the_messages() -> None:
    # 8 dialogues of 10 messages at 1 s each, then 20 of 4 at 2 s: of 160 messages the first and last 40.
    points = [[10 * n, 10.0, 10] for n in range(1, 9)] + [[80 + 4 * n, 8.0, 4] for n in range(1, 21)]
    assert _growth([{"points": points}]) == pytest.approx(2.0)
    assert _growth([{"points": points[:3]}, {"points": []}]) is None


def test_a_model_that_is_late_is_a_failure_and_no_end_of_the_hours() -> None:
    about = {"category": "temporal", "disputed": None, "corpus": "c", "message": "no answer in 60 s"}
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "calls": 0, "cached": 0}
    late = {**about, "id": "1", "failure": "timeout", "usage": usage}
    over = {**late, "id": "2", "unfinished": True, "message": "it has had its 1 h"}
    of = _system("s", [over, late], {"items": 5, "tokens": None}, "conversations")
    assert (of.unfinished, of.failed, of.first_failure) == (1, {"timeout": 2}, "no answer in 60 s")


async def test_a_system_has_the_seconds_that_are_set() -> None:
    class Slow(IndexedMemory):
        async def add_corpus(self, sessions):
            await asyncio.sleep(5)

    system = LearningSystem("slow", lambda corpus, name: Slow("slow", "message", Words()))
    with pytest.raises(SystemFault, match=r"slow took more than 0\.02 s to ingest"):
        await Memories(deadline=0.02).of(system, (chunk("c", 1, corpus=True),))


async def test_the_calls_of_a_memory_that_failed_are_booked_once() -> None:
    """The model writes a note on the corpus and on a dialogue, and breaks at the next: four calls in all."""
    reply = '{"keywords": ["w"], "tags": [], "context": "c", "links": [], "changes": []}'
    client = ScriptedClient([reply, reply, "no object", "no object"])
    system = LearningSystem("notes", lambda corpus, name: NotesMemory("notes", client=client))
    chunks, memories, calls = (chunk("c", 1, corpus=True), chunk("logs", 1, 1)), Memories(), []
    for _ in range(2):
        with pytest.raises(SystemFault, match="the model that writes failed") as fault:
            await memories.of(system, chunks)
        calls.append(fault.value.booked().calls)
    assert calls == [4, 0]


def test_what_a_memory_cost_is_that_of_its_last_step():
    def note(step, dialogues, seconds, points, size=100):
        about = {"system": "a", "step": step, "dialogues": dialogues, "messages": 2 * dialogues}
        return {**about, "seconds": seconds, "calls": 4, "tokens": 40, "bytes": size, "points": points}

    points = [[2 * n + 2, 1.0 if n < 4 else 3.0, 2] for n in range(8)]
    cost = memory_cost([note(0, 2, 1.0, []), note(1, 8, 16.0, points)])
    assert (cost.memories, cost.dialogues, cost.messages) == (1, 8, 16)
    assert (cost.seconds_a_dialogue, cost.calls_a_dialogue, cost.tokens_a_dialogue) == (2.0, 0.5, 5.0)
    assert cost.growth == 3.0  # the last two of eight took three seconds, the first two one
    assert memory_cost([note(0, 2, 1.0, [], None)]).bytes is None


def test_a_row_keeps_each_item_that_was_given_for_a_reason() -> None:
    items = [MemoryItem("d", n, f"text {n}", why="profile" if n else None) for n in range(12)]
    details = recalled_details(Retrieved(tuple(items)), 100, (), {})
    assert [one["text"] for one in details["given"]] == [f"text {n}" for n in range(1, 12)]
