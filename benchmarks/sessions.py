"""Sessions over HTTP: 1,000 of 10 turns, both sides at an endpoint of 50 ms, beside a bare loop in the same
order of turns."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.beside_bare import beside_bare, guides
from benchmarks.judging import stub

_TURNS = 10
_CONCURRENCY = 256
_BARS = "bars: at least half of the bare loop's sessions a second (goal 0.7), 220 MB"


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    number = 200 if quick else 1_000
    with tempfile.TemporaryDirectory() as name, stub() as url:
        folder, model = Path(name), f"stub-model@{url}"
        words = [
            "simulate", guides(folder / "scenarios.jsonl", number), "--candidate", f"a={model}",
            "--role", f"simulator={model}", "--turns", str(_TURNS), "--max-concurrency", str(_CONCURRENCY),
        ]  # fmt: skip
        bare = ("bare_sessions.py", url, number, 2 * _TURNS, _CONCURRENCY)
        title = f"{number:,} sessions of {_TURNS} turns at {_CONCURRENCY} ({_BARS})"
        return beside_bare(times, folder, words, bare, number, ("sessions", title))
