"""Replies that were streamed, in the pieces that the interfaces send."""

import json

import pytest

from dialogauge.core import ToolCall
from dialogauge.data import read_conversations
from dialogauge.data.formats.payloads import assembled


def chunk(index=0, **delta):
    return {"object": "chat.completion.chunk", "choices": [{"index": index, "delta": delta}]}


def part(number, **function):
    return chunk(
        tool_calls=[{"index": number, "function": function, **({"id": "c1"} if "name" in function else {})}]
    )


OPENAI = [
    chunk(role="assistant", content=""),
    chunk(content="I lo"),
    chunk(content="ok."),
    chunk(1, content="No."),
    part(0, name="find", arguments=""),
    part(0, arguments='{"q"'),
    part(0, arguments=":1}"),
    {"choices": [], "usage": {"total_tokens": 9}},
]
ANTHROPIC = [
    {"type": "message_start", "message": {"role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I lo"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok."}},
    {"type": "ping"},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "c1", "name": "find"},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"q":1}'},
    },
    {"type": "message_stop"},
]
BEDROCK = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"delta": {"text": "I look."}, "contentBlockIndex": 0}},
    {
        "contentBlockStart": {
            "start": {"toolUse": {"toolUseId": "c1", "name": "find"}},
            "contentBlockIndex": 1,
        }
    },
    {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"q":1}'}}, "contentBlockIndex": 1}},
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": {}}},
]
AS_SENT = "".join(f"event: x\ndata: {json.dumps(one)}\n\n" for one in OPENAI) + "data: [DONE]\n\n"


@pytest.mark.parametrize("response", [OPENAI, ANTHROPIC, BEDROCK, AS_SENT])
def test_a_streamed_reply_is_put_together(tmp_path, response):
    path = tmp_path / "log.jsonl"
    request = {"messages": [{"role": "user", "content": "Ready?"}]}
    path.write_text(json.dumps({"id": "a", "request": request, "response": response}) + "\n")
    (talk,) = read_conversations([str(path)])
    assert [(m.role, m.text) for m in talk.messages] == [("user", "Ready?"), ("assistant", "I look.")]
    assert talk.messages[1].tool_calls == (ToolCall("c1", "find", '{"q":1}'),)


@pytest.mark.parametrize(
    "value",
    [
        [],
        [{}],
        [4],
        "",
        "data: hi",
        "data: we are open",
        [*OPENAI, {"x": 1}],
        [{"choices": [4]}],
        {"a": 1},
        None,
    ],
)
def test_what_is_no_stream_is_left_alone(value):
    assert assembled(value) is None
