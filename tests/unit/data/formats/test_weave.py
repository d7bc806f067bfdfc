"""Calls of Weave, by hand from its public schema of calls and feedback."""

import json

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations


def read(tmp_path, *records):
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == ["weave"]
    return outcomes


def call(name, operation, second, asked, replied, parent=None, trace="t1", **more):
    return {
        "id": name,
        "op_name": f"weave:///team/project/op/{operation}:v1",
        "trace_id": trace,
        "parent_id": parent,
        "thread_id": "th1",
        "started_at": f"2026-05-04T10:00:{second:02}Z",
        "inputs": {"self": "object", **asked},
        "output": replied,
        "attributes": {"user_id": "u7"},
        **more,
    }


ASK = {"role": "user", "content": "Is my bike ready?"}
READY = {"role": "assistant", "content": "Yes."}
MODEL = call(
    "b",
    "openai.chat.completions.create",
    2,
    {"model": "model-a", "messages": [{"role": "system", "content": "Be kind."}, ASK]},
    {"id": "c1", "choices": [{"message": READY}]},
    "a",
)
FEEDBACK = [
    {"feedback_type": "wandb.reaction.1", "payload": {"emoji": "👍"}, "creator": "kim"},
    {"feedback_type": "wandb.annotation.tone", "payload": {"value": 4}, "creator": "kim"},
    {"feedback_type": "wandb.runnable.safe", "payload": {"output": True}},
    {"feedback_type": "wandb.note.1", "payload": {"note": "Look."}},
]
ROOT = call(
    "a", "answer", 1, {"question": "Is my bike ready?"}, "Yes.", summary={"weave": {"feedback": FEEDBACK}}
)


def test_calls_of_a_thread_in_any_order(tmp_path):
    later = call("z", "answer", 20, {"question": "When do you close?"}, {"answer": "At six."}, trace="t2")
    for records in ([later, MODEL, ROOT], [{"calls": [later, MODEL, ROOT]}]):
        (c,) = read(tmp_path, *records)
        assert (c.id, c.user_id, c.candidate, c.instructions) == ("th1", "u7", "model-a", "Be kind.")
        assert [(t.user_text, t.reply_text) for t in c.turns] == [
            ("Is my bike ready?", "Yes."),
            ("When do you close?", "At six."),
        ]
        assert [(r.dimension, r.score, r.turn, r.rater) for r in c.ratings] == [
            ("reaction", "👍", 1, "kim"),
            ("tone", 4, 1, "kim"),
        ]
        assert [e["dimension"] for e in c.metadata["evaluations"]] == ["safe"]


def test_what_cannot_be_read_is_a_fault(tmp_path):
    silent = call("y", "load", 3, {}, None, trace="t3", thread_id=None)
    outcomes = read(tmp_path, MODEL, silent, {"op_name": "x"}, 4)
    assert sorted(o.message for o in outcomes if isinstance(o, RecordFault)) == [
        "the call is {'op_name': 'x'}: it has no 'trace_id'",
        "the record is 4: no call of weave",
        "the trace holds no message that can be read",
    ]
