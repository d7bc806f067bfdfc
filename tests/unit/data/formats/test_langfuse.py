"""Traces of Langfuse, by hand from its public interface (traces, sessions, observations, scores)."""

import json

from dialogauge.core import Message, RecordFault, ToolCall
from dialogauge.data import read_conversations


def read(tmp_path, *records, indent=None):
    path = tmp_path / "export.jsonl"
    path.write_text("".join(json.dumps(r, indent=indent) + "\n" for r in records))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == ["langfuse"]
    return outcomes, [n.text for n in reader.notes]


def at(second):
    return f"2026-05-04T10:00:{second:02}.000Z"


SYSTEM = {"role": "system", "content": "You help in a bike shop."}
ASK = {"role": "user", "content": "Is my bike ready?"}
CALLING = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
}
FOUND = {"role": "tool", "tool_call_id": "c1", "content": "ready"}
READY = {"role": "assistant", "content": "Yes, it is ready."}


def observation(name, kind, second, asked, replied, parent="o0", **more):
    return {
        "id": name,
        "traceId": "t1",
        "type": kind,
        "name": name,
        "startTime": at(second),
        "parentObservationId": parent,
        "input": asked,
        "output": replied,
        **more,
    }


FIRST = observation("o1", "GENERATION", 2, [SYSTEM, ASK], CALLING, model="model-a")
TOOL = observation("o2", "TOOL", 3, {"customer": 12}, "ready")
LAST = observation("o3", "GENERATION", 4, [SYSTEM, ASK, CALLING, FOUND], READY, model="model-a")
TITLE = observation(
    "o4", "GENERATION", 5, [{"role": "user", "content": "A title for: Is my bike ready?"}], "Bike"
)
ROOT = observation("o0", "SPAN", 1, {"question": "Is my bike ready?"}, {"answer": "Yes, it is ready."}, None)


def score(name, value, **more):
    return {"id": f"s-{name}", "name": name, "value": value, "dataType": "NUMERIC", "source": "API", **more}


TRACE = {
    "id": "t1",
    "timestamp": at(0),
    "name": "chat",
    "input": "Is my bike ready?",
    "output": "Yes, it is ready.",
    "sessionId": None,
    "userId": "u7",
    "tags": ["web"],
    "htmlPath": "/project/p/traces/t1",
    # The interface lists the latest first.
    "observations": [TITLE, LAST, TOOL, FIRST, ROOT],
    "scores": [
        score("thumbs", 1, traceId="t1", comment="Quick.", dataType="BOOLEAN"),
        score("tone", None, traceId="t1", dataType="CATEGORICAL", stringValue="warm", source="ANNOTATION")
        | {"authorUserId": "kim"},
        score("relevance", 0.8, traceId="t1", source="EVAL"),
    ],
}
WHOLE = (
    Message("system", SYSTEM["content"]),
    Message("user", ASK["content"]),
    Message("assistant", None, (ToolCall("c1", "find", "{}"),)),
    Message("tool", "ready", tool_call_id="c1"),
    Message("assistant", READY["content"]),
)


def test_a_trace_is_its_longest_call_in_order_of_time(tmp_path):
    (c,), notes = read(tmp_path, TRACE)
    assert c.messages == WHOLE
    assert (c.id, c.user_id, c.candidate) == ("t1", "u7", "model-a")
    assert [(r.dimension, r.score, r.turn, r.rater, r.note) for r in c.ratings] == [
        ("thumbs", "true", None, None, "Quick."),
        ("tone", "warm", None, "kim", None),
    ]
    assert [e["dimension"] for e in c.metadata["evaluations"]] == ["relevance"]
    assert (c.metadata["name"], c.metadata["timestamp"]) == ("chat", at(0))
    assert any("calls of a model stand beside the conversation" in n for n in notes)
    assert any("scores named 'thumbs' were read as ratings" in n for n in notes)
    assert any("scores of evaluators" in n for n in notes)


def test_observations_alone_and_with_the_keys_of_a_bucket(tmp_path):
    rows = [TITLE, LAST, TOOL, FIRST, ROOT]
    (c,), _ = read(tmp_path, {"data": rows, "meta": {"page": 1}}, indent=1)
    assert (c.id, c.messages) == ("t1", WHOLE)
    snake = {"traceId": "trace_id", "startTime": "start_time", "parentObservationId": "parent_observation_id"}
    (c,), _ = read(tmp_path, *({snake.get(k, k): v for k, v in row.items()} for row in rows))
    assert (c.id, c.messages) == ("t1", WHOLE)


