"""Spans in the conventions of several tracers.

Those of OpenTelemetry's own conventions are as opentelemetry-sdk 1.45 wrote them (`ReadableSpan.to_json`, and
the OTLP encoder as JSON), with shorter ids; the others are by hand from the public conventions.
"""

import json

import pytest

from dialogauge.core import RecordFault, ToolCall
from dialogauge.data import read_conversations


def read(tmp_path, name, *records, indent=None):
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(r, indent=indent) + "\n" for r in records))
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [f.format for f in reader.files.values()] == [name]
    return outcomes, [n.text for n in reader.notes]


def span(name, second, parent="0x0", trace="0xt1", events=(), **attributes):
    return {
        "name": name,
        "context": {"trace_id": trace, "span_id": f"0x{second}", "trace_state": "[]"},
        "parent_id": parent,
        "start_time": f"2026-05-04T10:00:{second:02}.228524Z",
        "attributes": {key.replace("__", "."): value for key, value in attributes.items()},
        "events": list(events),
    }


def parts(role, *inner, **more):
    return {"role": role, "parts": list(inner), **more}


def text(words):
    return {"type": "text", "content": words}


ASK = parts("user", text("Is my bike ready?"))
CALLING = parts("assistant", {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"customer": 12}})
FOUND = parts("tool", {"type": "tool_call_response", "id": "c1", "response": "ready"})
READY = parts("assistant", text("Yes."), finish_reason="stop")
PROMPT = json.dumps([text("You help in a bike shop.")])


def chat(second, asked, replied, **more):
    return span(
        "chat model-a",
        second,
        gen_ai__operation__name="chat",
        gen_ai__request__model="model-a",
        gen_ai__system_instructions=PROMPT,
        gen_ai__input__messages=json.dumps(asked),
        gen_ai__output__messages=json.dumps([replied]),
        **more,
    )


ROOT = span(
    "invoke_agent shop", 1, None, gen_ai__operation__name="invoke_agent", gen_ai__conversation__id="s1"
)
AGENT = [chat(4, [ASK, CALLING, FOUND], READY), chat(2, [ASK], CALLING), ROOT]


def otlp(record):
    def value(inner):
        return {"stringValue": inner} if isinstance(inner, str) else {"intValue": str(inner)}

    start = "17778888{:02}228524000".format(int(record["context"]["span_id"][2:]))
    return {
        "traceId": record["context"]["trace_id"],
        "spanId": record["context"]["span_id"],
        "name": record["name"],
        "startTimeUnixNano": start,
        "attributes": [{"key": key, "value": value(inner)} for key, inner in record["attributes"].items()],
        **({"parentSpanId": record["parent_id"]} if record["parent_id"] else {}),
    }


OTLP = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [otlp(s) for s in AGENT]}]}]}


