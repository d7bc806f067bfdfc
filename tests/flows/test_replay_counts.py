"""What is missing of a benchmark: counted alike in summary, scores and page, and never a number."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from dialogauge import DialogaugeError, run
from rated import rated_users
from servers.contented import contented, shown_to
from servers.faults import FaultPlan
from talks import conversation_record


@pytest.fixture
def items(dialogauge, log):
    log(*(conversation_record(t) for t in rated_users(6)), name="data.jsonl")
    done = dialogauge("replay", "select", "data.jsonl", "--rule", "random", "-n", 12, "-o", "items.json")
    assert done.code == 0, done.err
    return json.loads(Path("items.json").read_text())["items"]


def replies(name, items, text="I would rather say this."):
    Path(name).write_text("".join(json.dumps({"item": i["id"], "reply": text}) + "\n" for i in items))


def collect(dialogauge, candidate, *more):
    return dialogauge("replay", "collect", "items.json", "--candidate", candidate, "-o", "run", *more)


def compared(dialogauge):
    done = dialogauge("replay", "compare", "run", "--json")
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in Path("run/scores.jsonl").read_text().splitlines()]
    return done.json, rows


def holds_together(summary, rows):
    """Every count of failures is the same wherever it stands; what has no score has no number."""
    told = {**summary["candidates"], "original": summary["original"]}
    for view, held in summary["views"].items():
        for name, figures in held["candidates"].items():
            mine = [r for r in rows if r["candidate"] == name]
            missing = [r for r in mine if r["views"][view] is None]
            assert len(mine) == figures["requested"] == figures["n"] + figures["failed"]
            assert len(missing) == figures["failed"] == sum(told[name]["failures"].values())
            assert Counter(r["failure"] for r in missing) == told[name]["failures"]
            assert all(r["failure"] is None for r in mine if r not in missing)


@pytest.mark.long
def test_replies_and_scores_that_are_not_there(dialogauge, items, serve) -> None:
    replies("r.jsonl", items[3:])
    collect(dialogauge, "replies:r.jsonl")
    refused = json.dumps(items[5]["scenario"])[1:-1]
    server = serve(lambda b: "no" if f"of {refused}" in shown_to(b) else contented(4)(b))
    model = ("--model", "tiny", "--base-url", server.url, "--no-cache")
    dialogauge("replay", "score", "run", "--judge", "zero-shot", *model)
    summary, rows = compared(dialogauge)
    holds_together(summary, rows)
    failed = sum(i["scenario"] == items[5]["scenario"] for i in items)
    assert 0 < failed < 12
    assert sum(summary["original"]["failures"].values()) == failed
    assert summary["reference"]["scored"] < summary["reference"]["requested"]
    page = Path("run/report.html").read_text()
    assert f"original {failed}, r " in page
    assert "original replies have no score" in page
    absent = {i["id"] for i in items[:3]}
    for row in rows:
        if row["candidate"] == "r" and row["item"] in absent:
            assert (row["length"], row["failure"]) == (None, "reply: no_reply")


@pytest.mark.long
def test_replies_that_were_never_asked_for(dialogauge, items, serve) -> None:
    server = serve("A reply.")
    collect(dialogauge, f"m=stub@{server.url}", "--no-cache", "--max-calls", 5, "--max-concurrency", 1)
    dialogauge("replay", "score", "run", "--judge", "history-mean")
    summary, rows = compared(dialogauge)
    holds_together(summary, rows)
    assert summary["candidates"]["m"]["failures"] == {"reply: pending": 7}
    # scored before the others came
    collect(dialogauge, f"m=stub@{server.url}", "--no-cache")
    summary, rows = compared(dialogauge)
    holds_together(summary, rows)
    assert summary["candidates"]["m"]["failures"] == {"score: pending": 7}


def test_items_that_are_gone_are_nobodys_failures(dialogauge, items) -> None:
    replies("r.jsonl", items[1:])
    collect(dialogauge, "replies:r.jsonl")
    gone = items[0]["conversation"]
    lines = Path("data.jsonl").read_text().splitlines()
    Path("data.jsonl").write_text("\n".join(x for x in lines if json.loads(x)["conversation_id"] != gone))
    dialogauge("replay", "score", "run", "--judge", "history-mean")
    summary, rows = compared(dialogauge)
    holds_together(summary, rows)
    left = sum(i["conversation"] == gone for i in items)
    assert summary["candidates"]["r"]["failures"] == {}
    assert f"{left} of 12 items are gone from the data" in Path("run/report.html").read_text()
    done = collect(dialogauge, "replies:r.jsonl")
    assert f"r  {12 - left} of {12 - left} replies" in done.out


@pytest.mark.long
def test_replies_that_were_cut_short_are_counted(dialogauge, items, serve) -> None:
    server = serve("A reply that goes on.", faults=FaultPlan(["cut"] * 4))
    collect(dialogauge, f"m=stub@{server.url}", "--no-cache", "--max-concurrency", 1)
    replies("r.jsonl", items)
    collect(dialogauge, "replies:r.jsonl")
    dialogauge("replay", "score", "run", "--judge", "history-mean")
    summary, _ = compared(dialogauge)
    assert {n: f["cut_short"] for n, f in summary["length"].items()} == {"m": 4, "r": None, "original": None}
    assert "in a filter: m 4" in Path("run/report.html").read_text()


@pytest.mark.long
def test_originals_that_the_judge_fails_on_are_failures(dialogauge, items, serve) -> None:
    replies("r.jsonl", items)
    collect(dialogauge, "replies:r.jsonl")
    server = serve(lambda b: contented(4)(b) if "I would rather" in shown_to(b) else "no")
    model = ("--judge", "zero-shot", "--model", "tiny", "--base-url", server.url, "--no-cache")
    scored = dialogauge("replay", "score", "run", *model)
    assert scored.code == 3
    assert re.search(r"original +0 replies scored by zero-shot/tiny, \d\d failed", scored.out)
    assert re.search(r"r +12 replies scored$", scored.out, re.M)


@pytest.mark.long
def test_a_benchmark_without_a_reference_keeps_its_replies_and_says_so(dialogauge, items, serve) -> None:
    server = serve(lambda b: "no" if "response_format" in b else "I would rather say this.")
    words = ("--judge", "zero-shot", "--model", "tiny", "--base-url", server.url, "--no-cache", "-n", 12)
    words += ("--rule", "random", "--candidate", f"c=c@{server.url}", "-o", "whole")
    done = dialogauge("replay", "run", "data.jsonl", *words)
    assert done.code == 3, done.err
    assert "12 of 12 replies" in done.out
    assert "nothing is compared" in done.out
    asked = {"model": "tiny", "base_url": server.url, "candidates": f"c=c@{server.url}", "out": "whole"}
    with pytest.raises(DialogaugeError, match="nothing is compared") as caught:
        run("replay", "data.jsonl", judge="zero-shot", size=12, rule="random", cache=False, **asked)
    assert "out='whole' continues" in caught.value.__notes__[0]


@pytest.mark.long
def test_a_cap_is_of_the_whole_benchmark(dialogauge, items, serve) -> None:
    server = serve(lambda b: contented(4)(b) if "response_format" in b else "I would rather say this.")
    words = ("--judge", "zero-shot", "--model", "tiny", "--base-url", server.url, "--no-cache", "-n", 12)
    words += ("--rule", "random", "--candidate", f"c=c@{server.url}", "-o", "whole")
    done = dialogauge("replay", "run", "data.jsonl", *words, "--max-calls", 20)
    assert done.code == 1
    assert len(server.asked) == 19  # and the probe of the endpoint
    assert dialogauge("replay", "run", "data.jsonl", *words, "--max-calls", 200).code == 0
