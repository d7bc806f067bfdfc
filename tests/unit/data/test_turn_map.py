"""Other people's numbering of replies, and ours."""

import pytest

from dialogauge.core import Message
from dialogauge.data import message_turns


@pytest.mark.parametrize(
    ("roles", "per_message", "per_reply"),
    [
        ("uaua", [1, 1, 2, 2], (1, 2)),
        ("uuaua", [1, 1, 1, 2, 2], (1, 2)),
        ("uaaua", [1, 1, 1, 2, 2], (1, 1, 2)),
        ("suaua", [None, 1, 1, 2, 2], (1, 2)),
        ("auaua", [0, 1, 1, 2, 2], (0, 1, 2)),
        ("uauu", [1, 1, 2, 2], (1,)),
        ("", [], ()),
    ],
)
def test_turns_of_messages_and_replies(roles, per_message, per_reply):
    names = {"s": "system", "u": "user", "a": "assistant"}
    messages = [Message(names[r], "x") for r in roles]
    turns = message_turns(messages)
    assert turns == per_message
    assert tuple(t for t, m in zip(turns, messages, strict=True) if m.role == "assistant") == per_reply
