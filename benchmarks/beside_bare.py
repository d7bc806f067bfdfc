"""A command of ours beside a bare loop that sends as many calls to the same stub."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.process import CLI, Cost, environment, measured, median_of
from benchmarks.tables import table

_HERE = Path(__file__).resolve().parent


def beside_bare(
    times: int,
    folder: Path,
    words: Sequence[str],
    bare: Sequence[object],
    number: int,
    what: tuple[str, str],
) -> dict[str, Any]:
    """Measure both, the bare loop also with a connection for each call; print and return the figures.

    Args:
        times: Runs of each, of which the medians count.
        folder: Where our runs are kept, as `run1` and so on, and an empty cache for each.
        words: Our command, without a folder for the run.
        bare: Script of this folder with its arguments; a last one, 0 or 1, is whether each call has a
            connection of its own.
        number: How many of a thing one run makes.
        what: Plural of the thing, and what was run, for the title.
    """
    runs = 0

    def ours() -> Cost:
        nonlocal runs
        runs += 1
        env = environment(DIALOGAUGE_CACHE=str(folder / f"cache{runs}"))
        return measured([*CLI, *words, "-o", f"run{runs}"], env=env, cwd=folder)

    def loop(alone: int) -> Cost:
        script, *arguments = map(str, (*bare, alone))
        return measured([sys.executable, str(_HERE / script), *arguments], env=environment(), cwd=folder)

    costs = {
        "dialogauge": median_of(times, ours),
        "bare": median_of(times, lambda: loop(0)),
        "bare, a connection for each call": median_of(times, lambda: loop(1)),
    }
    rows = [(who, cost.wall_s, cost.cpu_s, number / cost.wall_s, cost.peak_mb) for who, cost in costs.items()]
    ours_s, *bare_s = (cost.wall_s for cost in costs.values())
    ratios = [wall / ours_s for wall in bare_s]
    rows += [("ratio", "", "", ratio, "") for ratio in ratios]
    head = ("who", "wall s", "CPU s", f"{what[0]} a second", "peak MB")
    print(table(f"{what[1]}, medians of {times}", head, rows))
    return {who: vars(cost) for who, cost in costs.items()} | {"ratios": ratios}


def written(file: Path, entries: Iterable[Mapping[str, Any]]) -> str:
    """Write entries as JSON lines, and return the name of the file."""
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return str(file)


def guides(file: Path, number: int) -> str:
    """Write so many scenarios, each with a user of its own, and return the name of the file."""
    user = {"persona": "I am on my first visit, and I like old boats."}
    entries = (
        {
            "id": f"s{n}",
            "name": f"Guide {n}",
            "text": f"Guide {n} shows visitors the old harbour.",
            "user": user,
        }
        for n in range(number)
    )
    return written(file, entries)
