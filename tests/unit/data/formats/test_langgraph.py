"""Checkpoints of LangGraph, by hand from what its interface returns as the history of a thread."""

import json

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations

SAID = [
    {"type": kind, "content": text}
    for kind, text in (("human", "Ready?"), ("ai", "Yes."), ("human", "When?"))
]


def state(thread, n):
    config = {"configurable": {"thread_id": thread, "checkpoint_id": f"{thread}-{n}"}}
    return {
        "values": {"messages": SAID[:n]},
        "next": [],
        "config": config,
        "created_at": f"2026-05-04T10:00:0{n}Z",
    }


def test_the_states_of_two_threads(tmp_path):
    path = tmp_path / "states.json"
    states = [state("a", 3), state("b", 2), state("a", 2), state("b", 1), {"values": {}}]
    path.write_text(json.dumps(states))
    reader = read_conversations([str(path)])
    a, b, fault = sorted(reader, key=lambda one: getattr(one, "id", "z"))
    assert [(talk.id, [m.text for m in talk.messages]) for talk in (a, b)] == [
        ("a", ["Ready?", "Yes.", "When?"]),
        ("b", ["Ready?", "Yes."]),
    ]
    assert isinstance(fault, RecordFault)
    assert [f.format for f in reader.files.values()] == ["langgraph"]
