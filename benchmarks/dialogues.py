"""Training dialogues over HTTP: 1,000 of 3 rounds, all sides at an endpoint of 50 ms, beside a bare loop of
as many calls."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.beside_bare import beside_bare, written
from benchmarks.judging import stub

_CALLS = 7
"""Of a dialogue of three rounds: three answers, and twice what the user says and how satisfied it is."""
_CONCURRENCY = 256
_BARS = "bars: at least half of the bare loop's dialogues a second, 250 MB"


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    number = 200 if quick else 1_000
    with tempfile.TemporaryDirectory() as name, stub(0.05, "--varied") as url:
        folder, model = Path(name), f"stub-model@{url}"
        tasks = (
            {"id": f"t{n}", "dataset": "desk", "q": f"Where do I leave parcel {n}?",
             "v": {"answer": f"Door {n}"}}
            for n in range(number)
        )  # fmt: skip
        words = [
            "learn", "dialogues", "--tasks", written(folder / "tasks.jsonl", tasks), "--part", "all",
            "--candidate", f"a={model}", "--role", f"simulator={model}",
            "--max-concurrency", str(_CONCURRENCY),
        ]  # fmt: skip
        bare = ("bare_sessions.py", url, number, _CALLS, _CONCURRENCY)
        title = f"{number:,} dialogues of {_CALLS} calls at {_CONCURRENCY} ({_BARS})"
        figures = beside_bare(times, folder, words, bare, number, ("dialogues", title))
        rows = [json.loads(line) for file in folder.glob("run*/judgements.jsonl") for line in file.open()]
        assert {row["details"]["rounds"] for row in rows} == {3}, "a dialogue was cut short"
    return figures
