"""Planted faults of a finished run: the sample, the judge of the run, and what it does not notice."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from dialogauge.app.judge_of_run import judge_of_run
from dialogauge.app.option_groups import PlantingOptions
from dialogauge.core import UsageError, digest_text
from dialogauge.llm import Expected
from dialogauge.runs import StoredRun, open_run
from dialogauge.studies.planted.blind_spots import (
    POOL,
    SIZE,
    BlindSpots,
    Plant,
    blind_spots,
    draw_plants,
    judge_plants,
)
from dialogauge.studies.trust.look import kept_from

T = TypeVar("T")

JUDGE: Final = "judge"
"""The kind of run that faults are planted in."""


def plants_wanted(run: StoredRun, options: PlantingOptions) -> int:
    """Return in how many replies each fault is to be planted: none unasked where that takes calls of a model.

    Raises UsageError where it is asked for, and the run is not of `dialogauge judge`.
    """
    if run.manifest.study != JUDGE:
        if options.planted:
            msg = f"--planted: {run.directory.path} is a run of `dialogauge {run.manifest.study}`"
            raise UsageError(msg, hint="faults are planted in runs of `dialogauge judge`")
        return 0
    if options.planted is not None:
        return options.planted
    return SIZE if run.manifest.settings.get("role") is None else 0


def plants_of(run: StoredRun, size: int, seed: int = 0, *, only: str | None = None) -> list[Plant]:
    """Plant every fault in replies of a run.

    Args:
        run: Only some of its conversations are read, chosen by seed and id.
        size: Replies for each fault.
        seed: Of the sample.
        only: The candidate whose replies are taken; None takes all.
    """
    ids = sorted(run.database.ids(), key=lambda name: digest_text(f"{seed}\x1f{name}"))[: POOL * size]
    judged = [pair for pair in run.judged(ids) if only in (None, pair[0].candidate)]
    return draw_plants(judged, size=size, seed=seed)


def planted_for(path: str, options: PlantingOptions, *, only: str | None = None) -> BlindSpots | None:
    """Say what the judge of a run would not notice; None where nobody knows and it would take calls.

    Without a model the faults are planted and judged here, with one only where the options ask for it. Else
    what `dialogauge trust` found before is taken.

    Args:
        path: The run.
        options: How many faults, and what is said of the model.
        only: The candidate whose replies are taken; None takes all.

    Raises UsageError where it is asked for, and the judge cannot be built again.
    """
    with open_run(path) as run:
        size = plants_wanted(run, options)
        if not size:
            return None if options.planted == 0 else kept_from(run).planted
        try:
            return _finished(_judged(run, options, plants_of(run, size, only=only), size))
        except UsageError:
            if options.planted is not None:
                raise
            return None


def count_planted(
    path: str, options: PlantingOptions, *, only: str | None = None
) -> tuple[int, Expected | None]:
    """Return how many planted replies would be judged, and what a model would be asked; None without one."""

    async def counted(run: StoredRun, plants: list[Plant]) -> Expected | None:
        built = await judge_of_run(run, options, dry=True)
        try:
            if built.clients.counted() is not None:
                await judge_plants(built.judge, plants)
            return built.clients.counted()
        finally:
            await built.clients.close()

    with open_run(path) as run:
        size = plants_wanted(run, options)
        plants = plants_of(run, size, only=only) if size else []
        return len(plants), _finished(counted(run, plants)) if plants else None


async def _judged(run: StoredRun, options: PlantingOptions, plants: list[Plant], size: int) -> BlindSpots:
    built = await judge_of_run(run, options)
    try:
        after = await judge_plants(built.judge, plants, workers=options.max_concurrency)
    finally:
        await built.clients.close()
    return blind_spots(plants, after, built.judge, size=size)


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end what is asynchronous; in a notebook, whose loop runs already, on a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
