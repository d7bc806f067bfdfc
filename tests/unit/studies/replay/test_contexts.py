"""What candidates are shown: the fixed prefix, and what a context adds to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dialogauge.core import Message, UsageError
from dialogauge.studies.replay.contexts import (
    CHARACTERS,
    CONTEXTS,
    LINES,
    MEMORIES,
    DialogueMemory,
    Prompter,
    compress,
)
from dialogauge.studies.replay.items import Scene
from dialogauge.studies.satisfaction.blocks import collect_blocks
from rated import rated_talk

SECRETS = ("REASON-7731", "PROFILE-7731", "ORIGINAL-7731", "AFTER-7731")


def block(context=None):
    talks = []
    for scenario in ("cook", "gift", "trip"):
        talk = rated_talk("u", scenario, 0, [2, 4, 5], text=f"I prefer short lists. {scenario}")
        ratings = tuple(replace(r, note="REASON-7731") for r in talk.ratings)
        talks.append(replace(talk, ratings=ratings, profile={"job": "PROFILE-7731"}, context="TASK-7731"))
    target = talks[2]
    messages = [*target.messages]
    messages[3] = Message("assistant", "ORIGINAL-7731")
    messages[4] = Message("user", "AFTER-7731")
    talks[2] = replace(target, messages=tuple(messages))
    found = collect_blocks(talks)[0]
    return next(b for b in found if b.view.scenario == "trip")


def scene(held):
    view = held.view
    return Scene(view.scenario, view.profile, tuple(r.reply for r in view.history))


def told(context):
    held = block()
    reply = held.view.targets[1]
    return Prompter(scene(held), context).prompt(reply), reply


@pytest.mark.parametrize("context", CONTEXTS)
def test_nothing_leaks(context) -> None:
    prompted, reply = told(context)
    text = " ".join(m.text for m in prompted.conversation.messages)
    granted = {"profile": {"PROFILE-7731"}}.get(context, set())
    assert [s for s in SECRETS if s in text and s not in granted] == []
    assert ("TASK-7731" in text) == (context in ("task", "profile"))
    assert prompted.conversation.messages[-len(reply.before) :] == reply.before
    assert prompted.conversation.id == reply.id


def test_the_prefix_context_adds_nothing() -> None:
    prompted, reply = told("prefix")
    assert prompted.conversation.messages == reply.before
    assert prompted.memory == ()


def test_one_system_message_even_where_the_data_has_one() -> None:
    held = block()
    reply = held.view.targets[1]
    own = (Message("system", "Be kind."), *reply.conversation.messages)
    moved = replace(reply, conversation=replace(reply.conversation, messages=own), message=reply.message + 1)
    messages = Prompter(scene(held), "task").prompt(moved).conversation.messages
    assert [m.role for m in messages].count("system") == 1
    assert messages[0].text.startswith("Be kind.\n\n")


def test_memory_is_of_other_scenarios_only() -> None:
    held = block()
    own = replace(held, view=replace(held.view, history=held.ratings))
    for context in MEMORIES:
        reply = held.view.targets[1]
        assert Prompter(scene(own), context).prompt(reply).conversation.messages == reply.before
    with pytest.raises(UsageError, match="other scenarios only"):
        DialogueMemory("trip", [held.view.targets[0]])


def test_diverse_takes_scenarios_in_turn() -> None:
    held = block()
    memory = DialogueMemory("trip", [r.reply for r in held.view.history])
    before = held.view.targets[1].before
    kinds = [r.reply.conversation.scenario for r in memory.recall(before, "diverse", 4)]
    assert kinds[0] != kinds[1]
    assert kinds[:2] == kinds[2:]
    assert len(memory.recall(before, "diverse", 100)) == len(held.view.history) == 6
    assert DialogueMemory("trip", []).recall(before, "tfidf") == ()


def test_past_replies_are_cut() -> None:
    held = block()
    long = replace(held.view.history[0].reply.conversation, messages=())
    past = [
        replace(
            r,
            reply=replace(
                r.reply,
                conversation=replace(
                    long,
                    messages=(Message("user", "x" * 900), Message("assistant", "y" * 900)),
                    scenario="cook",
                ),
                message=1,
            ),
        )
        for r in held.view.history[:1]
    ]
    view = replace(held.view, history=tuple(past))
    text = (
        Prompter(scene(replace(held, view=view)), "memory-tfidf")
        .prompt(held.view.targets[1])
        .conversation.messages[0]
        .text
    )
    assert "y" * 700 + "…" in text
    assert "y" * 701 not in text
    assert "x" * 350 + "…" in text
    assert "x" * 351 not in text


def test_compressed_memory_is_short_and_of_the_users_own_words() -> None:
    said = [f"I want number {i} in the plan for the garden." for i in range(40)] + [
        "I prefer short lists."
    ] * 5
    talk = rated_talk("u", "cook", 0, [3])
    messages = tuple(m for s in said for m in (Message("user", s), Message("assistant", "never this")))
    held = replace(block().view.history[0].reply, conversation=replace(talk, messages=messages), message=89)
    lines = compress([held], (Message("user", "Please make a short list."),))
    assert 0 < len(lines) <= LINES
    assert sum(map(len, lines)) <= CHARACTERS
    assert len(set(lines)) == len(lines)
    assert "never this" not in " ".join(lines)
    # sentences that say the same as one that is there are left out
    assert sum("number" in line for line in lines) == 1
    assert "I prefer short lists." in lines
    assert compress([], ()) == ()
