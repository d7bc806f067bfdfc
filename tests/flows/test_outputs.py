"""Names of inputs and outputs: nothing paid is lost to a name, and nothing is written over unasked."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dialogauge import open_run
from flows.conftest import rows_of
from rated import rated_users
from talks import conversation_record

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


@pytest.mark.long
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


def test_an_input_is_spared_from_any_folder(dialogauge, log, talk, tmp_path, monkeypatch):
    before = log(talk("a")).read_bytes()
    assert dialogauge("judge", "./log.jsonl", "-o", "runs/log").code == 0
    monkeypatch.chdir(tmp_path / "runs")
    for command in (
        ("export", "log", "-o", "../log.jsonl"),
        ("pairs", "log", "--kind", "sft", "-o", "../log.jsonl"),
        ("report", "log", "-o", "../log.jsonl"),
    ):
        done = dialogauge(*command)
        assert (done.code, "would be written over" in done.err) == (2, True)
    assert (tmp_path / "log.jsonl").read_bytes() == before
    for _ in range(2):
        assert dialogauge("export", "log", "-o", "rows.jsonl").code == 0


@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a device"])
def test_what_is_no_file_is_left_where_it_stands(dialogauge, log, talk, tmp_path, kind):
    path = log(talk("a"))
    assert dialogauge("judge", path, "-o", "run").code == 0
    place = {"a folder": tmp_path / "there", "a pipe": tmp_path / "there", "a device": Path("/dev/tty")}[kind]
    if kind != "a device":
        (place.mkdir if kind == "a folder" else lambda: os.mkfifo(place))()
    (tmp_path / "link.jsonl").symlink_to(place)
    before = place.stat()
    for command in (
        ("export", "run", "-o", "link.jsonl"),
        ("pairs", "run", "--kind", "sft", "-o", "link.jsonl"),
        ("pairs", "run", "--kind", "sft", "-o", place),
        ("report", "run", "-o", place),
        ("replay", "select", path, "-o", place),
    ):
        done = dialogauge(*command)
        assert (done.code, f"is {kind}, and no file" in done.err) == (2, True), (command, done)
    assert os.path.samestat(before, place.stat())


def test_a_link_is_written_through(dialogauge, log, talk, tmp_path):
    assert dialogauge("judge", log(talk("a")), "-o", "run").code == 0
    (tmp_path / "rows.jsonl").write_text("old")
    (tmp_path / "link.jsonl").symlink_to("rows.jsonl")
    assert dialogauge("export", "run", "-o", "link.jsonl").code == 0
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "rows.jsonl").read_text().count("\n") == 2
    open_run("run").page("link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert "<html" in (tmp_path / "rows.jsonl").read_text()


@pytest.mark.parametrize("name", ["x" * 250, "x" * 255, "x" * 240 + ".jsonl", "run/judgements.jsonl/x"])
def test_rows_that_cannot_be_written_are_not_paid_for(dialogauge, log, talk, serve, tmp_path, name):
    stub = serve('{"reply": "At ten."}')
    again = "It opens at nine on every day but Monday, and the cafe opens an hour later."
    assert dialogauge("judge", log(talk("a", again, again)), "-o", "run").code == 0
    words = ("--model", "m", "--base-url", stub.url, "--unchecked")
    done = dialogauge("pairs", "run", *words, "-o", name)
    assert (done.code, "cannot be written" in done.err, stub.asked) == (1, True, [])
    assert dialogauge("pairs", "run", *words, "-o", "p").code == 0
    assert stub.asked
    longest = "x" * (255 - len(".provenance.jsonl")) + ".jsonl"
    assert (
        dialogauge(
            "pairs", "run", "--kind", "sft", "--unchecked", "--min-verdict", "poor", "-o", longest
        ).code
        == 0
    )


def test_a_folder_of_inputs_does_not_become_a_run(dialogauge, talk, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/log.jsonl").write_text(json.dumps(talk("a")) + "\n")
    (tmp_path / "link").symlink_to("data")
    for out in ("data", "link", "data/../link"):
        done = dialogauge("judge", "data", "-o", out)
        assert (done.code, "would become a run, and it is an input" in done.err) == (2, True)
    assert [p.name for p in (tmp_path / "data").iterdir()] == ["log.jsonl"]
    for _ in range(2):
        assert dialogauge("judge", "data", "-o", "data/run").code == 0


def test_a_rubric_is_no_pipe(dialogauge, log, talk, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    words = ("--rubric", "pipe", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    done = dialogauge("judge", log(talk("a")), *words)
    assert (done.code, "comes through a pipe" in done.err) == (2, True)


def test_an_item_set_is_made_of_what_can_be_read_again(dialogauge, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "caf\udce9.jsonl").write_text("{}")
    for name in ("pipe", "-", "caf\udce9.jsonl"):
        done = dialogauge("replay", "select", name, "-o", "items.json")
        assert (done.code, "could not say where its data is" in done.err) == (2, True)


def test_a_build_server_gets_gates_and_conversations(dialogauge, log, talk, tmp_path):
    log(talk("a"), talk("b"), name="two.jsonl")
    done = dialogauge(
        "judge",
        "two.jsonl",
        "-o",
        "run",
        "--gate",
        "helpfulness.mean>=4.9",
        "--unchecked",
        "--junit",
        "r.xml",
    )
    assert done.code == 100, done.err
    suite = ElementTree.parse(tmp_path / "r.xml").getroot()
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["3", "1", "0", "0"]
    assert float(suite.get("time")) > 0
    cases = suite.iter("testcase")
    assert {c.get("name"): [part.tag for part in c] for c in cases} == {
        "helpfulness.mean>=4.9": ["failure"],
        "a": [],
        "b": [],
    }
    again = dialogauge(
        "judge",
        "two.jsonl",
        "-o",
        "run",
        "--gate",
        "helpfulness.mean>=4.9",
        "--unchecked",
        "--junit",
        "r.xml",
    )
    assert again.code == done.code, again.err  # its own file is no input
    refused = dialogauge("judge", "two.jsonl", "-o", "other", "--junit", "two.jsonl")
    assert refused.code == 2
    assert "would be written over" in refused.err


WRITERS = {
    "judge --junit": ("judge", "log.jsonl", "-o", "fresh", "--junit"),
    "export": ("export", "{run}", "-o"),
    "report": ("report", "{run}", "-o"),
    "pairs": ("pairs", "{run}", "--kind", "sft", "-o"),
    "fit": ("fit", "rated.jsonl", "-o"),
    "replay select": ("replay", "select", "log.jsonl", "-o"),
}
"""Every command that writes a file under a name of the user's choice, which comes last."""
MAKERS = {
    "judge": ("judge", "log.jsonl", "-o"),
    "satisfaction": ("satisfaction", "rated.jsonl", "--judge", "global-mean", "-o"),
    "success": ("success", "log.jsonl", "--kind", "multiwoz", "-o"),
    "fit": ("fit", "rated.jsonl", "-o"),
    "arena": ("arena", "one", "two", "-o"),
    "arena of arenas": ("arena", "votes-one", "x=votes-two", "-o"),
    "replay run": ("replay", "run", "log.jsonl", "--candidate", "replies:mine.jsonl", "-o"),
    "replay collect": ("replay", "collect", "items.json", "--candidate", "replies:mine.jsonl", "-o"),
    "replay compare": ("replay", "compare", "replay", "-o"),
    "compare": ("compare", "one", "two", "-o"),
    "agreement": ("agreement", "one", "two", "-o"),
    "annotate make": ("annotate", "make", "log.jsonl", "--raters", "1", "-o"),
}
"""Every command that writes a folder, which is named last."""
FILES_OF_A_RUN = (
    "run.db",
    "manifest.json",
    "summary.json",
    "judgements.jsonl",
    "report.html",
    "items.json",
    "scores.jsonl",
    "kept.jsonl",
    ".lock",
    "run.db-wal",
)


