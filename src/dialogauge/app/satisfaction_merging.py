"""Command line over configuration file over defaults, for the satisfaction study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialogauge.app.config import FileConfig, RoleSettings, load_config, parse_role, with_defaults
from dialogauge.app.satisfaction_models import MODEL_JUDGES
from dialogauge.app.satisfaction_options import SatisfactionOptions
from dialogauge.core.errors import UsageError

__all__ = ["merge_privacy", "merge_satisfaction_options"]

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
