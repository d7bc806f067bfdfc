"""Actions before their details are known, too many options, questions for what was given, other choices."""

import json

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.signals import read_dialogue
from dialogauge.signals.grounding.duties import Duty, find_neglected, read_duty
from dialogauge.signals.grounding.history import find_forgotten

BOOKING = Duty(10, ("bookday", "booktime", "bookpeople"))


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


def forgotten(*turns):
    return [(s.name, s.turn) for s in find_forgotten(talk(*turns))]


def book(**arguments):
    return [("book_table", {"name": "Blue Door", **arguments}, {"reference": "AB12CD"})]


WHOLE = {"people": 4, "day": "friday", "time": "19:00"}


def test_a_booking_with_what_the_user_gave_is_due():
    assert not neglected(("Book Blue Door for four on Friday at 7 pm.", book(**WHOLE), "Booked."))


def test_a_booking_with_details_that_nobody_gave_is_early():
    assert neglected(("Book Blue Door.", book(**WHOLE), "Booked.")) == [("acts_unasked", 1)]


def test_a_booking_without_what_the_policy_needs_is_early():
    assert neglected(("Book the Blue Door on Friday.", book(day="friday"), "Booked.")) == [
        ("books_without", 1)
    ]


def test_without_slots_in_the_policy_nothing_is_needed():
    assert not neglected(("Book the Blue Door.", book(), "Booked."), duty=Duty())


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


def test_a_detail_that_the_user_gave_is_not_asked_for_again():
    first = ("A taxi from the museum to the station, please.", [], "When would you like to leave?")
    assert forgotten(first, ("At 6.", [], "Where would you like to be picked up from?")) == [
        ("asks_known", 2)
    ]
    assert not forgotten(first, ("Another taxi too.", [], "Where would you like to be picked up from?"))


def test_another_choice_than_the_one_that_was_named_is_found():
    search = [
        (
            "search",
            {},
            [{"id": "a", "economy": 118, "business": 352}, {"id": "b", "economy": 143, "business": 390}],
        )
    ]
    first = ("A flight to Oslo in economy.", search, "There are two, from $118 in economy.")
    assert not forgotten(first, ("The first.", [("book_flight", {"cabin": "economy"}, {})], "Booked."))
    assert forgotten(first, ("The first.", [("book_flight", {"cabin": "business"}, {})], "Booked.")) == [
        ("acts_against", 2)
    ]


def test_another_amount_than_the_one_that_was_named_is_found():
    assert forgotten(("Move 500 pounds.", [("transfer", {"amount": 5000}, {})], "Moved.")) == [
        ("acts_against", 1)
    ]
    assert not forgotten(("Move 500 pounds.", [("transfer", {"amount": 500}, {})], "Moved."))


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("With more than eight offers ask for a budget first.", Duty(8)),
        ("结果多于20条时,请用户补充条件,不要直接列出。", Duty(20, strict=True)),
        ("A booking needs the day and a phone number.", Duty(None, ("phone",))),
        ("Trips of more than 3 days are cheaper. Be kind.", Duty()),
    ],
)
def test_duty_that_a_system_prompt_states(prompt, expected):
    assert read_duty(prompt) == expected
