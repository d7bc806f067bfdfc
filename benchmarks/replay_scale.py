"""The replay benchmark from files: 10,000 items by 10 candidates, beside the local judge's own speed.

python -m benchmarks replay_scale
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.conversations import text_of
from benchmarks.process import CLI, Cost, environment, measured
from benchmarks.tables import table

__all__ = ["run", "write_benchmark"]

_SCENARIOS = ("garden", "journey", "kitchen", "school")
_CONVERSATIONS, _TURNS = 4, 6
_OF_A_USER = len(_SCENARIOS) * _CONVERSATIONS * _TURNS


def run(times: int, *, quick: bool = False) -> dict[str, Any]:
    """Measure and print; return the figures. `times` is not looked at: it takes minutes."""
    figures: dict[str, Any] = {}
    rows = []
    sizes = [(1_000, 1), (1_000, 10)] if quick else [(1_000, 10), (10_000, 10)]
    for items, candidates in sizes:
        with tempfile.TemporaryDirectory() as name:
            found = _measure(Path(name), items, candidates)
        figures[f"{items} items, {candidates} candidates"] = found
        rows += [[f"{items:,} × {candidates}", part, *cells] for part, *cells in found["rows"]]
        print(*rows[-len(found["rows"]) :], sep="\n", flush=True)
    head = ("items × candidates", "part", "wall s", "CPU s", "peak MB", "CPU ms a reply")
    print(table("The replay benchmark from files", head, rows))
    return figures


def write_benchmark(folder: Path, items: int, candidates: int) -> tuple[Cost, list[str], list[str]]:
    """Write rated conversations, an item set and replies; return the cost of selecting, ids and options."""
    data = folder / "data.jsonl"
    _write_data(data, -(-items // _OF_A_USER))
    chosen = ["--split", "all", "--rule", "random", "-n", str(items)]
    select = _do(folder, "replay", "select", str(data), *chosen, "-o", "items.json")
    ids = [i["id"] for i in json.loads((folder / "items.json").read_text())["items"]]
    words: list[str] = []
    for number in range(candidates):
        _write_replies(folder / f"c{number}.jsonl", ids, number)
        words += ["--candidate", f"replies:c{number}.jsonl"]
    return select, ids, words


def _measure(folder: Path, items: int, candidates: int) -> dict[str, Any]:
    users = -(-items // _OF_A_USER)
    data = folder / "data.jsonl"
    select, ids, words = write_benchmark(folder, items, candidates)
    collect = _do(folder, "replay", "collect", "items.json", *words, "-o", "run")
    alone = ("--judge", "local", "--split", "all")
    bare = _do(folder, "satisfaction", str(data), *alone, "-o", "alone")
    score = _do(folder, "replay", "score", "run", "--judge", "local")
    compare = _do(folder, "replay", "compare", "run")
    judged, turns = len(ids) * (candidates + 1), users * _OF_A_USER
    parts: list[tuple[str, Cost, int]] = [
        ("select", select, turns),
        ("collect", collect, len(ids) * candidates),
        ("the local judge alone (satisfaction)", bare, turns),
        ("score", score, judged),
        ("compare", compare, judged),
    ]
    return {"rows": [_row(*part) for part in parts]}


def _row(part: str, cost: Cost, replies: int) -> list[str]:
    cells = (cost.wall_s, cost.cpu_s, cost.peak_mb)
    return [part, *(f"{c:,.1f}" for c in cells), f"{1000 * cost.cpu_s / replies:.2f}"]


def _do(folder: Path, *words: str) -> Cost:
    return measured([*CLI, *words], env=environment(), cwd=folder)


def _write_data(path: Path, users: int) -> None:
    rng = random.Random(1)
    with path.open("w", encoding="utf-8") as out:
        for user in range(users):
            for scenario in _SCENARIOS:
                for number in range(_CONVERSATIONS):
                    out.write(json.dumps(_talk(rng, f"user{user}", scenario, number)) + "\n")


def _talk(rng: random.Random, user: str, scenario: str, number: int) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for _ in range(_TURNS):
        messages.append({"role": "user", "content": text_of(rng, 90)})
        messages.append({"role": "assistant", "content": text_of(rng, 300)})
    name = f"{user}__{scenario}__{number}"
    given = [rng.choice((2, 3, 4, 4, 5, 5)) for _ in range(_TURNS)]
    ratings = [{"dimension": "satisfaction", "score": s, "turn": t} for t, s in enumerate(given, 1)]
    return {
        "conversation_id": name,
        "user_id": user,
        "scenario": scenario,
        "messages": messages,
        "ratings": ratings,
    }


def _write_replies(path: Path, ids: Sequence[str], seed: int) -> None:
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps({"item": i, "reply": text_of(rng, 300)}) + "\n" for i in ids)