@pytest.mark.parametrize("records", [AGENT, [OTLP], [{"spans": AGENT}]])
@pytest.mark.parametrize("indent", [None, 1])
def test_the_conventions_of_today(records, indent, tmp_path):
    if indent and len(records) > 1:
        records = [records]
    (c,), _ = read(tmp_path, "opentelemetry", *records, indent=indent)
    assert [m.role for m in c.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert c.messages[2].tool_calls == (ToolCall("c1", "find", '{"customer":12}'),)
    assert c.messages[3].tool_call_id == "c1"
    assert (c.id, c.candidate, c.turns[0].reply_text) == ("s1", "model-a", "Yes.")


def test_the_traces_of_a_conversation_are_its_turns(tmp_path):
    more = [ASK, READY, parts("user", text("When do you close?"))]
    later = chat(20, more, parts("assistant", text("At six.")), trace="0xt2", gen_ai__conversation__id="s1")
    (c,), _ = read(tmp_path, "opentelemetry", later, *AGENT)
    assert [t.reply_text for t in c.turns] == ["Yes.", "At six."]
    assert c.metadata["traces"] == ["0xt1", "0xt2"]


def event(name, **attributes):
    return {"name": name, "timestamp": "2026-05-04T10:00:02Z", "attributes": attributes}


BEFORE = [
    event("gen_ai.system.message", content="You help in a bike shop."),
    event("gen_ai.user.message", content="Is my bike ready?"),
    event("gen_ai.choice", index=0, finish_reason="stop", message='{"role": "assistant", "content": "Yes."}'),
    event(
        "gen_ai.evaluation.result", **{"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 1}
    ),
]
DETAILS = {
    "gen_ai.system_instructions": PROMPT,
    "gen_ai.input.messages": [ASK],
    "gen_ai.output.messages": [READY],
}
OPENLLMETRY = {
    "gen_ai__prompt__0__role": "system",
    "gen_ai__prompt__0__content": "You help in a bike shop.",
    "gen_ai__prompt__1__role": "user",
    "gen_ai__prompt__1__content": "Is my bike ready?",
    "gen_ai__completion__0__role": "assistant",
    "gen_ai__completion__0__content": "Yes.",
    "traceloop__association__properties__session_id": "s1",
}
SPOKEN = [
    {"role": "system", "content": "You help in a bike shop."},
    {"role": "user", "content": "Is my bike ready?"},
]
AI_SDK = {
    "ai__operationId": "ai.generateText.doGenerate",
    "ai__prompt__messages": json.dumps(SPOKEN),
    "ai__response__text": "Yes.",
    "ai__telemetry__metadata__sessionId": "s1",
}
PYDANTIC = {
    "pydantic_ai__all_messages": json.dumps([parts("system", text("You help in a bike shop.")), ASK, READY]),
    "final_result": "Yes.",
}


@pytest.mark.parametrize(
    "record",
    [
        span("chat", 2, events=BEFORE),
        span("chat", 2, events=[event("gen_ai.client.inference.operation.details", **DETAILS)]),
        span("openai.chat", 2, **OPENLLMETRY),
        span("ai.generateText.doGenerate", 2, **AI_SDK),
        span("agent run", 2, None, **PYDANTIC),
    ],
)
def test_other_conventions(record, tmp_path):
    (c,), _ = read(tmp_path, "opentelemetry", record)
    assert [(m.role, m.text) for m in c.messages] == [
        ("system", "You help in a bike shop."),
        ("user", "Is my bike ready?"),
        ("assistant", "Yes."),
    ]


def test_an_evaluation_is_no_rating_of_a_person(tmp_path):
    (c,), _ = read(tmp_path, "opentelemetry", span("chat", 2, events=BEFORE))
    assert c.ratings == ()
    assert [(e["dimension"], e["value"]) for e in c.metadata["evaluations"]] == [("tone", 1)]


INFERENCE = {
    "openinference__span__kind": "LLM",
    "llm__model_name": "model-a",
    "session__id": "s1",
    "user__id": "u7",
    "llm__input_messages__0__message__role": "user",
    "llm__input_messages__0__message__contents__0__message_content__type": "text",
    "llm__input_messages__0__message__contents__0__message_content__text": "Is my bike ready?",
    "llm__output_messages__0__message__role": "assistant",
    "llm__output_messages__0__message__tool_calls__0__tool_call__id": "c1",
    "llm__output_messages__0__message__tool_calls__0__tool_call__function__name": "find",
    "llm__output_messages__0__message__tool_calls__0__tool_call__function__arguments": "{}",
}
NESTED = {
    "openinference": {"span": {"kind": "LLM"}},
    "session": {"id": "s1"},
    "llm": {
        "model_name": "model-a",
        "input_messages": [
            {"message": {"role": "user", "content": "Is my bike ready?"}},
            {"message": {"role": "assistant", "tool_calls": [{"tool_call": {"id": "c1", "function": {}}}]}},
            {"message": {"role": "tool", "tool_call_id": "c1", "content": "ready"}},
        ],
        "output_messages": [{"message": {"role": "assistant", "content": "Yes."}}],
    },
}
NESTED["llm"]["input_messages"][1]["message"]["tool_calls"][0]["tool_call"]["function"] = {
    "name": "find",
    "arguments": "{}",
}
THUMB = {
    "name": "thumb",
    "annotator_kind": "HUMAN",
    "result": {"score": 1, "label": "up", "explanation": "Good."},
}
FAITHFUL = {"name": "faithful", "annotator_kind": "LLM", "result": {"score": 0.5}}


def test_phoenix(tmp_path):
    first = span("ChatCompletion", 2, **INFERENCE)
    last = {**span("ChatCompletion", 4), "span_kind": "LLM", "attributes": NESTED}
    page = {"data": [last | {"annotations": [THUMB, FAITHFUL]}, first], "next_cursor": None}
    (c,), notes = read(tmp_path, "phoenix", page)
    assert [m.role for m in c.messages] == ["user", "assistant", "tool", "assistant"]
    assert c.messages[1].tool_calls == (ToolCall("c1", "find", "{}"),)
    assert (c.id, c.user_id, c.candidate) == ("s1", "u7", "model-a")
    assert [(r.dimension, r.score, r.turn, r.note) for r in c.ratings] == [("thumb", 1, 1, "Good.")]
    assert any("scores of evaluators" in n for n in notes)


def test_rows_of_a_data_frame_of_phoenix(tmp_path):
    row = {
        "context.trace_id": "t1",
        "context.span_id": "a",
        "parent_id": None,
        "start_time": "2026-05-04T10:00:02",
        "span_kind": "LLM",
        "attributes.llm.input_messages": [{"message.role": "user", "message.content": "Is my bike ready?"}],
        "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": "Yes."}],
    }
    (c,), _ = read(tmp_path, "phoenix", row)
    assert [(m.role, m.text) for m in c.messages] == [("user", "Is my bike ready?"), ("assistant", "Yes.")]


def mlflow(name, second, kind, asked, replied, parent=None):
    return {
        "trace_id": "base64==",
        "span_id": name,
        "parent_span_id": parent,
        "name": name,
        "start_time_unix_nano": 1777888800000000000 + second * 10**9,
        "attributes": {
            "mlflow.spanType": json.dumps(kind),
            "mlflow.spanInputs": json.dumps(asked),
            "mlflow.spanOutputs": json.dumps(replied),
        },
    }


