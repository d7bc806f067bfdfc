"""The whole benchmark in one go: select, collect, score, compare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dialogauge.app.replay.collect import Collected, CollectOptions, collect
from dialogauge.app.replay.compare import Compared, CompareOptions, compare_runs
from dialogauge.app.replay.score import Scored, ScoreOptions, score
from dialogauge.app.replay.select import Selected, SelectOptions, select
from dialogauge.core.errors import UsageError
from dialogauge.runs import FILES, Observer
from dialogauge.studies.replay import read_items


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The settings of `dialogauge replay run`: those of its four parts."""

    out: str
    select: SelectOptions
    collect: CollectOptions
    score: ScoreOptions
    compare: CompareOptions


@dataclass(frozen=True, slots=True)
class Ran:
    """What each part came to; a part that was not reached is None."""

    selected: Selected
    collected: Collected
    scored: Scored | None = None
    compared: Compared | None = None


def run_benchmark(options: RunOptions, observer: Observer) -> Ran:
    """Run the four parts in one directory; the same command again goes on where it stopped.

    An item set that the directory holds already is selected again and must be the same.
    """
    out = options.out
    file = Path(out) / FILES["items"]
    held = read_items(file) if file.is_file() else None
    selected = select(replace(options.select, out=str(file) if held is None else None), held, out)
    if held is not None and selected.items.digest != held.digest:
        msg = f"the run {out} is of another item set"
        raise UsageError(msg, hint="choose another directory with -o, or the same data, rule, size and seed")
    collected = collect(replace(options.collect, items=str(file), out=out), observer)
    if collected.ended != "finished":
        return Ran(selected, collected)
    scored = score(replace(options.score, run=out), observer)
    if scored.ended != "finished":
        return Ran(selected, collected, scored)
    return Ran(selected, collected, scored, compare_runs(replace(options.compare, runs=(out,), out=None)))
