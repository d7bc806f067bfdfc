"""Traces of OpenAI's Agents SDK, by hand from what its spans export."""

import json

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations

ASK = {"role": "user", "content": "Ready?"}


def trace(name, group="g"):
    return {
        "object": "trace",
        "id": name,
        "workflow_name": "shop",
        "group_id": group,
        "metadata": {"user_id": "u"},
    }


def span(n, trace_id, **data):
    at = f"2026-05-04T10:00:0{n}.000000+00:00"
    about = {"object": "trace.span", "id": f"s{n}", "trace_id": trace_id, "parent_id": None, "started_at": at}
    return {**about, "span_data": data}


def read(tmp_path, *records):
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == ["openai-agents"]
    return outcomes


def test_the_traces_of_a_group_are_one_conversation(tmp_path):
    reply = {"role": "assistant", "content": "Yes."}
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "At six."}]}
    asked = [ASK, reply, {"role": "user", "content": "When?"}]
    (talk,) = read(
        tmp_path,
        trace("t2"),
        span(3, "t2", type="response", input=asked, response={"output": [item], "model": "m"}),
        trace("t1"),
        span(1, "t1", type="agent", name="shop"),
        span(2, "t1", type="generation", input=[ASK], output=[reply], model="m"),
    )
    assert [m.text for m in talk.messages] == ["Ready?", "Yes.", "When?", "At six."]
    assert (talk.id, talk.user_id, talk.candidate) == ("g", "u", "m")


def test_what_holds_no_contents_is_a_fault(tmp_path):
    outcomes = read(tmp_path, trace("t1"), span(1, "t1", type="response", response_id="r"), {"id": "x"}, 4)
    assert all(isinstance(one, RecordFault) for one in outcomes)
    assert any("holds no message that can be read" in str(one) for one in outcomes)


def test_span_data_of_another_kind_is_refused(tmp_path):
    good = [trace("t"), span(1, "t", type="generation", input=[ASK], output=[ASK | {"role": "assistant"}])]
    for record in (trace("x"), span(2, "x")):
        for value in (4.5, 0, True, "x", [], [{}]):
            fault, talk = read(tmp_path, *good, record | {"span_data": value})
            assert len(talk.turns) == 1
            assert isinstance(fault, RecordFault)
            assert "no trace and no span" in fault.message
            assert fault.place.line == 3
