"""Samples that lm-evaluation-harness logs."""

import json

import pytest

from dialogauge.core import RecordFault
from dialogauge.data import read_conversations

OPTIONS = {"until": ["\n"], "do_sample": False}
NAME = "samples_sums_easy_2026-05-04T10-00-00.000000.jsonl"


def sample(prompt="Q: 1+1?\nA:", resps=(("2",),), doc_id=0, **more):
    return {
        "doc_id": doc_id,
        "doc": {"question": "1+1?"},
        "target": "2",
        "arguments": [[prompt, OPTIONS]],
        "resps": [list(texts) for texts in resps],
        "filtered_resps": ["2"],
        "exact_match": 1.0,
        **more,
    }


def newer(row):
    values = ({f"arg_{n}": one for n, one in enumerate(args)} for args in row["arguments"])
    named = {f"gen_args_{n}": one for n, one in enumerate(values)}
    more = {
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "a",
        "prompt_hash": "b",
        "target_hash": "c",
    }
    return {**row, "arguments": named, **more}


def read(tmp_path, *rows):
    path = tmp_path / NAME
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    reader = read_conversations([str(path)])
    return list(reader), {note.text: note.count for note in reader.notes}


def said(talk):
    return [(m.role, m.text) for m in talk.messages]


@pytest.mark.parametrize("form", [dict, newer])
def test_what_was_asked_and_replied(tmp_path, form):
    talks, notes = read(tmp_path, form(sample()), form(sample("Q: 2+2?\nA:", [["4", "5", "6"]], 1)))
    assert [said(talk) for talk in talks] == [
        [("user", "Q: 1+1?\nA:"), ("assistant", "2")],
        [("user", "Q: 2+2?\nA:"), ("assistant", "4")],
    ]
    assert [talk.id for talk in talks] == [f"{NAME}:0", f"{NAME}:1"]
    assert (talks[0].scenario, talks[0].ratings) == ("sums_easy", ())
    assert (talks[0].metadata["target"], talks[0].metadata["exact_match"]) == ("2", 1.0)
    assert notes["samples have metrics (exact_match): kept as metadata, no ratings"] == 2
    assert notes["messages were left out: choices beside the first of their response (n > 1)"] == 2


MESSAGES = [{"role": "system", "content": "Count."}, {"role": "user", "content": "1+1?"}]


@pytest.mark.parametrize(
    "prompt",
    [
        json.dumps(MESSAGES),
        [json.dumps(MESSAGES)],
        MESSAGES,
        "<|im_start|>system\nCount.<|im_end|>\n<|im_start|>user\n1+1?<|im_end|>\n<|im_start|>assistant\n",
        "<s>[INST] <<SYS>>\nCount.\n<</SYS>>\n\n1+1? [/INST]",
    ],
)
def test_a_prompt_in_messages(tmp_path, prompt):
    (talk,), _ = read(tmp_path, sample(prompt))
    assert said(talk) == [("system", "Count."), ("user", "1+1?"), ("assistant", "2")]


def test_a_sample_for_each_filter(tmp_path):
    rows = [newer(sample()) | {"filter": name} for name in ("strict-match", "flexible-extract")]
    (talk,), notes = read(tmp_path, *rows)
    assert talk.metadata["filter"] == "strict-match"
    assert notes["samples stand once for each of their filters: read once"] == 1


def test_two_tasks_in_one_file(tmp_path):
    talks, notes = read(tmp_path, sample(), sample("Q: 3+3?\nA:", [["6"]]))
    assert [said(talk)[1][1] for talk in talks] == ["2", "6"]
    assert len({talk.id for talk in talks}) == 2
    assert notes["samples share a doc_id and differ: named by file and line"] == 1


@pytest.mark.parametrize("form", [dict, newer])
@pytest.mark.parametrize(
    ("arguments", "resps"),
    [
        ([["1+1 is", " 2"], ["1+1 is", " 3"]], [[[-0.5, True]], [[-2.5, False]]]),
        ([["1+1 is", " 2"], ["1+1 is", " 3"]], [[["-0.5", "True"]], [["-2.5", "False"]]]),
        ([["A text of a corpus."]], [["-20.5"]]),
    ],
)
def test_log_likelihoods_are_no_conversations(tmp_path, form, arguments, resps):
    (fault,), _ = read(tmp_path, form(sample() | {"arguments": arguments, "resps": resps}))
    assert isinstance(fault, RecordFault)
    assert "log-likelihoods" in fault.message
    assert "generate_until" in fault.hint
