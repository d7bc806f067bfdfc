"""Replies that stop in the middle, and replies that end in many other ways."""

import pytest

from dialogauge.core import Conversation, Message
from dialogauge.signals import find_signals, read_dialogue

LIST = "Here is what to pack for the trip to the mountains, sorted by weight and by how often you need it:\n"
POINTS = [
    f"- **{name}**: it keeps you {state} on every day of the walk, so take a good one with you."
    for name, state in (("Jacket", "warm"), ("Boots", "dry"), ("Map", "on the way"), ("Torch", "safe"))
]


def is_cut(reply, *earlier):
    """Say whether the last reply of a talk is found to be cut off."""
    said = [text for one in (*earlier, reply) for text in ("Please tell me more about it.", one)]
    talk = Conversation("c", tuple(map(Message, ("user", "assistant") * (len(said) // 2), said)))
    turn = len(said) // 2
    found = find_signals(read_dialogue(talk), "foresight")
    return "cut_off" in {s.name for s in found if s.named and s.turn == turn}


CUT = {
    "in a sentence": "The museum opens at nine. Tickets can be bought at the door or on the web",
    "after an article": "You can take the",
    "in a word": "Of course. I have looked at your booking and the room is free until Thu",
    "after a comma": "First peel the potatoes,",
    "in a bracket": "The old town is worth a visit (about ten minutes",
    "in code": "Use this:\n```python\nfor i in range(3):\n    print(i",
    "in a table": "| day | place |\n|---|---|\n| one | Pola",
    "in a Chinese sentence": "可以的。您可以先坐地铁到老城,然后步行到博物",
    "in a point, where others close": LIST + "\n".join(POINTS) + "\n- **Gloves**: they keep you",
    "in emphasis": LIST + POINTS[0] + "\n- **Glo",
    "at the mark of a point": LIST + POINTS[0] + "\n-",
    "in a heading": LIST + POINTS[0] + "\n\n## What to leave",
}
WHOLE = {
    "a stop": "The museum opens at nine.",
    "an emoji": "Have a lovely trip, and send me a picture of the sea 🌊",
    "a link": "You find the map at https://example.org/map",
    "an address": "Write to anna@example.org",
    "one word": "Yes",
    "a name": "Marie Curie",
    "a short answer": "At nine tomorrow",
    "a short list": "You need:\n- eggs\n- flour\n- milk",
    "a code block": "Use this:\n```python\nprint(1)\n```",
    "a table": "| day | place |\n|---|---|\n| one | Pola |",
    "a bracket": "That is all of it (for now)",
    "a quote": "She said: “See you soon”",
    "a heart": "See you soon, and take care of yourself <3",
    "a face": "Sorry, it is closed today :(",
    "Chinese without a stop": "好的",
    "a figure": "The order number is W7204418",
    "a play": "Noah [action] pours the tea into both cups",
    "small letters throughout": "sure, the grand hotel is nice and it has free parking as well",
    "a dash line": "That is the plan.\n\n-----",
}


@pytest.mark.parametrize("case", CUT)
def test_a_reply_that_stops_in_the_middle_is_found(case):
    assert is_cut(CUT[case])


@pytest.mark.parametrize("case", WHOLE)
def test_a_reply_that_ends_otherwise_is_left_alone(case):
    assert not is_cut(WHOLE[case])


def test_an_assistant_that_never_sets_a_stop_is_not_cut_off():
    way = "The grand hotel has a room for you at the sea", "The night train leaves from the main station"
    assert is_cut(way[0])
    assert not is_cut("The castle is closed on every second Monday", *way)
    assert is_cut("The castle is closed on every second Monday", way[0], "You can also go to the")
