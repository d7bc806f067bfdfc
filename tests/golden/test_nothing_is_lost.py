"""The law of conservation: what a reader is given is in what it reads, or counted as left out."""

import copy
import gzip
import json
import random

import pytest

from dialogauge.core import Conversation, FileFault, RecordFault
from dialogauge.data import read_conversations
from dialogauge.data.notes import left_out_of
from fuzzing import logs, seeds
from fuzzing.conservation import kept_words, lost_of, values_of
from fuzzing.shapes import SAMPLES, SHAPES
from sets import some_short

EXPECTED = json.loads((SHAPES / "expected.json").read_text(encoding="utf-8"))
READ = [shape["file"] for shape in EXPECTED.values() if shape["outcome"] == "read"]


def missing(path, **options):
    """Return the texts of several words that are in no conversation, and how much was left out in words."""
    reader = read_conversations([str(path)], **options)
    try:
        outcomes = list(reader)
    except FileFault as fault:
        return [], [fault]
    talks = [o for o in outcomes if isinstance(o, Conversation)]
    lost = lost_of(values_of(path), kept_words(talks))
    return lost, [n for n in reader.notes if n.left_out] + outcomes[len(talks) :]


@pytest.mark.parametrize("name", [name for name in READ if name.endswith((".json", ".jsonl", ".csv"))])
def test_of_every_shape_no_text_is_missing_without_a_count(name):
    lost, accounted = missing(SHAPES / name)
    assert not lost or accounted, lost


@pytest.mark.parametrize("format", seeds.RECORDS)
def test_of_every_format_no_text_is_missing_without_a_count(format, tmp_path):
    for number, record in enumerate(seeds.RECORDS[format]):
        path = tmp_path / f"{number}.{logs.ENDINGS[format]}"
        path.write_text(json.dumps(record), encoding="utf-8")
        lost, accounted = missing(path, format=format)
        assert not lost or accounted, (number, lost)


@pytest.mark.parametrize("name", some_short(list(SAMPLES)))
def test_a_changed_sample_is_read_by_the_law_or_refused(name, tmp_path):
    for number in range(3):
        SAMPLES[name](random.Random(f"{name}/{number}"), tmp_path)


def changed(name, change, folder):
    """Read a sample with a change in its first record; return what was read, and what was left out."""
    records = copy.deepcopy(values_of(SHAPES / name))
    change(records[0])
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    reader = read_conversations([str(path)])
    return list(reader), left_out_of(reader.notes)


def branch_of_open_webui(record):
    record["chat"]["history"]["messages"]["4"] = {"id": "4", "parentId": "2", "content": "In a tin."}


def branch_of_chatgpt(record):
    record["mapping"]["b0"]["message"]["author"]["role"] = None


LEFT_OUT = {
    "openwebui.json": (branch_of_open_webui, "messages"),
    "chatgpt_export.json": (branch_of_chatgpt, "messages"),
    "adk_session.json": (lambda log: log["events"][-1].update(partial=True), "events"),
    "langfuse_trace.json": (
        lambda log: log.update(input={"text": ["in", {"words": "of no form"}]}),
        "requests",
    ),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_no_conversation_holds_is_counted(name, tmp_path):
    change, what = LEFT_OUT[name]
    _, before = changed(name, lambda record: None, tmp_path)
    _, after = changed(name, change, tmp_path)
    assert sum(after[what].values()) == sum(before.get(what, {}).values()) + (name != "chatgpt_export.json")


REFUSED = {
    "slack_channel.json": lambda one: one.update(text=[{"words": "Hi there"}, 4], subtype=None),
    "inspect_json.json": lambda log: log["samples"][1].update(messages=[]),
    "oasst_trees.jsonl": lambda tree: tree["prompt"].update(replies={"text": "Rye does."}),
    "gemini_cli.json": lambda log: [one.update(content=4.5) for one in log["messages"]],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_a_fault(name, tmp_path):
    outcomes, _ = changed(name, REFUSED[name], tmp_path)
    assert any(isinstance(one, RecordFault) for one in outcomes)


def test_a_role_that_is_a_list_is_a_fault(tmp_path):
    path = tmp_path / "talk.json"
    asks = {"role": "assistant", "name": "user", "content": "Open?"}
    path.write_text(json.dumps([asks, {"role": ["user"], "content": "Yes."}]), encoding="utf-8")
    (fault,) = read_conversations([str(path)], format="openai")
    assert isinstance(fault, RecordFault)


def test_spans_of_one_id_that_say_other_things_are_both_kept_or_counted(tmp_path):
    text = (SHAPES / "otel_flat_old.jsonl").read_text("utf-8").strip()
    path = tmp_path / "spans.jsonl"
    path.write_text(f"{text}\n{text.replace('Which bread', 'Which other bread')}\n", encoding="utf-8")
    reader = read_conversations([str(path)])
    assert len(list(reader)) == 1
    assert "calls have the id of another" in str(reader.notes)
    assert left_out_of(reader.notes)["calls"]


def test_a_packed_table_that_breaks_off_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "log.parquet"
    path.write_bytes(gzip.compress((SHAPES / "parquet.parquet").read_bytes())[:-900])
    with pytest.raises(FileFault, match="damaged"):
        list(read_conversations([str(path)]))
