"""A user and a candidate take turns: who speaks when, what each is shown, and how a session ends."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from dialogauge.agents import ChatAgent, RecordedUser, Scenario, SimulatedUser, UserRole, play
from dialogauge.core import Conversation, Message
from dialogauge.core.conversation import PREFIX
from dialogauge.llm import ChatFailure, ChatReply, ScriptedClient

ROSA = Scenario("inn", "character", "Rosa", "Rosa keeps an inn.", UserRole("inn", persona="I am a sailor."))
SYSTEM = Message("system", ROSA.instructions)


def beginning(*messages):
    whole = (SYSTEM, *messages)
    return Conversation("inn", whole, candidate="a", metadata={PREFIX: len(whole)})


def session(said, answers, *before, turns=2, scenario=ROSA):
    user = SimulatedUser(ScriptedClient(said, name="sim"), scenario)
    candidate = ChatAgent("a", "d", ScriptedClient(answers))
    played = asyncio.run(play(user, candidate, beginning(*before), turns, seed=5))
    return played, user.client.requests, candidate.client.requests


def texts(played):
    new = played.conversation.messages[played.conversation.prefix :]
    return [(m.role[0], m.text) for m in new]


def test_they_take_turns_and_the_user_speaks_first() -> None:
    played, _, of_candidate = session(["hi", "and then?"], ["Come in.", "It rained."])
    assert texts(played) == [("u", "hi"), ("a", "Come in."), ("u", "and then?"), ("a", "It rained.")]
    assert (played.ended, played.failure) == ("turns", None)
    assert (played.usage["simulator"].calls, played.usage["candidate"].calls) == (2, 2)
    assert [m["role"] for m in of_candidate[1].messages] == ["system", "user", "assistant", "user"]
    assert of_candidate[0].session == "inn"


def test_each_side_sees_its_own_words_as_the_assistants() -> None:
    greeting = Message("assistant", "Come in.")
    _, of_user, of_candidate = session(["hi", "why?"], ["Sit.", "So."], greeting)
    assert [(m["role"], m["content"]) for m in of_user[1].messages[1:]] == [
        ("user", "Come in."),
        ("assistant", "hi"),
        ("user", "Sit."),
    ]
    # The candidate's system message is not the simulator's, nor the other way round.
    assert "I am a sailor." in of_user[0].messages[0]["content"]
    assert "I am a sailor." not in str(of_candidate)
    assert of_user[0].messages[0]["content"] != ROSA.instructions


def test_without_a_greeting_one_user_turn_opens_and_stays_in_sight() -> None:
    played, of_user, _ = session(["hi", "why?"], ["Sit.", "So."])
    assert [m["role"] for m in of_user[0].messages] == ["system", "user"]
    assert [(m["role"], m["content"]) for m in of_user[1].messages[2:]] == [
        ("assistant", "hi"),
        ("user", "Sit."),
    ]
    assert sum(role == "u" for role, _ in texts(played)) == 2


@pytest.mark.parametrize("mark", ["<end>", "< END/>", "</end>"])
def test_text_beside_a_stop_mark_is_kept_and_not_answered(mark) -> None:
    played, _, _ = session(["hi", f"Thanks, bye. {mark}"], ["Sit."], turns=9)
    assert texts(played) == [("u", "hi"), ("a", "Sit."), ("u", "Thanks, bye.")]
    assert played.ended == "user"


def test_a_bare_stop_mark_adds_no_message() -> None:
    played, _, _ = session(["hi", "<end>"], ["Sit."], turns=9)
    assert (texts(played), played.ended) == ([("u", "hi"), ("a", "Sit.")], "user")


def test_reasoning_reaches_nobody() -> None:
    played, _, _ = session(["<think>be shy</think>hi"], ["<think>hm</think>Sit."], turns=1)
    assert texts(played) == [("u", "hi"), ("a", "Sit.")]


def test_silence_is_asked_about_once_with_another_seed() -> None:
    played, of_user, _ = session(["", "hi"], ["Sit."], turns=1)
    assert (texts(played), played.asked_again) == ([("u", "hi"), ("a", "Sit.")], 1)
    assert of_user[0].salt != of_user[1].salt
    played, _, _ = session(["", "<think>nothing</think>"], ["Sit."], turns=3)
    assert (played.ended, played.failure.kind) == ("simulator_failed", "empty_reply")
    played, _, of_candidate = session(["hi", "hello?"], ["Sit.", " ", ""], turns=3)
    assert (played.ended, len(of_candidate)) == ("candidate_failed", 3)
    assert texts(played)[-1] == ("u", "hello?")


def test_a_failure_ends_the_session_and_is_asked_once() -> None:
    played, _, of_candidate = session(["hi"], [ChatFailure("timeout", "too slow")], turns=3)
    assert (played.ended, played.failure.kind, len(of_candidate)) == ("candidate_failed", "timeout", 1)
    played, _, _ = session([ChatFailure("refused", "no")], [], turns=3)
    assert (played.ended, played.failure.kind) == ("simulator_failed", "refused")


def test_replies_that_were_cut_off_are_counted() -> None:
    played, _, _ = session(["hi", "go on"], [ChatReply("It was a", "length"), "Well."])
    assert played.truncated == 1


def test_a_fixed_opening_is_said_once_and_costs_nothing() -> None:
    scenario = replace(ROSA, user=UserRole("inn", opening="Is there a room?"))
    played, of_user, _ = session(["cheap?"], ["Yes.", "No."], scenario=scenario)
    assert texts(played)[0] == ("u", "Is there a room?")
    assert len(of_user) == 1
    # behind a given context too, whose user messages are not of this session
    before = (Message("user", "old"), Message("assistant", "older"))
    played, _, _ = session([], ["Yes."], *before, turns=1, scenario=scenario)
    assert texts(played)[0] == ("u", "Is there a room?")


def test_recorded_lines_are_said_in_order_whatever_is_answered() -> None:
    user, candidate = RecordedUser("u7", ["one", "two"]), ChatAgent("a", "d", ScriptedClient(["x", "y"]))
    start = beginning(Message("user", "old"), Message("assistant", "older"))
    played = asyncio.run(play(user, candidate, start, 9))
    assert texts(played) == [("u", "one"), ("a", "x"), ("u", "two"), ("a", "y")]
    assert played.ended == "user"


def test_no_turn_is_no_session() -> None:
    with pytest.raises(ValueError, match="a session of 0 turns"):
        session([], [], turns=0)


def test_what_a_user_with_a_goal_is_told() -> None:
    role = UserRole("u", "goal", "I am Li.", "book a table", {"people": "four"}, patience=3)
    task = Scenario("t", "task", "the booking line", "SECRET POLICY", role)
    told = SimulatedUser(ScriptedClient([]), task).instructions
    for words in ("book a table", "- people: four", "3 of your messages", "<end>", "the booking line"):
        assert words in told
    assert "SECRET POLICY" not in told
    assert "{{" not in told
    nobody = Scenario("t", "task", "the booking line", "x", UserRole("u", "goal", None, "book a table"))
    assert "I am an ordinary person" in SimulatedUser(ScriptedClient([]), nobody).instructions
    passive = SimulatedUser(ScriptedClient([]), ROSA).instructions
    assert "<end>" not in passive
    assert "Rosa keeps an inn." in passive
