"""Faults of simulated users: planted ones in two languages, clean sessions, and what a session leaves out."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialogauge.core import Conversation, Message
from dialogauge.signals import UserFault, check_user
from dialogauge.signals.simulated_user import tells

FOLDER = Path(__file__).parent / "simulated"
SPEAK = {"first": 8, "second": 8, "third": 6, "fourth": 10, "fifth": 12, "sixth": 11, "seventh": 3}
"""By file, the planted messages that speak as the other side and bear a mark of it. Others are not seen; the
sixth and the seventh file are of an author who did not know the marks."""
FILES = tuple(SPEAK)
KINDS = ("speaks_as_other", "repeats_itself", "goal_given_away")


def session(
    turns: list[tuple[str, str]],
    *,
    told: str = "",
    greeting: str = "",
    ended: str | None = "turns",
    **user: Any,
) -> Conversation:
    """Return a session as a run holds it, of user messages and replies."""
    before = [Message("system", told)] if told else []
    before += [Message("assistant", greeting)] if greeting else []
    messages = [m for u, r in turns for m in (Message("user", u), Message("assistant", r))]
    metadata = {"prefix_messages": len(before), "session": {"ended": ended, "user": user}}
    return Conversation("s1", (*before, *messages), metadata=metadata)


def _sessions(name: str) -> list[tuple[str, Conversation]]:
    """Return the clean sessions of a file, and its plants, each with its fault; none is called `clean`."""
    files = {n: tomllib.loads((FOLDER / f"{n}.toml").read_text(encoding="utf-8")) for n in FILES}
    clean = {s["id"]: s for f in files.values() for s in f.get("sessions", [])}
    out = [("clean", _made(s, s["turns"])) for s in files[name].get("sessions", [])]
    for plant in files[name]["plants"]:
        turns = [list(turn) for turn in clean[plant["on"]]["turns"]]
        for number, text in plant["turns"].items():
            turns[int(number) - 1][0] = text
        out.append((plant["fault"], _made(clean[plant["on"]], turns)))
    return out


def _made(record: dict[str, Any], turns: list[list[str]]) -> Conversation:
    made = session(
        [(u, r) for u, r in turns],
        told=record["instructions"],
        greeting=record.get("greeting", ""),
        **record["user"],
    )
    return replace(made, id=record["id"])


@pytest.mark.parametrize("name", FILES)
def test_planted_faults_are_seen_and_clean_sessions_are_not(name: str) -> None:
    seen = [
        (fault, {f.kind for f in check_user(conversation).faults}) for fault, conversation in _sessions(name)
    ]
    assert not [kinds for fault, kinds in seen if fault == "clean" and kinds & set(KINDS)]
    assert sum(fault in kinds for fault, kinds in seen if fault == "speaks_as_other") == SPEAK[name]
    assert all(fault in kinds for fault, kinds in seen if fault in KINDS[1:])


def faults(conversation: Conversation, kind: str) -> list[UserFault]:
    return [f for f in check_user(conversation).faults if f.kind == kind]


def test_a_fault_has_its_turn_and_its_words() -> None:
    talk = session(
        [("Hello there.", "Sit."), ("Thanks.\nBrenna: Eat first.", "Good.")],
        told="You are Brenna Holt, who keeps a hut.",
    )
    assert faults(talk, "speaks_as_other") == [UserFault("speaks_as_other", 2, "Brenna: Eat first.", "label")]


@pytest.mark.parametrize(
    "text",
    [
        "Brenna, you look tired.",
        "You said Brenna keeps the hut alone.",
        "Let me carry that for you.",
        "Would you like me to stay?",
        "Who is Brenna Holt, then?",
        "Thanks for asking me, Brenna.",
        "*nods at Brenna and sits*",
        "Note: the seal is broken.",
        "A surveyor, yes.",
        "It's me, surveyor by trade.",
    ],
)
def test_who_is_spoken_to_is_no_speaker(text: str) -> None:
    talk = session([(text, "Hm.")], told="You are Brenna Holt. You keep a hut.", persona="I am a surveyor.")
    assert faults(talk, "speaks_as_other") == []


@pytest.mark.parametrize(
    ("persona", "text"),
    [
        ("I am a surveyor. I came up at dusk.", "Eat first, surveyor, and then talk."),
        ("我是来做节目的记者小林，性子温和。", "小林，你坐下说。"),
    ],
)
def test_a_user_who_is_called_by_its_own_name_does_not_speak(persona: str, text: str) -> None:
    talk = session([("Hello.", "Hm."), (text, "Hm.")], told="You keep a hut.", persona=persona)
    assert [(f.turn, f.detail) for f in faults(talk, "speaks_as_other")] == [(2, "calls")]


@pytest.mark.parametrize(
    "text",
    [
        "I see. Is there anything else I can help you with?",
        "好的，已经为您登记了退货，请问还有什么可以帮您?",
        "As an assistant, I cannot know that.",
    ],
)
def test_an_offer_of_help_is_the_other_sides(text: str) -> None:
    turns = [("I want to send it back.", "Of course."), (text, "I see.")]
    talk = session(turns, told="You are the assistant of a shop.", facts={"order": "A-1"})
    assert len(faults(talk, "speaks_as_other")) == 1


def test_a_repeated_answer_to_a_repeated_question_is_none() -> None:
    ask = "What is your order number, please?"
    twice = session([("Hello.", ask), ("It is QX-48213 here.", ask), ("It is QX-48213 here.", "Thanks.")])
    assert faults(twice, "repeats_itself") == []
    again = session([("It is QX-48213 here.", "I see."), ("It is QX-48213 here.", "Thanks.")])
    assert [(f.turn, f.detail) for f in faults(again, "repeats_itself")] == [(2, "1")]


def test_short_words_may_come_again_but_not_all_the_time() -> None:
    brief = [("Go on.", "First this."), ("I see, and what came of it?", "That."), ("Go on.", "And that.")]
    assert faults(session(brief), "repeats_itself") == []
    habit = [("Go on.", "First this."), ("Go on.", "That."), ("Go on.", "And that.")]
    assert [f.turn for f in faults(session(habit), "repeats_itself")] == [3]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("There will be 9 of us.", "nine"),
        ("on the 9th of June", "9 June"),
        ("我们5月3号到", "五月三号"),
        ("预算2000以内", "两千以内"),
        ("the rear brake is squealing", "the rear brake squeals"),
        ("code zk7p2d", "ZK7P2D"),
    ],
)
def test_a_fact_is_told_in_any_writing(text: str, fact: str) -> None:
    assert tells(text, fact)
    assert not tells("Hello, I have a question about something else.", fact)


def test_what_nobody_asked_for() -> None:
    facts = {"member number": "77310", "reason": "moving to Lisbon", "last visit": "12 March"}
    turns = [
        ("I want to cancel.", "May I have your member number?"),
        ("77310. I'm moving to Lisbon.", "Thanks."),
    ]
    one = session(turns, facts=facts)
    assert faults(one, "tells_unasked") == []  # one fact slips out of people too
    assert check_user(one).shares["unused_facts"] == pytest.approx(1 / 3)
    assert [f.detail for f in faults(one, "unused_facts")] == ["last visit"]
    two = session([*turns, ("My last visit was on 12 March.", "I see.")], facts=facts)
    assert [(f.turn, f.detail) for f in faults(two, "tells_unasked")] == [(2, "reason"), (3, "last visit")]


def test_an_end_with_an_open_question_is_early() -> None:
    open_end = [("I need a room.", "For how many nights?")]
    assert len(faults(session(open_end, ended="user"), "stops_early")) == 1
    assert faults(session(open_end, ended="turns"), "stops_early") == []
    assert faults(session([("Thanks, bye!", "Anything else?")], ended="user"), "stops_early") == []


def test_who_took_leave_may_answer_a_goodbye_once() -> None:
    leave = [("A room, please.", "Done."), ("Thanks, that's all. Goodbye!", "Bye!"), ("Bye!", "Bye!")]
    assert faults(session(leave, goal="Book a room."), "goes_on") == []
    more = [*leave, ("Bye bye!", "Bye!")]
    assert [f.turn for f in faults(session(more, goal="Book a room."), "goes_on")] == [4]


def test_a_patient_user_who_never_objects() -> None:
    advice = "Please unplug the router for ten seconds and plug it in again after that."
    turns = [("My internet is down.", advice), ("Done that.", advice), ("Okay.", "I see.")]
    assert [f.turn for f in faults(session(turns, patience=2), "never_objects")] == [2]
    assert "never_objects" not in check_user(session(turns)).shares
    objects = [*turns[:2], ("You already told me that.", "I see.")]
    assert check_user(session(objects, patience=2)).shares["never_objects"] == 0


def test_what_a_session_lacks_leaves_it_out() -> None:
    plain = Conversation("c", (Message("user", "Hello."), Message("assistant", "Hi.")))
    assert check_user(plain).shares == {"speaks_as_other": 0}
    odd = replace(plain, metadata={"session": {"user": {"facts": ["a"], "goal": 3, "patience": None}}})
    assert check_user(odd).shares == {"speaks_as_other": 0}
    assert check_user(replace(plain, messages=())).shares == {}


def test_turns_of_the_context_are_not_judged() -> None:
    talk = session([("Brenna: Eat first.", "Hm."), ("Thanks.", "Hm.")], told="You are Brenna Holt, a cook.")
    assert len(faults(talk, "speaks_as_other")) == 1
    later = replace(talk, metadata={**talk.metadata, "prefix_messages": 3})
    assert faults(later, "speaks_as_other") == []
