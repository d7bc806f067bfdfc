"""What a reply states against the results of tools; dialogues of our own, English and Chinese."""

import json

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.signals import read_dialogue
from dialogauge.signals.grounding.backend import find_ungrounded

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
UNSOUND = {
    "another time": ("Blue Door opens at 8:00.", "against_result"),
    "another price": ("Tin Cup costs $11.", "against_result"),
    "the price of the other": ("Tin Cup costs $12.50.", "against_result"),
    "another number of things": ("I found four cafes for you.", "wrong_count"),
    "another phone": ("Call Tin Cup on 0131 555 817.", "against_result"),
    "a name that nobody gave": ("I recommend the Copper Kettle near the river.", "unsourced_name"),
    "a no for a yes": ("Blue Door has no wifi.", "against_result"),
    "nothing, though there is": ("Sorry, I could not find any cafe.", "denies_result"),
}


@pytest.mark.parametrize("case", SOUND)
def test_what_was_returned_or_follows_from_it_is_sound(case):
    assert not found(SOUND[case])


@pytest.mark.parametrize("case", UNSOUND)
def test_what_the_results_do_not_bear_out_is_found(case):
    reply, kind = UNSOUND[case]
    assert kind in found(reply)


def test_an_offer_out_of_an_empty_result_is_found():
    reply = "There is a cheap one in the south called Lisbon Lantern. Shall I book it?"
    assert "out_of_nothing" in found(reply, "[]")


def test_to_say_that_nothing_was_found_is_sound():
    assert not found("I'm sorry, I found no cafe in the south. Shall I look in the north?", "[]")


def test_more_options_than_there_are_is_a_wrong_count():
    shirts = {str(n): {"item": str(n), "colour": c, "price": 20.0} for n, c in enumerate("abcdefghij", 8800)}
    result = {"name": "T-Shirt", "variants": shirts}
    assert found("There are 12 T-shirt options in the shop.", result) == {"wrong_count"}
    assert not found("There are 10 T-shirt options in the shop.", result)


def test_chinese_results_are_read_alike():
    rows = [
        {"店名": "蜀香小筑", "人均": 86, "地址": "和平路27号"},
        {"店名": "老灶房", "人均": 95, "地址": "中山三路8号"},
    ]
    assert not found("有两家:1. 蜀香小筑,人均86元;2. 老灶房,人均95元。", rows, "找川菜馆")
    assert "against_result" in found("蜀香小筑人均68元。", rows, "找川菜馆")
    assert "against_result" in found("蜀香小筑在解放路27号。", rows, "找川菜馆")
    assert "out_of_nothing" in found("有一家“蜀香小筑”,需要预订吗?", "[]", "找川菜馆")


def test_what_the_user_said_is_a_source():
    assert not found("A table for seven at 19:45 at Blue Door, right?", user="Seven of us, at 19:45, please.")
