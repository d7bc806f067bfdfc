"""Where commands write: every input has a run of its own, and no input is written over."""

import json
import os

import pytest

from dialogauge.app.outputs import output_file, run_named_after, spare, stem
from dialogauge.core import UsageError


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("log.jsonl", "log"),
        ("log.2024.jsonl", "log.2024"),
        ("log.2025.jsonl.gz", "log.2025"),
        ("a/b.c/log.csv", "log"),
        ("gpt-4.1.json", "gpt-4.1"),
        (".hidden.json", "hidden"),
        (".jsonl", ""),
        ("v1.5", "v1.5"),
        ("..gz", ""),
    ],
)
def test_a_name_loses_its_ending_alone(path, name):
    assert stem(path) == name


def finished(path, inputs):
    path.mkdir(parents=True)
    (path / "run.db").write_bytes(b"")
    (path / "manifest.json").write_text(json.dumps({"settings": {"inputs": inputs}}))


def test_other_inputs_of_the_same_name_get_a_run_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = run_named_after(["a/log.jsonl"])
    assert str(first) == "runs/log"
    finished(first, ["a/log.jsonl"])
    names = [["b/log.jsonl"], ["log.csv"], ["a/log.jsonl", "more.jsonl"], ["log.jsonl"]]
    others = [run_named_after(inputs) for inputs in names]
    assert len({first, *others}) == 5
    assert all(str(other).startswith("runs/log-") for other in others)
    for other, inputs in zip(others, names, strict=True):
        finished(other, inputs)
    assert [run_named_after(inputs) for inputs in names] == others
    spellings = (["a/log.jsonl"], ["./a/../a/log.jsonl"], [str(tmp_path / "a/log.jsonl")])
    assert {run_named_after(inputs) for inputs in spellings} == {first}


def test_pipes_share_a_name_that_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("one")
    os.mkfifo("two")
    assert str(run_named_after(["one"])) == str(run_named_after(["two"], "")) == "runs/pipe"
    finished(tmp_path / "runs/pipe", ["one"])
    assert str(run_named_after(["two"])) == "runs/pipe"
    assert str(run_named_after(["-"], "-mine")) == "runs/stdin-mine"


def test_a_name_that_is_not_utf8_can_be_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = run_named_after(["caf\udce9.jsonl"])
    finished(path, ["caf\\xe9.jsonl"])
    assert run_named_after(["caf\udce9.jsonl"]) == path


def test_an_output_may_be_no_input_under_any_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/log.jsonl").write_text("{}")
    (tmp_path / "link.jsonl").symlink_to("data/log.jsonl")
    os.link("data/log.jsonl", "hard.jsonl")
    (tmp_path / "other.jsonl").write_text("{}")
    for output in ("data/log.jsonl", "./data/../data/log.jsonl", "link.jsonl", "hard.jsonl"):
        for given in (
            {"inputs": ("data/log.jsonl",)},
            {"ratings_file": "hard.jsonl"},
            {"x": "A=replies:link.jsonl"},
        ):
            with pytest.raises(UsageError, match="it is an input"):
                spare([tmp_path / output], given)
    with pytest.raises(UsageError, match="it is an input"):
        spare([tmp_path / "data/log.jsonl"], {"inputs": ["data"]})
    spare(
        [tmp_path / "other.jsonl", tmp_path / "new"],
        {"inputs": ["data", "x" * 5000, "a\0b"], "out": "other.jsonl"},
    )


def test_no_file_of_a_run_is_written_over(tmp_path):
    finished(tmp_path / "run", ["log"])
    (tmp_path / "link").symlink_to("run")
    for name in ("judgements.jsonl", "manifest.json", "run.db", "run.db-wal", ".lock"):
        for folder in ("run", "link"):
            with pytest.raises(UsageError, match="a file of a run"):
                output_file(str(tmp_path / folder / name))
    output_file(str(tmp_path / "run/report.html"), but="report")
    output_file(str(tmp_path / "run/mine.csv"))
    output_file(str(tmp_path / "judgements.jsonl"))
