"""Command line over configuration file over defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dialogauge.app.config import FileConfig, RoleSettings, load_config, parse_role, with_defaults
from dialogauge.app.personal_judges import MODEL_JUDGES
from dialogauge.app.settings import JudgeOptions, SatisfactionOptions
from dialogauge.core.errors import UsageError
from dialogauge.judges.encoder import ENCODER_JUDGES
from dialogauge.judges.personal import STRATEGIES
from dialogauge.rubrics import NO_RUBRIC
from dialogauge.studies.trust import TrustThresholds

# Settings of judging that the configuration file holds under [judge], with the names of our fields.
_SHARED = {
    "lang": "language",
    "max_concurrency": "max_concurrency",
    "max_calls": "max_calls",
    "max_cost": "max_cost",
    "max_failed": "max_failed",
    "prices": "prices_file",
}


def merge_satisfaction_options(
    judge: str,
    given: Mapping[str, Any],
    *,
    config_file: str | None,
    models: Mapping[str, str],
    fixed: Mapping[str, Any],
) -> SatisfactionOptions:
    """Build the options of a study.

    Args:
        judge: Its name.
        given: What the command line says of settings that a configuration file may hold too.
        config_file: The configuration file, if one is named.
        models: By role, how its model is given.
        fixed: Options that only the command line has.

    Raises UsageError or ConfigError naming the setting.
    """
    config = load_config(config_file)
    fixed = {**fixed, **merge_privacy(config, fixed)}
    if judge not in MODEL_JUDGES:
        if models:
            msg = f"the judge {judge} asks no model"
            raise UsageError(msg, hint=f"models are for {', '.join(MODEL_JUDGES)}")
        return SatisfactionOptions(judge=judge, **_named(given), **fixed)
    settings = config.judge.model_dump(exclude_none=True, include=set(_SHARED)) | dict(given)
    merged = _named(settings)
    if merged.get("language", "auto") not in ("auto", "en", "zh"):
        msg = f"--lang {merged['language']!r} is none of auto, en, zh"
        raise UsageError(msg)
    return SatisfactionOptions(judge=judge, roles=_roles(models, config), **merged, **fixed)


def merge_privacy(config: FileConfig, fixed: Mapping[str, Any]) -> dict[str, bool]:
    """Return what is to be hidden: a file that says so holds for every judge."""
    return {name: bool(fixed.get(name) or getattr(config.judge, name)) for name in ("redact", "hash_ids")}


def _named(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {_SHARED[name]: value for name, value in settings.items()}


def _roles(models: Mapping[str, str], config: FileConfig) -> dict[str, RoleSettings]:
    """Return the settings of both roles: memories are built by the judge's model if no other is named."""
    references = {role: role for role in ("judge", "memory_builder") if role in config.roles} | dict(models)
    if "judge" not in references:
        return {}
    judge = parse_role(references["judge"], config.roles)
    if "memory_builder" in references:
        builder = parse_role(references["memory_builder"], config.roles)
    else:
        builder = judge.model_copy(update={"temperature": None})
    return {
        "judge": with_defaults(judge, "judge"),
        "memory_builder": with_defaults(builder, "memory_builder"),
    }


_RETRIEVING: Final = ("episodic-nearest", "rag")
_OWNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "strategy": _RETRIEVING,
    "k": _RETRIEVING,
    "encoder": ENCODER_JUDGES,
    "signal": ("local-user",),
}
_READS_WHAT_FOLLOWS: Final = ("local", "local-user")
_OF_SESSIONS: Final = (
    "global-mean",
    "global-majority",
    "task-mean",
    "task-majority",
    "history-mean",
    "history-median",
    "history-majority",
    "history-cdf-hash",
    "memory",
    "zero-shot",
)
"""Those that read no reply, and those with a rubric for sessions; the others read one reply alone."""


