"""Dialogues of AutoTOD."""

import json

import pytest

from dialogauge.core import Rating
from dialogauge.data import read_conversations

TURN = {
    "user": "a hotel?",
    "db_calls": [
        {"name": "query_hotels", "arguments": {"area": "any"}, "result": {"n": 2}},
        {"name": "query_hotels"},
    ],
    "response": "Which area?",
    "delex_response": "which AREA?",
    "state": {"hotel": {}},
    "active_domains": ["hotel"],
}
DIALOGUE = {
    "dialogue": "sng1",
    "turns": [TURN],
    "evaluator_goal": {"hotel": {"informable": {}, "requestable": []}},
    "booked_domains_gold": [[]],
    "online_inform": 1,
    "reference": [{"agent": "Where?"}],
}


def read(path, *records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return list(read_conversations([str(path)]))


def test_a_dialogue(tmp_path):
    (c,) = read(tmp_path / "a.jsonl", DIALOGUE)
    assert [(m.role, m.text) for m in c.messages] == [
        ("user", "a hotel?"),
        ("assistant", ""),
        ("tool", '{"n":2}'),
        ("assistant", ""),
        ("assistant", "Which area?"),
    ]
    assert [call.id for m in c.messages for call in m.tool_calls] == ["1.1", "1.2"]
    assert c.messages[1].tool_calls[0].arguments == '{"area":"any"}'
    assert (c.id, c.scenario, c.ratings) == (
        "sng1",
        "hotel",
        (Rating("sng1", "online_inform", 1, rater="environment"),),
    )
    assert c.metadata["readings"] == [
        {"delexicalised": "which AREA?", "state": {"hotel": {}}, "active": ["hotel"]}
    ]
    assert c.metadata["references"] == ["Where?"]
    assert "AREA" not in repr(c.blinded())


@pytest.mark.parametrize(
    "turn", ["hello", {**TURN, "db_calls": None}, {**TURN, "response": 3}, {**TURN, "db_calls": ["query"]}]
)
def test_a_turn_that_cannot_be_read_is_a_fault_with_its_place(tmp_path, turn):
    first, fault = read(tmp_path / "a.jsonl", DIALOGUE, {**DIALOGUE, "dialogue": "x", "turns": [TURN, turn]})
    assert first.id == "sng1"
    assert "a.jsonl:2" in str(fault)
    assert "message 2" in str(fault)
