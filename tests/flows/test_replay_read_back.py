"""A replay run read back: listed, shown, exported, its page made again; also in Python."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from dialogauge import open_run
from flows.test_replay_plain import GOOD, at, fairly, record, scored_as, stored, write_replies

MAIL = "ann.lee@example.org"


@pytest.fixture
def run(dialogauge, log, once):
    """Four conversations of three replies; `mine` answers 10 of the 12 states."""

    def make():
        talks = [record(n, user_id=f"u{n}") for n in range(4)]
        talks[0]["messages"][0]["content"] += f" Write to {MAIL}."
        data = log(*talks, name="data.jsonl")
        dialogauge("replay", "select", data, "--rule", "all", "-o", "items.json")
        items = stored("items.json")["items"]
        write_replies("mine.jsonl", items[:10], f"I would rather say this to {MAIL}.")
        dialogauge("replay", "collect", "items.json", "--candidate", "replies:mine.jsonl", "-o", "runs/a")
        Path("data.jsonl").unlink()

    once("replay-read-back", make)
    return Path("runs/a")


@pytest.fixture
def scored(dialogauge, run, log, serve):
    """A judge that gives `mine` a 4 and the original replies a 5, with the data back for the scoring."""
    talks = [record(n, user_id=f"u{n}") for n in range(4)]
    talks[0]["messages"][0]["content"] += f" Write to {MAIL}."
    log(*talks, name="data.jsonl")
    server = serve(scored_as(lambda text: 4 if "I would rather" in text else 5))
    model = ("--rubric", "satisfaction", "--model", "m", "--base-url", server.url, "--no-planted")
    assert dialogauge("replay", "score", run, "--data", "data.jsonl", *model).code == 0
    Path("data.jsonl").unlink()
    return run


def test_runs_says_how_far_a_replay_is(dialogauge, scored) -> None:
    (listed,) = dialogauge("runs", "--json").json["runs"]
    assert (listed["study"], listed["conversations"], listed["headline"]) == (
        "answer",
        4,
        "scored, not compared",
    )
    assert dialogauge("replay", "compare", scored).code == 0
    (listed,) = dialogauge("runs", "--json").json["runs"]
    assert listed["headline"] == "not ranked: the evaluator is not checked"
    assert dialogauge("replay", "compare", scored, "--unchecked").code == 0
    (listed,) = dialogauge("runs", "--json").json["runs"]
    assert listed["headline"] == "satisfaction: mine 4.00, original 5.00 (n 10)"
    assert listed["judge"] == "satisfaction/m"


def test_runs_lists_replies_that_nobody_scored(dialogauge, run) -> None:
    (listed,) = dialogauge("runs", "--json").json["runs"]
    assert (listed["judge"], listed["conversations"]) == ("", 4)
    assert listed["headline"] == "replies are collected, not scored"


def test_a_state_is_shown_without_the_data(dialogauge, scored) -> None:
    done = dialogauge("show", scored, "c1__turn_1")
    assert done.code == 0, done.err
    told = done.unwrapped
    assert "Where is my parcel? It is for number 1." in told
    assert f"{GOOD[0]} Number 1 is noted." in told
    assert "How do I reset the router? It is for number 1." in told
    assert f"assistant: {GOOD[1]} Number 1 is noted. satisfaction 5" in told
    assert f"assistant: I would rather say this to {MAIL}. satisfaction 4" in told
    assert "When does the museum open?" not in told, "what followed is not kept for this state"
    assert "c1__turn_1 · mine" in told
    assert "c1__turn_1 · original" in told
    last = dialogauge("show", scored, "c3__turn_2").unwrapped
    assert "c3__turn_2 · mine" in last
    assert "It has no messages" in last
    hidden = dialogauge("show", scored, "c1__turn_1", "--redact").unwrapped
    assert "I would rather say this to [email]." in hidden
    near = dialogauge("show", scored, "c9__turn_1")
    assert (near.code, "has no conversation 'c9__turn_1'" in near.err) == (2, True)


def test_a_state_that_nobody_scored_is_shown_too(dialogauge, run) -> None:
    told = dialogauge("show", run, "c0__turn_0").unwrapped
    assert "Nobody has scored this run" in told
    assert f"assistant: I would rather say this to {MAIL}." in told


def test_the_page_is_made_again(dialogauge, scored) -> None:
    early = dialogauge("report", scored)
    assert early.code == 1
    assert "has not been compared" in early.err
    assert dialogauge("replay", "compare", scored, "--margin", 0.5).code == 0
    page = (scored / "report.html").read_text()
    (scored / "report.html").unlink()
    assert dialogauge("report", scored).code == 0
    assert (scored / "report.html").read_text() == page
    assert MAIL in page
    done = dialogauge("report", scored, "--redact", "--hash-ids", "-o", "hidden.html")
    assert done.code == 0, done.err
    hidden = Path("hidden.html").read_text()
    assert MAIL not in hidden
    assert not re.search(r"\bc0__turn_0", hidden)
    assert "I would rather say this to [email]." in hidden


def test_every_reply_is_a_row(dialogauge, scored) -> None:
    done = dialogauge("export", scored, "-o", "rows.jsonl")
    assert (done.code, done.out) == (0, "24 rows: rows.jsonl\n")
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    by = {(r["conversation_id"], r["candidate"]): r for r in rows}
    assert len(by) == 24
    one = by["c2__turn_1", "mine"]
    assert (one["user_id"], one["turn"], one["failure"]) == ("u2", 2, None)
    assert one["scores"] == {"satisfaction": 4}
    assert by["c2__turn_1", "original"]["scores"] == {"satisfaction": 5}
    lost = by["c3__turn_2", "mine"]
    assert (lost["scores"], lost["failure"]["kind"]) == (None, "absent")
    done = dialogauge("export", scored, "-o", "rows.csv", "--redact", "--hash-ids")
    with Path("rows.csv").open(newline="") as file:
        hidden = list(csv.DictReader(file))
    assert [row["score_satisfaction"] for row in hidden].count("4.0") == 10
    assert MAIL not in Path("rows.csv").read_text()
    done = dialogauge("export", scored, "--messages", "-o", "log.jsonl", "--redact")
    assert (done.code, done.out) == (0, "24 conversations: log.jsonl\n")
    talks = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
    last = {(t["conversation_id"], t["candidate"]): t["messages"][-1:] for t in talks}
    assert last["c2__turn_1", "mine"] == [
        {"role": "assistant", "content": "I would rather say this to [email]."}
    ]
    assert last["c3__turn_2", "mine"] == []
    assert not any(row["conversation_id"].startswith("c0__") or row["user_id"] == "u0" for row in hidden)


def test_every_pair_is_a_row(dialogauge, run, log, serve) -> None:
    talks = [record(n, user_id=f"u{n}") for n in range(4)]
    talks[0]["messages"][0]["content"] += f" Write to {MAIL}."
    log(*talks, name="data.jsonl")
    assert (
        dialogauge("replay", "score", run, "--data", "data.jsonl", *at(serve(fairly)), "--no-planted").code
        == 0
    )
    dialogauge("export", run, "-o", "votes.csv")
    with Path("votes.csv").open(newline="") as file:
        votes = list(csv.DictReader(file))
    assert [v["score_preferred"] for v in votes] == ["0.0"] * 10 + [""] * 2
    assert {v["candidate"] for v in votes} == {"mine"}
    assert [v["failure_kind"] for v in votes][-2:] == ["absent"] * 2
    assert (votes[1]["conversation_id"], votes[1]["turn"], votes[1]["judge"]) == ("c0__turn_1", "2", "pair/m")
    dialogauge("export", run, "-o", "votes.jsonl")
    first = json.loads(Path("votes.jsonl").read_text().splitlines()[0])
    assert [(o["first"], o["winner"], o["reason"]) for o in first["details"]["orders"]] == [
        ("a", "b", "So."),
        ("b", "b", "So."),
    ]
    assert "preferred 0" in dialogauge("show", run, "c0__turn_0").unwrapped


def test_in_python(dialogauge, scored) -> None:
    dialogauge("replay", "compare", scored)
    held = open_run(scored)
    rows = list(held.rows())
    assert len(rows) == 24
    frame = held.to_pandas()
    assert frame[frame.candidate == "mine"].score_satisfaction.mean() == 4
    talks = held.conversations()
    assert {(c.id, c.candidate) for c in talks} >= {("c0__turn_0", "original"), ("c0__turn_0", "mine")}
    assert "I would rather say this" in held.show("c1__turn_1")._repr_html_()
    assert held.export("rows.jsonl") == 24


def test_a_reply_that_was_made_anew_stands_once(dialogauge, scored, log) -> None:
    talks = [record(n, user_id=f"u{n}") for n in range(4)]
    talks[0]["messages"][0]["content"] += f" Write to {MAIL}."
    log(*talks, name="data.jsonl")
    write_replies("mine.jsonl", stored("items.json")["items"], "I would rather say that.")
    dialogauge(
        "replay",
        "collect",
        "items.json",
        "--data",
        "data.jsonl",
        "--candidate",
        "replies:mine.jsonl",
        "-o",
        scored,
    )
    dialogauge("export", scored, "-o", "rows.jsonl")
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    mine = [row for row in rows if row["candidate"] == "mine"]
    assert [(row["scores"], row["failure"]) for row in mine] == [({}, None)] * 12, "nobody has scored them"
    said = {c.messages[-1].text for c in open_run(scored).conversations() if c.candidate == "mine"}
    assert said == {"I would rather say that."}


def test_two_replies_to_a_state_are_a_training_pair(dialogauge, scored) -> None:
    done = dialogauge("pairs", scored, "-o", "dpo.jsonl", "--redact")
    assert (done.code, "rest on a judge that is not checked" in done.err) == (2, True)
    done = dialogauge("pairs", scored, "-o", "dpo.jsonl", "--redact", "--unchecked")
    assert done.code == 0, done.err
    assert "10 rows: dpo.jsonl" in done.out
    assert "10 rejected by the judge" in done.out
    rows = [json.loads(line) for line in Path("dpo.jsonl").read_text().splitlines()]
    second = next(row for row in rows if "is for number 2" in str(row["prompt"]) and len(row["prompt"]) == 3)
    assert [m["role"] for m in second["prompt"]] == ["user", "assistant", "user"]
    assert second["prompt"][-1]["content"] == "How do I reset the router? It is for number 2."
    assert second["chosen"] == [{"role": "assistant", "content": f"{GOOD[1]} Number 2 is noted."}]
    assert second["rejected"] == [{"role": "assistant", "content": "I would rather say this to [email]."}]
    sources = [json.loads(line) for line in Path("dpo.provenance.jsonl").read_text().splitlines()]
    assert {(s["source"], s["judge"], s["quality"]) for s in sources} == {("judge", "satisfaction/m", 0.75)}
    assert {s["rejected_from"] for s in sources} == {"replies of mine"}
    for more, why in (
        (("--kind", "kto"), "gives no rows of the kind kto"),
        (("--chosen-field", "better"), "gives pairs of its own replies alone"),
        (("--recheck",), "needs a judge that scores one side alone"),
    ):
        refused = dialogauge("pairs", scored, "-o", "other.jsonl", *more, "--unchecked")
        assert (refused.code, why in refused.err) == (2, True), refused.err


def test_pairs_need_somebody_who_scored(dialogauge, run) -> None:
    refused = dialogauge("pairs", run, "-o", "dpo.jsonl")
    assert (refused.code, "nobody has scored the replies of runs/a" in refused.err) == (2, True)
