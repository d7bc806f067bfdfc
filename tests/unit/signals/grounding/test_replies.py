"""What a reply states without a source, or out of an empty result; dialogues of our own, in two languages."""

import json

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.signals import read_dialogue
from dialogauge.signals.grounding.replies import find_ungrounded

CAFES = [
    {"name": "Blue Door", "price": 12.5, "opens": "08:30", "phone": "0131 555 220", "wifi": True},
    {"name": "Tin Cup", "price": 9.0, "opens": "10:00", "phone": "0131 555 871", "wifi": True},
]


def found(reply, result=CAFES, user="Where can I have breakfast?", name="find_cafe"):
    """Return kind and what of the findings about a reply to one call."""
    call = ToolCall("c1", name, "{}")
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    messages = (
        Message("user", user),
        Message("assistant", None, (call,)),
        Message("tool", text, tool_call_id="c1"),
        Message("assistant", reply),
    )
    return {s.name for s in find_ungrounded(read_dialogue(Conversation("c", messages)))}


SOUND = {
    "as returned": "Blue Door opens at 8:30 and costs 12.50; Tin Cup opens at 10 am. Both have wifi.",
    "a count": "There are two cafes: Blue Door and Tin Cup.",
    "a sum": "Breakfast in both would cost $21.50.",
    "a difference": "Tin Cup is $3.50 cheaper, and opens an hour and a half later.",
    "rounded": "Blue Door costs about $13.",
    "a list": "1. Blue Door, $12.50\n2. Tin Cup, $9\nWhich one do you like?",
    "a question": "How many people will come, and at what time?",
    "an example": "Please give a time, such as 9:15.",
    "a phone in another form": "You can call Tin Cup on 0131-555-871.",
}


@pytest.mark.parametrize("case", SOUND)
def test_what_was_returned_or_follows_from_it_is_sound(case):
    assert not found(SOUND[case])


NO_FIGURES = [{"name": "Blue Door", "street": "Mill Lane"}, {"name": "Tin Cup", "street": "Old Market"}]
UNSOURCED = ("Blue Door opens at 8:00.", "Tin Cup costs $11.", "Call Tin Cup on 0131 555 817.")


@pytest.mark.parametrize("reply", UNSOURCED)
def test_a_figure_of_a_kind_that_nothing_holds_is_found(reply):
    assert found(reply, NO_FIGURES) == {"unsourced"}


@pytest.mark.parametrize("reply", ["Blue Door opens at 8:00.", "Tin Cup costs $11."])
def test_of_a_kind_that_the_tools_returned_nothing_is_said(reply):
    """Whether another figure follows from the results cannot be told well enough."""
    assert not found(reply)


def test_an_offer_out_of_an_empty_result_is_found():
    reply = "There is a cheap one in the south called Lisbon Lantern. Shall I book it?"
    assert "out_of_nothing" in found(reply, "[]")


def test_to_say_that_nothing_was_found_is_sound():
    assert not found("I'm sorry, I found no cafe in the south. Shall I look in the north?", "[]")


def test_chinese_results_are_read_alike():
    rows = [
        {"店名": "蜀香小筑", "人均": 86, "地址": "和平路27号"},
        {"店名": "老灶房", "人均": 95, "地址": "中山三路8号"},
    ]
    assert not found("有两家:1. 蜀香小筑,人均86元;2. 老灶房,人均95元。", rows, "找川菜馆")
    assert "out_of_nothing" in found("有一家“蜀香小筑”,需要预订吗?", "[]", "找川菜馆")


def test_what_the_user_said_is_a_source():
    assert not found("A table for seven at 19:45 at Blue Door, right?", user="Seven of us, at 19:45, please.")
