"""A server that takes one request at a time, and the deadline of five requests: all are judged."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.faults.cases import Cases
from benchmarks.faults.running import Command, Findings, patience, rows_of
from servers.openai_stub import OpenAIStub

__all__ = ["one_by_one"]


def one_by_one(folder: Path, command: Command, *, service_s: float = 3.0, number: int = 20) -> Findings:
    """Judge so many conversations at default settings, but for the deadline of an attempt: five services."""
    findings = Findings(f"{number} conversations, one at a time, {service_s:g} s each")
    cases = Cases.drawn(number, seed=4)
    cases.write(folder)

    def reply(body: Mapping[str, Any]) -> str:
        time.sleep(service_s)
        return cases.reply(body)

    with OpenAIStub(reply, threaded=True) as stub:
        options = patience(folder, stub.url, attempt_s=5 * service_s, item_s=200 * service_s)
        began = time.monotonic()
        done = command("judge", cases.log, "--rubric", cases.rubric, *options, "--no-cache", "-o", "run")
        took = time.monotonic() - began
    rows = rows_of(folder / "run")
    summary = json.loads((folder / "run" / "summary.json").read_text())
    findings.wrong += cases.wrong_scores(rows)
    findings.hold(done.code == 0, f"exit code {done.code}: {done.err}")
    findings.hold(summary["scored"] == number, f"{summary['scored']} scored, {summary['failed']} failed")
    calls, came = summary["usage"]["total"]["calls"], len(stub.exchanges)
    findings.hold(calls == came, f"{calls} calls counted, {came} came to the server")
    findings.say(
        f"{summary['scored']} of {number} scored in {took:.0f} s; {came} requests, {calls} of them counted, "
        f"{sum(e.lost for e in stub.exchanges)} given up at the deadline; {stub.most_at_once} at once at most"
    )
    return findings
