"""Lists of messages as LangChain, the Responses API and the Assistants API write them.

LangChain's are as `messages_to_dict`, `langchain_core.load.dumpd` and `model_dump` of langchain-core 1.7
wrote them; the others are by hand from OpenAI's public schemas.
"""

import json

import pytest

from dialogauge.core import Message, RecordFault, ToolCall
from dialogauge.data import read_conversations


def read_one(tmp_path, record, indent=None):
    path = tmp_path / ("a.json" if indent else "a.jsonl")
    path.write_text(json.dumps(record, indent=indent) + "\n")
    reader = read_conversations([str(path)])
    (outcome,) = list(reader)
    (file,) = reader.files.values()
    return outcome, file.format, [n.text for n in reader.notes]


CALL = {"name": "find_repair", "args": {"customer": 12}, "id": "t1", "type": "tool_call"}
BLOCKS = [
    {"type": "text", "text": "One moment."},
    {"type": "tool_use", "id": "t1", "name": "find_repair", "input": {"customer": 12}},
]
NOTHING = {"additional_kwargs": {}, "response_metadata": {}, "name": None, "id": None}
AI = {"tool_calls": [], "invalid_tool_calls": [], "usage_metadata": None}
MODEL_DUMP = [
    {"content": "You help in a bike shop.", "type": "system", **NOTHING},
    {"content": "Is my bike ready?", "type": "human", **NOTHING},
    {"content": BLOCKS, "type": "ai", **NOTHING, **AI, "tool_calls": [CALL]},
    {"content": "ready", "type": "tool", **NOTHING, "tool_call_id": "t1", "status": "success"},
    {"content": "Yes.", "type": "ai", **NOTHING, **AI},
]
CLASSES = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
LANGCHAIN = {
    "model_dump": MODEL_DUMP,
    "messages_to_dict": [{"type": m["type"], "data": m} for m in MODEL_DUMP],
    "dumpd": [
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", CLASSES[m["type"]]], "kwargs": m}
        for m in MODEL_DUMP
    ],
    "state": {"values": {"messages": MODEL_DUMP}, "next": []},
    "record": {"chat_history": MODEL_DUMP},
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("form", LANGCHAIN)
def test_langchain(form, indent, tmp_path):
    c, name, _ = read_one(tmp_path, LANGCHAIN[form], indent)
    assert name == "langchain"
    assert [m.role for m in c.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert c.messages[2].tool_calls == (ToolCall("t1", "find_repair", '{"customer":12}'),)
    assert (c.messages[2].text, c.messages[3].tool_call_id) == ("One moment.", "t1")
    assert c.turns[0].reply_text == "Yes."


def test_langchain_calls_as_openai_kept_them(tmp_path):
    kept = {"tool_calls": [{"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
    said = [
        {"type": "human", "content": "hi"},
        {"type": "ai", "content": "", "additional_kwargs": {**kept, "refusal": None}},
    ]
    c, _, _ = read_one(tmp_path, said)
    assert c.messages[1] == Message(
        "assistant",
        "",
        (ToolCall("t1", "f", "{}"),),
        extra={"additional_kwargs": {"refusal": None}},
    )


ITEMS = [
    {"role": "user", "content": [{"type": "input_text", "text": "Is my bike ready?"}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look it up."}]},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "find", "arguments": '{"customer":12}'},
    {"type": "function_call_output", "call_id": "c1", "output": "ready"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "hours"}},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Yes, until six.", "annotations": []}],
    },
]


@pytest.mark.parametrize("record", [ITEMS, {"instructions": "Be kind.", "items": ITEMS}])
def test_items_of_the_responses_api(record, tmp_path):
    c, name, _ = read_one(tmp_path, record)
    assert name == "responses"
    assert c.instructions == ("Be kind." if isinstance(record, dict) else "")
    (turn,) = c.turns
    assert [m.role for m in turn.messages] == ["user", "assistant", "tool", "assistant", "assistant"]
    assert turn.messages[1].extra["reasoning"] == [ITEMS[1]]
    assert [(s.call.id, s.call.name) for s in turn.tool_steps] == [("c1", "find"), ("ws_1", "web_search")]
    assert turn.tool_steps[0].result.text == "ready"
    assert turn.reply_text == "Yes, until six."


def test_a_page_of_items_begins_with_the_latest(tmp_path):
    page = [{**item, "id": str(n)} for n, item in enumerate(ITEMS)][::-1]
    c, _, notes = read_one(tmp_path, {"object": "list", "data": page, "has_more": False})
    assert [m.role for m in c.messages][:1] == ["user"]
    assert c.turns[0].tool_steps[0].result.text == "ready"
    assert any("results before their calls: read from the last to the first" in n for n in notes)
    said = [
        {"type": "message", "role": role, "content": [{"type": f"{way}_text", "text": role}]}
        for role, way in (("assistant", "output"), ("user", "input"))
    ]
    c, name, notes = read_one(tmp_path, {"object": "list", "data": said})
    assert (name, [m.role for m in c.messages]) == ("responses", ["user", "assistant"])
    assert any("the assistant first and the user last" in n for n in notes)
    c, _, _ = read_one(tmp_path, {"items": said})
    assert [m.role for m in c.messages] == ["assistant", "user"]


def posted(name, role, text, at):
    return {
        "id": name,
        "object": "thread.message",
        "created_at": at,
        "thread_id": "thread_1",
        "role": role,
        "content": [{"type": "text", "text": {"value": text, "annotations": []}}],
    }


THREAD = [
    posted("m4", "assistant", "At six.", 40),
    posted("m3", "user", "When do you close?", 30),
    posted("m2", "assistant", "Yes.", 30),
    posted("m1", "user", "Is my bike ready?", 10),
]
SAID = ["Is my bike ready?", "Yes.", "When do you close?", "At six."]


@pytest.mark.parametrize(
    "record",
    [THREAD, THREAD[::-1], {"object": "list", "data": THREAD}, {"id": "thread_1", "messages": THREAD}],
)
def test_threads_of_assistants_begin_with_the_first(record, tmp_path):
    c, name, notes = read_one(tmp_path, record)
    assert (name, c.id, [m.text for m in c.messages]) == ("assistants", "thread_1", SAID)
    assert any("not in order" in n for n in notes) is (record != THREAD[::-1])


TOOL = {"toolCallId": "c1", "state": "output-available", "input": {"customer": 12}, "output": "ready"}
OLD = {"state": "result", "toolCallId": "c1", "toolName": "find", "args": {"customer": 12}, "result": "ready"}
ASK = {"role": "user", "parts": [{"type": "text", "text": "Is my bike ready?"}]}
YES = {"type": "text", "text": "Yes."}
GEMINI = [
    {"role": "user", "parts": [{"text": "Is my bike ready?"}]},
    {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "find", "args": {"customer": 12}}}]},
    {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "find", "response": {"is": 1}}}]},
    {"role": "model", "parts": [{"text": "Yes."}]},
]


