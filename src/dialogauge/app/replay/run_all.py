"""The whole benchmark in one go: select, collect, score, compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dialogauge.app.replay.collect import Collected, collect
from dialogauge.app.replay.compare import Compared, compare_runs
from dialogauge.app.replay.score import ScoringOutcome, score
from dialogauge.app.replay.select import Selected, select
from dialogauge.app.settings import (
    BenchmarkOptions,
    CollectOptions,
    CompareOptions,
    ScoreOptions,
    SelectOptions,
)
from dialogauge.core.errors import UsageError
from dialogauge.core.settings import narrowed
from dialogauge.runs import FILES, Observer
from dialogauge.studies.replay.items import read_items


@dataclass(frozen=True, slots=True)
class Ran:
    """What each part came to; a part that was not reached is None."""

    selected: Selected
    collected: Collected
    scored: ScoringOutcome | None = None
    compared: Compared | None = None


def run_benchmark(options: BenchmarkOptions, observer: Observer) -> Ran:
    """Run the four parts in one directory; the same command again goes on where it stopped.

    An item set that the directory holds already is selected again and must be the same.
    """
    out = options.out
    file = Path(out) / FILES["items"]
    held = read_items(file) if file.is_file() else None
    selected = select(narrowed(SelectOptions, options, out=str(file) if held is None else None), held, out)
    if held is not None and selected.items.digest != held.digest:
        msg = f"the run {out} is of another item set"
        raise UsageError(msg, hint="choose another directory with -o, or the same data, rule, size and seed")
    collected = collect(narrowed(CollectOptions, options, items=str(file)), observer)
    if collected.outcome.ended != "finished":
        return Ran(selected, collected)
    scored = score(narrowed(ScoreOptions, options, run=out), observer)
    if scored.run.ending.outcome.ended != "finished":
        return Ran(selected, collected, scored)
    last = {"runs": (out,), "judge": None, "seed": options.draw_seed, "out": None}
    compared = compare_runs(narrowed(CompareOptions, options, **last))
    return Ran(selected, collected, scored, compared)
