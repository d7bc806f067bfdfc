"""Faults of the endpoint as a whole: the run stops with one message, the same command goes on."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.faults.cases import Cases, number_of
from benchmarks.faults.running import Command, Done, Findings, patience, rows_of
from benchmarks.tables import table
from servers.faults import FaultPlan
from servers.openai_stub import OpenAIStub

__all__ = ["stops"]

_AT_ONCE = ("401", "402", "403", "404", "405", "html", "hang")
_HALF_WAY = ("401", "402", "404")


def stops(folder: Path, command: Command, *, number: int = 60, item_s: float = 5) -> Findings:
    """Let the endpoint be of no use from the start, and from the middle of a run on."""
    findings = Findings("an endpoint of no use")
    cases = Cases.drawn(number, seed=9)
    cases.write(folder)
    run = _Runs(findings, folder, command, cases, item_s)
    lines = [
        run.stopped("DNS failure", "http://no-such-host.invalid/v1"),
        run.stopped("refused", f"http://127.0.0.1:{_free()}/v1"),
    ]
    with OpenAIStub(cases.reply, model="the-only-one") as stub:
        lines.append(run.stopped("404 model", stub.url))
    for fault in _AT_ONCE:
        with OpenAIStub(cases.reply, faults=FaultPlan(always=fault)) as stub:
            lines.append(run.stopped(f"{fault} from the start", stub.url))
    lines += [run.half_way(fault) for fault in _HALF_WAY]
    lines.append(run.goes_away())
    head = ("endpoint", "exit", "seconds", "judged", "failed", "pending", "message")
    findings.say(table(f"{number} conversations", head, lines))
    return findings


@dataclass(frozen=True)
class _Runs:
    findings: Findings
    folder: Path
    command: Command
    cases: Cases
    item_s: float

    def stopped(self, name: str, url: str) -> tuple[object, ...]:
        return self._told(name, self._judge(url, "--fresh"))

    def half_way(self, fault: str) -> tuple[object, ...]:
        """Answer half of the requests, then none until the second command."""
        name = f"{fault} half-way"
        broken = _FromRequest(len(self.cases.truth) // 2, fault)
        with OpenAIStub(self.cases.reply, faults=FaultPlan(choose=broken), latency=0.01) as stub:
            line = self._told(name, self._judge(stub.url, "--max-concurrency", 8, "--fresh"))
            broken.fault = None
            self._goes_on(name, stub)
        return line

    def goes_away(self) -> tuple[object, ...]:
        """Stop the server in the middle of the run, start it again on the same port afterwards."""
        name = "server gone half-way"
        port = _free()
        half = len(self.cases.truth) // 2

        def leaving(body: dict[str, Any]) -> str:
            if len(first.requests) >= half:
                first.leave()
            return self.cases.reply(body)

        # Time for two more attempts at least: a single refusal says nothing about the server.
        enough = max(self.item_s, 2.5)
        with OpenAIStub(leaving, latency=0.1, port=port) as first:
            line = self._told(name, self._judge(first.url, "--max-concurrency", 8, "--fresh", item_s=enough))
        with OpenAIStub(self.cases.reply, port=port) as second:
            self._goes_on(name, second)
        return line

    def _judge(self, url: str, *words: object, item_s: float | None = None) -> tuple[Done, float]:
        whole = item_s or self.item_s
        options = patience(self.folder, url, attempt_s=min(2.0, whole), item_s=whole)
        began = time.monotonic()
        log, rubric = self.cases.log, self.cases.rubric
        done = self.command("judge", log, "--rubric", rubric, *options, *words, "--no-cache", "-o", "run")
        return done, time.monotonic() - began

    def _told(self, name: str, ended: tuple[Done, float]) -> tuple[object, ...]:
        """Check that the run said why it stopped, in one line, and that nothing failed for it."""
        done, took = ended
        hold = self.findings.hold
        counts = json.loads((self.folder / "run" / "summary.json").read_text())["conversations"]
        said = [line for line in done.err.splitlines() if line.startswith("dialogauge: ")]
        hold(done.code == 1, f"{name}: exit code {done.code}: {done.err}")
        hold(counts["failed"] == 0, f"{name}: {counts['failed']} failed")
        left = len(self.cases.truth) - counts["judged"]
        hold(counts["pending"] == left > 0, f"{name}: {counts['pending']} pending of {left} left")
        hold(len(said) == (2 if counts["judged"] else 1), f"{name}: says {said}")
        hold("Traceback" not in done.err, f"{name}: {done.err}")
        hold(took < 20, f"{name}: took {took:.1f} s")
        message = said[0].removeprefix("dialogauge: ") if said else ""
        numbers = (counts["judged"], counts["failed"], counts["pending"])
        return name, done.code, round(took, 1), *numbers, message.partition("/v1: ")[2] or message

    def _goes_on(self, name: str, stub: OpenAIStub) -> None:
        """Give the same command again; check that it asks for what is missing and for no more."""
        stored = {int(r["conversation_id"].removeprefix("case-")) for r in rows_of(self.folder / "run")}
        before = len(stub.requests)
        done, _ = self._judge(stub.url, "--max-concurrency", 8)
        asked = {number_of(body) for body in stub.requests[before:]} - {None}
        rows = rows_of(self.folder / "run")
        hold = self.findings.hold
        hold(done.code == 0, f"{name}, again: exit code {done.code}: {done.err}")
        hold(not asked & stored, f"{name}, again: {len(asked & stored)} stored ones asked again")
        hold(len(rows) == len(self.cases.truth), f"{name}, again: {len(rows)} rows")
        self.findings.wrong += self.cases.wrong_scores(rows)


class _FromRequest:
    """A fault for every request from one on, until it is mended."""

    def __init__(self, first: int, fault: str) -> None:
        self.left = first
        self.fault: str | None = fault

    def __call__(self, _: Mapping[str, Any]) -> str | None:
        self.left -= 1
        return self.fault if self.left < 0 else None


def _free() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port: int = place.getsockname()[1]
        return port
