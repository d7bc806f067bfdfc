"""Actions with details that nobody gave, and too many options."""

import json

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.signals import read_dialogue
from dialogauge.signals.grounding.duties import Duty, find_neglected, read_duty

BOOKING = Duty(10)


def talk(*turns):
    """Build a dialogue of (user, [(tool, arguments, result)], reply)."""
    messages = []
    for user, calls, reply in turns:
        messages.append(Message("user", user))
        for name, arguments, result in calls:
            call = ToolCall(f"c{len(messages)}", name, json.dumps(arguments))
            messages.append(Message("assistant", None, (call,)))
            messages.append(Message("tool", json.dumps(result), tool_call_id=call.id))
        messages.append(Message("assistant", reply))
    return read_dialogue(Conversation("c", tuple(messages)))


def neglected(*turns, duty=BOOKING):
    dialogue = talk(*turns)
    return [(s.name, s.turn) for s in find_neglected(dialogue, {t.number: duty for t in dialogue.turns})]


def book(**arguments):
    return [("book_table", {"name": "Blue Door", **arguments}, {"reference": "AB12CD"})]


WHOLE = {"people": 4, "day": "friday", "time": "19:00"}


def test_a_booking_with_what_the_user_gave_is_due():
    assert not neglected(("Book Blue Door for four on Friday at 7 pm.", book(**WHOLE), "Booked."))


def test_a_booking_with_details_that_nobody_gave_is_early():
    assert neglected(("Book Blue Door.", book(**WHOLE), "Booked.")) == [("acts_unasked", 1)]


MANY = [
    {"name": f"{a} {b}", "area": "north"}
    for a in ("Amber", "Bell", "Cedar")
    for b in ("Inn", "House", "Court", "Lodge")
]


@pytest.mark.parametrize(
    ("reply", "broken"),
    [
        ("There are 12 hotels. Which part of town would you like?", False),
        ("There are 12, for example Amber Inn and Bell Inn. What is your budget?", False),
        ("I recommend Cedar Court. Shall I book it?", True),
        ("You can stay at " + ", ".join(row["name"] for row in MANY) + ".", True),
    ],
)
def test_of_many_results_a_reply_asks_for_what_narrows_them_down(reply, broken):
    kinds = neglected(("I need a hotel.", [("find_hotel", {}, MANY)], reply))
    assert kinds == ([("too_many_results", 1)] if broken else [])


def test_the_threshold_is_that_of_the_policy():
    turn = ("I need a hotel.", [("find_hotel", {}, MANY)], "I recommend Cedar Court. Shall I book it?")
    assert not neglected(turn, duty=Duty(12))
    assert not neglected(turn, duty=Duty(None))


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("With more than eight offers ask for a budget first.", Duty(8)),
        ("结果多于20条时,请用户补充条件,不要直接列出。", Duty(20)),
        ("Trips of more than 3 days are cheaper. Be kind.", Duty()),
    ],
)
def test_duty_that_a_system_prompt_states(prompt, expected):
    assert read_duty(prompt) == expected
