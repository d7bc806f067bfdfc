"""A reply that only says it does not know, in both languages, and replies that say more than that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.core import Conversation, Message
from dialogauge.judges.local.judge import LocalJudge
from dialogauge.signals import knows_nothing, read_dialogue
from dialogauge.signals.answering import _KNOWS_NOT, _MAY_NOT_KNOW


def says_nothing(request, reply):
    talk = Conversation("c", (Message("user", request), Message("assistant", reply)))
    return knows_nothing(read_dialogue(talk).turns[0])


BARE = [
    ("How tall is it?", "I do not know."),
    ("How tall is it?", "I don’t know, sorry."),
    ("Which paint suits a damp wall?", "Sorry, I really have no idea."),
    ("Which paint suits a damp wall?", "I am not sure."),
    ("Which paint suits a damp wall?", "I don't know which paint suits a damp wall."),
    ("Where does the tram stop?", "Unfortunately I can't tell. I'm sorry about that."),
    ("哪家店好？", "不知道。"),
    ("潮湿的墙该用什么漆？", "抱歉，我不太清楚。"),
    ("潮湿的墙该用什么漆？", "我不知道潮湿的墙该用什么漆。"),
    ("电车停在哪里？", "这个问题我没有相关信息，不好意思。"),
]
MORE = [
    ("How tall is it?", "I do not know its height, but the sign at the gate has it."),
    ("How tall is it?", "I'm not sure, perhaps 40 metres."),
    ("Which paint suits a damp wall?", "I'm not sure. Is it in a bathroom?"),
    ("Which paint suits a damp wall?", "Not sure it matters: any silicate paint does."),
    ("Where does the tram stop?", "You need not know: it stops at every corner."),
    ("Thanks, you know everything!", "I do not know everything."),
    ("哪家店好？", "我不知道，不过可以问问前台的陈姐。"),
    ("电车停在哪里？", "不太清楚，大概300米外。"),
    ("潮湿的墙该用什么漆？", "我不确定，是浴室吗？"),
    ("今天真开心。", "不知道你遇到了什么好事。"),
]


@pytest.mark.parametrize(("request_", "reply"), BARE)
def test_to_know_nothing_answers_nothing(request_, reply):
    assert says_nothing(request_, reply)


@pytest.mark.parametrize(("request_", "reply"), MORE)
def test_who_says_more_is_not_meant(request_, reply):
    assert not says_nothing(request_, reply)


@pytest.mark.parametrize(("request_", "reply"), BARE)
def test_such_a_reply_leaves_the_request_open(request_, reply):
    talk = Conversation("c", (Message("user", request_), Message("assistant", reply)))
    _, whole = LocalJudge().judge_now(talk)
    assert whole.outcome.numbers["task_completion"] == 3
    assert whole.outcome.weakest_turn is None


WAYS = st.lists(
    st.sampled_from(
        ["i", "do not", "can't", "really", "know", "tell", "be certain", "have no", "any", "clue"]
    )
    | st.sampled_from(["no idea", "not", "sure", "unsure", "unaware", "dunno", "information", "don't have"])
    | st.sampled_from(
        ["我", "不", "太", "清楚", "没有", "相关", "资料", "说不准", "不好说", "无", "头绪", "答案"]
    ),
    max_size=6,
)


@given(WAYS)
def test_what_is_looked_for_first_misses_nothing(words):
    for text in (" ".join(words), "".join(words)):
        if _KNOWS_NOT.search(text):
            assert any(needle in text for needle in _MAY_NOT_KNOW)
