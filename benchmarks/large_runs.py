"""Large runs: the page of a finished one, and going on with one of a million rows."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.judging import stub
from benchmarks.process import CLI, Cost, environment, measured
from benchmarks.tables import table

__all__ = ["run"]

_BUILD = str(Path(__file__).resolve().parent / "build_run.py")
_ROWS = 7  # of a conversation of six turns


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    with tempfile.TemporaryDirectory() as name, stub() as url:
        folder = Path(name)
        figures = _report(folder, url, 10_000, times)
        figures |= _resume(folder, url, 10_000 if quick else -(-1_000_000 // _ROWS))
    return figures


def _built(folder: Path, url: str, number: int) -> tuple[Path, Path]:
    log, out = folder / f"log{number}.jsonl", folder / f"run{number}"
    if not out.exists():
        command = [sys.executable, _BUILD, str(log), str(out), str(number), url]
        measured(command, env=environment(), cwd=folder)
    return log, out


def _judge(folder: Path, url: str, log: Path, out: Path, *options: str) -> Cost:
    command = [
        *CLI, "judge", str(log), "--model", "stub-model", "--base-url", url, "-o", str(out), *options
    ]  # fmt: skip
    return measured(command, env=environment(DIALOGAUGE_CACHE=str(folder / "cache")), cwd=folder)


def _report(folder: Path, url: str, number: int, times: int) -> dict[str, Any]:
    log, out = _built(folder, url, number)
    _judge(folder, url, log, out)
    command = [*CLI, "report", str(out)]
    costs = [measured(command, env=environment(), cwd=folder) for _ in range(times)]
    wall = statistics.median(c.wall_s for c in costs)
    cpu = statistics.median(c.cpu_s for c in costs)
    head = ("conversations", "wall s", "CPU s", "peak MB")
    title = f"Summary and report from a finished run, medians of {times} (bar: 5 s)"
    print(table(title, head, [(number, wall, cpu, max(c.peak_mb for c in costs))]))
    return {"summary and report": {"conversations": number, "wall_s": wall, "cpu_s": cpu}}


def _resume(folder: Path, url: str, number: int) -> dict[str, Any]:
    log, out = _built(folder, url, number)
    plan = _judge(folder, url, log, out, "--dry-run")
    steps = {"read, plan and compare (--dry-run)": plan, "whole command": _judge(folder, url, log, out)}
    head = ("step", "wall s", "CPU s", "peak MB")
    title = f"Resuming a run of {number * _ROWS:,} rows, {number:,} conversations of 4 kB (bar: 5 s)"
    print(table(title, head, [(k, c.wall_s, c.cpu_s, c.peak_mb) for k, c in steps.items()]))
    figures: dict[str, Any] = {name: vars(cost) for name, cost in steps.items()}
    return {"resume": {"conversations": number, "log_mb": log.stat().st_size / 1e6, **figures}}