@pytest.fixture
def world(dialogauge, log, talk, tmp_path):
    """Runs of every kind, and what they are made from."""
    records = [talk(name, "It opens at nine.", "It opens at ten.") for name in "abcdef"]
    log(*records)
    log(*map(conversation_record, rated_users()), name="rated.jsonl")
    for name, first in (("votes-one", 0), ("votes-two", 9)):
        rows = [(f"d{first + n}", a, b, "a") for n, (a, b) in enumerate(("xy", "yz", "xz"))]
        text = "".join(",".join(row) + "\n" for row in [("conversation_id", "a", "b", "winner"), *rows])
        Path(f"{name}.csv").write_text(text)
    commands = (
        ("judge", "log.jsonl", "-o", "one"),
        ("judge", "log.jsonl", "-o", "two", "--mode", "foresight"),
        ("satisfaction", "rated.jsonl", "--judge", "global-mean", "-o", "contented"),
        ("arena", "votes-one.csv", "-o", "votes-one"),
        ("arena", "votes-two.csv", "-o", "votes-two"),
        ("replay", "select", "log.jsonl", "-o", "items.json"),
    )
    for command in commands:
        done = dialogauge(*command)
        assert done.code == 0, (command, done)
    items = json.loads(Path("items.json").read_text())["items"]
    log(*({"item": item["id"], "reply": "At nine."} for item in items), name="mine.jsonl")
    collect = ("replay", "collect", "items.json", "--candidate", "replies:mine.jsonl", "-o")
    for folder in ("replay", "other-replay"):
        assert dialogauge(*collect, folder).code == 0

    def content(path):
        if path.name != "run.db":
            return path.read_bytes()
        with closing(sqlite3.connect(path)) as database:
            return list(database.iterdump())

    files = [path for path in tmp_path.rglob("*") if path.is_file() and "cache" not in path.parts]
    return lambda: {path: content(path) for path in files}


