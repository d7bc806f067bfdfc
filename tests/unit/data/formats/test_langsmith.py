"""Runs of LangSmith, by hand from its public schema.

The payloads are as langchain-core 1.7 traces them: `dumpd` of messages, batches of them, generations.
"""

import json

from dialogauge.core import RecordFault, ToolCall
from dialogauge.data import read_conversations


def read(tmp_path, *records):
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == ["langsmith"]
    return outcomes, [n.text for n in reader.notes]


def dumped(name, **kwargs):
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": kwargs}


SYSTEM = dumped("SystemMessage", content="You help in a bike shop.", type="system")
ASK = dumped("HumanMessage", content="Is my bike ready?", type="human")
CALLING = dumped(
    "AIMessage",
    content="",
    type="ai",
    tool_calls=[{"name": "find", "args": {"customer": 12}, "id": "c1", "type": "tool_call"}],
    invalid_tool_calls=[],
)
FOUND = dumped("ToolMessage", content="ready", type="tool", tool_call_id="c1", status="success")
READY = dumped("AIMessage", content="Yes, it is ready.", type="ai")


def run(name, kind, second, asked, replied, parent="r0", trace="r0", **more):
    return {
        "id": name,
        "trace_id": trace,
        "run_type": kind,
        "name": name,
        "start_time": f"2026-05-04T10:00:{second:02}+00:00",
        "parent_run_id": parent,
        "inputs": asked,
        "outputs": replied,
        "session_id": "project-1",
        "extra": {"metadata": {"ls_model_name": "model-a", "thread_id": "th1", "user_id": "u7"}},
        **more,
    }


def generated(message):
    return {"generations": [[{"text": "", "type": "ChatGeneration", "message": message}]], "llm_output": None}


FIRST = run("r1", "llm", 2, {"messages": [[SYSTEM, ASK]]}, generated(CALLING))
TOOL = run("r2", "tool", 3, {"input": "{'customer': 12}"}, {"output": FOUND})
LAST = run("r3", "llm", 4, {"messages": [[SYSTEM, ASK, CALLING, FOUND]]}, generated(READY))
STATS = {"thumbs": {"n": 1, "avg": 1.0, "values": {}}}
ROOT = run("r0", "chain", 1, {"question": "Is my bike ready?"}, {"output": "Yes, it is ready."}, None)
ROOT |= {"feedback_stats": STATS}
STATE = {"messages": [m["kwargs"] for m in (ASK, CALLING, FOUND, READY)]}


def test_runs_of_one_trace_in_any_order(tmp_path):
    for records in ([LAST, TOOL, FIRST, ROOT], [{"runs": [LAST, FIRST, ROOT]}]):
        (c,), _ = read(tmp_path, *records)
        assert [m.role for m in c.messages] == ["system", "user", "assistant", "tool", "assistant"]
        assert c.messages[2].tool_calls == (ToolCall("c1", "find", '{"customer":12}'),)
        assert c.turns[0].reply_text == "Yes, it is ready."
        assert (c.id, c.user_id, c.candidate) == ("th1", "u7", "model-a")
        assert [(r.dimension, r.score, r.turn) for r in c.ratings] == [("thumbs", 1, 1)]


def test_a_run_with_its_children_and_the_state_of_a_graph(tmp_path):
    root = {**ROOT, "outputs": STATE, "inputs": {"messages": STATE["messages"][:1]}, "extra": {}}
    child = {key: value for key, value in FIRST.items() if key not in ("trace_id", "parent_run_id", "extra")}
    (c,), _ = read(tmp_path, {**root, "child_runs": [{**child, "id": "r9"}], "feedback_stats": {}})
    assert (c.id, c.user_id) == ("r0", None)
    assert [m.role for m in c.messages] == ["user", "assistant", "tool", "assistant"]
    assert c.turns[0].reply_text == "Yes, it is ready."


def test_the_traces_of_a_thread_are_its_turns(tmp_path):
    rows = [
        {"key": "thumbs", "score": False, "comment": "Too late.", "feedback_source": {"type": "app"}},
        {"key": "relevance", "score": 0.7, "feedback_source": {"type": "model"}},
    ]
    asked = {"messages": [{"role": "user", "content": "When do you close?"}]}
    replied = {"choices": [{"message": {"role": "assistant", "content": "At six."}}]}
    later = run("r5", "llm", 20, asked, replied, None, "r5", feedback=rows)
    (c,), notes = read(tmp_path, later, LAST, ROOT)
    assert [(t.user_text, t.reply_text) for t in c.turns] == [
        ("Is my bike ready?", "Yes, it is ready."),
        ("When do you close?", "At six."),
    ]
    assert [(r.dimension, r.score, r.turn, r.note) for r in c.ratings] == [
        ("thumbs", 1, 1, None),
        ("thumbs", "false", 2, "Too late."),
    ]
    assert any("scores of evaluators" in n for n in notes)


def test_what_cannot_be_read_is_a_fault(tmp_path):
    alone = {"extra": {}, "trace_id": None, "parent_run_id": None}
    odd = {**LAST, **alone, "id": "x1", "inputs": {"messages": [[dumped("HumanMessage", content=[7])]]}}
    empty = {**LAST, **alone, "id": "x2", "inputs": {}, "outputs": None}
    outcomes, _ = read(tmp_path, ROOT, odd, empty, {**ROOT, "id": None, "trace_id": None}, 4)
    faults = [o.message for o in outcomes if isinstance(o, RecordFault)]
    assert sorted(faults) == [
        "message 1: a content part is 7: not an object",
        "the record is 4: no run of langsmith",
        "the run is {'id': None, 'trace_id': None, 'run_typ…: it has no 'trace_id'",
        "the trace holds no message that can be read",
    ]
