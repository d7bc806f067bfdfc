"""Many judgements under mixed faults: nothing lost, doubled or made up; counts, limiter and memory."""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.faults.cases import Cases, number_of
from benchmarks.faults.kinds import ALWAYS, CAUSES, OVERLOAD, PASSING, SCORED
from benchmarks.faults.observed import observe
from benchmarks.faults.running import Findings, outcomes, patience, rows_of
from benchmarks.tables import table
from servers.broken_http import WIRES
from servers.faults import FaultPlan
from servers.openai_stub import Exchange, OpenAIStub

__all__ = ["FAULTS", "mixed"]

#: A quarter of the requests, alike for all kinds.
SHARE = 0.25
FAULTS = tuple(fault for fault in ALWAYS if fault != "value:N")

_ATTEMPT_S, _ITEM_S = 2.0, 60.0
_ATTEMPTS = 6
_MOST_FAILED = 0.05
"""Share of failures above which the exit code is 3, by default."""


def mixed(folder: Path, *, number: int = 10_000, latency: float = 0.1, seed: int = 29) -> Findings:
    """Judge while a quarter of the requests meets one of `FAULTS`, with an episode of overload in the middle.

    Between 30 % and 40 % of the judgements the server takes 10 requests at once and answers 429 to every
    other; in the last 40 % it does not say that it has too much, so that one can see whether the limiter
    recovers.
    """
    findings = Findings(f"{number:,} judgements, 25 % of {len(FAULTS)} kinds of fault")
    cases = Cases.drawn(number, seed)
    cases.write(folder)
    plan = _Plan(number, seed)
    with OpenAIStub(cases.reply, latency=latency, faults=FaultPlan(choose=plan)) as stub:
        plan.stub = stub
        patience(folder, stub.url, attempt_s=_ATTEMPT_S, item_s=_ITEM_S)
        began = time.monotonic()
        seen = observe(folder, cases.log, cases.rubric, "patience.toml")
        took = time.monotonic() - began
    rows = rows_of(folder / "run")
    _compare(findings, cases, rows, stub, folder)
    failed = sum(row["failure"] is not None for row in rows)
    code = 3 if failed > _MOST_FAILED * number else 0
    findings.hold(seen["code"] == code, f"exit code {seen['code']}, not {code}, with {failed} failed")
    rate = number / took
    findings.say(f"{took:.0f} s, {rate:.0f} judgements a second, exit code {seen['code']}")
    _course(findings, seen["series"], number)
    return findings


class _Plan:
    """The fault of each request: by chance, and 429 for whatever is too much during the episode."""

    def __init__(self, number: int, seed: int) -> None:
        self.stub: OpenAIStub | None = None
        self._rng = random.Random(seed)
        self._episode = (0.3 * number, 0.4 * number)
        self._calm = 0.6 * number
        self._first: set[int] = set()

    def __call__(self, body: Mapping[str, Any]) -> str | None:
        case = number_of(body)
        if case is None or self.stub is None:
            return None
        self._first.add(case)
        begun = len(self._first)
        if self._episode[0] <= begun < self._episode[1] and self.stub.at_once > 10:
            return "429"
        if self._rng.random() >= SHARE:
            return None
        fault = self._rng.choice(FAULTS)
        return None if fault in OVERLOAD and begun >= self._calm else fault