@pytest.mark.long
def test_no_output_is_written_over_a_file_of_any_run(dialogauge, world):
    before = world()
    for name, command in WRITERS.items():
        for run in ("one", "replay", "votes-one"):
            words = [word.format(run=run if name != "pairs" else "one") for word in command]
            for file in FILES_OF_A_RUN:
                if (name, file) == ("report", "report.html") or (
                    name == "fit" and not file.endswith(".json")
                ):
                    continue  # its own; a folder, which is made
                done = dialogauge(*words, f"{run}/{file}")
                assert done.code in (1, 2), (name, run, file, done)
    assert world() == before


@pytest.mark.long
def test_no_output_is_written_over_the_run_that_is_being_made(dialogauge, world):
    before = world()
    for file in ("", ".", *FILES_OF_A_RUN):
        done = dialogauge("judge", "log.jsonl", "-o", "fresh", "--junit", f"fresh/{file}".rstrip("/"))
        assert (done.code, "is being made" in done.err) == (2, True), (file, done)
    default = dialogauge("judge", "log.jsonl", "--junit", "runs/log/run.db")
    assert (default.code, "is being made" in default.err) == (2, True)
    assert world() == before
    inside = dialogauge("judge", "log.jsonl", "-o", "fresh", "--junit", "fresh/junit.xml")
    assert (inside.code, Path("fresh/junit.xml").is_file()) == (0, True)


@pytest.mark.long
def test_no_folder_of_results_becomes_another_run(dialogauge, world):
    before = world()
    kinds = {"one": "judge", "contented": "satisfaction", "votes-one": "arena", "other-replay": "replay"}
    for name, command in MAKERS.items():
        for run, kind in kinds.items():
            if kind != name.split()[0] or name in ("arena of arenas", "replay compare"):
                done = dialogauge(*command, run)
                assert world() == before, (name, run, done)
