"""Every bad input: one clear message with its place, the right exit code, nothing already done lost."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys

import pytest

from flows.conftest import rows_of
from rated import rated_talk
from talks import conversation_record


def test_a_line_that_is_not_json_is_named_and_the_rest_judged(dialogauge, log, talk, tmp_path):
    path = log(talk("a"), '{"conversation_id": "b", "messa', talk("c"))
    done = dialogauge("judge", path, "-o", "run")
    assert done.code == 1
    assert "log.jsonl:2" in done.err
    assert {r["conversation_id"] for r in rows_of(tmp_path / "run")} == {"a", "c"}
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["failures"]["unreadable"] == 1
    assert summary["conversations"]["requested"] == 3


def test_strict_stops_at_it(dialogauge, log, talk):
    done = dialogauge("judge", log(talk("a"), "{", talk("c")), "--strict", "-o", "run")
    assert done.code == 1
    assert "log.jsonl:2" in done.err


def test_not_utf8(dialogauge, log, talk, tmp_path):
    path = log(talk("a"), '{"conversation_id": "b", "messages": "caf\xe9"}'.encode("latin-1"))
    done = dialogauge("judge", path, "-o", "run")
    assert done.code == 1
    assert "log.jsonl:2" in done.err
    assert "UTF-8" in done.err
    assert len(rows_of(tmp_path / "run")) == 2


@pytest.mark.long
def test_truncated_gzip_keeps_what_came_before(dialogauge, talk, tmp_path):
    lines = b"".join(json.dumps(talk(f"c{i}", "x" * 50)).encode() + b"\n" for i in range(3000))
    packed = gzip.compress(lines, 1)
    (tmp_path / "log.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    done = dialogauge("judge", "log.jsonl.gz", "-o", "run")
    assert done.code == 1
    assert "log.jsonl.gz" in done.err
    assert len(rows_of(tmp_path / "run")) > 100


@pytest.mark.parametrize("name", ["empty.jsonl", "folder", "absent.jsonl"])
def test_nothing_to_read(dialogauge, tmp_path, name):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    done = dialogauge("judge", name, "-o", "run")
    assert done.code == 1
    assert name in done.err
    assert "Traceback" not in done.err


def test_unknown_role(dialogauge, log, talk):
    record = talk("a")
    record["messages"][1]["role"] = "narrator"
    done = dialogauge("judge", log(record, talk("b")), "-o", "run")
    assert done.code == 1
    assert "narrator" in done.err
    assert "log.jsonl:1" in done.err


@pytest.mark.long
def test_a_message_of_ten_megabytes_is_judged(dialogauge, log, talk):
    done = dialogauge("judge", log(talk("a", "word " * 2_000_000)), "-o", "run")
    assert done.code == 0


def test_replies_that_hardly_say_their_language_are_judged(dialogauge, log, talk, tmp_path):
    replies = (
        *("4", "12.50 + 3 = 15.50", "2026-11-23", "OK", "👍", "...", "no " * 300, "ha" * 500, "Error! " * 50),
        *("`ls -la`", "https://example.org/a/b", "x = y + z"),
        "Paris, Lisbon, Vienna, Prague, Athens, Dublin, Oslo, Berlin, Rome, Madrid, Riga, Bern, Warsaw",
    )
    asked = [talk(f"words {n}", reply) for n, reply in enumerate((*replies, "Le Marais."))]
    numbers = [talk(f"numbers {n}", reply) for n, reply in enumerate(replies)]
    for record in numbers:
        record["messages"][0]["content"] = "12 + 30 = ?"
    foreign = talk("foreign", "Museum buka jam sembilan pagi setiap hari, kecuali hari Senin dan hari libur.")
    foreign["messages"][0]["content"] = "Museum buka jam berapa besok pagi, dan berapa harga tiketnya?"
    done = dialogauge("judge", log(*asked, *numbers, foreign), "--max-failed", 0.1, "-o", "run")
    assert done.code == 0
    rows = rows_of(tmp_path / "run")
    assert {row["conversation_id"] for row in rows if row["failure"]} == {"foreign"}


def test_an_id_seen_before(dialogauge, log, talk, tmp_path):
    done = dialogauge("judge", log(talk("a"), talk("a", "Other.")), "-o", "run")
    assert done.code == 1
    assert "log.jsonl:2" in done.err
    assert "log.jsonl:1" in done.err
    assert len(rows_of(tmp_path / "run")) == 2


def test_ratings_for_unknown_ids_and_off_the_scale(dialogauge, log, talk, tmp_path):
    path = log(talk("a"))
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(
        "conversation_id,turn,dimension,rater,score\n"
        "nobody,1,helpfulness,r1,3\na,1,helpfulness,r2,9\n"
        + "".join(f"a,1,helpfulness,s{k},{k % 5 + 1}\n" for k in range(10))
    )
    done = dialogauge("judge", path, "--ratings", ratings, "-o", "run")
    assert done.code == 1
    assert "nobody" in done.err
    assert "ratings.csv:3" in done.err
    assert len(rows_of(tmp_path / "run")) == 2


def test_ratings_of_turns_that_do_not_exist(dialogauge, log, talk, tmp_path):
    path = log(talk("a"))
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("conversation_id,turn,dimension,score\na,1,helpfulness,4\na,99,helpfulness,3\n")
    for command in (("judge", path, "-o", "run"), ("check", path)):
        done = dialogauge(*command, "--ratings", ratings)
        assert done.code == 1
        told = done.err + done.out
        assert "ratings for 1 turn that the conversation does not have: turn 99 of 'a'" in told


def test_an_oddity_is_reported_and_only_strict_refuses_it(dialogauge, log, talk):
    record = talk("a")
    record["messages"].insert(0, {"role": "user", "content": "Hello?"})
    path = log(record)
    done = dialogauge("judge", path, "-o", "run")
    assert done.code == 0
    assert "consecutive messages of one role" in done.out
    assert dialogauge("judge", path, "--strict", "-o", "strict").code == 1


def test_a_conversation_without_a_reply_is_counted(dialogauge, log, talk):
    record = {"conversation_id": "b", "messages": [{"role": "user", "content": "Hello?"}]}
    done = dialogauge("judge", log(talk("a"), record), "-o", "run", "--json")
    assert done.code == 0
    assert done.json["failures"] == {"no_reply": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[judge]\nrubrik = 'card'\n", "judge.rubrik"),
        ("[judge\n", "TOML"),
        ("[roles.judge]\nbase_url = 'x'\n", "roles.judge.model"),
        ("[judge]\nrepeats = 'many'\n", "judge.repeats"),
    ],
)
def test_faulty_configuration(dialogauge, log, talk, tmp_path, text, expected):
    (tmp_path / "my.toml").write_text(text)
    done = dialogauge("judge", log(talk("a")), "--config", "my.toml")
    assert done.code == 2
    assert "my.toml" in done.err
    assert expected in done.err


@pytest.mark.parametrize("rubric", ["no-such", "missing.toml", "broken.toml"])
def test_faulty_rubric(dialogauge, log, talk, tmp_path, rubric):
    (tmp_path / "broken.toml").write_text("id = 'x'\nlevel = 'galaxy'\n")
    done = dialogauge("judge", log(talk("a")), "--rubric", rubric, "--model", "m@http://127.0.0.1:9/v1")
    assert done.code == 2
    assert rubric in done.err


def test_the_local_judge_says_what_it_cannot(dialogauge, log, talk):
    done = dialogauge("judge", log(talk("a")), "--rubric", "factuality")
    assert done.code == 2
    assert "--model" in done.err


def test_read_only_directory(dialogauge, log, talk, tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = dialogauge("judge", log(talk("a")), "-o", "file/run")
    assert done.code == 1
    assert "file/run" in done.err
    assert "-o" in done.err


def test_a_second_process_on_the_same_run(dialogauge, log, talk, tmp_path):
    import fcntl

    (tmp_path / "run").mkdir()
    with (tmp_path / "run" / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        done = dialogauge("judge", log(talk("a")), "-o", "run")
    assert done.code == 1
    assert "another process" in done.err


def test_missing_extra(dialogauge, log, talk, monkeypatch):
    import sys

    dialogauge("judge", log(talk("a")), "-o", "run")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = dialogauge("export", "run", "-o", "x.parquet")
    assert done.code == 2
    assert "dialogauge[parquet]" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("judge",),
        ("judge", "x.jsonl", "--mode", "sideways"),
        ("judge", "x.jsonl", "--lang", "fr"),
        ("judge", "x.jsonl", "--judge", "llm"),
        ("judge", "x.jsonl", "--base-url", "http://x"),
        ("judge", "x.jsonl", "--role", "jury=m"),
        ("judge", "x.jsonl", "--window", "9"),
        ("judge", "x.jsonl", "--judge", "local", "--model", "m"),
        ("pairs", "run"),
    ],
    ids=lambda words: " ".join(words),
)
def test_usage_errors(dialogauge, words):
    done = dialogauge(*words)
    assert done.code == 2
    assert "Traceback" not in done.err


def test_the_local_judge_has_no_windows(dialogauge, log, talk):
    done = dialogauge("judge", log(talk("a")), "--window", "4")
    assert (done.code, "the judge local takes no --window" in done.err) == (2, True)


@pytest.mark.parametrize("command", [("report",), ("export",), ("pairs",)])
def test_no_run_there(dialogauge, command, tmp_path):
    (tmp_path / "nothing").mkdir()
    more = () if command == ("report",) else ("-o", "x.jsonl")
    kind = ("--kind", "kto") if command == ("pairs",) else ()
    done = dialogauge(*command, "nothing", *more, *kind)
    assert done.code == 1
    assert "nothing" in done.err


def test_odd_ratings_do_not_spoil_the_others(dialogauge, log, talk, tmp_path):
    path = log(*(talk(f"c{i}") for i in range(12)))
    rows = "".join(f"c{i},1,helpfulness,{2 + i % 3}\n" for i in range(12))
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(
        f"conversation_id,turn,dimension,score\n{rows}c0,2,helpfulness,9\nc1,2,helpfulness,fine\n"
    )
    judged = dialogauge("judge", path, "--ratings", ratings, "-o", "run")
    assert judged.code == 1
    trust = json.loads((tmp_path / "run" / "summary.json").read_text())["trust"]["calibration"]
    assert trust["dimensions"][0]["n"] == 12
    assert trust["dimensions"][0]["kappa"] is not None
    assert "2 ratings are not used" in trust["sentence"]
    done = dialogauge("agreement", "run", "--ratings", ratings)
    assert done.code == 1
    assert "ratings.csv:14" in done.err
    assert "helpfulness is 9: it is off the scale 1-5" in done.err
    assert "helpfulness is 'fine': it is a text" in done.err
    assert "12 rated targets" in done.out
    assert "2 ratings not used" in done.unwrapped
    assert "not on the judge's scale" not in done.out
    inside = dialogauge("agreement", "run")  # the ratings that the run keeps
    assert inside.code == 1
    assert "12 rated targets" in inside.out


OF_A_RUN = [
    *(("report", "old"), ("agreement", "old"), ("export", "old", "-o", "x.csv"), ("trust", "old")),
    *(("pairs", "old", "-o", "p.jsonl", "--kind", "kto"), ("judge", "old", "-o", "anew")),
    ("judge", "log.jsonl", "-o", "old"),
    ("satisfaction", "rated.jsonl", "--judge", "local", "--split", "all", "-o", "old"),
    (
        *("satisfaction", "rated.jsonl", "--judge", "local", "--split", "all", "--reference", "old"),
        "--calibrate",
        "reference-cdf",
    ),
    ("satisfaction", "rated.jsonl", "--judge", "local-user", "--split", "all", "--signal", "old"),
]


@pytest.mark.parametrize("words", OF_A_RUN, ids=" ".join)
def test_a_run_of_an_older_schema_is_refused(dialogauge, log, talk, tmp_path, words):
    rated = [rated_talk(u, s, 0, [5, 3]) for u in ("u", "v") for s in ("cook", "gift")]
    log(*(conversation_record(c) for c in rated), name="rated.jsonl")
    assert dialogauge("judge", log(talk("a")), "-o", "old").code == 0
    with sqlite3.connect(tmp_path / "old" / "run.db") as database:
        database.execute("PRAGMA user_version = 1")
    done = dialogauge(*words)
    assert done.code in (1, 2)
    assert "was written by an older dialogauge: it holds rows of schema 1" in " ".join(done.err.split())
    assert "judge its input again, into another directory or with --fresh" in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_a_newer_run_is_refused_too_and_fresh_begins_again(dialogauge, log, talk, tmp_path):
    path = log(talk("a"))
    dialogauge("judge", path, "-o", "run")
    with sqlite3.connect(tmp_path / "run" / "run.db") as database:
        database.execute("PRAGMA user_version = 99")
    assert "was written by a newer dialogauge" in " ".join(dialogauge("report", "run").err.split())
    assert dialogauge("judge", path, "-o", "run", "--fresh").code == 0
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["schema"] == 2


@pytest.mark.long
@pytest.mark.parametrize("form", ["pipe", "standard input", "its device"])
def test_what_comes_through_a_pipe_is_judged_whole_and_goes_on(talk, tmp_path, form):
    lines = b"".join(json.dumps(talk(f"c{i}")).encode() + b"\n" for i in range(300))
    (tmp_path / "log.jsonl").write_bytes(lines)
    name = {"pipe": "<(cat log.jsonl)", "standard input": "- < <(cat log.jsonl)", "its device": "/dev/stdin"}
    feed = "cat log.jsonl |" if form == "its device" else ""
    command = f"{feed} {sys.executable} -m dialogauge judge {name[form]} -o run"
    for _ in range(2):
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert len({r["conversation_id"] for r in rows_of(tmp_path / "run")}) == 300
    assert "already done" in done.stdout


def test_one_pipe_is_not_log_and_ratings_at_once(dialogauge, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "again").symlink_to("pipe")
    for command in ("judge", "check", "fit"):
        done = dialogauge(
            command, "pipe", "--ratings", "again", *(["-o", "run"] if command != "check" else [])
        )
        assert (done.code, "it can be read but once" in done.err) == (2, True)
