"""ChatGPT exports; the sample is ours, its form that of `conversations.json` as of 2025."""

import json
import zipfile

import pytest

from dialogauge.core import FileFault, Message, Rating, RecordFault, ToolCall
from dialogauge.data import read_conversations


def node(name, parent, role=None, *parts, kind="text", author=None, body=None, **more):
    if role is None:
        return {name: {"id": name, "parent": parent, "children": [], "message": None}}
    content = body or {"content_type": kind, "parts": list(parts)}
    message = {"id": name, "author": {"role": role, "name": author}, "content": content, **more}
    return {name: {"id": name, "parent": parent, "children": [], "message": message}}


HIDDEN = {"is_visually_hidden_from_conversation": True}
ABOUT_ME = {
    "content_type": "user_editable_context",
    "user_profile": "I bake.",
    "user_instructions": "Be brief.",
}
TREE = {
    **node("root", None),
    **node("sys", "root", "system", "", metadata=HIDDEN),
    **node("me", "sys", "user", body=ABOUT_ME, metadata=HIDDEN),
    **node("u1", "me", "user", "How much flour?", create_time=1.0),
    **node("a0", "u1", "assistant", "A cup.", create_time=2.0),
    **node("call", "u1", "assistant", body={"content_type": "code", "text": "3 * 125"}, recipient="python"),
    **node("out", "call", "tool", author="python", body={"content_type": "execution_output", "text": "375"}),
    **node("think", "out", "assistant", body={"content_type": "thoughts", "thoughts": [{"content": "Hm"}]}),
    **node("gap", "think", "assistant", ""),
    **node("a1", "gap", "assistant", "375 g.", create_time=3.0, metadata={"model_slug": "model-a"}),
    **node("u2", "a1", "user", {"content_type": "image_asset_pointer"}, "This one?", kind="multimodal_text"),
    **node("a2", "u2", "assistant", "Yes.", metadata={"model_slug": "model-b"}),
}
EXPORT = {"conversation_id": "g1", "title": "Flour", "current_node": "a2", "mapping": TREE}


def read(folder, *records, name="conversations.json"):
    path = folder / name
    path.write_text(json.dumps(records), encoding="utf-8")
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [file.format for file in reader.files.values()] == ["chatgpt"]
    return outcomes, [(n.text, n.count) for n in reader.notes]


def said(conversation):
    return [(m.role, m.text) for m in conversation.messages]


def test_the_branch_that_is_shown(tmp_path):
    (c,), notes = read(tmp_path, EXPORT)
    assert (c.id, c.candidate, c.metadata) == ("g1", "model-a+model-b", {"title": "Flour"})
    assert said(c) == [
        ("system", "I bake.\nBe brief."),
        ("user", "How much flour?"),
        ("assistant", ""),
        ("tool", "375"),
        ("assistant", "375 g."),
        ("user", "[image]\nThis one?"),
        ("assistant", "Yes."),
    ]
    assert c.messages[2].tool_calls == (ToolCall("call", "python", "3 * 125"),)
    assert (c.messages[3].tool_call_id, c.messages[3].name) == ("call", "python")
    assert c.messages[1] == Message("user", "How much flour?", extra={"id": "u1", "create_time": 1.0})
    assert len(c.replied_turns) == 2
    texts = [text for text, _ in notes]
    assert "messages were left out: regenerated or edited, and on no branch that was shown" in texts
    assert "messages were left out: reasoning that the user did not read, and steps that say nothing" in texts
    assert "conversations have context that nobody typed: read as a system message" in texts


def test_without_a_current_node_the_latest_message_ends_the_branch(tmp_path):
    tree = {name: TREE[name] for name in ("root", "sys", "me", "u1", "a0")} | node(
        "late", "u1", "assistant", "Two cups.", create_time=9
    )
    (c,), notes = read(tmp_path, {"id": "g2", "mapping": tree})
    assert c.id == "g2"
    assert said(c)[-1] == ("assistant", "Two cups.")
    assert ("conversations do not say which branch is shown: the latest message ends it", 1) in notes


def test_thumbs_become_ratings_of_their_turns(tmp_path):
    rows = [
        {"id": "a2", "conversation_id": "g1", "rating": "thumbs_down"},
        {"id": "a0", "conversation_id": "g1", "rating": "thumbs_up"},
        {"id": "a2", "conversation_id": "other", "rating": "thumbs_up"},
        {"id": 4, "conversation_id": None},
        "nothing",
    ]
    (tmp_path / "message_feedback.json").write_text(json.dumps(rows))
    (c,), notes = read(tmp_path, EXPORT)
    assert c.ratings == (Rating("g1", "feedback", "thumbs_down", 2),)
    assert ("conversations have thumbs in message_feedback.json: read as ratings of their turns", 1) in notes
    assert ("conversations have thumbs on messages that are not shown: not used", 1) in notes


def test_an_export_as_it_is_downloaded(tmp_path):
    path = tmp_path / "export.zip"
    rows = [{"id": "a2", "conversation_id": "g1", "rating": "thumbs_up"}]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([EXPORT]))
        archive.writestr("message_feedback.json", json.dumps(rows))
        archive.writestr("user.json", '{"id": "u"}')
        archive.writestr("chat.html", "<html>")
    reader = read_conversations([str(path)])
    (c,) = reader
    assert c.ratings == (Rating("g1", "feedback", "thumbs_up", 2),)
    assert [n.count for n in reader.notes if "not recognised as conversations" in n.text] == [2]


@pytest.mark.parametrize("text", ["{", "{}"])
def test_feedback_that_cannot_be_read_is_a_fault(tmp_path, text):
    (tmp_path / "message_feedback.json").write_text(text)
    with pytest.raises(FileFault, match=r"message_feedback\.json: the thumbs"):
        read(tmp_path, EXPORT)


def test_an_empty_chat_is_absent(tmp_path):
    (c,), notes = read(tmp_path, {"id": "e", "current_node": "root", "mapping": node("root", None)})
    assert c.messages == ()
    assert ("conversations have no messages: counted as absent, not judged", 1) in notes


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"a": 4}, "message 1 is 4: not an object"),
        ({"a": {"parent": "b", "message": None}, "b": {"parent": "a", "message": None}}, "lead back to it"),
        (node("a", None, "robot", "hi"), "message 1 has the unknown role 'robot'"),
        (node("a", None, ["user"], "hi"), "message 1 has the unknown role ['user']"),
        (node("a", None, "user", body=4), "message 1: the content is 4"),
        (node("a", None, "user", 4), "message 1 says [4]: no text"),
        (node("a", None, "assistant", body={"content_type": "hologram"}), "of the unknown type 'hologram'"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, tree, message):
    good = {**EXPORT, "conversation_id": "good"}
    (fault, c), _ = read(tmp_path, {"id": "bad", "current_node": "a", "mapping": tree}, good)
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
    assert "record 1" in str(fault)
    assert c.id == "good"
