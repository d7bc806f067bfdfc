"""Refusals of agents: what a policy asks for is no fault, to waste what a tool returned is one."""

import json

import pytest

from dialogauge.core import Conversation, Message, ToolCall
from dialogauge.signals import find_refusals, read_dialogue

WEATHER = '{"status": "ok", "temperature": 21}'


def strengths(reply, result=WEATHER, system=None):
    """Return the strength of each refusal in a dialogue of one lookup and one reply."""
    call = ToolCall("c1", "get_weather", json.dumps({"city": "York"}))
    messages = (
        *([Message("system", system)] if system else []),
        Message("user", "What is the weather in York?"),
        Message("assistant", None, (call,)),
        Message("tool", result, tool_call_id="c1"),
        Message("assistant", reply),
    )
    return [s.strength for s in find_refusals(read_dialogue(Conversation("d", messages), "en"))]


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot help with that.",
        "I'm sorry, I can't do that. Is there anything else I can help you with?",
        "Unfortunately, I am unable to assist with your request at this time.",
        "抱歉,我无法帮您处理这个请求。",
        "很抱歉,这个忙我帮不了。请问还有其他可以帮您的吗?",
    ],
)
def test_a_refusal_that_wastes_what_a_tool_returned_is_a_fault(reply):
    assert strengths(reply) == [0.9]
    assert strengths(reply, system="Help travellers. Never give refunds.") == [0.9]


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I cannot change a basic economy flight.",
        "I cannot help with that: the ticket is not refundable.",
        "I cannot help with that. You are being transferred to a human agent.",
        "抱歉,我无法为您改签经济舱机票。",
    ],
)
def test_a_refusal_that_says_what_or_why_is_weak_where_there_are_tools(reply):
    assert all(strength < 0.4 for strength in strengths(reply))


@pytest.mark.parametrize("result", ["", "[]", '{"error": "not available"}', "Error: no such city"])
def test_a_refusal_after_a_tool_that_returned_nothing_is_weak(result):
    assert all(strength < 0.4 for strength in strengths("I cannot help with that.", result))
