"""Every single fault, always and in passing: a run ends, nothing becomes a score, the kind is right."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.faults.cases import Cases, by_case, first_request, number_of
from benchmarks.faults.kinds import ALWAYS, PASSING, SCORED
from benchmarks.faults.running import Command, Findings, command_in, outcomes, patience, rows_of
from benchmarks.tables import table
from servers.broken_http import WIRES
from servers.faults import FaultPlan
from servers.openai_stub import OpenAIStub

__all__ = ["each_by_itself", "together"]

# They make everybody wait, so they would change what becomes of others.
_ALONE = {"503:1", *(fault for fault, kind in ALWAYS.items() if kind == "rate_limited")} - {"429"}


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
    # On a busy machine a reply may come too late, and then its fault was not met; these close by themselves.
    late = {number_of(e.body) for e in stub.exchanges if e.lost and e.fault.partition(":")[0] not in WIRES}
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
        findings.hold(
            found == expected, f"{fault} {when}: {found}, not {expected}: {str(row['failure'])[:300]}"
        )
    findings.say(f"{len(rows)} cases, {len(faults)} faults: {dict(outcomes(rows))}")
    return findings


def each_by_itself(folder: Path, *, cases_each: int = 8, at_once: int = 4) -> Findings:
    """Run each fault by itself, always and in passing, as processes with deadlines of 0.6 and 4 s."""
    findings = Findings("every fault by itself")
    faults = list(ALWAYS)

    def one(number: int) -> tuple[object, ...]:
        place = folder / f"single-{number}"
        place.mkdir()
        when = ("always", "first")[number % 2]
        return _one(findings, place, command_in(place), faults[number // 2], when, cases_each)

    with ThreadPoolExecutor(at_once) as pool:
        lines = list(pool.map(one, range(2 * len(faults))))
    head = ("fault", "when", "exit", "seconds", "requests", "came to")
    findings.say(table(f"{cases_each} conversations each, {at_once} runs at once", head, lines))
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
    if when == "always" and expected == "rate_limited":
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
