"""JSON in strings and cells is read as JSON; what somebody says is not."""

import csv
import json

import pytest

from dialogauge.core import FileFault
from dialogauge.data import read_conversations
from dialogauge.data.field_map import read_field_map

ASKS = {"role": "user", "content": "Which bread keeps?"}
SAYS = {"role": "assistant", "content": "Sourdough."}
SAID = [("user", "Which bread keeps?"), ("assistant", "Sourdough.")]
PARTS = [{"role": r, "parts": [{"type": "text", "content": t}]} for r, t in SAID]
REQUEST = {"request": {"messages": [ASKS]}, "response": {"choices": [{"message": SAYS}]}}
BOTH = [ASKS, SAYS]
TIME = "2026-11-30T10:00:00Z"
GENERATIONS = {"generations": [[{"text": "Sourdough."}]]}


def packed(value):
    return json.dumps(value) if isinstance(value, dict | list) else value


def written(tmp_path, rows, kind):
    path = tmp_path / f"log.{kind}"
    rows = [{key: packed(value) for key, value in row.items()} for row in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        if kind == "csv":
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return str(path)


def read(path, **options):
    reader = read_conversations([path], **options)
    return list(reader), [str(note) for note in reader.notes]


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


EXPORTS = {
    "langfuse": {
        "id": "o1",
        "traceId": "t1",
        "type": "GENERATION",
        "startTime": TIME,
        "input": [ASKS],
        "output": SAYS,
        "metadata": {"shop": "b"},
    },
    "langsmith": {
        "id": "r1",
        "trace_id": "r1",
        "run_type": "llm",
        "start_time": TIME,
        "inputs": {"messages": [[ASKS]]},
        "outputs": GENERATIONS,
        "extra": {"metadata": {"thread_id": "th1"}},
    },
    "arena": {
        "question_id": "q1",
        "model_a": "m",
        "model_b": "n",
        "winner": "model_a",
        "conversation_a": BOTH,
        "conversation_b": [ASKS, {"role": "assistant", "content": "White."}],
    },
    "opentelemetry": {
        "timestamp": TIME,
        "itemId": "s1",
        "operation_Id": "t1",
        "name": "chat",
        "customDimensions": {"gen_ai.input.messages": PARTS[:1], "gen_ai.output.messages": PARTS[1:]},
    },
    "openai": {"id": "c1", "created": TIME, "messages": BOTH, "metadata": {"shop": "b"}},
    "requests": {"log": {"level": "info", **REQUEST}, "stream": "stdout", "time": TIME},
}


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("name", EXPORTS)
def test_exports_with_json_in_their_cells(name, kind, tmp_path):
    (talk, *_), notes = read(written(tmp_path, [EXPORTS[name]], kind))
    assert said(talk) == SAID
    own = kind == "jsonl" and name in ("langfuse", "opentelemetry")
    assert any("JSON in strings or cells" in note for note in notes) != own
    assert talk.id == {"langsmith": "th1", "arena": "q1__m"}.get(name, talk.id)


def test_lines_of_a_container_that_hold_messages(tmp_path):
    lines = [{"log": packed(m | {"session_id": "s1"}) + "\n", "stream": "stdout"} for m in BOTH]
    lines.insert(1, {"log": "GET /health 200\n", "stream": "stdout"})
    (talk,), notes = read(written(tmp_path, lines, "jsonl"))
    assert (talk.id, said(talk)) == ("s1", SAID)
    assert any(note.startswith("1 record was left out: no JSON in") for note in notes)


def test_records_that_are_written_as_strings(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(json.dumps({"messages": BOTH})) + "\n", encoding="utf-8")
    ((talk,), _) = read(str(path))
    assert said(talk) == SAID


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("content", ['{"a": 1}', "[1, 2]", '{"role": "user", "content": "x"}'])
def test_what_somebody_says_stays_as_it_was_written(content, kind, tmp_path):
    rows = [{"session_id": "s", "role": role, "content": content} for role in ("user", "assistant")]
    (talk,), _ = read(written(tmp_path, rows, kind))
    assert said(talk) == [("user", content), ("assistant", content)]
    ((talk,), _) = read(written(tmp_path, [{"prompt": "As JSON?", "response": content}], kind))
    assert talk.messages[0].text == "As JSON?"
    lines = [{"log": row | {"content": content}, "time": TIME} for row in rows]
    (talk,), _ = read(written(tmp_path, lines, "jsonl"))
    assert said(talk) == [("user", content), ("assistant", content)]


def test_a_table_of_requests_and_responses_is_read_by_a_map_into_them(tmp_path):
    row = {"request": {"query": {"text": "Which bread keeps?"}}, "response": {"texts": ["Sourdough."]}}
    path = written(tmp_path, [row], "csv")
    with pytest.raises(FileFault):
        read(path)
    mapping = read_field_map("prompt=request.query.text,reply=response.texts.0")
    ((talk,), _) = read(path, mapping=mapping)
    assert said(talk) == SAID


def test_a_string_that_only_looks_like_json_is_a_text(tmp_path):
    deep = '{"a":' * 120 + "1" + "}" * 120
    for odd in ("{not json}", "[10:05] Ana: Hi]", "{}", "[]", deep):
        (talk,), _ = read(written(tmp_path, [{"messages": odd, "prompt": "Hi?", "response": "Ho."}], "jsonl"))
        assert said(talk) == [("user", "Hi?"), ("assistant", "Ho.")]
