"""Blocks of each provider's interface, by hand from their public schemas."""

import pytest

from dialogauge.core import Message, Place, RecordFault, ToolCall
from dialogauge.data import FieldMap
from dialogauge.data.formats.base import Context, Entry
from dialogauge.data.formats.blocks import messages_of, result_of
from dialogauge.data.notes import NoteBook
from dialogauge.data.opening import InputSource

CALL = ToolCall("c1", "find", '{"id":4}')


@pytest.fixture
def entry():
    context = Context(InputSource("log", "log", None), FieldMap(), NoteBook())
    return Entry(context, Place("log", 1), "log:1")


def said(role, blocks, entry):
    return messages_of(role, blocks, 1, entry)


@pytest.mark.parametrize(
    "block",
    [
        "hi",
        {"type": "text", "text": "hi"},
        {"type": "output_text", "text": "hi", "annotations": []},
        {"type": "text", "content": "hi"},
        {"type": "text", "text": {"value": "hi", "annotations": []}},
        {"type": "refusal", "refusal": "hi"},
        {"text": "hi"},
        {"text": "hi", "function_call": None},
        {"guardContent": {"text": {"text": "hi"}}},
        {"type": "markdown", "text": "hi"},
    ],
)
def test_texts(block, entry):
    (message,) = said("assistant", [block], entry)
    assert (message.text, message.tool_calls) == ("hi", ())


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use", "id": "c1", "name": "find", "input": {"id": 4}},
        {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"id": 4}},
        {"type": "tool_call", "id": "c1", "name": "find", "args": {"id": 4}},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "find", "input": {"id": 4}},
        {"type": "tool-find", "toolCallId": "c1", "state": "input-available", "input": {"id": 4}},
        {"type": "function_call", "id": "fc", "call_id": "c1", "name": "find", "arguments": '{"id":4}'},
        {"toolUse": {"toolUseId": "c1", "name": "find", "input": {"id": 4}}},
        {"functionCall": {"id": "c1", "name": "find", "args": {"id": 4}}},
        {"text": None, "function_call": {"id": "c1", "name": "find", "args": {"id": 4}}},
    ],
)
def test_calls(block, entry):
    assert said("assistant", [block], entry) == [Message("assistant", None, (CALL,))]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "tool_result", "tool_use_id": "c1", "content": "4 left"}, "4 left"),
        ({"type": "tool_result", "tool_use_id": "c1"}, ""),
        ({"type": "tool_call_response", "id": "c1", "response": {"left": 4}}, '{"left":4}'),
        ({"type": "tool_call_response", "id": "c1", "result": "4 left"}, "4 left"),
        (
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "find",
                "output": {"type": "json", "value": {"left": 4}},
            },
            '{"left":4}',
        ),
        ({"type": "function_call_output", "call_id": "c1", "output": "4 left"}, "4 left"),
        (
            {"toolResult": {"toolUseId": "c1", "content": [{"json": {"left": 4}}], "status": "success"}},
            '[{"json":{"left":4}}]',
        ),
        ({"functionResponse": {"id": "c1", "name": "find", "response": {"left": 4}}}, '{"left":4}'),
        ({"type": "mcp_tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "4"}]}, "4"),
    ],
)
@pytest.mark.parametrize("role", ["user", "tool", "assistant"])
def test_results(block, text, role, entry):
    (message,) = said(role, [block], entry)
    assert (message.role, message.text, message.tool_call_id) == ("tool", text, "c1")


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "image_url", "image_url": {"url": "x"}}, "[image_url]"),
        ({"type": "image", "source": {"type": "url", "url": "x"}}, "[image]"),
        ({"type": "input_audio", "input_audio": {}}, "[input_audio]"),
        ({"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGk="}, "[blob]"),
        ({"type": "document", "text": "hidden", "source": {}}, "[document]"),
        ({"inlineData": {"mimeType": "image/png", "data": "aGk="}}, "[inlineData]"),
        ({"image": {"format": "png"}}, "[image]"),
    ],
)
def test_media_are_shown_by_their_kind(block, text, entry):
    (message,) = said("user", [{"type": "text", "text": "Look:"}, block], entry)
    assert message.text == f"Look:\n{text}"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "reasoning", "content": "hm"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"reasoningContent": {"reasoningText": {"text": "hm"}}},
        {"text": "hm", "thought": True},
    ],
)
def test_thoughts_are_kept_and_not_said(block, entry):
    (message,) = said("assistant", [block, {"text": "Six."}, {"cachePoint": {"type": "default"}}], entry)
    assert (message.text, message.extra) == ("Six.", {"reasoning": [block]})


def test_a_call_of_the_provider_may_hold_its_result(entry):
    block = {"type": "mcp_call", "id": "c1", "name": "find", "arguments": '{"id":4}', "output": "4 left"}
    assert said("assistant", [block, {"type": "output_text", "text": "Four."}], entry) == [
        Message("assistant", None, (CALL,)),
        Message("tool", "4 left", tool_call_id="c1", name="find"),
        Message("assistant", ({"type": "output_text", "text": "Four."},)),
    ]
    searched = {"type": "web_search_call", "id": "w1", "action": {"type": "search", "query": "tide"}}
    (message,) = said("assistant", [searched], entry)
    assert message.tool_calls == (ToolCall("w1", "web_search", '{"type":"search","query":"tide"}'),)


def test_no_blocks_are_an_empty_message(entry):
    assert said("assistant", [], entry) == [Message("assistant", ())]


@pytest.mark.parametrize("block", [{"type": "text"}, {"type": "x", "y": 1}, {}, {"text": 3}, None, 4, []])
def test_unknown_blocks_are_faults(block, entry):
    with pytest.raises(RecordFault, match="a content part"):
        said("user", [block], entry)


def test_what_a_tool_returns_is_text_parts_or_json(entry):
    assert result_of("a", 1, entry) == "a"
    assert result_of({"a": None}, 1, entry) == '{"a":null}'
    assert result_of([{"price": 3}], 1, entry) == '[{"price":3}]'
    assert result_of([{"type": "text", "text": "a"}], 1, entry) == ({"type": "text", "text": "a"},)
