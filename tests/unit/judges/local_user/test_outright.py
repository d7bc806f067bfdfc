"""Replies that are told by their words: refusals, and answers to thanks or a goodbye."""

from __future__ import annotations

import numpy as np
import pytest

from dialogauge.core import Conversation, Message
from dialogauge.core.protocols import Reply
from dialogauge.judges.local_user.model import expected
from dialogauge.judges.local_user.substance import declines, takes_leave


def reply(*texts: str) -> Reply:
    roles = ("user", "assistant")
    talk = Conversation("c", tuple(Message(roles[i % 2], text) for i, text in enumerate(texts)))
    return Reply("c", talk, len(texts) - 1, len(texts) // 2, len(texts) // 2 - 1)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (
            "Where can I eat pasta in Rome?",
            "I'm sorry, but I can't help with \"Where can I eat pasta in Rome?\".",
        ),
        ("Where can I eat pasta in Rome?", "As a coding assistant I cannot answer that."),
        ("推荐罗马的餐厅", "抱歉，我无法回答“推荐罗马的餐厅”这个问题。"),
        ("推荐罗马的餐厅", "作为编程助手，我不能处理“推荐罗马的餐厅”这样的请求。"),
    ],
)
def test_a_refusal_is_told_whatever_it_quotes(request_: str, said: str) -> None:
    assert declines(reply(request_, said)) >= 0.5
    assert declines(reply("Hello", "Hi!", request_, said)) >= 0.5


@pytest.mark.parametrize(
    "said", ["Eat at Da Enzo.", "罗马的餐厅：Da Enzo。", "I'm sorry that you missed it. Eat at Da Enzo."]
)
def test_an_answer_declines_nothing(said: str) -> None:
    assert declines(reply("Where can I eat pasta in Rome?", said)) == 0


def test_only_a_short_reply_declines_or_takes_leave() -> None:
    for room, short in ((900, True), (1000, False)):
        refused = reply("Where can I eat?", "As a coding assistant I cannot answer that." + " " * room)
        assert (declines(refused) > 0) is short
    for room, short in ((500, True), (600, False)):
        assert takes_leave(reply("Thanks!", "You're welcome!" + " " * room)) is short


def test_a_refusal_is_as_strong_as_it_is_itself() -> None:
    mild = ("Can you plan a trip?", "I won't be able to do that for you, but I can suggest a plan.")
    assert declines(reply(*mild)) == pytest.approx(0.55)
    refused = ("Can you help?", "As a coding assistant I cannot answer that.")
    assert declines(reply(*refused, *mild)) == pytest.approx(0.55)


def test_a_refusal_earlier_in_the_conversation_is_not_this_one() -> None:
    refused = ("推荐罗马的餐厅", "抱歉，我无法回答这个问题。")
    assert declines(reply(*refused, "为什么？", "罗马的餐厅：Da Enzo。")) == 0


@pytest.mark.parametrize(
    ("request_", "said", "told"),
    [
        ("谢谢你的规划", "不客气！祝你春节快乐！", True),
        ("Thanks, bye!", "You're welcome, enjoy Rome!", True),
        ("Thanks! And where can I sleep?", "You're welcome!", False),
        ("推荐罗马的餐厅", "不客气！祝你春节快乐！", False),
        ("谢谢", "罗马的餐厅：" + "Da Enzo。" * 200, False),
    ],
)
def test_a_parting_answers_thanks_or_a_goodbye_and_no_request(request_: str, said: str, told: bool) -> None:
    assert takes_leave(reply(request_, said)) is told


def test_what_a_parting_is_worth_by_hand() -> None:
    ratings, answers = np.array([3.0, 4.8, 3.0]), np.array([0.5, 0.5, 0.5])
    found = expected(ratings, answers, np.array([True, True, False]))
    assert found == pytest.approx([4.5, 4.8, 2.5])
