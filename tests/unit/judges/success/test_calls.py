"""What is wrong with calls."""

from dialogauge.core import Conversation, Message, Place, ToolCall
from dialogauge.judges.success.calls import irregular_calls


def test_each_irregular_call_has_its_turn():
    messages = (
        Message("user", "hi"),
        Message("tool", "early", tool_call_id="a"),
        Message("assistant", None, (ToolCall("a", "look", "{}"), ToolCall("b", "look", "[1]"))),
        Message("assistant", "so"),
        Message("user", "and?"),
        Message("assistant", None, (ToolCall("c", "look", "{"),)),
        Message("tool", "ok", tool_call_id="c"),
    )
    seen = [
        (what.split(":")[0], place.turn)
        for what, place in irregular_calls(Conversation("x", messages, place=Place("f", 3)))
    ]
    assert seen == [
        ("results have no call before", 1),
        ("calls have no result", 1),
        ("calls have arguments that are no JSON object", 1),
        ("calls have arguments that are no JSON object", 2),
    ]
