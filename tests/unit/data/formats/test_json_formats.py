"""ShareGPT, the card's own form, lists of turns."""

import json

import pytest

from dialogauge.core import Message, Rating, RecordFault, ToolCall
from dialogauge.data import read_conversations


def read_one(tmp_path, value, name="a.jsonl"):
    path = tmp_path / name
    path.write_text(json.dumps(value) + "\n", encoding="utf-8")
    reader = read_conversations([str(path)])
    (outcome,) = list(reader)
    (file,) = reader.files.values()
    return outcome, file.format, [n.text for n in reader.notes if n.kind == "assumed"]


def test_sharegpt(tmp_path):
    said = [
        ("human", "hi"),
        ("function_call", '{"name": "f", "arguments": {"x": 1}}'),
        ("observation", "42"),
        ("gpt", "It is 42."),
    ]
    record = {
        "id": "s",
        "system": "Be brief.",
        "conversations": [{"from": f, "value": v} for f, v in said],
        "source": "web",
    }
    c, name, assumed = read_one(tmp_path, record)
    assert name == "sharegpt"
    assert c.messages == (
        Message("system", "Be brief."),
        Message("user", "hi"),
        Message("assistant", None, (ToolCall("call_2", "f", '{"x":1}'),)),
        Message("tool", "42", tool_call_id="call_2"),
        Message("assistant", "It is 42."),
    )
    assert c.metadata == {"source": "web"}
    assert assumed == []


@pytest.mark.parametrize(
    "record",
    [
        {"conversations": [], "system": "Be brief."},
        {"messages": [], "system": "Be very brief."},
        {"dialogue": [], "scenario_description": "Support."},
    ],
)
def test_a_record_without_messages_is_absent_and_no_fault(tmp_path, record):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "c", "rating": 1, **record}) + "\n", encoding="utf-8")
    reader = read_conversations([str(path)])
    (c,) = reader
    assert (c.id, c.messages, len(c.ratings)) == ("c", (), 1)
    assert "conversations have no messages: counted as absent, not judged" in [n.text for n in reader.notes]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            [{"from": "human", "value": "a"}, {"from": "cat", "value": "b"}],
            "message 2 has the unknown role 'cat'",
        ),
        ([{"from": "human", "value": 4}], "message 1: the content is 4"),
        ([{"from": "human", "value": "x"}, {"from": "gpt"}], "message 2 has no 'value'"),
    ],
)
def test_bad_sharegpt(tmp_path, said, message):
    fault, _, _ = read_one(tmp_path, {"conversations": said})
    assert isinstance(fault, RecordFault)
    assert message in str(fault)


CARD = [
    {"turn": 1, "role": "user", "text": "Where is my order?"},
    {"turn": 1, "role": "assistant", "text": "Which number?"},
    {"turn": 2, "role": "user", "text": "4421."},
    {"turn": 2, "role": "assistant", "text": "On its way.", "rating": 4},
]


def test_the_card_form(tmp_path):
    c, name, assumed = read_one(tmp_path, {"scenario_description": "Support.", "dialogue": CARD, "id": "k"})
    assert (name, c.context, len(c.turns)) == ("card", "Support.", 2)
    assert all(not m.extra for m in c.messages)
    assert c.ratings == (Rating("k", "rating", 4, 2),)
    assert assumed == []


@pytest.mark.parametrize("indent", [None, 2])
def test_a_bare_card_list_in_one_file(tmp_path, indent):
    path = tmp_path / "case.json"
    path.write_text(json.dumps(CARD, indent=indent))
    (c,) = list(read_conversations([str(path)]))
    assert [m.text for m in c.messages] == [m["text"] for m in CARD]


def test_bare_card_lists_line_by_line(tmp_path):
    path = tmp_path / "case.jsonl"
    path.write_text(json.dumps(CARD) + "\n" + json.dumps(CARD[:2]) + "\n")
    assert [len(c.messages) for c in read_conversations([str(path)])] == [4, 2]


