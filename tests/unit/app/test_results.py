from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dialogauge.app.config import RoleSettings
from dialogauge.app.outcome import CommandOutcome
from dialogauge.core import BudgetSpent, EndpointError, RecordFault, StoreError
from dialogauge.runs import Outcome, Progress
from dialogauge.runs.study import unread_units
from dialogauge.studies.judging.gate import GateResult
from talks import judged_rows, talk

FINISHED = Outcome("finished")
MET, UNMET = GateResult(True, 1.0, ""), GateResult(False, 0.0, "")
FAULT = RecordFault("not JSON")


@pytest.mark.parametrize(
    ("ended", "share", "gates", "faults", "code"),
    [
        (FINISHED, 0.0, [], [], 0),
        (FINISHED, 0.05, [MET], [], 0),
        (FINISHED, 0.051, [], [], 3),
        (FINISHED, 0.0, [MET, UNMET], [], 100),
        (FINISHED, 0.0, [UNMET], [], 100),
        (FINISHED, 0.0, [], [FAULT], 1),
        (Outcome("error", EndpointError("refused")), 0.0, [], [], 1),
        (Outcome("error", StoreError("full")), 0.0, [], [], 1),
        (Outcome("budget", BudgetSpent("cap")), 0.0, [], [], 1),
        (Outcome("interrupted"), 0.0, [], [], 130),
        # 1 before 3 before 100
        (FINISHED, 1.0, [UNMET], [FAULT], 1),
        (FINISHED, 1.0, [UNMET], [], 3),
        (Outcome("error", EndpointError("refused")), 1.0, [UNMET], [], 1),
        (Outcome("interrupted"), 1.0, [UNMET], [FAULT], 130),
    ],
)
def test_exit_codes(ended: Outcome, share: float, gates: Any, faults: Any, code: int) -> None:
    outcome = CommandOutcome(
        options=None,
        result=None,
        ending=ended,
        faults=faults,
        gates=gates,
        failed_share=share,
        max_failed=0.05,
    )
    assert outcome.exit_code == code


SECRETS = ("hunter2", "s3cret-query", "s3cret-header", "s3cret-key")


def test_no_secret_is_in_any_file_of_a_run(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret-key")
    role = RoleSettings(
        model="m",
        base_url="http://ann:hunter2@host/v1?api-key=s3cret-query",
        api_key_env="MY_KEY",
        headers={"X-Auth": "s3cret-header"},
    )
    desk.run(desk.log(talk("u: hi", "a: hello")), judge="llm", role=role)
    manifest = desk.json("manifest.json")
    assert manifest["settings"]["role"]["base_url"] == "http://host/v1"
    assert manifest["settings"]["role"]["headers"] == ["X-Auth"]
    for path in (desk.folder / "run").iterdir():
        content = path.read_bytes()
        for secret in SECRETS:
            assert secret.encode() not in content, path.name


def test_a_manifest_says_what_was_done(desk: Any) -> None:
    log = desk.log(talk("u: hi", "a: hello", id="a"), talk("u: hi", "a: hello", id="b"))
    desk.run(log, seed=5, repeats=2)
    manifest = desk.json("manifest.json")
    assert manifest["conversations"] == 2
    assert manifest["pending_units"] == 0
    assert manifest["seed"] == 5
    assert manifest["judge"]["digest"] == desk.judge.digest
    assert [d["name"] for d in manifest["dimensions"]] == ["helpfulness", "coherence"]
    assert manifest["versions"]["dialogauge"]
    again = desk.folder / "again"
    desk.run(log, seed=5, repeats=2, out=str(again))
    assert desk.json("manifest.json", "again")["digests"] == manifest["digests"]
    desk.run(desk.log(talk("u: hi", "a: other", id="a"), name="other.jsonl"), out="other")
    assert desk.json("manifest.json", "other")["digests"]["data"] != manifest["digests"]["data"]


@pytest.mark.parametrize(
    ("total", "expected", "left_out", "faults", "repeats", "unread"),
    [
        (None, 10, 0, 0, 1, 7),
        (None, 10, 2, 0, 1, 5),
        (None, 10, 2, 1, 1, 4),
        (None, 20, 2, 1, 2, 11),
        (None, None, 0, 0, 1, 0),  # nobody counted ahead
        (3, 10, 0, 0, 1, 0),  # read to its end: what was counted ahead is no longer there
        (None, 2, 0, 0, 1, 0),
    ],
)
def test_what_a_run_did_not_read_is_counted(
    total: int | None, expected: int | None, left_out: int, faults: int, repeats: int, unread: int
) -> None:
    study: Any = SimpleNamespace(passed_over=left_out + faults, repeats=repeats)
    assert unread_units(study, Progress(total=total, expected=expected), 3) == unread


def test_gates_are_in_the_summary(desk: Any) -> None:
    desk.judge.rows = lambda c, _: judged_rows(c, 5, verdict="excellent")
    outcome = desk.run(
        desk.log(talk("u: hi", "a: hello")),
        gates=("verdict.value>=good:1", "coherence.mean>=6"),
        unchecked=True,
    )
    assert [g.met for g in outcome.run.result.gates] == [True, False]
    assert [g["met"] for g in desk.json("summary.json")["gates"]] == [True, False]


def test_a_gate_on_what_is_not_checked_is_refused(desk: Any) -> None:
    desk.judge.rows = lambda c, _: judged_rows(c, 5, verdict="excellent")
    outcome = desk.run(desk.log(talk("u: hi", "a: hello")), gates=("coherence.mean>=1",))
    assert outcome.exit_code == 2
    (gate,) = outcome.run.result.gates
    assert gate.refused
    assert "coherence is not checked: nobody rated these conversations" in gate.sentence
    assert desk.json("summary.json")["dimensions"]["coherence"]["checked"] is False
