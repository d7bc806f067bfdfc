"""The satisfaction study with a model behind a real OpenAI-compatible server."""

from __future__ import annotations

import json
import signal

import pytest

from dialogauge.data import conversation_record
from flows.conftest import rows_of
from flows.test_interrupt import start, wait_for
from rated import rated_users
from servers.contented import contented, shown_to

SMALL = ("--split", "all", "--draws", 0)


@pytest.fixture
def data(log):
    """Four users with 15 rated turns each."""
    return log(*(conversation_record(c) for c in rated_users(4)), name="data.jsonl")


def judging(judge, stub, *words):
    return ("--judge", judge, "--model", "m", "--base-url", stub.url, *words)


def manifest_of(run):
    return json.loads((run / "manifest.json").read_text())


def test_a_generic_judge_from_data_to_report(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented(lambda body: 3 if "answer 1" in body["messages"][-1]["content"] else 5))
    done = dialogauge("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run"))
    assert done.code == 0, done.err
    assert "judged by zero-shot/m: 60 scored, 0 failed" in done.out
    rows = rows_of(tmp_path / "run")
    assert len(rows) == 60
    assert {row["details"]["labels"]["reason"] for row in rows} <= {"satisfied", "other"}
    assert all(row["usage"]["by_role"]["judge"]["calls"] for row in rows)
    assert (tmp_path / "run" / "report.html").stat().st_size > 1000
    manifest = manifest_of(tmp_path / "run")
    assert manifest["judge"]["name"] == "zero-shot/m"
    assert manifest["settings"]["roles"]["judge"]["model"] == "m"
    assert (manifest["ended"], manifest["pending_units"]) == ("finished", 0)


def test_finished_turns_are_not_asked_again(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented())
    words = ("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run", "--no-cache"))
    done = dialogauge(*words, "--max-calls", 20, "--max-concurrency", 1)
    assert done.code == 1
    assert "the cap of 20 calls is reached" in done.err
    assert "turns are not judged yet" in done.err
    before = len(rows_of(tmp_path / "run"))
    manifest = manifest_of(tmp_path / "run")
    assert (manifest["ended"], manifest["pending_units"]) == ("budget", 60 - before)
    asked = len(stub.asked)
    planned = dialogauge(*words, "--dry-run")
    assert f"would judge {60 - before} of 60 turns ({before} done already)" in planned.out
    assert len(stub.asked) == asked
    assert dialogauge(*words).code == 0
    assert len(rows_of(tmp_path / "run")) == 60
    assert len(stub.asked) - asked <= 60 - before + 2  # none twice, but for the probe of the endpoint
    asked = len(stub.asked)
    again = dialogauge(*words, "--calibrate", "cdf", "--json")
    assert again.code == 0, again.err
    assert again.json["metrics"]["n"] == 60
    assert len(stub.asked) == asked  # another map needs no new judgement


def test_a_rating_of_others_does_not_matter_to_a_judge_that_reads_none(dialogauge, serve, log) -> None:
    talks = [conversation_record(c) for c in rated_users(4)]
    stub = serve(contented())
    words = judging("zero-shot", stub, *SMALL, "-o", "run", "--no-cache")
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    asked = len(stub.asked)
    talks[0]["ratings"][0]["score"] = 2
    talks[1]["profile"] = {"age": 99}
    assert dialogauge("satisfaction", log(*talks), *words).code == 0
    # the profile is part of the conversation that it stands in, so its three turns are judged anew
    assert len(stub.asked) - asked <= 3 + 1


def test_a_failed_turn_fails_alone(dialogauge, serve, data, tmp_path) -> None:
    broken = ["hello question 1 of cook"]

    def reply(body):
        shown = shown_to(body)
        fails = any(text in shown for text in broken) and "question 2" not in shown
        return "no JSON here" if fails else contented()(body)

    stub = serve(reply, schema="ignore")
    words = ("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run"))
    done = dialogauge(*words)
    assert done.code == 3
    rows = rows_of(tmp_path / "run")
    failed = [row for row in rows if row["failure"]]
    assert len(rows) == 60
    assert {(r["conversation_id"], r["turn"]) for r in failed} == {(f"user{u}__cook__0", 1) for u in range(4)}
    assert {r["failure"]["kind"] for r in failed} == {"invalid_json"}
    assert dialogauge(*words, "--max-failed", 0.1).code == 0
    stub = serve(contented())
    again = dialogauge(
        "satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run"), "--retry-failed"
    )
    assert again.code == 0


def test_an_endpoint_of_no_use_ends_the_study(dialogauge, serve, data, tmp_path) -> None:
    stub = serve(contented(), key="other")
    done = dialogauge("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run"))
    assert done.code == 1
    assert "401" in done.err or "key" in done.err
    assert rows_of(tmp_path / "run") == []
    assert manifest_of(tmp_path / "run")["ended"] == "error"


def test_ctrl_c_keeps_what_is_done(serve, log, dialogauge, tmp_path) -> None:
    data = log(*(conversation_record(c) for c in rated_users(4)))
    stub = serve(contented(), latency=0.2)
    words = ("satisfaction", data, *judging("zero-shot", stub, *SMALL, "-o", "run", "--no-cache"))
    process = start(tmp_path, *words, "--max-concurrency", 4)
    wait_for(stub, 8)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    before = len(rows_of(tmp_path / "run"))
    assert 4 <= before < 60
    asked = len(stub.asked)
    assert dialogauge(*words).code == 0
    assert len(rows_of(tmp_path / "run")) == 60
    assert len(stub.asked) - asked <= 60 - before + 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--judge", "zero-shot"], "needs a language model"),
        (["--judge", "zero-shot", "--model", "m@http://localhost:1", "--mode", "hindsight"], "reads nothing"),
        (["--judge", "zero-shot", "--model", "m@http://localhost:1", "--lang", "fr"], "--lang 'fr'"),
        (["--judge", "history-mean", "--model", "m"], "asks no model"),
        (["--judge", "zero-shot", "--role", "candidate=m"], "--role candidate=...:"),
    ],
)
def test_what_cannot_be_done_is_refused(dialogauge, data, tmp_path, words, said) -> None:
    done = dialogauge("satisfaction", data, *words, "-o", "run")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "run").exists()