TRACE = {
    "info": {
        "trace_id": "tr-1",
        "request_time": "2026-05-04T10:00:00Z",
        "trace_metadata": {"mlflow.trace.session": "s1", "mlflow.trace.user": "u7"},
        "assessments": [
            {
                "assessment_name": "helpful",
                "source": {"source_type": "HUMAN", "source_id": "kim"},
                "feedback": {"value": True},
                "rationale": "Quick.",
            },
            {"assessment_name": "safe", "source": {"source_type": "LLM_JUDGE"}, "feedback": {"value": "yes"}},
            {
                "assessment_name": "answer",
                "source": {"source_type": "HUMAN"},
                "expectation": {"value": "Yes."},
            },
        ],
        "tags": {"release": "4"},
    },
    "data": {
        "spans": [
            mlflow("a", 1, "AGENT", {"question": "Is my bike ready?"}, "Yes."),
            mlflow("b", 2, "TOOL", {"customer": 12}, {"state": "ready"}, "a"),
            mlflow(
                "c",
                3,
                "CHAT_MODEL",
                {"messages": SPOKEN, "model": "model-a"},
                {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
                "a",
            ),
        ]
    },
}


@pytest.mark.parametrize("record", [TRACE, {**TRACE["info"], **TRACE["data"], "request": "{}"}])
def test_mlflow(record, tmp_path):
    (c,), notes = read(tmp_path, "mlflow", record)
    assert not any("no id" in note or "time" in note for note in notes)
    assert [m.text for m in c.messages] == ["You help in a bike shop.", "Is my bike ready?", "Yes."]
    assert (c.id, c.user_id) == ("s1", "u7")
    assert [(r.dimension, r.score, r.rater, r.note) for r in c.ratings] == [
        ("helpful", "true", "kim", "Quick.")
    ]
    assert [e["dimension"] for e in c.metadata["evaluations"]] == ["safe"]


def test_tools_of_a_trace_without_calls_of_a_model(tmp_path):
    spans = {"spans": TRACE["data"]["spans"][:2]}
    (c,), _ = read(tmp_path, "mlflow", {"info": {"trace_id": "tr-1"}, "data": spans})
    (step,) = c.turns[0].tool_steps
    assert (step.call.name, step.call.arguments, step.result.text) == (
        "b",
        '{"customer":12}',
        '{"state":"ready"}',
    )
    assert c.turns[0].reply_text == "Yes."


def test_what_cannot_be_read_is_a_fault(tmp_path):
    odd = chat(2, [parts("user", {"type": "hologram"})], READY, trace="0xt3")
    silent = span("GET /", 2, None, trace="0xt4", http__method="GET")
    outcomes, _ = read(tmp_path, "opentelemetry", *AGENT, odd, silent, {"name": "x"}, 4)
    messages = sorted(f.message for f in outcomes if isinstance(f, RecordFault))
    assert len(messages) == 4
    assert "'hologram' cannot be read" in messages[0]
    assert messages[1:] == [
        "the record has 'name': no span with the id of its trace",
        "the record is 4: no span",
        "the trace holds no message that can be read",
    ]


def test_choices_beside_the_first_are_counted(tmp_path):
    no = [{**one, "finish_reason": "stop"} for one in (parts("assistant", text("No.")), READY)]
    of_events = [*BEFORE, event("gen_ai.choice", index=1, message='{"role": "assistant", "content": "No."}')]
    (a, b), notes = read(
        tmp_path,
        "opentelemetry",
        span("chat", 2, trace="0xt1", events=of_events, gen_ai__operation__name="chat"),
        span(
            "chat",
            3,
            trace="0xt2",
            gen_ai__operation__name="chat",
            gen_ai__input__messages=json.dumps([ASK]),
            gen_ai__output__messages=json.dumps(no),
        ),
    )
    assert [m.text for m in a.messages if m.role == "assistant"] == ["Yes."]
    assert [m.text for m in b.messages] == ["Is my bike ready?", "No."]
    assert any("messages were left out: choices" in note for note in notes)


def test_the_events_of_a_call_as_records_of_a_log(tmp_path):
    def logged(second, name, **body):
        record = {"timeUnixNano": f"17778888{second:02}000000000", "traceId": "t1", "spanId": "s1"}
        return {**record, "eventName": name, "body": body}

    records = [
        logged(1, "gen_ai.system.message", content="You help in a bike shop."),
        logged(2, "gen_ai.user.message", content="Is my bike ready?"),
        logged(3, "gen_ai.choice", index=0, message={"role": "assistant", "content": "Yes."}),
        logged(3, "gen_ai.choice", index=1, message={"role": "assistant", "content": "No."}),
    ]
    (c,), notes = read(
        tmp_path, "opentelemetry", {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    )
    assert [m.text for m in c.messages] == ["You help in a bike shop.", "Is my bike ready?", "Yes."]
    assert any("messages were left out: choices" in note for note in notes)
