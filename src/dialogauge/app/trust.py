"""`dialogauge trust`: the checks of a finished run made anew, and a sample judged without its scenario."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from dialogauge.app.beside import field_map, ratings_of_file
from dialogauge.app.build import BuiltJudge, Limits, build_judge, no_limits
from dialogauge.app.config import RoleSettings, expect_harmless, model_of
from dialogauge.app.merging import FileConfig, load_config, references
from dialogauge.app.outcome import Plan, StudyOutcome, units_to_do
from dialogauge.app.report import page_of
from dialogauge.app.settings import JudgeOptions, RecheckOptions
from dialogauge.app.sources import JUDGED
from dialogauge.core import Judge, UsageError
from dialogauge.core.settings import narrowed
from dialogauge.data import RatingTable
from dialogauge.runs import (
    Manifest,
    Observer,
    RunDirectory,
    RunSettings,
    StopSignal,
    StoredRun,
    open_run,
    run_study,
    versions,
)
from dialogauge.studies.trust.scenario import Variant, draw_variants
from dialogauge.studies.trust.study import TrustResult, TrustStudy

_SHOWN = {"model": "model", "base_url": "endpoint"}
_PROMPTS = ("rubric", "rubric_version", "prompts")


def differences(manifest: Manifest, described: Mapping[str, Any]) -> tuple[str, ...]:
    """Say in what a judge differs from the one that a manifest describes; empty when nothing is told.

    Args:
        manifest: Of a run: `judge` and `versions`.
        described: What the other judge says of itself.
    """
    before = manifest.judge
    then, now = before.get("client") or {}, described.get("client") or {}
    out = [
        f"{name} ({then.get(key)} judged the run, this is {now.get(key)})"
        for key, name in _SHOWN.items()
        if then.get(key) != now.get(key)
    ]
    if then.get("parameters") != now.get("parameters"):
        out.append("parameters of the model")
    if any(before.get(key) != described.get(key) for key in _PROMPTS):
        out.append("prompts")
    old, new = before.get("settings") or {}, described.get("settings") or {}
    out += [f"setting {name}" for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    version, here = manifest.versions.get("dialogauge"), versions()["dialogauge"]
    if version != here:
        out.append(f"version of dialogauge ({version} judged the run, this is {here})")
    return tuple(out)


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
            built = _with_sample(study, run, options, dry=False)
            if built is not None:
                clients.push_async_callback(built.close)
                _expect_same(run, built.judge)
                limits = built.limits
        return StudyOutcome(await run_study(study, settings, observer, limits, stop))


def plan_recheck(options: RecheckOptions) -> Plan:
    """Say what would be judged of the scenario sample, without a model call and without writing anything."""
    study, settings = _study(options, None)
    with open_run(options.run, studies=JUDGED) as run:
        judge = str(run.manifest.judge["name"])
        built = _with_sample(study, run, options, dry=True)
        if built is None:
            return Plan(settings.directory.path, judge, {"variants": 0}, 0, (), ())
        try:
            _expect_same(run, built.judge)
        except UsageError:
            asyncio.run(built.close())
            raise
    variants, left, _ = units_to_do(study, settings, built)
    return Plan(settings.directory.path, judge, {"variants": variants}, left, (), (), built.counted())


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


def _with_sample(
    study: TrustStudy, run: StoredRun, options: RecheckOptions, *, dry: bool
) -> BuiltJudge | None:
    """Give the study its sample and the judge of the run; return that, None where no sample is asked for."""
    if options.scenario_sample is None:
        return None
    study.variants = _variants(run, options)
    built = build_judge(_judge_options(run, options, load_config(options.config_file)), dry=dry)
    study.judge = built.judge
    return built


def _variants(run: StoredRun, options: RecheckOptions) -> list[Variant]:
    if not run.manifest.facts.get("shows_scenario", True):
        msg = f"the rubric {run.manifest.settings['rubric']!r} does not show the judge a scenario"
        raise UsageError(msg, hint="leave --scenario-sample out")
    variants = draw_variants((c for c, _ in run.judged()), options.scenario_sample or 0, options.seed)
    if not variants:
        msg = "no conversation of the run has a scenario, a description or instructions"
        raise UsageError(msg, hint="name the column that holds it in a field map, and judge again")
    return variants


def _expect_same(run: StoredRun, judge: Judge) -> None:
    """Raise UsageError where the judge is not that of the run."""
    if judge.digest != run.manifest.judge_digest:
        msg = "the judge built from the run's settings is not the one that judged it"
        differ = "; ".join(differences(run.manifest, judge.describe()))
        differ = differ or "its code, or a model behind a file or a function"
        hint = f"what differs: {differ}. Give what the run was judged with, or judge the log anew"
        raise UsageError(msg, hint=hint)


def _judge_options(run: StoredRun, options: RecheckOptions, config: FileConfig) -> JudgeOptions:
    settings = run.manifest.settings
    role, reference = None, references(options).get("judge")
    if reference is not None:
        role = model_of(reference, "judge", config.roles)
    elif settings["role"] is not None:
        role = _stored_role(settings["role"], config)
    names = ["rubric", "judge", "mode", "language", "local_model", "source_file", "window"]
    names += ["policy_file", "calls"]
    stored = {name: settings[name] for name in names if name in settings}
    prices = options.prices_file or settings["prices_file"]
    return narrowed(JudgeOptions, options, inputs=(), role=role, prices_file=prices, **stored)


def _stored_role(stored: Mapping[str, Any], config: FileConfig) -> RoleSettings:
    """Read the role of the run; its headers, never stored, come from [roles.judge] of the same model."""
    role = RoleSettings(**{k: v for k, v in stored.items() if k != "headers"})
    hint = "give the model once more, with --model, --base-url and --api-key-env"
    expect_harmless(role, "the judge of the run", hint)
    if not stored.get("headers"):
        return role
    named = config.roles.get("judge")
    if named is None or named.model != role.model:
        msg = f"the judge of the run sends headers ({', '.join(stored['headers'])}), which are not stored"
        raise UsageError(
            msg, hint="give the configuration file with --config and the model with --role judge=..."
        )
    return role.model_copy(update={"headers": named.headers})
