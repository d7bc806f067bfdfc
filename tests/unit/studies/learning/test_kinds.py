"""Which feedback a log holds, and what is gained where users gave it."""

from __future__ import annotations

import pytest

from dialogauge.core import Conversation, Message
from dialogauge.data.tasks import LoggedDialogue, RoundFeedback
from dialogauge.studies.learning.kinds import feedback_kinds, gain_by_kind, reply_kinds


def logged(*texts, feedback=(), first="user"):
    roles = ("user", "assistant") if first == "user" else ("assistant", "user")
    said = (Message(roles[n % 2], text) for n, text in enumerate(texts))
    return LoggedDialogue(Conversation("a", tuple(said)), feedback)


TRAIN = "Which train goes from Leeds to York on Sunday?"
AGAIN = "Which train runs from Leeds to York on Sunday morning?"


def test_clicks_stand_by_their_reply_beside_what_was_said():
    rows = (RoundFeedback(1, ("dislike",), 3), RoundFeedback(2, ("like", "copy"), 9, ended=True))
    one = logged("How is rice cooked?", "Boil it.", "It burns.", "Add water.", feedback=rows)
    assert reply_kinds(one) == ({"dislike", "words"}, {"like", "copy", "closed"})
    assert feedback_kinds(one) == {"dislike", "words", "like", "copy", "closed"}


@pytest.mark.parametrize(
    ("talk", "kinds"),
    [
        (logged(TRAIN, "Trains are fast.", AGAIN, "The 9:12."), ({"asked again"}, {"closed"})),
        (
            logged(TRAIN, "Trains are fast.", f"That is wrong. {AGAIN}", "The 9:12."),
            ({"asked again", "words"}, {"closed"}),
        ),
        (
            logged("星期天从利兹到约克坐哪趟火车?", "火车很快。", "星期天早上从利兹到约克坐哪趟火车?"),
            ({"asked again"},),
        ),
        (logged("Hello, how can I help?", TRAIN, "The 9:12.", first="assistant"), (set(), {"closed"})),
        (logged(TRAIN, "The 9:12.", "And back?"), ({"words"},)),
        (logged(TRAIN, "Which day?", "Sunday.", "9:12.", feedback=(RoundFeedback(1),)), ({"words"}, set())),
    ],
    ids=["again", "again with an objection", "Chinese", "greeting", "no reply", "the last is not asked for"],
)
def test_asking_again_and_closing_are_read_off_the_messages(talk, kinds):
    assert reply_kinds(talk) == kinds


def test_gains_are_split_by_what_users_let_show():
    """Tasks 0 to 7 had a like and words, 4 to 11 a copy; 12 to 19 nothing, and gain nothing."""

    def cases(scores):
        known = {"corpus": None, "category": None}
        return [known | {"id": f"t{n}", "score": score} for n, score in enumerate(scores)]

    kinds = {f"t{n}": frozenset({"like", "words"}) for n in range(8)}
    kinds |= {f"t{n}": kinds.get(f"t{n}", frozenset()) | {"copy"} for n in range(4, 12)}
    gains = gain_by_kind(cases([0.75] * 8 + [0.5] * 11 + [None]), cases([0.5] * 20), kinds, "tasks")
    assert {name: (of.difference.value, of.difference.n) for name, of in gains.items()} == {
        "explicit": (0.25, 8),
        "implicit": (0.125, 8),
        "spoken": (0.25, 8),
        "clicked": (pytest.approx(1 / 6), 12),
        "none": (0.0, 7),  # one has no score
    }
    assert (gains["explicit"].a, gains["explicit"].b, gains["explicit"].side) == ("with", "without", "above")
    assert gains["explicit"].p_holm >= gains["explicit"].p
    assert gains["none"].side == "too few to tell"  # five groups, and 7 tasks give no p below 2 / 2^7
    assert gain_by_kind(cases([0.5]), cases([0.5]), {}, "tasks").keys() == {"none"}
