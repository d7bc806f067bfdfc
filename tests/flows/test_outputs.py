"""Names of inputs and outputs: nothing paid is lost to a name, and nothing is written over unasked."""

from __future__ import annotations

import json
import os
import sys

import pytest

from flows.conftest import rows_of

NAMES = [
    b"caf\xe9",
    b"caf\xc3\xa9",
    b"a\nb",
    b"50%",
    b"a?b#c&d",
    b"x" * 240,
    b"\x1b[31m",
    "\U0001f600".encode(),
]


def made(name: bytes) -> str:
    return os.fsdecode(name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.skipif(sys.platform == "darwin", reason="its file names are UTF-8")
def test_work_is_stored_whatever_files_folders_and_runs_are_called(dialogauge, talk, serve, tmp_path, name):
    record = {k: v for k, v in talk("a").items() if k != "conversation_id"}
    folder = tmp_path / made(name)
    folder.mkdir()
    (folder / made(name + b".jsonl")).write_text(json.dumps(record) + "\n")
    with_model = ("--model", "m", "--base-url", serve().url)
    done = dialogauge("judge", folder, "-o", f"run-{made(name)}"[:200], *with_model)
    assert done.code == 0, done.err
    run = tmp_path / f"run-{made(name)}"[:200]
    assert len(rows_of(run)) == 2
    assert json.loads((run / "manifest.json").read_bytes())["conversations"] == 1
    assert (run / "report.html").read_bytes()
    assert dialogauge("report", run).code == 0
    assert dialogauge("trust", run, "--model", "m", "--base-url", with_model[-1]).code == 0
    assert dialogauge("export", run, "-o", f"{made(name)}.csv").code == 0
    assert dialogauge("judge", folder / made(name + b".jsonl")).code == 0
    assert dialogauge("check", folder, "--json").json["conversations"] == 1
    assert dialogauge("judge", folder, "--dry-run", "--json").code == 0


def test_a_model_that_no_request_can_name_is_refused(dialogauge, log, talk, tmp_path):
    for model in ("m\udce9", "file:m\udce9", "py:m\udce9:f"):
        done = dialogauge(
            "judge", log(talk("a")), "--model", model, "--base-url", "http://127.0.0.1:9/v1", "-o", "r"
        )
        assert (done.code, "is not written in UTF-8" in done.err) == (2, True)
    assert not (tmp_path / "r").exists()


def test_two_years_of_a_log_have_a_run_each(dialogauge, log, talk, tmp_path):
    for year in (2024, 2025):
        assert dialogauge("judge", log(talk(f"c{year}"), name=f"log.{year}.jsonl")).code == 0
    for year in (2024, 2025):
        (row, *_) = rows_of(tmp_path / "runs" / f"log.{year}")
        assert row["conversation_id"] == f"c{year}"


def test_no_command_writes_over_an_input(dialogauge, log, talk, tmp_path):
    path = log(talk("a"))
    before = path.read_bytes()
    assert dialogauge("judge", path, "-o", "run").code == 0
    (tmp_path / "link.jsonl").symlink_to(path)
    judgements = (tmp_path / "run/judgements.jsonl").read_bytes()
    for command in (
        ("export", "run", "-o", path),
        ("export", "run", "-o", "link.jsonl"),
        ("export", "run", "-o", "./run/../log.jsonl"),
        ("export", "run", "-o", "run/judgements.jsonl"),
        ("pairs", "run", "--kind", "sft", "-o", path),
        ("pairs", "run", "--kind", "sft", "-o", "run/kept.jsonl"),
        ("report", "run", "-o", path),
        ("report", "run", "-o", "run/summary.json"),
        ("fit", path, "-o", path),
        ("replay", "select", path, "-o", path),
    ):
        done = dialogauge(*command)
        assert (done.code, "written over" in done.err or "no name for" in done.err) == (2, True), (
            command,
            done,
        )
    assert path.read_bytes() == before
    assert (tmp_path / "run/judgements.jsonl").read_bytes() == judgements
    (tmp_path / "data").mkdir()
    path.rename(tmp_path / "data/judgements.jsonl")
    for given in ("data", "data/judgements.jsonl"):
        assert dialogauge("judge", given, "-o", "data").code == 2
    assert (tmp_path / "data/judgements.jsonl").read_bytes() == before


def test_an_item_set_is_made_of_what_can_be_read_again(dialogauge, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "caf\udce9.jsonl").write_text("{}")
    for name in ("pipe", "-", "caf\udce9.jsonl"):
        done = dialogauge("replay", "select", name, "-o", "items.json")
        assert (done.code, "could not say where its data is" in done.err) == (2, True)
