"""`dialogauge trust`: the checks of a finished run made anew, and samples judged once more.

A sample of conversations without their scenario, and one with planted faults.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialogauge.app.beside import field_map, ratings_of_file
from dialogauge.app.command import ReadyStudy, StudyEntry, entry_of
from dialogauge.app.entries import JUDGED
from dialogauge.app.judge_of_run import judge_of_run
from dialogauge.app.merging import load_config
from dialogauge.app.outcome import CommandOutcome, Plan, PlanJson
from dialogauge.app.planted import plants_of, plants_wanted
from dialogauge.app.settings import RecheckOptions
from dialogauge.app.sources import PythonInput
from dialogauge.core import UsageError
from dialogauge.core.json_keys import as_json
from dialogauge.report import Block
from dialogauge.runs import Observer, RunDirectory, StoredRun, open_run
from dialogauge.studies.planted.blind_spots import SIZE, Plant, blind_spots, judge_plants
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


class TrustEntry(StudyEntry[RecheckOptions, Recheck, TrustResult]):
    """`trust`: the checks of a finished run; what is judged of the samples is kept in it."""

    name = "trust"
    prints = Trust
    plans = TrustPlanJson

    async def prepare(self, options: RecheckOptions, python: PythonInput, *, dry: bool) -> Recheck:
        """Draw the samples, and build the judge of the run.

        Without either sample there is no judge. Nor is there where it cannot be built and nobody asked for
        it.
        """
        ratings = python.ratings or ratings_of_file(options, field_map(options))
        limits = load_config(options.config_file).trust
        with open_run(options.run, studies=JUDGED) as run:
            page = entry_of(run.manifest.study).page
            study = TrustStudy(JUDGED, page, thresholds=limits, ratings=ratings, seed=options.seed)
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

    def directory(self, options: RecheckOptions) -> RunDirectory:
        """Return that of the run that is checked."""
        return RunDirectory(Path(options.run))

    def expect_free(self, options: RecheckOptions, directory: RunDirectory) -> None:
        """Nothing is written over: the checks stand in the run."""

    async def begin(self, prepared: Recheck, observer: Observer | None) -> None:
        """Judge the replies with planted faults; a plan counts what that asks."""
        study, options, plants = prepared.study, prepared.options, prepared.plants
        if study.judge is None or not plants or (observer is None and prepared.clients.counted() is None):
            return
        after = await judge_plants(study.judge, plants, workers=options.max_concurrency)
        if observer is not None:
            size = options.planted or SIZE
            study.planted = blind_spots(plants, after, study.judge, size=size, seed=options.seed)

    def counts(self, prepared: Recheck, units: int) -> dict[str, int]:
        """Count conversations with another scenario or none, and with a planted fault."""
        return {"variants": units, "planted": len(prepared.plants)}

    def left(self, prepared: Recheck, units: int, left: int) -> int:
        """Count the planted faults too: they are judged each time."""
        del units
        return left + len(prepared.plants)

    def plan_words(self, plan: Plan, options: RecheckOptions) -> str:
        """Say what would be judged of either sample."""
        del options
        variants, planted = plan.counts["variants"], plan.counts["planted"]
        parts = [f"{plan.left - planted} of {variants} conversations with another scenario or none"]
        parts = parts * (variants > 0) + [f"{planted} replies with a planted fault"] * (planted > 0)
        if not parts:
            return "would make the checks anew; nothing is judged"
        return f"would judge {' and '.join(parts)}, by {plan.judge}"

    def printed(self, outcome: CommandOutcome[TrustResult]) -> object:
        """Return the checks."""
        return as_json(outcome.result.trust)

    def view(self, outcome: CommandOutcome[TrustResult], options: RecheckOptions) -> Iterable[Block]:
        """Return the checks."""
        del options
        return trust_brief(outcome.result.trust)


def _variants(run: StoredRun, options: RecheckOptions) -> list[Variant]:
    if not run.manifest.facts.get("shows_scenario", True):
        msg = f"the rubric {run.manifest.settings['rubric']!r} does not show the judge a scenario"
        raise UsageError(msg, hint="leave --scenario-sample out")
    variants = draw_variants((c for c, _ in run.judged()), options.scenario_sample or 0, options.seed)
    if not variants:
        msg = "no conversation of the run has a scenario, a description or instructions"
        raise UsageError(msg, hint="name the column that holds it in a field map, and judge again")
    return variants


ENTRY: Final = TrustEntry()
