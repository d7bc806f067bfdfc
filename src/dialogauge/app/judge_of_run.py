"""The judge of a finished run, built once more to judge something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dialogauge.app.build import BuiltJudge, build_judge
from dialogauge.app.clients import Clients
from dialogauge.app.config import RoleSettings, expect_harmless, model_of
from dialogauge.app.merging import FileConfig, load_config, references
from dialogauge.app.option_groups import JudgedAgainOptions
from dialogauge.app.settings import JudgeOptions
from dialogauge.core import UsageError
from dialogauge.core.settings import narrowed
from dialogauge.runs import Manifest, StoredRun, versions

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


async def judge_of_run(
    run: StoredRun, options: JudgedAgainOptions, *, dry: bool = False, clients: Clients | None = None
) -> BuiltJudge:
    """Build the judge that judged a run, or that scored in a search.

    Args:
        run: Its manifest says what it was made of.
        options: Of a command; they may name the model once more.
        dry: Ask nothing, and count what would be asked.
        clients: What else the command asks is on the same budget.

    Raises UsageError where it cannot be built, or is not the same any more.
    """
    manifest = run.manifest
    manifest = replace(manifest, judge=manifest.facts.get("scored_by", manifest.judge))
    judging = _judge_options(run, options, load_config(options.config_file))
    built = build_judge(judging, dry=dry, clients=clients)
    if built.judge.digest == manifest.judge_digest:
        return built
    await built.clients.close()
    msg = "the judge built from the run's settings is not the one that judged it"
    differ = "; ".join(differences(manifest, built.judge.describe()))
    differ = differ or "its code, or a model behind a file or a function"
    hint = f"what differs: {differ}. Give what the run was judged with, or judge the log anew"
    raise UsageError(msg, hint=hint)


def _judge_options(run: StoredRun, options: JudgedAgainOptions, config: FileConfig) -> JudgeOptions:
    settings = run.manifest.settings
    role, reference = None, references(options).get("judge")
    if reference is not None:
        role = model_of(reference, "judge", config.roles)
    elif settings.get("role") is not None:
        role = _stored_role(settings["role"], config)
    elif "scored_by" in run.manifest.facts:
        if "judge" not in config.roles:
            msg = f"{run.directory.path} does not say how to reach the model that scored its segments"
            raise UsageError(msg, hint="give it once more: --role judge=MODEL@URL#KEYVAR")
        role = config.roles["judge"]
    names = ["rubric", "judge", "mode", "language", "local_model", "source_file", "window"]
    names += ["policy_file", "calls", "fitted_model", "weights_file"]
    stored = {"judge": "llm"} if "scored_by" in run.manifest.facts else {}
    stored |= {name: settings[name] for name in names if name in settings}
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
