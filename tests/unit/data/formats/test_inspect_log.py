"""Logs of Inspect; the sample is ours, its form that of what inspect_ai 0.3.285 wrote of a task of ours."""

import json
import zipfile

import pytest

from dialogauge.core import Message, Rating, RecordFault, ToolCall
from dialogauge.data import read_conversations

SAMPLE = {
    "id": "sum",
    "epoch": 1,
    "input": "What is 1+1?",
    "target": "2",
    "messages": [
        {"id": "m1", "content": "You add.", "role": "system"},
        {"id": "m2", "content": "What is 1+1?", "source": "input", "role": "user"},
        {
            "id": "m3",
            "content": "I add.",
            "source": "generate",
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "function": "add", "arguments": {"x": 1, "y": 1}, "type": "function"}
            ],
            "model": "mockllm/model",
        },
        {"id": "m4", "content": "2", "role": "tool", "tool_call_id": "c1", "function": "add"},
        {"id": "m5", "content": "It is 2.", "source": "generate", "role": "assistant"},
    ],
    "output": {"model": "mockllm/model", "choices": []},
    "scores": {
        "includes": {"value": "C", "answer": "it is 2.", "explanation": "It is 2.", "history": []},
        "quality": {"value": {"tone": 4, "depth": 2.5}, "explanation": "polite"},
        "judged": {"value": True},
        "words": {"value": "good"},
        "tags": {"value": ["a"]},
        "unscored": {"value": None},
    },
    "metadata": {"level": 1},
    "events": [{"event": "sample_init"}],
    "attachments": {},
}
EVAL = {"task": "sums", "model": "mockllm/model", "config": {"epochs": 2}}
LOG = {"version": 2, "status": "success", "eval": EVAL, "results": {}, "samples": [SAMPLE]}


def read(path):
    reader = read_conversations([str(path)])
    outcomes = list(reader)
    assert [file.format for file in reader.files.values()] == ["inspect"] * len(reader.files)
    return outcomes, [(n.text, n.count) for n in reader.notes]


def written(folder, value, indent=None, name="log.json"):
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=indent))
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_a_log(tmp_path, indent):
    (c, other), notes = read(written(tmp_path, {**LOG, "samples": [SAMPLE, {**SAMPLE, "epoch": 2}]}, indent))
    assert (c.id, other.id) == ("sums__sum__mockllm/model__1", "sums__sum__mockllm/model__2")
    assert (c.scenario, c.candidate, c.user_id) == ("sums", "mockllm/model", None)
    assert [(m.role, m.text) for m in c.messages] == [
        ("system", "You add."),
        ("user", "What is 1+1?"),
        ("assistant", "I add."),
        ("tool", "2"),
        ("assistant", "It is 2."),
    ]
    assert c.messages[2].tool_calls == (ToolCall("c1", "add", '{"x":1,"y":1}'),)
    assert c.messages[3] == Message("tool", "2", (), "c1", "add", {"id": "m4"})
    assert c.ratings == ()
    metadata = dict(c.metadata)
    assert [tuple(one.values()) for one in metadata.pop("evaluations")] == [
        ("includes", 1.0, "It is 2."),
        ("quality.tone", 4.0, "polite"),
        ("quality.depth", 2.5, "polite"),
        ("judged", 1.0, None),
        ("words", "good", None),
    ]
    assert metadata == {"sample": "sum", "epoch": 1, "target": "2", "metadata": {"level": 1}}
    assert "level" not in repr(c.blinded())
    assert ("samples have scores without a value, or with a list of them: not used", 4) in notes
    assert str(c.place).startswith(f"{tmp_path}/log.json")


