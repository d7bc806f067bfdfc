"""A lookahead search over HTTP: 100 scenarios, all sides at an endpoint of 50 ms, beside a bare loop of the
same calls."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.judging import stub
from benchmarks.process import CLI, Cost, environment, measured, median_of
from benchmarks.tables import table

_SCENARIOS = 100
_TURNS = 2
_CONCURRENCY = 64
_BAR = "bar: at least half of the bare loop's scenarios a second"
_HERE = Path(__file__).resolve().parent


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    steps = 2 if quick else 5
    with tempfile.TemporaryDirectory() as name, stub() as url:
        folder = Path(name)
        scenarios = folder / "scenarios.jsonl"
        entries = (
            {"id": f"s{n}", "name": f"Guide {n}", "text": f"Guide {n} shows visitors the old harbour.",
             "user": {"persona": "I am on my first visit, and I like old boats."}}
            for n in range(_SCENARIOS)
        )  # fmt: skip
        scenarios.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        runs = 0

        def ours() -> Cost:
            nonlocal runs
            runs += 1
            env = environment(DIALOGAUGE_CACHE=str(folder / f"cache{runs}"))
            model = f"stub-model@{url}"
            command = [
                *CLI, "lookahead", str(scenarios), "--candidate", f"a={model}", "--candidate", f"b={model}",
                "--role", f"simulator={model}", "--role", f"judge={model}", "--segments", str(steps),
                "--segment-turns", str(_TURNS), "--max-concurrency", str(_CONCURRENCY),
                "-o", str(folder / f"run{runs}"),
            ]  # fmt: skip
            return measured(command, env=env, cwd=folder)

        def bare(alone: int) -> Cost:
            script = str(_HERE / "bare_lookahead.py")
            words = map(str, (_SCENARIOS, steps, _TURNS, _CONCURRENCY, alone))
            return measured([sys.executable, script, url, *words], env=environment(), cwd=folder)

        costs = {
            "dialogauge": median_of(times, ours),
            "bare": median_of(times, lambda: bare(0)),
            "bare, a connection for each call": median_of(times, lambda: bare(1)),
        }
    calls = _SCENARIOS * steps * 2 * (2 * _TURNS + 4)
    rows = [
        (who, cost.wall_s, cost.cpu_s, _SCENARIOS / cost.wall_s, cost.peak_mb) for who, cost in costs.items()
    ]
    ours_s, *bare_s = (cost.wall_s for cost in costs.values())
    ratios = [wall / ours_s for wall in bare_s]
    rows += [("ratio", "", "", ratio, "") for ratio in ratios]
    head = ("who", "wall s", "CPU s", "scenarios a second", "peak MB")
    title = f"{_SCENARIOS} scenarios, {calls:,} calls at {_CONCURRENCY}, medians of {times} ({_BAR})"
    print(table(title, head, rows))
    return {who: vars(cost) for who, cost in costs.items()} | {"ratios": ratios}
