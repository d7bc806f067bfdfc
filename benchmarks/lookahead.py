"""A lookahead search over HTTP: 100 scenarios, all sides at an endpoint of 50 ms, beside a bare loop of the
same calls."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.beside_bare import beside_bare, guides
from benchmarks.judging import stub

_SCENARIOS = 100
_TURNS = 2
_CONCURRENCY = 64
_BAR = "bar: at least half of the bare loop's scenarios a second"


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    steps = 2 if quick else 5
    with tempfile.TemporaryDirectory() as name, stub() as url:
        folder, model = Path(name), f"stub-model@{url}"
        words = [
            "lookahead", guides(folder / "scenarios.jsonl", _SCENARIOS),
            "--candidate", f"a={model}", "--candidate", f"b={model}",
            "--role", f"simulator={model}", "--role", f"judge={model}", "--segments", str(steps),
            "--segment-turns", str(_TURNS), "--max-concurrency", str(_CONCURRENCY),
        ]  # fmt: skip
        bare = ("bare_lookahead.py", url, _SCENARIOS, steps, _TURNS, _CONCURRENCY)
        calls = _SCENARIOS * steps * 2 * (2 * _TURNS + 4)
        title = f"{_SCENARIOS} scenarios, {calls:,} calls at {_CONCURRENCY} ({_BAR})"
        return beside_bare(times, folder, words, bare, _SCENARIOS, ("scenarios", title))
