"""Replies that say an earlier one again."""

import pytest

from dialogauge.core import Conversation, Message
from dialogauge.signals import find_signals, read_dialogue

AGAIN = "The museum opens at ten in the morning and closes at six in the evening on weekdays."
BETWEEN = (
    "The garden behind the church has roses, tulips and a pond with large golden fish in it.",
    "Trains to the coast leave from platform nine and take about forty minutes each way.",
    "Our oldest baker sells rye bread, plum cake and almond rolls until everything is gone.",
    "Children below twelve swim free of charge, and parents pay half of the usual price.",
    "Bicycles can be hired beside the bridge; bring your passport and two photographs.",
    "Concerts begin after sunset, whenever rain keeps away from this side of the valley.",
)


def repeats(*replies):
    """Return of each reply that says an earlier one again its turn and what is said of it."""
    messages = []
    for number, reply in enumerate(replies):
        messages += [Message("user", f"And what about the {number}th thing?"), Message("assistant", reply)]
    signals = find_signals(read_dialogue(Conversation("c", tuple(messages))), "foresight")
    return [(s.turn, s.note) for s in signals if s.name == "repeats_reply"]


@pytest.mark.parametrize("between", range(6))
def test_a_reply_is_compared_with_each_of_the_six_before(between):
    assert repeats(AGAIN, *BETWEEN[:between], AGAIN) == [
        (between + 2, "The reply repeats the reply of turn 1.")
    ]


def test_a_reply_is_not_compared_with_the_seventh_before():
    assert repeats(AGAIN, *BETWEEN, AGAIN) == []