def refuse_settings_of_others(options: SatisfactionOptions) -> None:
    """Raise UsageError for a setting that the judge does not have: it would change nothing."""
    name = options.judge
    given = {
        "strategy": options.strategy,
        "k": options.k,
        "encoder": options.encoder,
        "signal": options.signals or None,
    }
    for setting, owners in _OWNERS.items():
        if given[setting] is not None and name not in owners:
            msg = f"the judge {name} takes no --{setting}"
            raise UsageError(msg, hint=f"it belongs to {' and '.join(owners)}")
    if options.strategy is not None and options.strategy not in STRATEGIES:
        msg = f"--strategy {options.strategy!r} is not known"
        raise UsageError(msg, hint=f"there are {', '.join(STRATEGIES)}")
    if options.level == "session" and name not in _OF_SESSIONS:
        msg = f"the judge {name} reads single replies, not sessions"
        raise UsageError(msg, hint=f"--level session has {', '.join(_OF_SESSIONS)}")
    if options.mode != "foresight" and name not in _READS_WHAT_FOLLOWS:
        msg = f"the judge {name} reads nothing that follows a reply"
        raise UsageError(msg, hint="leave --mode out")


# Where a setting's name on the command line is not the field's.
_FIELDS = {"lang": "language", "gate": "gates", "prices": "prices_file"}

_CHOICES = {
    "judge": ("local", "llm", "fitted"),
    "mode": ("hindsight", "foresight"),
    "language": ("auto", "en", "zh"),
}


def merge_judge_options(
    given: Mapping[str, Any], *, config_file: str | None, model: str | None, fixed: Mapping[str, Any]
) -> JudgeOptions:
    """Build the options of a judging run.

    Args:
        given: What the command line says of settings that a configuration file may hold too.
        config_file: The configuration file, if one is named.
        model: The judge's model as a reference, if one is given.
        fixed: Options that only the command line has.

    Raises UsageError or ConfigError naming the setting.
    """
    config = load_config(config_file)
    settings = {**config.judge.model_dump(exclude_none=True), **given}
    settings = {_FIELDS.get(k, k): v for k, v in settings.items()}
    settings["gates"] = tuple(settings.get("gates", ()))
    reference = model
    if reference is None and settings.get("judge") == "llm":
        reference = _configured_judge(config)
    without = "fitted" if fixed.get("fitted_model") is not None else "local"
    settings.setdefault("judge", "llm" if reference is not None else without)
    if settings["judge"] != "llm" and reference is not None:
        msg = f"--judge {settings['judge']} takes no model"
        raise UsageError(
            msg, hint=f"drop --judge {settings['judge']} to judge with the model, or drop the model"
        )
    _check_choices(settings)
    _check_fitted(settings, given, fixed)
    if reference is not None:
        settings["role"] = with_defaults(parse_role(reference, config.roles), "judge")
    settings["trust"] = TrustThresholds(**config.trust.model_dump(exclude_none=True))
    return JudgeOptions(**settings, **fixed)


def _check_fitted(settings: dict[str, Any], given: Mapping[str, Any], fixed: Mapping[str, Any]) -> None:
    """The judge `fitted` has no rubric, and reads nothing that follows a reply."""
    model = fixed.get("fitted_model")
    if settings["judge"] != "fitted":
        if model is not None:
            msg = f"--judge {settings['judge']} takes no --fitted-model"
            raise UsageError(msg, hint="say --judge fitted, or leave --fitted-model out")
        return
    if model is None:
        msg = "the judge fitted needs a model of ratings"
        raise UsageError(msg, hint="give --fitted-model RUN, as `dialogauge fit DATA -o RUN` wrote it")
    for name in ("rubric", "lang", "mode"):
        if given.get(name) is not None and (name, given[name]) != ("mode", "foresight"):
            msg = f"the judge fitted takes no --{name} {given[name]}"
            raise UsageError(msg, hint="it predicts what was rated, from what was said up to the reply")
    settings |= {"rubric": NO_RUBRIC, "mode": "foresight", "language": "auto"}


def _configured_judge(config: FileConfig) -> str:
    if "judge" in config.roles:
        return "judge"
    msg = "--judge llm needs a model"
    raise UsageError(msg, hint="give --model NAME --base-url URL, or [roles.judge] in the configuration")


def _check_choices(settings: Mapping[str, Any]) -> None:
    for name, choices in _CHOICES.items():
        if settings.get(name, choices[0]) not in choices:
            option = "lang" if name == "language" else name
            msg = f"--{option} {settings[name]!r} is none of {', '.join(choices)}"
            raise UsageError(msg)
