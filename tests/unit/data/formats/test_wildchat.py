"""Rows of WildChat and LMSYS-Chat-1M; the samples are ours, their form that of the data sets' cards."""

import json

import pytest

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations


def message(role, content, number=7):
    own = (
        {"country": "Wales", "hashed_ip": "0a", "header": {"accept-language": "cy"}} if role == "user" else {}
    )
    return {"role": role, "content": content, "language": "English", "turn_identifier": number, **own}


WILD = {
    "conversation_hash": "9f",
    "model": "model-a",
    "timestamp": "2023-04-09T00:02:53+00:00",
    "conversation": [message("user", "Name a sour fruit."), message("assistant", "The lemon.")],
    "turn": 1,
    "language": "English",
    "toxic": False,
}
LMSYS = {
    "conversation_id": "c1",
    "model": "model-b",
    "conversation": [{"role": "user", "content": "你好"}, {"role": "assistant", "content": "你好！"}],
    "turn": 1,
    "language": "Chinese",
    "openai_moderation": [{"flagged": False}],
    "redacted": False,
}


def read(folder, *records):
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [file.format for file in reader.files.values()] == ["wildchat"]
    return outcomes, [(n.kind, n.text) for n in reader.notes]


def test_wildchat(tmp_path):
    (c,), notes = read(tmp_path, WILD)
    assert (c.id, c.candidate, c.language, c.user_id) == ("9f", "model-a", "en", "0a")
    assert [(m.role, m.text) for m in c.messages] == [
        ("user", "Name a sour fruit."),
        ("assistant", "The lemon."),
    ]
    assert c.metadata == {"timestamp": WILD["timestamp"], "turn": 1, "toxic": False}
    assert ("recognised", "users are known by their hashed address") in notes
    assert not [text for kind, text in notes if kind == "assumed"]


def test_a_hash_that_comes_again_is_told_apart(tmp_path):
    again = {**WILD, "conversation": [message("user", "Name a sour fruit.", 9)]}
    outcomes, notes = read(tmp_path, WILD, again)
    assert [c.id for c in outcomes] == ["9f", "9f_9"]
    text = "conversations have the id of one before them: more of them is added to it"
    assert ("recognised", text) in notes


def test_lmsys(tmp_path):
    (c,), _ = read(tmp_path, LMSYS)
    assert (c.id, c.candidate, c.language, c.user_id) == ("c1", "model-b", "zh", None)
    assert c.metadata == {"turn": 1, "openai_moderation": [{"flagged": False}], "redacted": False}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"conversation": []}, "no messages"),
        ({"conversation": "hi"}, "the messages are 'hi': not a list"),
        ({"conversation": [{"role": "user"}]}, "message 1 has no 'content'"),
        ({"conversation": [{"role": "cat", "content": "miaow"}]}, "unknown role 'cat'"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, change, message):
    (_, fault), _ = read(tmp_path, WILD, {**WILD, **change})
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
    assert "rows.jsonl:2" in str(fault)
