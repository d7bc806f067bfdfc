from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, Message, Place, Rating, ToolCall
from talks import message, talk


def shape(conversation: Conversation) -> list[tuple[int, int, int]]:
    return [(t.number, t.start, t.stop) for t in conversation.turns]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], []),
        (["s: rules"], []),
        (["s: rules", "d: more rules"], []),
        (["u: hi"], [(1, 0, 1)]),
        (["u: hi", "a: hello"], [(1, 0, 2)]),
        (["s: rules", "u: hi", "a: hello"], [(1, 1, 3)]),
        # a greeting is turn 0, with or without rules before it
        (["a: welcome"], [(0, 0, 1)]),
        (["a: welcome", "a: to us", "u: hi", "a: hello"], [(0, 0, 2), (1, 2, 4)]),
        (["s: rules", "a: welcome", "u: hi"], [(0, 1, 2), (1, 2, 3)]),
        # consecutive messages of one role belong to one turn
        (["u: hi", "u: there", "a: hello", "a: you"], [(1, 0, 4)]),
        (["u: a", "a: b", "u: c", "u: d", "a: e"], [(1, 0, 2), (2, 2, 5)]),
        # tool steps belong to the turn that they serve, a tool-only tail too
        (["u: a", "c: look", "t: found", "a: b", "u: c"], [(1, 0, 4), (2, 4, 5)]),
        (["u: a", "a: b", "u: c", "c: look", "t: found"], [(1, 0, 2), (2, 2, 5)]),
        (["u: a", "c: look", "u: b", "a: c"], [(1, 0, 2), (2, 2, 4)]),
        (["u: a", "t: found", "u: b"], [(1, 0, 2), (2, 2, 3)]),
        # instructions in the midst of a dialogue end no turn and begin none
        (["u: a", "s: be brief", "a: b", "u: c"], [(1, 0, 3), (2, 3, 4)]),
        (["u: a", "s: be brief", "u: b", "a: c"], [(1, 0, 4)]),
        (["u: a", "a: b", "s: be brief", "u: c", "a: d"], [(1, 0, 3), (2, 3, 5)]),
        (["a: welcome", "s: be brief", "u: a"], [(0, 0, 2), (1, 2, 3)]),
        (["t: found", "u: a"], [(0, 0, 1), (1, 1, 2)]),
    ],
)
def test_turns(lines: list[str], expected: list[tuple[int, int, int]]) -> None:
    assert shape(talk(*lines)) == expected


def test_a_turn_tells_user_steps_and_reply_apart() -> None:
    turn = talk("u: one", "u: two", "c: look", "t: found", "s: be brief", "a: three", "a: four").turn(1)
    assert turn.user_text == "one\ntwo"
    assert [m.role for m in turn.steps] == ["assistant", "tool", "system"]
    assert turn.reply_text == "three\nfour"
    assert turn.has_reply


def test_a_tool_only_tail_has_no_reply_and_an_empty_reply_is_one() -> None:
    tail = talk("u: a", "a: b", "u: c", "c: look", "t: found")
    assert not tail.turn(2).has_reply
    assert tail.turn(2).reply == ()
    assert [t.number for t in tail.replied_turns] == [1]
    empty = talk("u: a", "a: ")
    assert empty.turn(1).has_reply
    assert empty.turn(1).reply_text == ""
    assert [t.number for t in empty.replied_turns] == [1]


def test_a_greeting_is_not_judged() -> None:
    conversation = talk("a: welcome", "u: hi", "a: hello")
    assert conversation.turn(0).reply_text == "welcome"
    assert [t.number for t in conversation.replied_turns] == [1]


def test_text_beside_a_tool_call_is_a_step() -> None:
    call = Message("assistant", "let me look", (ToolCall("1", "look", "{}"),))
    turn = Conversation("c", (message("u: hi"), call, message("t: found"))).turn(1)
    assert not turn.has_reply
    assert turn.steps[0].text == "let me look"


def test_instructions_are_the_leading_system_messages_only() -> None:
    assert talk("s: one", "d: two", "u: hi", "s: three").instructions == "one\ntwo"
    assert talk("u: hi", "s: three").instructions == ""


def test_no_such_turn() -> None:
    with pytest.raises(IndexError, match="'c1' has no turn 2"):
        talk("u: hi", "a: hello").turn(2)
    with pytest.raises(IndexError, match="has no turn 0"):
        talk("u: hi").turn(0)


def test_until_keeps_rules_greeting_and_the_turn_itself() -> None:
    conversation = talk("s: rules", "a: welcome", "u: a", "c: look", "t: found", "a: b", "u: c", "a: d")
    assert conversation.until(0).messages == conversation.messages[:2]
    assert conversation.until(1).messages == conversation.messages[:6]
    assert conversation.until(2) == conversation
    with pytest.raises(IndexError):
        conversation.until(3)


def test_until_does_not_keep_the_turns_of_the_whole() -> None:
    conversation = talk("u: a", "a: b", "u: c", "a: d")
    assert len(conversation.turns) == 2
    assert len(conversation.until(1).turns) == 1


def test_blinded_hides_what_a_judge_must_not_see_and_nothing_else() -> None:
    rated = talk(
        "u: a",
        "a: b",
        user_id="u7",
        scenario="support",
        profile={"age": 30},
        ratings=(Rating("c1", "satisfaction", 5, turn=1),),
        metadata={"fault": "loop", "turn": 1},
        place=Place("log.jsonl", 3),
    )
    blind = rated.blinded()
    assert blind.ratings == ()
    assert dict(blind.metadata) == {}
    assert blind.place is None
    changed = {"ratings", "metadata", "place"}
    for field in dataclasses.fields(Conversation):
        if field.name not in changed:
            assert getattr(blind, field.name) == getattr(rated, field.name)


def test_text_of_parts() -> None:
    parts = ({"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}, {})
    assert Message("user", parts).text == "look\n[image_url]\n[part]"
    assert Message("assistant").text == ""
    assert Message("user", ()).text == ""


def test_to_openai_writes_only_what_is_there_and_unknown_keys_cannot_replace_it() -> None:
    assert message("u: hi").to_openai() == {"role": "user", "content": "hi"}
    assert message("c: look").to_openai() == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    }
    odd = Message("user", "hi", name="Ann", extra={"role": "system", "refusal": None})
    assert odd.to_openai() == {"role": "user", "content": "hi", "name": "Ann", "refusal": None}


letters = st.lists(st.sampled_from("sduatc"), max_size=14)


@given(letters)
def test_turns_cover_all_that_follows_the_leading_instructions(roles: list[str]) -> None:
    conversation = talk(*(f"{letter}: {i}" for i, letter in enumerate(roles)))
    turns = conversation.turns
    leading = next((i for i, letter in enumerate(roles) if letter not in "sd"), len(roles))
    assert tuple(m for t in turns for m in t.messages) == conversation.messages[leading:]
    first = turns[0].number if turns else 1
    assert first in (0, 1)
    assert [t.number for t in turns] == list(range(first, first + len(turns)))
    for turn in turns:
        assert turn.messages == conversation.messages[turn.start : turn.stop]
        assert bool(turn.user) == (turn.number >= 1)
        assert len(turn.user) + len(turn.reply) + len(turn.steps) == len(turn.messages)


@given(letters)
def test_until_has_the_same_turns_up_to_there(roles: list[str]) -> None:
    conversation = talk(*(f"{letter}: {i}" for i, letter in enumerate(roles)))
    for index, turn in enumerate(conversation.turns):
        assert conversation.until(turn.number).turns == conversation.turns[: index + 1]
