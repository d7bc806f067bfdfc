"""Messages of Pydantic AI (as `all_messages_json` writes them), AutoGen and Google's ADK, by hand."""

import json

import pytest

from dialogauge.core import RecordFault, ToolCall
from dialogauge.data import read_conversations

CALL = {"part_kind": "tool-call", "tool_name": "find", "args": None, "tool_call_id": "c1"}
RETRY = {"part_kind": "retry-prompt", "tool_name": "find", "content": "No id.", "tool_call_id": "c1"}
REPLY = {"kind": "response", "parts": [{"part_kind": "text", "content": "Yes."}]}


def request(*parts):
    return {"kind": "request", "parts": list(parts)}


def said(source, kind, content):
    return {"source": source, "models_usage": None, "metadata": {}, "type": kind, "content": content}


PYDANTIC = [
    request(
        {"part_kind": "system-prompt", "content": "Be brief."},
        {"part_kind": "user-prompt", "content": "Ready?"},
    ),
    {"kind": "response", "parts": [{"part_kind": "thinking", "content": "hm"}, CALL]},
    request(RETRY),
    REPLY,
]
AUTOGEN = [
    said("user", "TextMessage", "Ready?"),
    said("shop", "ThoughtEvent", "hm"),
    said("shop", "ToolCallRequestEvent", [{"id": "c1", "name": "find", "arguments": "{}"}]),
    said(
        "shop",
        "ToolCallExecutionEvent",
        [{"call_id": "c1", "name": "find", "content": "No id.", "is_error": True}],
    ),
    said("shop", "ModelClientStreamingChunkEvent", "Ye"),
    said("shop", "TextMessage", "Yes."),
]


def read(tmp_path, value, indent=None):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(value, indent=indent))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    return outcomes, {f.format for f in reader.files.values()}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("messages", [PYDANTIC, AUTOGEN])
@pytest.mark.parametrize("wrapped", [True, False])
def test_tools_and_thoughts(tmp_path, messages, indent, wrapped):
    (talk,), formats = read(tmp_path, {"id": "a", "messages": messages} if wrapped else messages, indent)
    assert formats == {"agents"}
    spoken = [(m.role, m.text) for m in talk.messages if m.text and m.role != "system"]
    assert spoken == [("user", "Ready?"), ("tool", "No id."), ("assistant", "Yes.")]
    assert [c for m in talk.messages for c in m.tool_calls] == [ToolCall("c1", "find", "{}")]
    assert any("reasoning" in m.extra for m in talk.messages)
    assert [m.tool_call_id for m in talk.messages if m.role == "tool"] == ["c1"]


def test_a_part_of_an_unknown_kind_is_a_fault(tmp_path):
    odd = {"kind": "response", "parts": [{"part_kind": "hologram", "content": {"x": 1}}]}
    (fault,), _ = read(tmp_path, {"messages": [PYDANTIC[0], odd]})
    assert isinstance(fault, RecordFault)
    (fault,), _ = read(tmp_path, {"messages": [AUTOGEN[0], said("shop", "Hologram", "?")]})
    assert "message 2 is" in str(fault)


def test_a_session_of_the_adk(tmp_path):
    def event(author, role, *parts, **more):
        return {"author": author, "content": {"role": role, "parts": parts}, "actions": {}, **more}

    events = [
        event("user", "user", {"text": "Ready?"}),
        event("shop", "model", {"function_call": {"id": "c1", "name": "find", "args": {}}}),
        event("shop", "user", {"function_response": {"id": "c1", "name": "find", "response": {"ok": 1}}}),
        event("shop", "model", {"text": "Ye"}, partial=True),
        event("shop", "model", {"text": "Yes."}),
        {"author": "shop", "actions": {"state_delta": {}}},
    ]
    (talk,), formats = read(tmp_path, {"id": "a1", "app_name": "shop", "user_id": "u", "events": events})
    assert formats == {"parts"}
    assert [(m.role, m.text) for m in talk.messages if m.text] == [
        ("user", "Ready?"),
        ("tool", '{"ok":1}'),
        ("assistant", "Yes."),
    ]
    assert (talk.id, talk.user_id) == ("a1", "u")


@pytest.mark.parametrize("parts", [[{"part_kind": 1}], ["x"], True, [{}], {"a": 1}])
def test_parts_in_an_event_of_autogen_are_none_of_pydantics(tmp_path, parts):
    event = {**AUTOGEN[0], "parts": parts, "kind": "request"}
    (talk,), _ = read(tmp_path, {"messages": [event, *AUTOGEN[1:]]})
    assert talk.messages[0].text == AUTOGEN[0]["content"]
