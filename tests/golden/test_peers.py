"""The bench beside other tools: its server, its counting, and our own row of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import peers
from benchmarks.peers import running, server
from benchmarks.peers.intervals import DESIGNS, TRUTH, WAYS, coverage, draw
from benchmarks.peers.reading import READERS, read_alike

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"
SCRIPTS = Path(peers.__file__).parent


def asked(number):
    return json.dumps({"messages": [{"role": "user", "content": f"It is about order #{number}."}]}).encode()


def said(reply):
    body = json.loads(reply.split(b"\r\n\r\n", 1)[1])
    return body["choices"][0]["message"]["content"]


def test_everyone_has_a_script_and_a_form_of_verdict():
    assert set(peers.PEERS) == set(server.FORMS) == {p.stem[5:] for p in SCRIPTS.glob("with_*.py")}
    assert set(READERS) <= set(peers.PEERS)


def test_three_of_five_are_good():
    verdicts = server.Verdicts("ragas")
    assert [json.loads(said(verdicts.to(asked(n))))["verdict"] for n in range(10)] == [1, 1, 1, 0, 0] * 2
    assert verdicts.count == len(verdicts.kept) == 10


@pytest.mark.parametrize(
    ("fault", "struck"),
    [("none", []), ("errors", [0, 10, 20, 20]), ("passing", [0, 10, 20])],
)
def test_errors_hit_a_tenth_and_passing_ones_once(fault, struck):
    verdicts = server.Verdicts("inspect", fault)
    failed = [n for n in (*range(25), 20) if b" 500 " in verdicts.to(asked(n)).splitlines()[0]]
    assert failed == struck
    assert all(server.is_good(n) for n in struck)


def test_a_cut_reply_holds_no_verdict():
    assert "GRADE" not in said(server.Verdicts("inspect", "cut").to(asked(10)))
    assert "GRADE: C" in said(server.Verdicts("inspect", "cut").to(asked(11)))


def test_a_script_that_ends_early_has_no_outcome():
    assert running.outcome_of('starting\n{"mean": 0.5}\n') == {"mean": 0.5}
    assert running.outcome_of("Traceback ...\nValueError: bad") is None
    assert running.outcome_of('{"cut": ') is None


def test_reading_needs_every_message_and_role():
    shape = {"conversations": [{"messages": [["user", "Hi "], ["assistant", "Hello"]]}]}
    assert read_alike(shape, [[[["user", "Hi"]]], [[["user", "Hi"], ["assistant", "Hello"]]]])
    assert not read_alike(shape, [[[["assistant", "Hi"], ["user", "Hello"]]]])
    assert not read_alike({"outcome": "refused"}, [[]])


def test_draws_are_alike_for_everyone_and_clustered():
    assert draw("10 users, 20 each", 3) == draw("10 users, 20 each", 3)
    assert {len(draw(d, 0)[0]) for d in DESIGNS} == {200}
    interval = WAYS["dialogauge"]["log with user ids"]()
    assert coverage(interval, "10 users, 20 each", 100) >= 0.9
    assert coverage(lambda _: (TRUTH + 0.1, 1.0), "200 users, 1 each", 10) == 0.0


def test_our_own_row_counts_what_failed(tmp_path):
    log = tmp_path / "log.jsonl"
    running.write_numbered_log(log, 20)
    with running.verdicts("dialogauge", "cut") as url:
        command = [sys.executable, str(SCRIPTS / "with_dialogauge.py"), str(log), url, "10", "default"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    outcome = running.outcome_of(done.stdout)
    assert (outcome["scored"], outcome["unscored"], outcome["failures"]) == (18, 2, {"invalid_json": 2})
    assert outcome["bounds"] == pytest.approx([0.5, 0.6])


def test_the_page_is_short():
    words = PAGE.read_text(encoding="utf-8").split()
    assert sum(any(c.isalnum() for c in word) for word in words) < 900
