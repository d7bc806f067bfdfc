"""Spans of Braintrust, by hand from the schema of its logs."""

import json

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations


def read(tmp_path, *records):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == ["braintrust"]
    return outcomes, [note.text for note in reader.notes]


def span(n, parents=None, kind="llm", **more):
    about = {"span_attributes": {"type": kind, "name": "chat"}, "created": f"2026-05-04T10:00:0{n}Z"}
    return {"span_id": f"s{n}", "root_span_id": "s1", "span_parents": parents, **about, **more}


ASK = {"role": "user", "content": "Ready?"}


def test_a_trace_with_a_tool_and_scores(tmp_path):
    records = [
        span(1, kind="task", input=[ASK], output="Yes.", scores={"tone": 0.5}, metadata={"session_id": "a"}),
        span(2, ["s1"], kind="tool", input={"id": 7}, output="ready"),
    ]
    records[1]["span_attributes"]["name"] = "find"
    (talk,), notes = read(tmp_path, {"events": records[::-1]})
    assert [(m.role, m.text) for m in talk.messages if m.text] == [
        ("user", "Ready?"),
        ("tool", "ready"),
        ("assistant", "Yes."),
    ]
    assert talk.messages[1].tool_calls[0].name == "find"
    assert (talk.id, talk.ratings) == ("a", ())
    assert [one["dimension"] for one in talk.metadata["evaluations"]] == ["tone"]
    assert any("scores of evaluators" in note for note in notes)


def test_what_is_no_span_is_a_fault(tmp_path):
    outcomes, _ = read(tmp_path, span(1, input=[ASK], output="Yes."), {"span_id": "x"}, 4)
    assert sum(isinstance(one, RecordFault) for one in outcomes) == 2
