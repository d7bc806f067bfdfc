"""What stands beside a reply: thumbs with what was said of them, tools that were used, parts of a frame."""

import json

import pytest

from dialogauge.data import read_conversations

ASKS = {"role": "user", "content": "Any trains?"}
SAYS = {"role": "assistant", "content": "Two."}
ASKED = {"query": "Any trains?", "answer": "Two.", "conversation_id": "c1"}
LIKED = {"rating": "like", "content": "quick"}


def read(tmp_path, record):
    path = tmp_path / "log.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    (talk,) = read_conversations([str(path)])
    return talk


@pytest.mark.parametrize(
    ("record", "rating"),
    [
        ({"messages": [ASKS, SAYS | {"annotation": {"rating": 1, "comment": "quick"}}]}, ("annotation", 1)),
        (ASKED | {"feedback": LIKED}, ("feedback", "like")),
        (ASKED | {"feedbacks": [LIKED]}, ("feedbacks", "like")),
        ({"messages": [ASKS, SAYS], "user_feedback": LIKED}, ("user_feedback", "like")),
    ],
)
def test_a_thumb_with_what_was_said_of_it(record, rating, tmp_path):
    """As Open WebUI and Dify keep them."""
    ((score),) = read(tmp_path, record).ratings
    assert ((score.dimension, score.score), score.note) == (rating, "quick")


@pytest.mark.parametrize(
    "record",
    [
        lambda used: {"turns": [ASKS, SAYS | {"tools_called": used}]},
        lambda used: {"input": "Any trains?", "actual_output": "Two.", "tools_called": used},
    ],
)
def test_the_tools_that_led_to_a_reply(record, tmp_path):
    """As DeepEval keeps them: calls and results come before the reply."""
    used = [{"name": "find", "input_parameters": {"to": "Perth"}, "output": "8:10"}, {"name": "buy"}]
    talk = read(tmp_path, record(used))
    assert [(m.role, m.text, [c.arguments for c in m.tool_calls]) for m in talk.messages] == [
        ("user", "Any trains?", []),
        ("assistant", "", ['{"to":"Perth"}']),
        ("tool", "8:10", []),
        ("assistant", "", [""]),
        ("tool", "", []),
        ("assistant", "Two.", []),
    ]


def test_dotted_keys_in_the_lists_of_a_frame(tmp_path):
    """As Phoenix writes spans: parts and calls have dots in their keys too."""
    part = {"message_content.type": "text", "message_content.text": "Any trains?"}
    call = {"tool_call.id": "c1", "tool_call.function.name": "find", "tool_call.function.arguments": "{}"}
    span = {
        "context.trace_id": "t1",
        "context.span_id": "s1",
        "span_kind": "LLM",
        "attributes.llm.input_messages": [{"message.role": "user", "message.contents": [part]}],
        "attributes.llm.output_messages": [
            {"message.role": "assistant", "message.content": "Two.", "message.tool_calls": [call]}
        ],
    }
    asks, says = read(tmp_path, span).messages
    assert (asks.text, says.text, [c.name for c in says.tool_calls]) == ("Any trains?", "Two.", ["find"])
