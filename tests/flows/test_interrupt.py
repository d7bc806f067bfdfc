"""Ctrl-C and kill, sent to a real process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.conftest import rows_of
from servers.faults import FaultPlan
from servers.verdicts import ideal


def start(tmp_path: Path, *words: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "DIALOGAUGE_CACHE": str(tmp_path / "cache"), "NO_COLOR": "1"}
    source = Path(__file__).resolve().parents[2] / "src"
    environment["PYTHONPATH"] = os.pathsep.join([str(source), environment.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "dialogauge", *map(str, words)],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(stub, calls: int) -> None:
    until = time.monotonic() + 120
    while len(stub.asked) < calls and time.monotonic() < until:
        time.sleep(0.02)


def test_first_ctrl_c_finishes_what_is_in_flight(serve, log, talk, tmp_path, dialogauge):
    path = log(*(talk(f"c{i}") for i in range(40)))
    stub = serve(ideal, latency=0.2)
    words = ("judge", path, "--model", "m", "--base-url", stub.url, "-o", "run", "--no-cache")
    process = start(tmp_path, *words, "--max-concurrency", 4)
    wait_for(stub, 6)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "finishing what is in flight" in err
    stored = {r["conversation_id"] for r in rows_of(tmp_path / "run")}
    assert 4 <= len(stored) < 40
    asked = len(stub.asked)
    assert dialogauge(*words).code == 0
    assert len({r["conversation_id"] for r in rows_of(tmp_path / "run")}) == 40
    assert len(stub.asked) - asked <= 40 - len(stored) + 2  # none twice, but for the probe of the endpoint


def test_second_ctrl_c_stops_at_once(serve, log, talk, tmp_path):
    path = log(*(talk(f"c{i}") for i in range(40)))
    never = FaultPlan(choose=lambda body: None if "probe_k7" in json.dumps(body) else "hang")
    stub = serve(ideal, faults=never)
    words = ("judge", path, "--model", "m", "--base-url", stub.url, "-o", "run")
    process = start(tmp_path, *words)
    wait_for(stub, 1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)  # a reply never comes
    assert process.returncode == 130, err


def test_kill_loses_nothing_that_was_stored(serve, log, talk, tmp_path, dialogauge):
    path = log(*(talk(f"c{i}") for i in range(60)))
    stub = serve(ideal, latency=0.05)
    words = ("judge", path, "--model", "m", "--base-url", stub.url, "-o", "run", "--no-cache")
    process = start(tmp_path, *words, "--max-concurrency", 4)
    wait_for(stub, 20)
    process.kill()
    process.communicate()
    asked = len(stub.asked)
    assert dialogauge(*words).code == 0
    ids = [r["conversation_id"] for r in rows_of(tmp_path / "run") if r["level"] == "conversation"]
    assert ids == [f"c{i}" for i in range(60)]
    paid_twice = len(stub.asked) - 60 - 2
    assert paid_twice <= 4 + 8, (asked, len(stub.asked))  # in flight, and one batch of 50 ms
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["ended"] == "finished"


def test_a_scenario_sample_goes_on_after_ctrl_c(serve, log, talk, tmp_path, dialogauge):
    path = log(*(talk(f"c{i}", scenario_description=f"Desk {i}.") for i in range(20)))
    stub = serve(ideal)
    at = ("--model", "m", "--base-url", stub.url)
    assert dialogauge("judge", path, *at, "-o", "run").code == 0
    stub.latency = 0.2
    before = len(stub.asked)
    words = ("trust", "run", "--scenario-sample", 20, "--no-cache")
    process = start(tmp_path, *words, "--max-concurrency", 4)
    wait_for(stub, before + 6)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "finishing what is in flight" in err
    asked = len(stub.asked)
    assert asked - before < 40
    assert dialogauge(*words).code == 0
    assert len(stub.asked) - before <= 40 + 2  # none twice, but for the probes of the endpoint
    assert len(stub.asked) > asked


def test_replies_that_were_paid_for_are_written_after_ctrl_c(serve, log, talk, tmp_path, dialogauge):
    again = "It opens at nine on every day but Monday, and the cafe opens an hour later."
    dialogauge("judge", log(*(talk(f"c{i}", again, again, f"Sorry, {i}.") for i in range(30))), "-o", "run")
    stub = serve('{"reply": "On Sundays it opens at ten."}', latency=0.2)
    model = ("--model", "m", "--base-url", stub.url, "--no-cache", "--max-concurrency", 4)
    process = start(tmp_path, "pairs", "run", "--unchecked", *model, "-o", "dpo.jsonl")
    wait_for(stub, 6)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, "Traceback" in err) == (130, False), err
    written = (tmp_path / "dpo.jsonl").read_text().count("\n")
    assert 4 <= written < 30
    assert len(stub.asked) - written <= 1  # the probe of the endpoint
    assert f"{30 - written} left out: not asked" in out


@pytest.mark.long
def test_after_a_kill_no_answered_request_of_a_session_is_sent_again(serve, log, tmp_path, dialogauge):
    """Only the last request of each session may be sent again: its answer may have lain in the socket."""
    user = {"persona": "I am a guest."}
    inns = ({"id": f"s{n}", "name": "Rosa", "text": f"Rosa keeps inn {n}.", "user": user} for n in range(12))
    scenarios = log(*inns, name="scenarios.jsonl")
    stub = serve(lambda body: f"Hm {len(body['messages'])}.", latency=0.05)
    at = ("--candidate", f"a=m1@{stub.url}", "--role", f"simulator=sim@{stub.url}")
    words = ("simulate", scenarios, *at, "--turns", 6, "-o", "run", "--max-concurrency", 6)
    for calls in (30, 75):
        process = start(tmp_path, *words)
        wait_for(stub, calls)
        process.kill()
        process.communicate()
    assert not (tmp_path / "run" / "summary.json").exists()
    assert dialogauge(*words).code == 0
    assert {r["details"]["turns"] for r in rows_of(tmp_path / "run")} == {6}
    places: dict[str, list[int]] = {}
    for body in stub.asked:
        (inn,) = re.findall(r"inn \d+\.", body["messages"][0]["content"])
        # How much had been said: the simulator is shown one message more, which opens the dialogue.
        places.setdefault(inn, []).append(len(body["messages"]) - 1 - (body["model"] == "sim"))
    assert len(places) == 12
    for asked in places.values():
        assert asked == sorted(asked)
        assert sorted(set(asked)) == list(range(12))
        assert len(asked) <= 12 + 2