def trace(name, second, asked, replied, **more):
    about = {"id": name, "timestamp": at(second), "input": asked, "output": replied, "sessionId": "s1"}
    return about | {"observations": [], "scores": []} | more


def test_the_traces_of_a_session_are_its_turns(tmp_path):
    more = [SYSTEM, ASK, READY, {"role": "user", "content": "When do you close?"}]
    later = trace("t2", 20, more, "At six.", scores=[score("thumbs", 0, traceId="t2")])
    other = trace("t9", 9, "Hello?", "Hello.", sessionId="s2")
    first = trace("t1", 10, [SYSTEM, ASK], READY, scores=[score("thumbs", 1, traceId="t1")])
    outcomes, _ = read(tmp_path, later, other, first, score("csat", 4, sessionId="s1", timestamp=at(30)))
    a, b = sorted(outcomes, key=lambda c: c.id)
    assert [t.user_text for t in a.turns] == ["Is my bike ready?", "When do you close?"]
    assert [t.reply_text for t in a.turns] == ["Yes, it is ready.", "At six."]
    assert a.instructions == SYSTEM["content"]
    assert [(r.dimension, r.score, r.turn) for r in a.ratings] == [
        ("thumbs", 1, 1),
        ("thumbs", 0, 2),
        ("csat", 4, None),
    ]
    assert (b.id, [m.text for m in b.messages]) == ("s2", ["Hello?", "Hello."])


def test_a_session_with_its_traces(tmp_path):
    traces = [trace("t2", 20, "When do you close?", "At six."), trace("t1", 10, "Hello?", "Hello.")]
    (c,), _ = read(tmp_path, {"id": "s1", "createdAt": at(0), "projectId": "p", "traces": traces})
    assert (c.id, c.metadata["traces"]) == ("s1", ["t1", "t2"])
    assert [m.text for m in c.messages] == ["Hello?", "Hello.", "When do you close?", "At six."]


def test_a_trace_without_calls_keeps_its_tools(tmp_path):
    (c,), _ = read(tmp_path, {**TRACE, "observations": [TOOL], "scores": []})
    assert [m.role for m in c.messages] == ["user", "assistant", "tool", "assistant"]
    (step,) = c.turns[0].tool_steps
    assert (step.call.name, step.call.arguments, step.result.text) == ("o2", '{"customer":12}', "ready")


def test_the_user_saw_what_the_trace_ends_with(tmp_path):
    outcome = {**TRACE, "output": "Yes. (Answer 7)", "scores": [], "observations": [FIRST, LAST]}
    (c,), notes = read(tmp_path, outcome)
    assert [m.text for m in c.messages[3:]] == ["ready", "Yes. (Answer 7)"]
    assert any("the text of the trace is read" in n for n in notes)


def test_a_reply_that_is_an_object_is_its_json(tmp_path):
    structured = {**LAST, "output": {"state": "ready", "days": 0}}
    (c,), notes = read(tmp_path, {**TRACE, "output": None, "scores": [], "observations": [structured]})
    assert c.turns[0].reply_text == '{"state":"ready","days":0}'
    assert any("written as JSON" in n for n in notes)


def test_what_cannot_be_read_is_a_fault(tmp_path):
    odd = {"role": "assistant", "content": [{"type": "hologram"}]}
    empty = trace("t2", 1, None, None, sessionId=None)
    broken = trace("t3", 1, [ASK], odd, sessionId=None)
    nameless = {**trace("t4", 1, "a", "b"), "id": 4}
    (ok, *faults), _ = read(tmp_path, trace("t1", 1, "a", "b", sessionId=None), empty, broken, 7, nameless)
    assert [m.text for m in ok.messages] == ["a", "b"]
    assert all(isinstance(f, RecordFault) for f in faults)
    texts = sorted(f.message for f in faults)
    assert len(texts) == 4
    assert "the type 'hologram' cannot be read" in texts[0]
    assert texts[1:] == [
        "the record is 7: no score and no session and no trace and no observation of langfuse",
        "the trace has the id 4: not a text",
        "the trace holds no message that can be read",
    ]
