"""Command line over configuration file over defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialogauge.app.config import FileConfig, load_config, parse_role, with_defaults
from dialogauge.app.options import NO_RUBRIC, JudgeOptions
from dialogauge.bench.trust import TrustThresholds
from dialogauge.core.errors import UsageError

__all__ = ["merge_judge_options"]

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
