"""Many judgements under mixed faults: nothing lost, doubled or made up; counts, limiter and memory."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from benchmarks.faults.cases import Cases, number_of
from benchmarks.faults.running import Findings, outcomes, patience, rows_of
from benchmarks.faults.single import ALWAYS
from benchmarks.process import ROOT, environment
from benchmarks.tables import table
from servers.faults import FaultPlan
from servers.openai_stub import Exchange, OpenAIStub

__all__ = ["RATES", "mixed"]

#: 20 % of the requests.
RATES: Mapping[str, float] = {
    "429": 0.01,
    "429:0.2": 0.005,
    "500": 0.03,
    "503": 0.01,
    "html502": 0.01,
    "html": 0.01,
    "error200": 0.01,
    "hang": 0.005,
    "drip:0.2": 0.01,
    "drop": 0.02,
    "reset": 0.01,
    "close": 0.01,
    "no_choices": 0.005,
    "empty": 0.01,
    "cut": 0.01,
    "cut_stop": 0.005,
    "wrong_schema": 0.005,
    "prose": 0.005,
    "think": 0.005,
    "two_verdicts": 0.005,
    "fenced": 0.005,
    "faulty": 0.005,
}

# Faults that spoil the reply itself: the model is asked once more for each cause.
_CAUSE = {
    "empty": ("empty", "empty_reply"),
    "cut": ("truncated", "truncated"),
    "cut_stop": ("invalid", "invalid_json"),
    "prose": ("invalid", "invalid_json"),
    "wrong_schema": ("invalid", "invalid_schema"),
}
_PASSING = ("hang", "drop", "reset", "429", "500", "503", "html502", "html", "error200", "no_choices")
_ATTEMPT_S, _ITEM_S = 2.0, 60.0
_ATTEMPTS = 6


def mixed(folder: Path, *, number: int = 10_000, latency: float = 0.1, seed: int = 29) -> Findings:
    """Judge under the faults of `RATES`, with an episode of overload in the middle.

    Between 30 % and 40 % of the judgements the server takes 10 requests at once and answers 429 to every
    other; in the last 40 % neither 429 nor 503 comes, so that one can see whether the limiter recovers.
    """
    findings = Findings(f"{number:,} judgements under 20 % mixed faults")
    cases = Cases.drawn(number, seed)
    cases.write(folder)
    plan = _Plan(number, seed)
    with OpenAIStub(cases.reply, latency=latency, faults=FaultPlan(choose=plan)) as stub:
        plan.stub = stub
        patience(folder, stub.url, attempt_s=_ATTEMPT_S, item_s=_ITEM_S)
        began = time.monotonic()
        seen = _watched(folder, cases)
        took = time.monotonic() - began
    rows = rows_of(folder / "run")
    _compare(findings, cases, rows, stub, folder)
    findings.hold(seen["code"] == 0, f"exit code {seen['code']}")
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
        draw = self._rng.random()
        for fault, rate in RATES.items():
            draw -= rate
            if draw < 0:
                return None if fault[:3] in ("429", "503") and begun >= self._calm else fault
        return None


def _watched(folder: Path, cases: Cases) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.faults.observed"]
    words = [str(folder / w) for w in (cases.log, cases.rubric, "patience.toml", "run", "seen.json")]
    env = environment(DIALOGAUGE_CACHE=str(folder / "cache"))
    subprocess.run([*command, *words], cwd=ROOT, env=env, check=True, timeout=3600)
    seen: dict[str, Any] = json.loads((folder / "seen.json").read_text())
    return seen


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
        expected = _expected([e.fault for e in by_case[n]])
        found = "scored" if row["failure"] is None else row["failure"]["kind"]
        hold(found == expected, f"case {n}: {found}, by the server's account {expected}")
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
    findings.say("faults: " + ", ".join(f"{name} {n:,}" for name, n in met.most_common() if name != "none"))


def _expected(faults: list[str]) -> str:
    """Say what a case must come to after the faults that its requests met, in order."""
    causes: set[str] = set()
    for fault in faults:
        cause, kind = _CAUSE.get(fault, (None, None))
        if cause is not None and kind is not None:
            if cause in causes:
                return kind
            causes.add(cause)
    last = faults[-1] if faults else "never asked"
    if last not in _PASSING:
        return "scored"
    # Too many requests are waited out; of the other faults a sixth in a row is the last.
    row = list(takewhile(lambda f: f in _PASSING or f[:3] == "429", reversed(faults)))
    return ALWAYS[last] if sum(f[:3] != "429" for f in row) >= _ATTEMPTS else f"{last} at last"


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
    episode = [p["limit"] for p in series if 0.3 * number <= p["done"] < 0.45 * number]
    if number >= 5000 and episode:
        findings.hold(series[-1]["limit"] >= 2 * min(episode), f"the limit ends at {series[-1]['limit']}")
        early = max(p["mb"] for p in series if p["done"] < 0.2 * number)
        late = max(p["mb"] for p in series)
        findings.hold(late < 1.25 * early, f"memory grew from {early:.0f} to {late:.0f} MB")
