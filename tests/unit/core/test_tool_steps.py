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


def test_what_is_wrong_with_a_step():
    messages = (
        Message("user", "hi"),
        result("early", "a"),
        calls(("a", "look")),
        Message("assistant", None, (ToolCall("b", "look", "[1]"), ToolCall("c", "look", ""))),
        result("ok", "c"),
    )
    (turn,) = Conversation("c", messages).turns
    assert [step.faults for step in turn.tool_steps] == [
        ("results_without_call",),
        ("calls_without_result",),
        ("calls_without_result", "arguments_unread"),
        (),
    ]


def test_ten_thousand_steps_are_paired_at_once():
    ids = [str(n) for n in range(10_000)]
    messages = [calls(*((id, "f") for id in ids)), *(result(id, id) for id in reversed(ids))]
    assert steps(*messages) == [("f", id) for id in ids]
