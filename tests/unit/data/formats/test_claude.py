"""Claude exports; the samples are ours, their form that of `conversations.json` as of 2026."""

import json

import pytest

from dialogauge.core import RecordFault, ToolCall
from dialogauge.data import read_conversations

ROOT = "00000000-0000-4000-8000-000000000000"


def message(uuid, sender, *blocks, parent=None, text="", **more):
    tree = {"parent_message_uuid": parent} if parent else {}
    own = {"uuid": uuid, "sender": sender, "text": text, "created_at": f"2026-01-01T00:00:0{uuid}Z"}
    return {**own, "content": list(blocks), "attachments": [], "files": [], **tree, **more}


def text(said):
    return {"start_timestamp": "t", "type": "text", "text": said, "citations": []}


USE = {
    "type": "tool_use",
    "id": "t1",
    "name": "web_search",
    "input": {"query": "rye"},
    "message": "Searching",
}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "name": "web_search", "content": [text("60 minutes")]}
CHAT = {
    "uuid": "c1",
    "name": "Bread",
    "summary": "",
    "account": {"uuid": "u1"},
    "chat_messages": [
        message("1", "human", text("How long does rye bake?"), parent=ROOT),
        message("2", "assistant", text("Ten minutes."), parent="1"),
        message(
            "3",
            "assistant",
            {"type": "thinking", "thinking": "Hm"},
            text("I look."),
            USE,
            {"type": "token_budget", "remaining": None},
            RESULT,
            text("An hour."),
            parent="1",
        ),
        message("4", "human", text("Thanks"), parent="3"),
    ],
}


def read(folder, *records):
    path = folder / "conversations.json"
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [file.format for file in reader.files.values()] == ["claude"]
    return outcomes, [(n.text, n.count) for n in reader.notes]


def said(conversation):
    return [(m.role, m.text) for m in conversation.messages]


def test_the_branch_that_is_shown(tmp_path):
    (c,), notes = read(tmp_path, CHAT)
    assert (c.id, c.user_id, c.metadata) == ("c1", "u1", {"name": "Bread"})
    assert said(c) == [
        ("user", "How long does rye bake?"),
        ("assistant", "I look."),
        ("tool", "60 minutes"),
        ("assistant", "An hour."),
        ("user", "Thanks"),
    ]
    assert c.messages[1].tool_calls == (ToolCall("t1", "web_search", '{"query":"rye"}'),)
    assert (c.messages[2].tool_call_id, c.messages[2].name) == ("t1", "web_search")
    assert c.messages[0].extra == {"uuid": "1", "created_at": "2026-01-01T00:00:01Z"}
    text = "messages were left out: regenerated or edited, and on no branch that was shown"
    assert (text, 1) in notes


def test_an_older_export_has_texts_in_a_row(tmp_path):
    rows = [
        {"uuid": "1", "sender": "human", "text": "Hi"},
        {"uuid": "2", "sender": "assistant", "text": "Hello", "content": []},
        {"uuid": "3", "sender": "human", "text": "Bye", "content": [{"type": "text", "text": ""}]},
    ]
    (c,), _ = read(tmp_path, {**CHAT, "chat_messages": rows})
    assert said(c) == [("user", "Hi"), ("assistant", "Hello"), ("user", "Bye")]


def test_files_belong_to_the_message(tmp_path):
    own = {
        "attachments": [{"file_name": "a.csv", "extracted_content": "x,y"}],
        "files": [{"file_name": "b.png"}],
    }
    (c,), _ = read(tmp_path, {**CHAT, "chat_messages": [message("1", "human", text="Sum up.", **own)]})
    assert said(c) == [("user", "Sum up.\n[a.csv]\nx,y\n[file]")]


def test_an_empty_chat_is_absent(tmp_path):
    (c,), notes = read(tmp_path, {**CHAT, "chat_messages": []})
    assert c.messages == ()
    assert ("conversations have no messages: counted as absent, not judged", 1) in notes


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([4], "message 1 is 4: not an object"),
        ([{"sender": "robot", "text": "hi"}], "unknown role 'robot'"),
        ([{"text": "hi"}], "it does not say who speaks"),
        ([{"sender": "human", "text": 4}], "message 1 says 4: no text"),
        ([{"sender": "human", "content": [{"type": "hologram"}]}], "of the type 'hologram' cannot be read"),
        (
            [message("1", "human", text("a"), parent="2"), message("2", "human", text("b"), parent="1")],
            "each message is followed by another",
        ),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, messages, fault):
    (bad, c), _ = read(tmp_path, {**CHAT, "uuid": "bad", "chat_messages": messages}, CHAT)
    assert isinstance(bad, RecordFault)
    assert fault in str(bad)
    assert c.id == "c1"
