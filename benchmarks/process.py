"""Runs a command to its end and says what it took, from the kernel's own account of it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["CLI", "ROOT", "Cost", "environment", "in_process", "measured", "median_of"]

ROOT = Path(__file__).resolve().parent.parent
_KEPT = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "DIALOGAUGE_SHARED"})
_INNER = """
import importlib, json, sys
module, *words = json.loads(sys.argv[1])
print(json.dumps(importlib.import_module(module).measure(*words)))
"""
CLI = (sys.executable, "-m", "dialogauge")


@dataclass(frozen=True)
class Cost:
    """What a process took, from its start to its exit, its children included."""

    wall_s: float
    cpu_s: float
    """User and system time."""
    peak_mb: float
    """Peak resident memory in 10^6 bytes."""


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a measured process: this checkout, nothing from outside."""
    kept = {k: v for k, v in os.environ.items() if k in _KEPT}
    return {**kept, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "", **more}


def measured(
    command: Sequence[str], *, env: Mapping[str, str], cwd: Path, expect: Sequence[int] = (0,)
) -> Cost:
    """Run a command and return its cost by wait4; RuntimeError when it exits with an unexpected code.

    The peak memory of a process begins with that of its parent, so the parent must stay small.
    """
    log = cwd / "output.txt"
    with log.open("wb") as out:
        began = time.perf_counter()
        process = subprocess.Popen(list(command), env=dict(env), cwd=cwd, stdout=out, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in expect:
        tail = log.read_text(errors="replace")[-2000:]
        raise RuntimeError(f"{' '.join(command)} exited with {process.returncode}:\n{tail}")
    kib = used.ru_maxrss if sys.platform != "darwin" else used.ru_maxrss / 1024
    return Cost(wall, used.ru_utime + used.ru_stime, kib * 1024 / 1e6)


def in_process(module: str, *words: str | int) -> dict[str, Any]:
    """Return what `measure(*words)` of a benchmark returns in a process of its own.

    So this one stays small, and the arithmetic there has one thread.
    """
    env = environment(OPENBLAS_NUM_THREADS="1")
    env["PYTHONPATH"] += os.pathsep + str(ROOT)
    asked = json.dumps([module, *words])
    done = subprocess.run(
        [sys.executable, "-c", _INNER, asked], env=env, check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def median_of(times: int, run: Callable[[], Cost]) -> Cost:
    """Run several times and return the median of each figure (of the peak memory the largest)."""
    costs = [run() for _ in range(times)]
    return Cost(
        statistics.median(c.wall_s for c in costs),
        statistics.median(c.cpu_s for c in costs),
        max(c.peak_mb for c in costs),
    )
