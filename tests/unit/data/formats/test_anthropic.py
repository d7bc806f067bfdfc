"""Anthropic messages; the call is as `anthropic.types.Message.to_dict` of its client wrote it."""

import json

import pytest

from dialogauge.core import RecordFault, ToolCall
from dialogauge.data import read_conversations

CALLING = {
    "id": "msg_1",
    "content": [
        {"signature": "s", "thinking": "Look it up.", "type": "thinking"},
        {"text": "Let me look.", "type": "text"},
        {"id": "toolu_1", "input": {"customer": 12}, "name": "find_repair", "type": "tool_use"},
    ],
    "model": "claude-x",
    "role": "assistant",
    "stop_reason": "tool_use",
    "type": "message",
    "usage": {"input_tokens": 3, "output_tokens": 4},
}
RESULT = {
    "type": "tool_result",
    "tool_use_id": "toolu_1",
    "content": [{"type": "text", "text": "not found"}],
    "is_error": True,
}
RECORD = {
    "id": "a1",
    "model": "claude-x",
    "max_tokens": 500,
    "metadata": {"user_id": "u7"},
    "system": [{"type": "text", "text": "You help in a bike shop.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "Is my bike ready?"},
        CALLING,
        {"role": "user", "content": [RESULT, {"type": "text", "text": "I am Kim, by the way."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Not yet, Kim."}], "rating": 4},
    ],
}


def read_one(tmp_path, record):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record) + "\n")
    reader = read_conversations([str(path)])
    (outcome,) = list(reader)
    (file,) = reader.files.values()
    return outcome, file.format, [n.text for n in reader.notes]


def test_system_tools_and_results_stand_where_they_belong(tmp_path):
    c, name, notes = read_one(tmp_path, RECORD)
    assert name == "anthropic"
    assert [m.role for m in c.messages] == ["system", "user", "assistant", "tool", "user", "assistant"]
    assert c.instructions == "You help in a bike shop."
    calling, result, kim = c.messages[2:5]
    assert (calling.text, calling.tool_calls) == (
        "Let me look.",
        (ToolCall("toolu_1", "find_repair", '{"customer":12}'),),
    )
    assert calling.extra["reasoning"] == [CALLING["content"][0]]
    assert (result.text, result.tool_call_id, result.extra) == ("not found", "toolu_1", {"is_error": True})
    assert kim.text == "I am Kim, by the way."
    assert [t.user_text for t in c.turns] == ["Is my bike ready?", "I am Kim, by the way."]
    assert [t.reply_text for t in c.turns] == ["", "Not yet, Kim."]
    assert (c.id, c.user_id, c.candidate) == ("a1", "u7", "claude-x")
    assert [(r.turn, r.score) for r in c.ratings] == [(2, 4)]
    assert "system" not in c.metadata
    assert any("beside their messages" in n for n in notes)
    assert any("messages of the tool" in n for n in notes)


def test_a_result_alone_opens_no_turn(tmp_path):
    said = [*RECORD["messages"][:2], {"role": "user", "content": [RESULT]}, RECORD["messages"][3]]
    c, _, _ = read_one(tmp_path, said)
    (turn,) = c.turns
    assert turn.reply_text == "Not yet, Kim."
    (step,) = turn.tool_steps
    assert (step.call.id, step.result.text) == ("toolu_1", "not found")


def test_tools_of_the_provider_answer_within_the_message(tmp_path):
    blocks = [
        {"type": "text", "text": "Searching."},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "tide"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srv_1",
            "content": [{"type": "web_search_result", "url": "https://example.org", "title": "Tides"}],
        },
        {"type": "text", "text": "High tide is at six."},
    ]
    c, name, _ = read_one(
        tmp_path, [{"role": "user", "content": "High tide?"}, {"role": "assistant", "content": blocks}]
    )
    assert name == "anthropic"
    assert [m.role for m in c.messages] == ["user", "assistant", "tool", "assistant"]
    assert c.turns[0].reply_text == "High tide is at six."
    assert json.loads(c.messages[2].text)[0]["title"] == "Tides"


def test_one_word_beside_the_messages_is_no_prompt(tmp_path):
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    c, name, _ = read_one(tmp_path, {"system": "baseline", "messages": said})
    assert (name, c.instructions, c.metadata) == ("openai", "", {"system": "baseline"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"type": "tool_use", "id": "t", "input": {}}], "message 2: a tool call names no function"),
        ([{"type": "tool_use", "id": "t", "name": 3}], "names no function"),
        ([{"type": "thinking"}, {"type": "hologram", "beam": 3}], "of the type 'hologram' cannot be read"),
        ([{"type": "thinking"}, {"type": "text"}], "of the type 'text' cannot be read: it has 'type'"),
        ([{"type": "thinking"}, 5], "a content part is 5: not an object"),
        ([{"type": "tool_result"}, {}], "without a type cannot be read: it has nothing"),
        ({"type": "tool_use"}, "neither text, a list of parts, nor null"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, content, message):
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": content}]
    fault, _, _ = read_one(tmp_path, {"system": "Be brief.", "max_tokens": 9, "messages": said})
    assert isinstance(fault, RecordFault)
    assert message in str(fault)


def test_a_user_calls_no_tool(tmp_path):
    fault, _, _ = read_one(tmp_path, [{"role": "user", "content": CALLING["content"]}])
    assert "message 1: the user calls a tool" in str(fault)
