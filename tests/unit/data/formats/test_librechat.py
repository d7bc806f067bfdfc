"""What LibreChat exports."""

import json

import pytest

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations

ROOT = "00000000-0000-0000-0000-000000000000"


def message(id, parent, text, *, user=False, minute=0, **more):
    return {
        "messageId": id,
        "parentMessageId": parent,
        "conversationId": "c9",
        "sender": "User" if user else "model-a",
        "isCreatedByUser": user,
        "text": text,
        "createdAt": f"2026-01-01T10:{minute:02}:00Z",
        **more,
    }


PARTS = [
    {"type": "think", "think": "Leeks?"},
    {"type": "tool_call", "tool_call": {"id": "t1", "name": "find", "args": "{}", "output": "leeks"}},
    {"type": "text", "text": {"value": "Use leeks."}},
]
ASKED, SOUP = message("1", ROOT, "A soup?", user=True), message("2", "1", "Lentil soup.", minute=1)
STEW = message("2b", "1", "Stew.", minute=2, feedback={"rating": "thumbsUp"})
AGAIN = message("3", "2b", "Without onions?", user=True, minute=3)
LEEKS = message("4", "3", "", minute=4, content=PARTS)


def read(tmp_path, messages, **more):
    record = {"conversationId": "c9", "title": "Soup", "options": {"model": "model-a"}, "messages": messages}
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({**record, **more}), encoding="utf-8")
    reader = read_conversations([str(path)])
    return list(reader), [note.text for note in reader.notes]


def nested(*chain):
    first, *rest = chain
    inner = [nested(*rest)] if rest else []
    return {**{k: v for k, v in first.items() if k != "parentMessageId"}, "children": inner}


@pytest.mark.parametrize("tree", [False, True])
def test_the_latest_branch(tmp_path, tree):
    flat = [ASKED, SOUP, STEW, AGAIN, LEEKS]
    whole = nested(ASKED, STEW, AGAIN, LEEKS)
    whole["children"].insert(0, nested(SOUP))
    (talk,), notes = read(tmp_path, [whole] if tree else flat)
    assert [(m.role, m.text) for m in talk.messages if m.text] == [
        ("user", "A soup?"),
        ("assistant", "Stew."),
        ("user", "Without onions?"),
        ("tool", "leeks"),
        ("assistant", "Use leeks."),
    ]
    assert [call.name for m in talk.messages for call in m.tool_calls] == ["find"]
    assert [(r.dimension, r.score, r.turn) for r in talk.ratings] == [("feedback", "up", 1)]
    assert (talk.id, talk.candidate, talk.metadata["title"]) == ("c9", "model-a", "Soup")
    assert any("regenerated or edited" in note for note in notes)


def test_its_prompt_and_messages_without_parents(tmp_path):
    rows = [{k: v for k, v in m.items() if k != "parentMessageId"} for m in (ASKED, SOUP)]
    (talk,), _ = read(tmp_path, rows, options={"promptPrefix": "Be brief."})
    assert [m.text for m in talk.messages] == ["Be brief.", "A soup?", "Lentil soup."]


def test_messages_that_lead_back_to_each_other(tmp_path):
    (fault,), _ = read(tmp_path, [message("1", "2", "a", user=True), message("2", "1", "b")])
    assert isinstance(fault, RecordFault)
