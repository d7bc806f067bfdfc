"""Echoes of the request, and codes that were copied wrongly."""

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.signals import find_signals, read_dialogue, read_repairs

REQUEST = "I need a cheap hotel near the old harbour for three nights."
ZH = "我想订一家离老港口近的便宜酒店,住三个晚上。"


def kinds(*texts):
    """Return the named findings in foresight about each reply of a talk."""
    roles = ("user", "assistant") * len(texts)
    talk = Conversation("c", tuple(map(Message, roles, texts)))
    named = [s for s in find_signals(read_dialogue(talk), "foresight") if s.named]
    return {(s.turn, s.name) for s in named}


@pytest.mark.parametrize(
    "reply",
    [
        REQUEST,
        f"I see. You said: {REQUEST} Thank you for telling me.",
        "You need a cheap hotel near the old harbour for three nights. I have noted it.",
        f"Sure, {REQUEST} Is there anything else I can do for you?",
    ],
)
def test_a_reply_that_says_the_request_again_is_an_echo(reply):
    assert kinds(REQUEST, reply) == {(1, "echoes")}


@pytest.mark.parametrize(
    "reply",
    [
        ZH,
        f"我明白了。您说的是:{ZH}谢谢您告诉我。",
        f"好的，{ZH}还有什么可以帮您的吗？",
        ZH.replace("我", "您"),
    ],
)
def test_in_chinese_as_well(reply):
    assert kinds(ZH, reply) == {(1, "echoes")}


SOUND = {
    "a read-back": (REQUEST, "So that's a cheap hotel near the old harbour, for three nights, right?"),
    "an answer": (REQUEST, "The Anchor is a cheap hotel near the old harbour. It costs 62 euros."),
    "a figure of its own": (REQUEST, f"{REQUEST} The Anchor has one for 62 euros a night."),
    "a question": (
        "Find me a cheap hotel in the north.",
        "I can find you a cheap hotel in the north. For when?",
    ),
    "a courtesy": ("Thanks, have a lovely day!", "Thanks, have a lovely day!"),
    "a short word": ("Friday, please.", "Friday, please."),
    "a corrected text": (
        "Please correct this sentence: she go to school every day with her little brother.",
        "She goes to school every day with her little brother.",
    ),
    "a translation": ("请把这句话翻译成英文:今天天气很好。", "The weather is very nice today."),
}


@pytest.mark.parametrize("case", SOUND)
def test_what_adds_something_or_was_asked_for_is_no_echo(case):
    assert not kinds(*SOUND[case])


def test_to_say_a_correction_again_is_not_to_take_it_up():
    wrong = "No, not the Anchor, I asked for the Lantern in the old town."
    talk = ["Book a hotel for me.", "I booked the Anchor.", wrong, f"I see. You said: {wrong} Thank you."]
    messages = tuple(map(Message, ("user", "assistant") * 2, talk))
    (repair,) = read_repairs(read_dialogue(Conversation("c", messages)))
    assert (repair.uptake, repair.handled) == (0, 0)


def agent(reply, result='{"order": "W7204418", "carrier": "DHL", "parcel": "558120447"}'):
    call = ToolCall("c1", "get_order", '{"email": "ann@example.org"}')
    messages = (
        Message("user", "Where is my order?"),
        Message("assistant", None, (call,)),
        Message("tool", result, tool_call_id="c1"),
        Message("assistant", reply),
    )
    found = find_signals(read_dialogue(Conversation("c", messages)), "foresight")
    return {s.name for s in found if s.named}


@pytest.mark.parametrize("reply", ["Your order W7204481 is on its way.", "The parcel is 558120474."])
def test_a_code_that_nothing_holds_is_found_where_tools_returned_one_of_its_form(reply):
    assert agent(reply) == {"miscopied"}


@pytest.mark.parametrize(
    "reply",
    [
        "Your order #W7204418 is on its way.",
        "The parcel is 558 120 447.",
        "It will be there on 12 May at 14:30 and costs $104.50.",
        "Please give reference QX-20931.",
        "Order W7204418 and its copy W7204419 are on their way.",
    ],
)
def test_other_figures_and_codes_beside_a_right_one_are_left_alone(reply):
    assert not agent(reply)


def test_without_tools_no_code_is_held_against_anything():
    assert not kinds("My order is W7204418.", "Order W7204481 is on its way.")
