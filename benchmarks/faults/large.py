"""Huge replies: one delays no other conversation, and many at once take no more than so much memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.faults.cases import Cases, by_case
from benchmarks.faults.observed import observe
from benchmarks.faults.running import Findings, patience, rows_of
from benchmarks.tables import table
from servers.faults import FaultPlan
from servers.long_texts import long_bodies, long_texts
from servers.openai_stub import OpenAIStub

__all__ = ["BAITS", "FEW_BAITS", "FEW_HEAPS", "HEAPS", "delays", "memory"]

_KEY = "sk-live-Zq81kk03Hd77"
_STANDSTILL_S, _MOST_MB = 0.1, 300
_CONTROL = "control: a busy thread"

#: Replies of a million bytes, or as much of headers as is taken.
BAITS = (
    *(f"long_text:{name}" for name in long_texts(1)),
    *(f"{how}:{name}" for how in ("long_body", "long_error") for name in long_bodies(1)),
    *("long_headers:\\n", "long_headers:%25", "long_headers:1s", f"long_headers:{_KEY}", "gzip_bomb"),
)

#: What a server may send without end, or as long as is read.
HEAPS = (
    *("gzip_bomb", "too_large", "chunks_forever", "header_forever", "headers_forever", "continue_forever"),
    *("huge_text:backslashes", "huge_text:Chinese", "huge_text:escaped quotes", "huge_text:small objects"),
    *("huge_text:prose", "huge_text:thoughts", "huge_text:surrogates", "huge_body:empty objects"),
    *("huge_body:empty lists", "huge_body:choices", "huge_body:complaints", "huge_body:parts"),
    *("huge_body:escapes", "huge_body:percent signs", "huge_body:deep and closed", "huge_body:usage"),
    *("huge_packed:empty objects", "huge_packed:escapes", "huge_packed:plain text", f"huge_echo:{_KEY}"),
)

#: For a quick look.
FEW_BAITS = ("long_text:turns", "long_body:empty lists", "long_headers:\\n")
FEW_HEAPS = ("gzip_bomb", "continue_forever", "huge_body:empty lists")


def delays(folder: Path, baits: Sequence[str] = BAITS) -> Findings:
    """Let one conversation of 100 get a bait; measure how long all others stand still.

    Other work on the machine does not count: see `Watcher.standstill_s`. On a slow machine the replies that
    come together take longer than the bound by themselves. There a bait may not delay more than the control:
    a thread of plain Python, which never keeps the interpreter for longer than the others wait.
    """
    findings = Findings(f"one huge reply among 100 conversations, {len(baits)} baits")
    lines = []
    bound = _STANDSTILL_S
    for bait in (_CONTROL, "none", *baits):
        faults = {} if bait in (_CONTROL, "none") else {50: bait}
        seen, rows = _judged(folder, 100, faults, latency=0.05, busy=bait == _CONTROL)
        stood = seen["standstill_s"]
        scored = [row for row in rows if row["scores"] is not None]
        if bait == _CONTROL:
            bound = max(bound, stood)
        else:
            findings.hold(stood < bound, f"{bait}: stood still for {stood * 1000:.0f} ms")
        findings.hold(len(rows) == 100 and len(scored) >= 99, f"{bait}: {len(scored)} scored of {len(rows)}")
        lines.append((bait[:40], round(stood * 1000, 1)))
    lines.sort(key=lambda line: -line[1])
    none = next(stood for bait, stood in lines if bait == "none")
    findings.say(table(f"The longest standstills; {none} ms without bait", ("bait", "ms"), lines[:12]))
    return findings


def memory(folder: Path, heaps: Sequence[str] = HEAPS) -> Findings:
    """After 60 others let 64 conversations, all at once, get the same huge reply to every request."""
    findings = Findings(f"memory under {len(heaps)} kinds of huge replies")
    lines = []
    for heap in heaps:
        seen, rows = _judged(folder, 124, dict.fromkeys(range(60, 124), heap), latency=0.05)
        peak = seen["peak_mb"]
        findings.hold(peak < _MOST_MB, f"{heap}: {peak:.0f} MB")
        scored = [row for row in rows if row["scores"] is not None]
        findings.hold(len(rows) == 124 and len(scored) == 60, f"{heap}: {len(scored)} scored of {len(rows)}")
        lines.append((heap[:40], round(peak)))
    lines.sort(key=lambda line: -line[1])
    findings.say(table("Peak memory of the judging process", ("reply", "MB"), lines))
    return findings


def _judged(
    folder: Path, number: int, faults: dict[int, str], *, latency: float, busy: bool = False
) -> tuple[dict[str, float], list[dict[str, object]]]:
    for old in (folder / "run").glob("*"):
        old.unlink()
    cases = Cases.drawn(number, seed=8)
    cases.write(folder)
    with OpenAIStub(cases.reply, latency=latency, faults=FaultPlan(choose=by_case(dict(faults)))) as stub:
        patience(folder, stub.url, attempt_s=4, item_s=8)
        with (folder / "patience.toml").open("a") as out:
            out.write(f"api_key_env = {json.dumps('STUB_KEY')}\n")
        seen = observe(folder, cases.log, cases.rubric, "patience.toml", key=_KEY, busy=busy)
    return seen, rows_of(folder / "run")
