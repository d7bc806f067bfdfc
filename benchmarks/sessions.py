"""Sessions over HTTP: 1,000 of 10 turns, both sides at an endpoint of 50 ms, beside a bare loop in the same
order of turns."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.judging import stub
from benchmarks.process import CLI, Cost, environment, measured, median_of
from benchmarks.tables import table

_TURNS = 10
_CONCURRENCY = 256
_BARS = "bars: at least half of the bare loop's sessions a second (goal 0.7), 220 MB"
_HERE = Path(__file__).resolve().parent


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    number = 200 if quick else 1_000
    with tempfile.TemporaryDirectory() as name, stub() as url:
        folder = Path(name)
        scenarios = folder / "scenarios.jsonl"
        entries = (
            {"id": f"s{n}", "name": f"Guide {n}", "text": f"Guide {n} shows visitors the old harbour.",
             "user": {"persona": "I am on my first visit, and I like old boats."}}
            for n in range(number)
        )  # fmt: skip
        scenarios.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        runs = 0

        def ours() -> Cost:
            nonlocal runs
            runs += 1
            env = environment(DIALOGAUGE_CACHE=str(folder / f"cache{runs}"))
            command = [
                *CLI, "simulate", str(scenarios), "--candidate", f"a=stub-model@{url}",
                "--role", f"simulator=stub-model@{url}", "--turns", str(_TURNS),
                "--max-concurrency", str(_CONCURRENCY), "-o", str(folder / f"run{runs}"),
            ]  # fmt: skip
            return measured(command, env=env, cwd=folder)

        def bare() -> Cost:
            script = str(_HERE / "bare_sessions.py")
            command = [sys.executable, script, url, str(number), str(2 * _TURNS), str(_CONCURRENCY)]
            return measured(command, env=environment(), cwd=folder)

        costs = {"dialogauge": median_of(times, ours), "bare": median_of(times, bare)}
    rows = [(who, cost.wall_s, cost.cpu_s, number / cost.wall_s, cost.peak_mb) for who, cost in costs.items()]
    ratio = costs["bare"].wall_s / costs["dialogauge"].wall_s
    rows.append(("ratio", "", "", ratio, ""))
    head = ("who", "wall s", "CPU s", "sessions a second", "peak MB")
    title = f"{number:,} sessions of {_TURNS} turns at {_CONCURRENCY}, medians of {times} ({_BARS})"
    print(table(title, head, rows))
    return {who: vars(cost) for who, cost in costs.items()} | {"ratio": ratio}
