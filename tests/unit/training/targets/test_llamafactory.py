"""Rows in tokens, as LLaMA-Factory trains on them without a template of its own."""

from __future__ import annotations

from pathlib import Path

import pyarrow.ipc
import pytest

from dialogauge.training.targets import llamafactory, write_target

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]

SYSTEM = {"role": "system", "content": "You keep the lighthouse."}


def talk(*texts):
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


SEGMENT = {
    "prompt": [SYSTEM, *talk("冷吗？", "冷。")],
    "chosen": talk("And then?", "The lamp.", "Oh.", "好。"),
    "rejected": talk("Hello.", "I am an AI model."),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from benchmarks.toy_roleplay import build_tokenizer

    folder = tmp_path_factory.mktemp("model")
    build_tokenizer().save_pretrained(folder)
    return folder


def read(folder):
    with pyarrow.ipc.open_stream((Path(folder) / "data-00000.arrow").read_bytes()) as stream:
        return stream.read_all().to_pylist()


def trained(model, labels):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    text = tokenizer.decode([tokenizer.pad_token_id if label == -100 else label for label in labels])
    return [part for part in text.split(tokenizer.pad_token) if part]


def test_a_segment_is_trained_on_what_its_character_says(tmp_path, model):
    written = write_target("llamafactory", "segment", [SEGMENT], tmp_path / "rows.jsonl", model=model)
    (row,) = read(written.files["data"])
    assert trained(model, row["chosen_labels"]) == ["The lamp.<|im_end|>", "好。<|im_end|>"]
    assert trained(model, row["rejected_labels"]) == ["I am an AI model.<|im_end|>"]
    for side in ("chosen", "rejected"):
        ids = row[f"{side}_input_ids"]
        assert row[f"{side}_attention_mask"] == [1] * len(ids)
        assert all(label in (-100, token) for label, token in zip(row[f"{side}_labels"], ids, strict=True))
    config = written.files["config"].read_text()
    assert 'tokenized_path: "rows.tokens"' in config
    assert f"model_name_or_path: {model}" in config


def test_a_greeting_is_one_of_the_characters_turns(tmp_path, model):
    greeted = {"messages": [SYSTEM, {"role": "assistant", "content": "A boat!"}, *talk("Hello.", "Come in.")]}
    written = write_target("llamafactory", "sft", [greeted], tmp_path / "rows.jsonl", model=model)
    (row,) = read(written.files["data"])
    assert trained(model, row["labels"]) == ["A boat!<|im_end|>", "Come in.<|im_end|>"]


def test_the_oldest_turns_go_and_are_counted(tmp_path, model, monkeypatch):
    monkeypatch.setattr(llamafactory, "FITS", 160)
    long = {**SEGMENT, "prompt": [SYSTEM, *talk(*(f"Turn {n}, as the river goes." for n in range(20)))]}
    written = write_target("llamafactory", "segment", [long], tmp_path / "rows.jsonl", model=model)
    (row,) = read(written.files["data"])
    assert 100 < len(row["chosen_input_ids"]) <= 160
    assert trained(model, row["chosen_labels"]) == ["The lamp.<|im_end|>", "好。<|im_end|>"]
    ((reason, number),) = written.lines
    assert reason.startswith("oldest turns of rows")
    assert 0 < number < 10


def test_a_row_that_does_not_fit_is_left_out_and_counted(tmp_path, model, monkeypatch):
    monkeypatch.setattr(llamafactory, "FITS", 100)
    long = {**SEGMENT, "chosen": talk("Hello.", "The lamp burns. " * 40)}
    written = write_target("llamafactory", "segment", [long, SEGMENT], tmp_path / "rows.jsonl", model=model)
    assert len(read(written.files["data"])) == 1
    assert list(written.lines) == [("more than 100 tokens, without the oldest turns too", 1)]
