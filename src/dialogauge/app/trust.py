"""`dialogauge trust`: the checks of a finished run made anew, and a sample judged without its scenario."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dialogauge.app.build import BuiltJudge, build_judge
from dialogauge.app.config import RoleSettings, parse_role, with_defaults
from dialogauge.app.merging import FileConfig, load_config, references
from dialogauge.app.report import page_of
from dialogauge.app.settings import JudgeOptions, RecheckOptions
from dialogauge.core.errors import UsageError
from dialogauge.core.judgement import Judged
from dialogauge.data import read_field_map, read_ratings
from dialogauge.report import to_html
from dialogauge.runs import Manifest, StoredRun, open_run, versions
from dialogauge.studies.trust import (
    Trust,
    TrustCheck,
    Variant,
    check_scenario,
    draw_variants,
)
from dialogauge.studies.trust.look import kept_from, look_into, tally_of

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


def recheck(options: RecheckOptions) -> Trust:
    """Make the checks of a run anew, and write them into its summary and its page.

    Raises UsageError when the judge of the run cannot be built again, StoreError when there is no run,
    EndpointError or BudgetSpent when the scenario sample cannot be judged to its end.
    """
    config = load_config(options.config_file)
    limits = config.trust
    mapping = None if options.map_file is None else read_field_map(options.map_file)
    ratings = None if options.ratings_file is None else read_ratings(options.ratings_file, mapping=mapping)
    with open_run(options.run) as run:
        kept = kept_from(run)
        if options.scenario_sample is not None:
            kept = replace(kept, scenario=_scenario(run, options, config))
        trust = look_into(run, tally_of(run, limits), limits, ratings, kept)
        summary = run.directory.read_json("summary")
        run.directory.write_json("summary", {**summary, "trust": trust.to_json()})
        run.directory.write_text("report", to_html(page_of(run)))
    return trust


def _scenario(run: StoredRun, options: RecheckOptions, config: FileConfig) -> TrustCheck:
    if not run.manifest.facts.get("shows_scenario", True):
        msg = f"the rubric {run.manifest.settings['rubric']!r} does not show the judge a scenario"
        raise UsageError(msg, hint="leave --scenario-sample out")
    variants = draw_variants((c for c, _ in run.judged()), options.scenario_sample or 0, options.seed)
    if not variants:
        msg = "no conversation of the run has a scenario, a description or instructions"
        raise UsageError(msg, hint="name the column that holds it in a field map, and judge again")
    keys = {(v.conversation.id, v.conversation.candidate) for v in variants}
    before = {
        (c.id, c.candidate): [r for r in rows if r["repeat"] == 1]
        for c, rows in run.judged()
        if (c.id, c.candidate) in keys
    }
    built = build_judge(_judge_options(run, options, config))
    names = [d.name for d in run.dimensions]
    return check_scenario(before, asyncio.run(_judge_again(run, built, variants, options)), names)


def _judge_options(run: StoredRun, options: RecheckOptions, config: FileConfig) -> JudgeOptions:
    settings = run.manifest.settings
    role, reference = None, references(options).get("judge")
    if reference is not None:
        role = with_defaults(parse_role(reference, config.roles), "judge")
    elif settings["role"] is not None:
        role = _stored_role(settings["role"], config)
    names = ("rubric", "judge", "mode", "language", "local_model", "source_file", "window")
    return JudgeOptions(
        inputs=(),
        role=role,
        prices_file=options.prices_file or settings["prices_file"],
        max_concurrency=options.max_concurrency,
        max_calls=options.max_calls,
        max_cost=options.max_cost,
        cache=options.cache,
        **{name: settings[name] for name in names},
    )


def _stored_role(stored: Mapping[str, Any], config: FileConfig) -> RoleSettings:
    """Read the role of the run; its headers, never stored, come from [roles.judge] of the same model."""
    role = RoleSettings(**{k: v for k, v in stored.items() if k != "headers"})
    if not stored.get("headers"):
        return role
    named = config.roles.get("judge")
    if named is None or named.model != role.model:
        msg = f"the judge of the run sends headers ({', '.join(stored['headers'])}), which are not stored"
        raise UsageError(
            msg, hint="give the configuration file with --config and the model with --role judge=..."
        )
    return role.model_copy(update={"headers": named.headers})


async def _judge_again(
    run: StoredRun, built: BuiltJudge, variants: Sequence[Variant], options: RecheckOptions
) -> list[tuple[Variant, tuple[Judged, ...]]]:
    try:
        if built.judge.digest != run.manifest.judge_digest:
            msg = "the judge built from the run's settings is not the one that judged it"
            found = differences(run.manifest, built.judge.describe())
            differ = "; ".join(found) or "its code, or a model behind a file or a function"
            hint = f"what differs: {differ}. Give what the run was judged with, or judge the log anew"
            raise UsageError(msg, hint=hint)
        gate = asyncio.Semaphore(options.max_concurrency)

        async def one(variant: Variant) -> tuple[Variant, tuple[Judged, ...]]:
            async with gate:
                judged = await built.judge.judge(variant.conversation, repeat=1, seed=options.seed)
                return variant, judged

        return await asyncio.gather(*(one(v) for v in variants))
    finally:
        await built.close()
