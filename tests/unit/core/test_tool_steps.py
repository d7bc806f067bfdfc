"""Calls and what they returned: by id, none overwritten."""

import pytest

from dialogauge.core import Conversation, Message, ToolCall


def steps(*messages: Message) -> list[tuple[str | None, str | None]]:
    """The name of each call and the text of its result."""
    (turn,) = Conversation("c", (Message("user", "?"), *messages)).turns
    return [(s.call and s.call.name, s.result and s.result.text) for s in turn.tool_steps]


def calls(*named: tuple[str, str]) -> Message:
    return Message("assistant", None, tuple(ToolCall(id, name, "{}") for id, name in named))


def result(text: str, id: str | None = None, name: str | None = None) -> Message:
    return Message("tool", text, tool_call_id=id, name=name)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], []),
        ([calls(("1", "f")), result("a", "1")], [("f", "a")]),
        # repeated calls of one function keep their own results, whatever the order of these
        ([calls(("1", "f"), ("2", "f")), result("b", "2"), result("a", "1")], [("f", "a"), ("f", "b")]),
        # one id used twice: in the order of the calls
        (
            [calls(("1", "f")), result("a", "1"), calls(("1", "g")), result("b", "1")],
            [("f", "a"), ("g", "b")],
        ),
        # without ids: the first that waits, of the function where the result names one
        ([calls(("", "f"), ("", "g")), result("b", name="g"), result("a")], [("f", "a"), ("g", "b")]),
        ([calls(("1", "f"))], [("f", None)]),
        ([result("a", "1")], [(None, "a")]),
        ([calls(("1", "f")), result("a", "2")], [("f", None), (None, "a")]),
        # a second result for one call is no other call's
        ([calls(("1", "f")), result("a", "1"), result("b", "1")], [("f", "a"), (None, "b")]),
        # a result cannot come before its call
        ([result("a", "1"), calls(("1", "f"))], [(None, "a"), ("f", None)]),
    ],
)
def test_every_call_has_its_own_result(messages, expected):
    assert steps(*messages) == expected
