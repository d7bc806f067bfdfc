"""How much of the prompts a prefix cache need not read again, by rubric and mode.

The order in which prompts are sent decides; so the same prompts are measured in other orders too: all in
one heap, and sorted by their text, which is the most that an order can do.
"""

from __future__ import annotations

import json
import random
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.conversations import write_log
from benchmarks.judging import stub
from benchmarks.process import CLI, environment, measured
from benchmarks.tables import table

__all__ = ["run"]

_CASES = {
    "card, 6 turns: 1 call each": (6, ("--rubric", "card")),
    "card, foresight: 7 calls each": (6, ("--rubric", "card", "--mode", "foresight")),
    "card, 16 turns: windows": (16, ("--rubric", "card")),
    "satisfaction, 6 turns: 6 calls each": (6, ("--rubric", "satisfaction")),
    "satisfaction, 3 repeats": (6, ("--rubric", "satisfaction", "--repeats", "3")),
}
_NUMBER = 60


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures."""
    del times, quick  # the shares hardly vary, and it takes seconds
    with tempfile.TemporaryDirectory() as name:
        figures = {label: _case(Path(name), turns, options) for label, (turns, options) in _CASES.items()}
    orders = ("as asked", "shuffled", "sorted")
    rows = [(k, f["calls"], f["characters"], *(f[order] for order in orders)) for k, f in figures.items()]
    head = ("judged", "calls", "characters each", *orders)
    title = f"Share of the prompts that repeats the one before, {_NUMBER} conversations, 16 at once"
    print(table(f"{title}; beside it the same prompts in other orders", head, rows))
    return figures


def _case(folder: Path, turns: int, options: tuple[str, ...]) -> dict[str, Any]:
    log, out = folder / f"log{turns}.jsonl", folder / f"run{len(list(folder.iterdir()))}"
    write_log(log, _NUMBER, exchanges=turns)
    with stub(0.01, "--keep") as url:
        command = [
            *CLI, "judge", str(log), "--model", "stub-model", "--base-url", url,
            "-o", str(out), "--max-concurrency", "16", "--no-cache", *options,
        ]  # fmt: skip
        measured(command, env=environment(), cwd=folder)
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/all") as response:
            bodies = json.load(response)
    prompts = [body["messages"] for body in bodies if "probe_k7" not in json.dumps(body)]
    total = json.loads((out / "summary.json").read_text())["usage"]["total"]
    shuffled = random.Random(1).sample(prompts, len(prompts))
    return {
        "calls": len(prompts),
        "characters": total["prompt_chars"] // len(prompts),
        "as asked": total["repeated_share"],
        "shuffled": _share(shuffled),
        "sorted": _share(sorted(prompts, key=json.dumps)),
    }


def _share(prompts: list[Any]) -> float:
    from dialogauge.llm.budget import PrefixMeter

    meter = PrefixMeter()
    found = [meter.measure(messages) for messages in prompts]
    return sum(repeated for _, repeated in found) / sum(chars for chars, _ in found)