@pytest.mark.parametrize(
    "record",
    [
        {"id": "u1", "messages": [ASK, {"role": "assistant", "parts": [{"type": "tool-find", **TOOL}, YES]}]},
        [ASK, {"role": "assistant", "parts": [{"type": "dynamic-tool", "toolName": "find", **TOOL}, YES]}],
        [ASK, {"role": "assistant", "parts": [{"type": "tool-invocation", "toolInvocation": OLD}, YES]}],
        {"systemInstruction": {"parts": [{"text": "Be kind."}]}, "contents": GEMINI},
    ],
)
def test_messages_of_parts(record, tmp_path):
    c, name, _ = read_one(tmp_path, record)
    assert name == "parts"
    assert c.instructions == ("Be kind." if "contents" in record else "")
    (turn,) = c.turns
    (step,) = turn.tool_steps
    assert (step.call, bool(step.result.text)) == (ToolCall("c1", "find", '{"customer":12}'), True)
    assert (turn.user_text, turn.reply_text) == ("Is my bike ready?", "Yes.")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([MODEL_DUMP[0], {"type": "ai"}], "message 2 is {'type': 'ai'}: no message of a known form"),
        ([MODEL_DUMP[0], 4], "message 2 is 4"),
        ([MODEL_DUMP[1], {"type": "ai", "content": [{"type": "beam"}]}], "of the type 'beam' cannot be read"),
        ([ITEMS[0], {**ITEMS[2], "name": None}], "a tool call names no function"),
        ([THREAD[0], {**THREAD[1], "role": "cat"}], "message 2 is"),
    ],
)
def test_what_cannot_be_read_is_a_fault(record, message, tmp_path):
    fault, _, _ = read_one(tmp_path, record)
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
