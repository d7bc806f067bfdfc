"""What `replay collect`, `score` and `run` would ask: each done in a copy of the run, which asks nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from dialogauge.app.outcome import Plan
from dialogauge.app.progress import ProgressObserver
from dialogauge.app.replay.collect import Collected, collect
from dialogauge.app.replay.run_all import run_benchmark
from dialogauge.app.replay.score import ScoredAnswers, score
from dialogauge.app.replay.settings import BenchmarkOptions, CollectOptions, ScoreOptions
from dialogauge.core.errors import InputError
from dialogauge.runs import RunDirectory


def plan_collect(options: CollectOptions) -> Plan:
    """Say what candidates would be asked, without a model call and without writing anything that stays."""
    with _copy_of(options.out) as copy:
        collected = asyncio.run(collect(replace(options, out=copy), _QUIET, dry=True))
    return _plan(options.out, collected, None)


def plan_score(options: ScoreOptions) -> Plan:
    """Say what the evaluator would be asked, without a model call and without writing anything that stays."""
    with _copy_of(options.run) as copy:
        scored = asyncio.run(score(replace(options, run=copy), _QUIET, dry=True))
    return _plan(options.run, None, scored)


def plan_benchmark(options: BenchmarkOptions) -> Plan:
    """Say the same of both; a candidate's replies are taken to be as long as replies usually are."""
    with _copy_of(options.out) as copy:
        ran = asyncio.run(run_benchmark(replace(options, out=copy), _QUIET, dry=True))
    return _plan(options.out, ran.collected, ran.scored, ran.selected.faults)


_QUIET = ProgressObserver(quiet=True)


@contextmanager
def _copy_of(run: str) -> Iterator[str]:
    """Copy what a run would go on from to a folder that is gone afterwards."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "run"
        RunDirectory(Path(run)).copy_to(copy)
        yield str(copy)


def _plan(
    run: str,
    collected: Collected | None,
    scored: ScoredAnswers | None,
    faults: tuple[InputError, ...] = (),
) -> Plan:
    done = [one for one in (collected, scored) if one is not None]
    asking = [one.asking for one in done if one.asking is not None]
    counts = {
        "items": 0 if collected is None else len(collected.items.items),
        "candidates": 0 if collected is None else len(collected.tallies),
        "replies": 0 if collected is None else collected.asked,
        "scores": 0 if scored is None else scored.done,
    }
    return Plan(
        Path(run),
        "" if scored is None else scored.judge,
        counts,
        counts["replies"] + counts["scores"],
        tuple(dict.fromkeys((*faults, *(fault for one in done for fault in one.faults)))),
        (),
        asking[0] + asking[1] if len(asking) > 1 else asking[0] if asking else None,
    )
