"""Training dialogues over HTTP: 1,000 of 3 rounds, all sides at an endpoint of 50 ms, beside a bare loop of
as many calls."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.judging import stub
from benchmarks.process import CLI, Cost, environment, measured, median_of
from benchmarks.tables import table

_CALLS = 7
"""Of a dialogue of three rounds: three answers, and twice what the user says and how satisfied it is."""
_CONCURRENCY = 256
_BARS = "bars: at least half of the bare loop's dialogues a second, 250 MB"
_HERE = Path(__file__).resolve().parent


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    number = 200 if quick else 1_000
    with tempfile.TemporaryDirectory() as name, stub(0.05, "--varied") as url:
        folder = Path(name)
        tasks = folder / "tasks.jsonl"
        entries = (
            {"id": f"t{n}", "dataset": "desk", "q": f"Where do I leave parcel {n}?",
             "v": {"answer": f"Door {n}"}}
            for n in range(number)
        )  # fmt: skip
        tasks.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        runs = 0

        def ours() -> Cost:
            nonlocal runs
            runs += 1
            env = environment(DIALOGAUGE_CACHE=str(folder / f"cache{runs}"))
            command = [
                *CLI, "learn", "dialogues", "--tasks", str(tasks), "--part", "all",
                "--candidate", f"a=stub-model@{url}", "--role", f"simulator=stub-model@{url}",
                "--max-concurrency", str(_CONCURRENCY), "-o", str(folder / f"run{runs}"),
            ]  # fmt: skip
            cost = measured(command, env=env, cwd=folder)
            rows = [json.loads(line) for line in (folder / f"run{runs}" / "judgements.jsonl").open()]
            assert {row["details"]["rounds"] for row in rows} == {3}, "a dialogue was cut short"
            return cost

        def bare(alone: int) -> Cost:
            words = map(str, (number, _CALLS, _CONCURRENCY, alone))
            script = str(_HERE / "bare_sessions.py")
            return measured([sys.executable, script, url, *words], env=environment(), cwd=folder)

        costs = {
            "dialogauge": median_of(times, ours),
            "bare": median_of(times, lambda: bare(0)),
            "bare, a connection for each call": median_of(times, lambda: bare(1)),
        }
    rows = [(who, cost.wall_s, cost.cpu_s, number / cost.wall_s, cost.peak_mb) for who, cost in costs.items()]
    ours_s, *bare_s = (cost.wall_s for cost in costs.values())
    ratios = [wall / ours_s for wall in bare_s]
    rows += [("ratio", "", "", ratio, "") for ratio in ratios]
    head = ("who", "wall s", "CPU s", "dialogues a second", "peak MB")
    title = f"{number:,} dialogues of {_CALLS} calls at {_CONCURRENCY}, medians of {times} ({_BARS})"
    print(table(title, head, rows))
    return {who: vars(cost) for who, cost in costs.items()} | {"ratios": ratios}
