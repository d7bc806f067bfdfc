"""`dialogauge trust`: the checks of a finished run made anew, and samples judged once more.

A sample of conversations without their scenario, and one with planted faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialogauge.app.command import ReadyStudy, StudyEntry
from dialogauge.app.entries import JUDGED
from dialogauge.app.judge_of_run import judge_of_run
from dialogauge.app.merging import load_config
from dialogauge.app.outcome import Plan, PlanJson
from dialogauge.app.planted import plants_of, plants_wanted
from dialogauge.app.settings import RecheckOptions
from dialogauge.app.sources import PythonInput, field_map, open_source, ratings_of_file
from dialogauge.app.stored import page_of
from dialogauge.core import InputError, UsageError
from dialogauge.core.files import shown_path
from dialogauge.core.json_keys import as_json
from dialogauge.report import Block
from dialogauge.runs import Observer, RunDirectory, StoredRun, open_run
from dialogauge.studies.planted.blind_spots import SIZE, Plant, blind_spots, judge_plants
from dialogauge.studies.simulator.page import simulator_brief
from dialogauge.studies.simulator.style import StyleSample
from dialogauge.studies.trust.page import trust_brief
from dialogauge.studies.trust.result import Trust
from dialogauge.studies.trust.scenario import Variant, draw_variants
from dialogauge.studies.trust.study import TrustResult, TrustStudy


class TrustPlanJson(PlanJson):
    """What `trust` would judge again."""

    variants: int
    """Conversations of the sample without their scenario, and with another's."""
    planted: int
    """Conversations with a planted fault."""


@dataclass(kw_only=True)
class Recheck(ReadyStudy[RecheckOptions, TrustStudy]):
    """Checks that are ready to be made anew."""

    plants: list[Plant]
    """Replies with planted faults, which are judged before the variants."""


def _real_users(file: str) -> tuple[StyleSample, Sequence[InputError]]:
    """Read how real users write; return the records too that are no conversations.

    Raises UsageError where nobody has written anything.
    """
    sample, faults = StyleSample(Path(file).name), list[InputError]()
    for item in open_source((file,), format=None, mapping=None, strict=False):
        if isinstance(item, InputError):
            faults.append(item)
        else:
            sample.read(item)
    if not sample.rows:
        msg = f"{shown_path(file)} has no message of a user"
        raise UsageError(msg, hint="give a log of conversations with real users")
    return sample, faults


async def _prepare(options: RecheckOptions, python: PythonInput, *, dry: bool) -> Recheck:
    """Draw the samples, and build the judge of the run.

    Without either sample there is no judge. Nor is there where it cannot be built and nobody asked for
    it.
    """
    ratings = python.ratings or ratings_of_file(options, field_map(options))
    limits = load_config(options.config_file).trust
    real, faults = _real_users(options.real_users) if options.real_users else (None, ())
    with open_run(options.run, studies=JUDGED) as run:
        study = TrustStudy(
            JUDGED,
            page_of,
            thresholds=limits,
            ratings=ratings,
            real_users=real,
            unreadable=faults,
            seed=options.seed,
        )
        prepared = Recheck(
            options=options,
            study=study,
            judge=str(run.manifest.judge["name"]),
            workers=options.max_concurrency,
            plants=[],
        )
        size = plants_wanted(run, options)
        plants = plants_of(run, size, options.seed) if size else []
        variants = [] if options.scenario_sample is None else _variants(run, options)
        if not plants and not variants:
            return prepared
        try:
            built = await judge_of_run(run, options, dry=dry)
        except UsageError:
            if variants or options.planted is not None:
                raise
            return prepared
    study.judge, study.variants = built.judge, variants
    prepared.plants, prepared.clients = plants, built.clients
    return prepared


async def _begin(prepared: Recheck, observer: Observer | None) -> None:
    """Judge the replies with planted faults; a plan counts what that asks."""
    study, options, plants = prepared.study, prepared.options, prepared.plants
    if study.judge is None or not plants or (observer is None and prepared.clients.counted() is None):
        return
    after = await judge_plants(study.judge, plants, workers=options.max_concurrency)
    if observer is not None:
        size = options.planted or SIZE
        study.planted = blind_spots(plants, after, study.judge, size=size, seed=options.seed)


def _plan_words(plan: Plan, options: RecheckOptions) -> str:
    """Say what would be judged of either sample."""
    del options
    variants, planted = plan.counts["variants"], plan.counts["planted"]
    parts = [f"{plan.left - planted} of {variants} conversations with another scenario or none"]
    parts = parts * (variants > 0) + [f"{planted} replies with a planted fault"] * (planted > 0)
    if not parts:
        return "would make the checks anew; nothing is judged"
    return f"would judge {' and '.join(parts)}, by {plan.judge}"


def _variants(run: StoredRun, options: RecheckOptions) -> list[Variant]:
    if not run.manifest.facts.get("shows_scenario", True):
        msg = f"the rubric {run.manifest.settings['rubric']!r} does not show the judge a scenario"
        raise UsageError(msg, hint="leave --scenario-sample out")
    variants = draw_variants((c for c, _ in run.judged()), options.scenario_sample or 0, options.seed)
    if not variants:
        msg = "no conversation of the run has a scenario, a description or instructions"
        raise UsageError(msg, hint="name the column that holds it in a field map, and judge again")
    return variants


def _view(trust: Trust) -> Iterable[Block]:
    simulated = () if trust.simulator is None else (simulator_brief(trust.simulator),)
    return (*simulated, *trust_brief(trust))


ENTRY: Final[StudyEntry[RecheckOptions, Recheck, TrustResult]] = StudyEntry(
    name="trust",
    prints=Trust,
    plans=TrustPlanJson,
    unit="variant",
    prepare=_prepare,
    directory=lambda options: RunDirectory(Path(options.run)),
    expect_free=lambda study, options, directory: None,
    begin=_begin,
    counts=lambda prepared, units: {"variants": units, "planted": len(prepared.plants)},
    left=lambda prepared, units, left: left + len(prepared.plants),
    plan_words=_plan_words,
    printed=lambda result: as_json(result.trust),
    view=lambda outcome: _view(outcome.result.trust),
)