def test_turn_numbers_that_differ_are_told(tmp_path):
    counted = [{**m, "turn": i} for i, m in enumerate(CARD, start=1)]
    c, _, assumed = read_one(tmp_path, {"dialogue": counted, "scenario_description": "", "id": "k"})
    assert len(c.turns) == 2
    assert len(assumed) == 1
    assert "number their turns differently" in assumed[0]


def test_deepeval_turns(tmp_path):
    record = {
        "name": "case",
        "scenario": "A user wants a refund.",
        "expected_outcome": "Refund given.",
        "turns": [{"role": "user", "content": "Refund!"}, {"role": "assistant", "content": "Done."}],
    }
    c, name, _ = read_one(tmp_path, record)
    assert (name, c.context, c.scenario) == ("turns", "A user wants a refund.", None)
    assert c.metadata == {"name": "case", "expected_outcome": "Refund given."}


def test_other_lists_with_common_role_names(tmp_path):
    said = [{"speaker": "Human", "text": "a"}, {"speaker": "bot", "text": "b"}]
    c, name, assumed = read_one(tmp_path, {"id": "d", "dialog": said})
    assert name == "turns"
    assert [m.role for m in c.messages] == ["user", "assistant"]
    assert assumed == [
        "messages have the role 'Human': read as user",
        "messages have the role 'bot': read as assistant",
    ]


def test_speakers_of_sharegpt_by_other_names(tmp_path):
    said = [
        ("Human", "hi"),
        ("tool_call", '{"name": "f", "arguments": {}}'),
        ("tool_response", "1"),
        ("GPT", "yo"),
    ]
    c, name, assumed = read_one(
        tmp_path, {"id": "v", "conversations": [{"from": f, "value": v} for f, v in said]}
    )
    assert (name, assumed) == ("sharegpt", [])
    assert [m.role for m in c.messages] == ["user", "assistant", "tool", "assistant"]
    assert c.messages[1].tool_calls == (ToolCall("call_2", "f", "{}"),)
    assert c.messages[2].tool_call_id == "call_2"


@pytest.mark.parametrize("key", ["conversations", "items"])
def test_variants_of_sharegpt(tmp_path, key):
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    c, name, assumed = read_one(tmp_path, {"id": "v", key: said})
    assert (name, assumed) == ("turns", [])
    assert [(m.role, m.text) for m in c.messages] == [("user", "hi"), ("assistant", "hello")]


def nested(depth):
    return "[" * depth + "1" + "]" * depth


def test_sharegpt_with_something_else_under_a_key_of_ours(tmp_path):
    from dialogauge.runs.records import decode_conversation, encode_conversation

    said = [{"from": "human", "value": "hi", "tool_calls": "x", "name": 5, "content": 1}]
    c, _, _ = read_one(tmp_path, {"conversations": said})
    assert c.messages[0].extra == {"tool_calls": "x", "name": 5, "content": 1}
    assert c.messages[0].to_openai() == {"role": "user", "content": "hi"}
    assert decode_conversation(encode_conversation(c)) == c


def test_a_sharegpt_call_that_is_nested_without_end_stays_text(tmp_path):
    value = f'{{"name": "f", "arguments": {nested(400)}}}'
    c, _, _ = read_one(tmp_path, {"conversations": [{"from": "function_call", "value": value}]})
    assert c.messages[0].tool_calls == (ToolCall("call_1", "", value),)


@pytest.mark.parametrize("key", ["turns", "utterances", "transcript", "transcript_object", "messages"])
def test_names_of_roles_in_capitals_and_a_system_that_replies(tmp_path, key):
    said = [{"speaker": who, "utterance": text} for who, text in (("USER", "Ready?"), ("SYSTEM", "Yes."))]
    if key == "messages":
        said = [{"role": one["speaker"], "message": one["utterance"]} for one in said]
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"id": "a", key: said}) + "\n")
    reader = read_conversations([str(path)])
    (talk,) = reader
    assert [(m.role, m.text) for m in talk.messages] == [("user", "Ready?"), ("assistant", "Yes.")]
    assert any("a system that replies, and no assistant" in note.text for note in reader.notes)
    assert any("have the role 'USER': read as user" in note.text for note in reader.notes)