def _compare(
    findings: Findings, cases: Cases, rows: list[dict[str, Any]], stub: OpenAIStub, folder: Path
) -> None:
    hold = findings.hold
    ids = [row["conversation_id"] for row in rows]
    hold(len(set(ids)) == len(ids), f"{len(ids) - len(set(ids))} rows are doubled")
    hold(ids == [f"case-{n:05d}" for n in range(len(cases.truth))], "rows are lost or in another order")
    findings.wrong += cases.wrong_scores(rows)
    by_case: dict[int | None, list[Exchange]] = defaultdict(list)
    for exchange in stub.exchanges:
        by_case[number_of(exchange.body)].append(exchange)
    for n, row in enumerate(rows):
        met_here = [_met(e) for e in by_case[n]]
        expected = _expected(met_here)
        found = "scored" if row["failure"] is None else row["failure"]["kind"]
        hold(found == expected, f"case {n}: {found}, by the server's account {expected}: {met_here}")
    met = Counter(e.fault or "none" for e in stub.exchanges)
    summary = json.loads((folder / "run" / "summary.json").read_text())
    calls = summary["usage"]["total"]["calls"]
    hold(calls == len(stub.exchanges), f"{calls} calls counted, {len(stub.exchanges)} came to the server")
    hold(summary["scored"] + summary["failed"] == len(rows), f"summary: {summary['scored']} scored")
    hold(dict(summary["failures"]) == {k: v for k, v in outcomes(rows).items() if k != "scored"}, "failures")
    faulty = len(stub.exchanges) - met["none"]
    findings.say(
        f"{len(rows):,} rows: {dict(outcomes(rows))}; {len(stub.exchanges):,} requests, "
        f"{faulty:,} with a fault ({faulty / len(stub.exchanges):.1%}), {calls:,} counted"
    )
    kinds = {name: n for name, n in met.items() if name != "none"}
    findings.say(f"{len(kinds)} kinds of fault, each {min(kinds.values())} to {max(kinds.values()):,} times")


def _met(exchange: Exchange) -> str:
    """Return the fault that a request met; a reply that came too late on a busy machine is one."""
    late = exchange.lost and exchange.fault.partition(":")[0] not in (*WIRES, "drip", "close")
    return "hang" if late and ALWAYS.get(exchange.fault, SCORED) == SCORED else exchange.fault


def _expected(faults: list[str]) -> str:
    """Say what a case must come to after the faults that its requests met, in order."""
    causes: set[str] = set()
    passing: list[str] = []
    for n, fault in enumerate(faults):
        if PASSING.get(fault) is not None or (fault == "403" and "403" in faults[:n]):
            return ALWAYS[fault]
        cause = CAUSES.get(fault)
        if cause is None and ALWAYS.get(fault, SCORED) != SCORED:
            passing.append(fault)
            continue
        if fault == "garbage_after" and n + 1 < len(faults):
            continue  # the garbage came with the answer, not after it
        passing.clear()
        if cause is None:
            return SCORED if fault == faults[-1] else "asked again after an answer"
        if cause in causes:
            return ALWAYS[fault]
        causes.add(cause)
    if not passing:
        return "never asked again"
    # Too many requests are waited out; of the other faults a sixth in a row is the last.
    counted = sum(ALWAYS[fault] != "rate_limited" for fault in passing)
    return ALWAYS[passing[-1]] if counted >= _ATTEMPTS else f"{passing[-1]} at last"


def _course(findings: Findings, series: list[dict[str, float]], number: int) -> None:
    """Show the limit and the memory over the run, and check that both end well."""
    lines = []
    for tenth in range(10):
        part = [p for p in series if tenth * number <= 10 * p["done"] < (tenth + 1) * number]
        if part:
            limits = [p["limit"] for p in part]
            spent = part[-1]["s"] - part[0]["s"]
            row = (f"{tenth * 10}-{tenth * 10 + 10} %", round(spent, 1), min(limits), max(limits), limits[-1])
            lines.append((*row, part[-1]["cuts"], round(max(p["mb"] for p in part), 1)))
    head = ("judgements", "seconds", "lowest limit", "highest", "last", "cuts so far", "peak MB")
    findings.say(table("Course of the run", head, lines))
    most = max(p["mb"] for p in series)
    findings.hold(most < 300, f"{most:.0f} MB at most")
    episode = [p["limit"] for p in series if 0.3 * number <= p["done"] < 0.45 * number]
    if number >= 5000 and episode:
        findings.hold(series[-1]["limit"] >= 2 * min(episode), f"the limit ends at {series[-1]['limit']}")
        early = max(p["mb"] for p in series if p["done"] < 0.2 * number)
        findings.hold(most < 1.25 * early, f"memory grew from {early:.0f} to {most:.0f} MB")
