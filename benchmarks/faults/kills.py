"""`kill -9` at random moments, each followed by the same command, until the run is done."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.faults.cases import Cases, number_of
from benchmarks.faults.running import Findings, rows_of, start
from benchmarks.tables import table
from servers.openai_stub import OpenAIStub

__all__ = ["kills"]

CONCURRENCY = 16
BATCH_S = 0.05
_LATENCY = 0.05
# What a busy machine may add between a batch being due and its being written.
_LATE_S = 0.05


def kills(folder: Path, *, number: int = 300, times: int = 100, seed: int = 17) -> Findings:
    """Kill `times` runs of `number` conversations, at moments drawn over the whole of an undisturbed run.

    A run that outlives its moment is done; its rows are compared and a fresh run begins. After each kill
    the server's own account is compared with what is stored.
    """
    findings = Findings(f"kill -9, {times} times")
    cases = Cases.drawn(number, seed)
    cases.write(folder)
    rng = random.Random(seed)
    with OpenAIStub(cases.reply, latency=_LATENCY) as stub:
        trial = _Trial(findings, folder, cases, stub)
        began = time.monotonic()
        findings.hold(trial.run("undisturbed", None) == 0, "the undisturbed run failed")
        whole = time.monotonic() - began
        expected = _comparable(folder / "undisturbed")
        done, runs = 0, 0
        while done < times:
            run = f"run{runs}"
            runs += 1
            while done < times and trial.run(run, rng.uniform(0.0, whole)) is None:
                done += 1
            code = trial.run(run, None)
            findings.hold(code == 0, f"{run}: exit code {code}")
            findings.hold(_comparable(folder / run) == expected, f"{run}: other rows than undisturbed")
            findings.wrong += cases.wrong_scores(rows_of(folder / run))
    trial.tell(whole, runs)
    return findings


def _comparable(run: Path) -> list[dict[str, Any]]:
    """Return the rows without what they cost: whoever asks first also pays for the probe of the endpoint."""
    return [{k: v for k, v in row.items() if k != "usage"} for row in rows_of(run)]


@dataclass
class _Kill:
    """What one kill cost."""

    after_s: float
    stored: int
    in_flight: int
    """Requests that had come and were not answered."""
    unwritten: int
    """Answered and not stored."""
    oldest_s: float
    """How long before the kill the first of those had been answered."""


class _Trial:
    """Runs the command, kills it, and keeps the account."""

    def __init__(self, findings: Findings, folder: Path, cases: Cases, stub: OpenAIStub) -> None:
        self.findings = findings
        self.folder = folder
        self.cases = cases
        self.stub = stub
        self.kills: list[_Kill] = []
        self.early = 0
        self.asked_again = 0

    def run(self, run: str, kill_after: float | None) -> int | None:
        """Run the command into a run directory; None if it was killed, else its exit code."""
        before = len(self.stub.exchanges)
        stored = self._stored(run)
        process = self._start(run)
        try:
            process.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            at = time.monotonic()
            process.send_signal(signal.SIGKILL)
            process.communicate()
            self._account(run, before, at, kill_after or 0.0)
        again = self._asked(before) & stored.keys()
        self.asked_again += len(again)
        self.findings.hold(not again, f"{run}: {len(again)} stored ones asked again")
        return None if process.returncode == -signal.SIGKILL else process.returncode

    def _start(self, run: str) -> subprocess.Popen[str]:
        return start(
            self.folder, "judge", self.cases.log, "--rubric", self.cases.rubric, "--model", "stub-model",
            "--base-url", self.stub.url, "--no-cache", "--max-concurrency", CONCURRENCY, "-o", run,
        )  # fmt: skip

    def _asked(self, since: int) -> Counter[int]:
        numbers = (number_of(e.body) for e in self.stub.exchanges[since:])
        return Counter(n for n in numbers if n is not None)

    def _stored(self, run: str) -> dict[int, int]:
        """Return the cases that the run file holds, each with how often; as a killed process left it."""
        database = self.folder / run / "run.db"
        if not database.exists():
            return {}
        with sqlite3.connect(database) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'units'").fetchone():
                return {}
            query = "SELECT c.id FROM units u JOIN conversations c ON c.target = u.target"
            return dict(Counter(int(name.removeprefix("case-")) for (name,) in db.execute(query)))

    def _account(self, run: str, before: int, at: float, after: float) -> None:
        time.sleep(2 * _LATENCY)  # the server ends what it has begun
        stored = self._stored(run)
        self.findings.hold(set(stored.values()) <= {1}, f"{run}: a judgement is stored twice")
        lost = [
            e
            for e in self.stub.exchanges[before:]
            if (n := number_of(e.body)) is not None and n not in stored
        ]
        answered = [e for e in lost if e.ended is not None and e.ended < at]
        oldest = max((at - (e.ended or at) for e in answered), default=0.0)
        self.early += len(self.stub.exchanges) == before
        self.kills.append(_Kill(after, len(stored), len(lost) - len(answered), len(answered), oldest))
        hold = self.findings.hold
        hold(len(lost) - len(answered) <= CONCURRENCY, f"{run}: {len(lost) - len(answered)} in flight")
        hold(oldest <= BATCH_S + _LATE_S, f"{run}: answered {oldest * 1000:.0f} ms ago and not stored")

    def tell(self, whole: float, runs: int) -> None:
        """Say what the kills cost."""
        found = self.kills
        again = [k.in_flight + k.unwritten for k in found]
        kinds = (
            ("paid twice", again),
            ("in flight", [k.in_flight for k in found]),
            ("answered, not stored", [k.unwritten for k in found]),
            ("oldest of those, ms", [round(k.oldest_s * 1000) for k in found]),
        )
        lines = [(name, sorted(v)[len(v) // 2], max(v), sum(v) / len(v)) for name, v in kinds]
        asked = len(self.stub.asked)
        self.findings.say(
            f"{len(found)} kills within {whole:.2f} s of the start ({self.early} before the first request), "
            f"{runs} runs of {len(self.cases.truth)} finished with the rows of the undisturbed one; "
            f"{self.asked_again} stored judgements asked again; "
            f"{asked} requests for {(runs + 1) * len(self.cases.truth)} judgements"
        )
        self.findings.say(table("At one kill", ("", "median", "most", "mean"), lines))
        paid = asked - (runs + 1) * len(self.cases.truth)
        self.findings.hold(
            paid == sum(again), f"{paid} requests more than judgements, {sum(again)} explained"
        )
