from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, Message, Rating
from dialogauge.data import UserSplit
from dialogauge.judges.encoder.text import EncoderSettings, decoded_score, encoder_text, fitted_tokens
from dialogauge.studies.satisfaction.blocks import study_data
from rated import rated_talk

TALKS = [
    rated_talk("me", "cook", 0, [4, 3, 5]),
    rated_talk("me", "gift", 0, [5, 5, 2]),
    rated_talk("me", "trip", 0, [3]),
]


def view_of(id="me__cook", talks=TALKS):
    study = study_data(talks, split=UserSplit(frozenset(), frozenset({"me"})))
    return next(b.view for b in study.blocks if b.view.id == id)


def test_the_parts_of_a_target() -> None:
    view = view_of()
    text = encoder_text(view, view.targets[2], messages=3)
    assert text.about.splitlines() == [
        "Rated before: 4; mean 3.75; 1×0, 2×1, 3×1, 4×0, 5×2; gift 4.00, trip 3.00",
        "Task: cook",
        "Situation: about cook",
        "User: age 30",
    ]
    # of three messages one is the reply
    before = view.targets[2].before
    assert text.dialogue.splitlines() == [f"Assistant: {before[-2].text}", f"User: {before[-1].text}"]
    assert text.reply == f"Assistant: {view.targets[2].text}"
    assert encoder_text(view, view.targets[2], messages=1).dialogue == ""


def test_a_chinese_request_gets_chinese_labels() -> None:
    messages = (Message("user", "帮我选礼物"), Message("assistant", "可以送书。"))
    talk = Conversation(
        "z", messages, user_id="me", scenario="礼物", ratings=(Rating("z", "satisfaction", 4, 1, "me"),)
    )
    view = view_of("me__礼物", [talk])
    text = encoder_text(view, view.targets[0], messages=12)
    assert text.about.startswith("过往评分: 无\n任务: 礼物")
    assert text.dialogue == "用户: 帮我选礼物"


@pytest.mark.parametrize(
    ("lengths", "room", "kept"),
    [
        ((10, 10, 10), 100, (10, 10, 10)),
        ((100, 1000, 1000), 500, (100, 150, 250)),
        ((1000, 1000, 1000), 500, (125, 125, 250)),
        ((1000, 10, 50), 500, (440, 10, 50)),
        ((20, 30, 1000), 500, (20, 30, 450)),
    ],
)
def test_room_is_shared(lengths, room, kept) -> None:
    about, dialogue, reply = ([part] * n for part, n in enumerate(lengths))
    first, second = fitted_tokens(about, dialogue, reply, room)
    assert (len(first), second.count(1), second.count(2)) == kept


def test_which_ends_are_kept() -> None:
    first, second = fitted_tokens(range(100), range(100, 200), range(200, 300), 40)
    assert first == list(range(10))
    assert second == [*range(190, 200), *range(200, 210), *range(290, 300)]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(4, 80))
def test_never_longer_and_never_needlessly_cut(about, dialogue, reply, room) -> None:
    first, second = fitted_tokens([0] * about, [1] * dialogue, [2] * reply, room)
    assert len(first) + len(second) == min(room, about + dialogue + reply)
    assert second.count(2) >= min(reply, room // 2)


def test_decoding() -> None:
    classes = decoded_score((0.1, 0.1, 0.2, 0.3, 0.3), EncoderSettings())
    assert classes.whole == 4  # the lower of two equally probable ones
    assert classes.value == pytest.approx(3.6)
    steps = decoded_score((0.9, 0.8, 0.6, 0.5), EncoderSettings(ordinal=True))
    assert steps.whole == 4  # the last step is not above the threshold
    assert steps.value == pytest.approx(3.8)
    assert decoded_score((0.9, 0.8, 0.6, 0.5), EncoderSettings(ordinal=True, threshold=0.7)).whole == 3