def zipped(path, *members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members:
            archive.writestr(name, json.dumps(value))
    return path


@pytest.mark.parametrize("header", ["header.json", "_journal/start.json"])
def test_an_eval_file(tmp_path, header):
    members = [(f"samples/sum_epoch_{n}.json", {**SAMPLE, "epoch": n}) for n in (1, 2)]
    path = zipped(tmp_path / "log.eval", (header, {"version": 2, "eval": EVAL}), *members)
    (c, other), _ = read(path)
    assert (c.id, other.id) == ("sums__sum__mockllm/model__1", "sums__sum__mockllm/model__2")
    assert (c.scenario, c.candidate) == ("sums", "mockllm/model")
    assert c.metadata["evaluations"][0] == {"dimension": "includes", "value": 1.0, "note": "It is 2."}


def test_ratings_of_people_are_those_that_our_export_wrote_one_by_one(tmp_path):
    rows = [{"dimension": "satisfaction", "score": 4, "turn": 1, "rater": "u1", "note": "ok", "weight": 2.5}]
    people = {"value": {"satisfaction": 4}, "metadata": {"ratings": rows}}
    sample = {**SAMPLE, "scores": {"people": people}, "metadata": {"user_id": "u1"}}
    (c,), _ = read(written(tmp_path, {**LOG, "samples": [sample]}))
    assert c.user_id == "u1"
    assert c.ratings == (Rating(c.id, "satisfaction", 4, 1, "u1", note="ok", weight=2.5),)
    (c,), _ = read(written(tmp_path, {**LOG, "samples": [{**sample, "scores": {"people": {"value": 4}}}]}))
    assert c.ratings == ()
    assert c.metadata["evaluations"] == [{"dimension": "people", "value": 4, "note": None}]


def test_what_an_eval_file_holds_beside_its_samples_is_nothing_that_was_left_out(tmp_path):
    beside = [("summaries.json", [{"id": "sum", "epoch": 1}]), ("reductions.json", []), ("header.json", {})]
    path = zipped(tmp_path / "log.eval", *beside, ("samples/sum_epoch_1.json", SAMPLE))
    talks, notes = read(path)
    assert len(talks) == 1
    assert not [note for note in notes if "left out" in str(note)]
    plain = zipped(tmp_path / "log.zip", *beside, ("samples/sum_epoch_1.json", SAMPLE))
    assert [note for note in read(plain)[1] if "left out" in str(note)]


def test_a_sample_without_a_header_names_the_model_of_its_output(tmp_path):
    (c,), _ = read(zipped(tmp_path / "log.eval", ("samples/sum_epoch_1.json", SAMPLE)))
    assert (c.id, c.candidate, c.scenario) == ("sum__mockllm/model__1", "mockllm/model", None)


def test_texts_that_are_stored_apart(tmp_path):
    said = [{"role": "user", "content": "attachment://f0"}, {"role": "assistant", "content": "Yes."}]
    sample = {**SAMPLE, "messages": said, "attachments": {"f0": "A long question?"}}
    (c,), _ = read(written(tmp_path, {**LOG, "samples": [sample]}))
    assert c.messages[0].text == "A long question?"


def test_a_log_with_nan_is_read(tmp_path):
    sample = {**SAMPLE, "scores": {"loss": {"value": float("nan")}}}
    (c,), notes = read(written(tmp_path, {**LOG, "samples": [sample]}, 2))
    assert c.ratings == ()
    assert ("samples have scores without a value, or with a list of them: not used", 1) in notes


def test_a_log_larger_than_a_record_is_read_sample_by_sample(tmp_path):
    large = [{**SAMPLE, "id": n, "store": "x" * (1 << 20)} for n in range(18)]
    (first, *_, last), _ = read(written(tmp_path, {**LOG, "samples": large}))
    assert (first.id, last.id) == ("sums__0__mockllm/model__1", "sums__17__mockllm/model__1")


def test_a_sample_that_failed_is_absent(tmp_path):
    sample = {**SAMPLE, "messages": [], "error": {"message": "quota"}}
    (c,), notes = read(written(tmp_path, {**LOG, "samples": [sample]}))
    assert (c.messages, c.ratings) == ((), ())
    assert c.metadata["error"] == {"message": "quota"}
    assert ("samples failed before anything was said: they are absent", 1) in notes


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (4, "the sample is 4: no object with messages"),
        ({"id": 1, "messages": "hi"}, "no object with messages"),
        ({"id": 1, "messages": ["hi"]}, "message 1 is 'hi': not an object"),
        ({"id": 1, "messages": [{"role": "cat", "content": "hi"}]}, "unknown role 'cat'"),
        ({"id": 1, "messages": [{"role": "user"}]}, "message 1 has no 'content'"),
    ],
)
def test_what_cannot_be_read_is_a_fault(tmp_path, sample, message):
    (fault, c), _ = read(written(tmp_path, {**LOG, "samples": [sample, SAMPLE]}))
    assert isinstance(fault, RecordFault)
    assert message in str(fault)
    assert "log.json record 1" in str(fault)
    assert c.id == "sums__sum__mockllm/model__1"
