"""Every single fault, always and in passing: a run ends, nothing becomes a score, the kind is right."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.faults.cases import Cases, by_case, first_request, number_of
from benchmarks.faults.running import Command, Findings, outcomes, patience, rows_of
from benchmarks.tables import table
from servers.faults import FaultPlan
from servers.openai_stub import OpenAIStub

__all__ = ["ALWAYS", "PASSING", "each_by_itself", "together"]

SCORED = "scored"

#: What may stand where a number should and is none: N is the number that the case deserves.
NO_NUMBERS = (
    *("3 or N", "2 to N", "N to 5", ">N", "~N", "=N", "N 5", "N not 5", "1-N", "1–N", "N½", "N → 2", "N:5"),
    *(
        "N (good)",
        "N/5",
        "N out of 5",
        "four",
        "４",
        "N.",
        "+N",
        "0N",
        "0xN",
        "Ne0",
        "N.0",
        "N_0",
        "N,5",
        "N%",
    ),
    *(
        "[N]",
        '{"score": N}',
        '"N"',
        '"N "',
        "N // 5",
        "N /* 5 */",
        "N\n5",
        "NaN",
        "null",
        "true",
        "1e400",
        "N;",
    ),
)

#: What a case comes to when each of its requests meets the fault.
ALWAYS: Mapping[str, str] = {
    "429": "rate_limited",
    "429:1": "rate_limited",
    "429:date": "rate_limited",
    "500": "server_error",
    "502": "server_error",
    "503": "server_error",
    "503:1": "server_error",
    "529": "server_error",
    "html502": "server_error",
    "error200": "server_error",
    "html": "server_error",
    "hang": "timeout",
    "drip:9": "timeout",
    "drip:0.2": SCORED,
    "drop": "connection",
    "reset": "connection",
    "close": SCORED,
    "empty": "empty_reply",
    "null": "empty_reply",
    "no_choices": "empty_reply",
    "cut": "truncated",
    "cut_stop": "invalid_json",
    "prose": "invalid_json",
    "wrong_schema": "invalid_schema",
    "filter": "refused",
    "refusal": "refused",
    "400:no": "rejected",
    "403": "rejected",
    "413": "too_long",
    "think": SCORED,
    "think_field": SCORED,
    "think_orphan": SCORED,
    "two_objects": SCORED,
    "two_verdicts": "invalid_schema",
    "verdict_again": SCORED,
    "two_keys": "invalid_schema",
    "fenced": SCORED,
    "faulty": SCORED,
    **{f"value:{text}": "invalid_schema" for text in NO_NUMBERS},
    "value:N": SCORED,
    "value: N ,": SCORED,
}

#: What a case comes to when only its first request meets the fault, where that is no score.
PASSING: Mapping[str, str] = {
    "filter": "refused",
    "refusal": "refused",
    "400:no": "rejected",
    "413": "too_long",
}

# They make everybody wait, so they would change what becomes of others.
# A limit that lets nobody in ends the run, and all is pending.
_LIMITS = ("429", "429:1", "429:date")
_ALONE = ("429:1", "429:date", "503:1")


def together(folder: Path, command: Command, *, attempt_s: float, item_s: float) -> Findings:
    """Give each case a fault of its own, one case always and one in passing, in one run."""
    findings = Findings("every fault, one run")
    faults = [f for f in ALWAYS if f not in _ALONE]
    always = dict(enumerate(faults))
    passing = {n + len(faults): f for n, f in enumerate(faults)}
    cases = Cases.drawn(2 * len(faults) + 8, seed=3)
    cases.write(folder)
    forever, once = by_case(always), first_request(passing)
    plan = FaultPlan(choose=lambda body: forever(body) or once(body))
    with OpenAIStub(cases.reply, faults=plan) as stub:
        options = patience(folder, stub.url, attempt_s=attempt_s, item_s=item_s)
        done = command("judge", cases.log, "--rubric", cases.rubric, *options, "--no-cache", "-o", "run")
    # On a busy machine a reply may come too late, and then its fault was not met.
    late = {number_of(e.body) for e in stub.exchanges if e.lost}
    rows = rows_of(folder / "run")
    findings.hold(done.code == 3, f"exit code {done.code}: {done.err}")
    findings.hold(len(rows) == len(cases.truth), f"{len(rows)} rows of {len(cases.truth)}")
    findings.wrong += cases.wrong_scores(rows)
    for n, row in enumerate(rows):
        fault = always.get(n) or passing.get(n) or "none"
        expected = ALWAYS[fault] if n in always else PASSING.get(fault, SCORED)
        if n in passing and n in late:
            expected = SCORED
        found = SCORED if row["failure"] is None else row["failure"]["kind"]
        when = "always" if n in always else "first"
        findings.hold(found == expected, f"{fault} {when}: {found}, not {expected}: {row['failure']}")
    findings.say(f"{len(rows)} cases, {len(faults)} faults: {dict(outcomes(rows))}")
    return findings


def each_by_itself(folder: Path, command: Command, *, cases_each: int = 8) -> Findings:
    """Run each fault by itself, always and in passing, as processes with deadlines of 0.6 and 3 s."""
    findings = Findings("every fault by itself")
    lines = []
    for fault in ALWAYS:
        for when in ("always", "first"):
            lines.append(_one(findings, folder, command, fault, when, cases_each))
    head = ("fault", "when", "exit", "seconds", "requests", "came to")
    findings.say(table(f"{cases_each} conversations each", head, lines))
    return findings


def _one(
    findings: Findings, folder: Path, command: Command, fault: str, when: str, number: int
) -> tuple[object, ...]:
    cases = Cases.drawn(number, seed=len(fault))
    cases.write(folder)
    chosen = dict.fromkeys(range(number), fault)
    plan = FaultPlan(choose=by_case(chosen) if when == "always" else first_request(chosen))
    with OpenAIStub(cases.reply, faults=plan) as stub:
        options = patience(folder, stub.url, attempt_s=0.6, item_s=4)
        began = time.monotonic()
        done = command(
            "judge", cases.log, "--rubric", cases.rubric, *options, "--no-cache", "--fresh", "-o", "run"
        )
        took = time.monotonic() - began
    rows = rows_of(folder / "run")
    expected = ALWAYS[fault] if when == "always" else PASSING.get(fault, SCORED)
    label = f"{fault} {when}"
    findings.hold(took < 30, f"{label}: took {took:.0f} s")
    if when == "always" and fault in _LIMITS:
        findings.hold(done.code == 1 and not rows, f"{label}: exit code {done.code}, {len(rows)} rows")
        return (fault, when, done.code, round(took, 1), len(stub.exchanges), "the end of the run")
    if fault == "400:no" and when == "first" and SCORED in outcomes(rows):
        # Before anything was answered it may be the endpoint's, and what is asked again is scored.
        findings.hold(set(outcomes(rows)) <= {SCORED, expected}, f"{label}: {dict(outcomes(rows))}")
        return fault, when, done.code, round(took, 1), len(stub.asked), f"{expected} or {SCORED}"
    findings.hold(
        done.code == (0 if expected == SCORED else 3), f"{label}: exit code {done.code}: {done.err}"
    )
    findings.hold(outcomes(rows) == {expected: number}, f"{label}: {dict(outcomes(rows))}, not {expected}")
    findings.hold("Traceback" not in done.err, f"{label}: {done.err}")
    findings.wrong += [f"{label}: {w}" for w in cases.wrong_scores(rows)]
    summary = json.loads((folder / "run" / "summary.json").read_text())
    calls, came = summary["usage"]["total"]["calls"], len(stub.exchanges)
    findings.hold(calls == came, f"{label}: {calls} calls counted, {came} came to the server")
    return fault, when, done.code, round(took, 1), len(stub.asked), expected
