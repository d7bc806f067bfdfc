"""`dialogauge trust`: the checks of a finished run made anew, and samples judged once more.

A sample of conversations without their scenario, and one with planted faults.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from dialogauge.app.beside import field_map, ratings_of_file
from dialogauge.app.build import BuiltJudge, Limits, no_limits
from dialogauge.app.judge_of_run import judge_of_run
from dialogauge.app.merging import load_config
from dialogauge.app.outcome import Plan, StudyOutcome, units_to_do
from dialogauge.app.planted import plants_of, plants_wanted
from dialogauge.app.report import page_of
from dialogauge.app.settings import RecheckOptions
from dialogauge.app.sources import JUDGED
from dialogauge.core import UsageError
from dialogauge.data import RatingTable
from dialogauge.runs import Observer, RunDirectory, RunSettings, StopSignal, StoredRun, open_run, run_study
from dialogauge.studies.planted.blind_spots import SIZE, Plant, blind_spots, judge_plants
from dialogauge.studies.trust.scenario import Variant, draw_variants
from dialogauge.studies.trust.study import TrustResult, TrustStudy


async def recheck_run(
    options: RecheckOptions,
    observer: Observer,
    ratings: RatingTable | None = None,
    stop: StopSignal | None = None,
) -> StudyOutcome[TrustResult]:
    """Make the checks of a run anew, and write them into its summary and its page.

    What was judged of the scenario sample is kept in the run: the same call again goes on with the rest.

    Args:
        options: What is asked for.
        observer: Who is told.
        ratings: Taken in place of what `ratings_file` of the options names.
        stop: Ends the scenario sample early when it is requested.

    Raises UsageError when the judge of the run cannot be built again, StoreError when there is no run.
    """
    study, settings = _study(options, ratings)
    async with AsyncExitStack() as clients:
        limits: Limits = no_limits
        with open_run(options.run, studies=JUDGED) as run:
            built, plants = await _with_samples(study, run, options, dry=False)
        if built is not None:
            clients.push_async_callback(built.close)
            limits = built.limits
            if plants:
                after = await judge_plants(built.judge, plants, workers=options.max_concurrency)
                study.planted = blind_spots(
                    plants, after, built.judge, size=options.planted or SIZE, seed=options.seed
                )
        return StudyOutcome(await run_study(study, settings, observer, limits, stop))


def plan_recheck(options: RecheckOptions) -> Plan:
    """Say what would be judged of the samples, without a model call and without writing anything."""
    study, settings = _study(options, None)
    with open_run(options.run, studies=JUDGED) as run:
        judge = str(run.manifest.judge["name"])
        built, plants = asyncio.run(_with_samples(study, run, options, dry=True))
    if built is None:
        return Plan(settings.directory.path, judge, {"variants": 0, "planted": 0}, 0, (), ())
    if built.counted() is not None:
        asyncio.run(judge_plants(built.judge, plants))
    variants, left, _ = units_to_do(study, settings, built)
    counts = {"variants": variants, "planted": len(plants)}
    return Plan(settings.directory.path, judge, counts, left + len(plants), (), (), built.counted())


def _study(options: RecheckOptions, ratings: RatingTable | None) -> tuple[TrustStudy, RunSettings]:
    study = TrustStudy(
        JUDGED,
        page_of,
        thresholds=load_config(options.config_file).trust,
        ratings=ratings or ratings_of_file(options, field_map(options)),
        seed=options.seed,
    )
    settings = RunSettings(
        directory=RunDirectory(Path(options.run)),
        workers=options.max_concurrency,
        retry_failed=options.retry_failed,
    )
    return study, settings


async def _with_samples(
    study: TrustStudy, run: StoredRun, options: RecheckOptions, *, dry: bool
) -> tuple[BuiltJudge | None, list[Plant]]:
    """Give the study its variants and the judge of the run; return that, and what is planted.

    Without either sample there is no judge. Nor is there where it cannot be built and nobody asked for it.
    """
    size = plants_wanted(run, options)
    plants = plants_of(run, size, options.seed) if size else []
    if options.scenario_sample is not None:
        study.variants = _variants(run, options)
    if not plants and not study.variants:
        return None, []
    try:
        built = await judge_of_run(run, options, dry=dry)
    except UsageError:
        if study.variants or options.planted is not None:
            raise
        return None, []
    study.judge = built.judge
    return built, plants


def _variants(run: StoredRun, options: RecheckOptions) -> list[Variant]:
    if not run.manifest.facts.get("shows_scenario", True):
        msg = f"the rubric {run.manifest.settings['rubric']!r} does not show the judge a scenario"
        raise UsageError(msg, hint="leave --scenario-sample out")
    variants = draw_variants((c for c, _ in run.judged()), options.scenario_sample or 0, options.seed)
    if not variants:
        msg = "no conversation of the run has a scenario, a description or instructions"
        raise UsageError(msg, hint="name the column that holds it in a field map, and judge again")
    return variants
