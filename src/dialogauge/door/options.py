"""The settings of a study, from keywords."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Final

from dialogauge.app.merging import merge_judge_options, merge_satisfaction_options
from dialogauge.app.settings import JudgeOptions, SatisfactionOptions
from dialogauge.core import UsageError

_MODEL: Final = ("model", "base_url", "api_key_env", "models", "config_file")
_MADE: Final = ("role", "roles", "trust", "command")
# Settings that a configuration file may hold too, by the names that it has for them.
_IN_FILE: Final = {"language": "lang", "gates": "gate", "prices_file": "prices"}
_JUDGE: Final = (
    *("rubric", "judge", "mode", "language", "repeats", "seed", "window", "max_concurrency", "max_calls"),
    *("max_cost", "max_failed", "prices_file", "gates", "redact", "hash_ids"),
)
_SATISFACTION: Final = (
    *("language", "max_concurrency", "max_calls", "max_cost", "max_failed", "prices_file"),
)


def judge_options(values: Mapping[str, Any]) -> JudgeOptions:
    """Return the settings of `judge`; raises UsageError or ConfigError naming the setting."""
    _refuse_unknown(JudgeOptions, values)
    return merge_judge_options(
        {_IN_FILE.get(name, name): values[name] for name in _JUDGE if name in values},
        config_file=values.get("config_file"),
        model=_references(values).get("judge"),
        fixed={k: v for k, v in values.items() if k not in (*_JUDGE, *_MODEL)},
    )


def satisfaction_options(values: Mapping[str, Any]) -> SatisfactionOptions:
    """Return the settings of `satisfaction`; raises UsageError or ConfigError naming the setting."""
    _refuse_unknown(SatisfactionOptions, values)
    if "judge" not in values:
        msg = "the setting 'judge' is missing"
        raise UsageError(msg, hint="name a judge of `dialogauge satisfaction`, such as judge='history-mean'")
    return merge_satisfaction_options(
        values["judge"],
        {_IN_FILE.get(name, name): values[name] for name in _SATISFACTION if name in values},
        config_file=values.get("config_file"),
        models=_references(values),
        fixed={k: v for k, v in values.items() if k not in ("judge", *_SATISFACTION, *_MODEL)},
    )


def _refuse_unknown(kind: type, values: Mapping[str, Any]) -> None:
    known = [*(f.name for f in fields(kind) if f.name not in _MADE), *_MODEL]
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, 1)
            msg = f"there is no setting {name!r}"
            raise UsageError(
                msg, hint=f"did you mean {near[0]!r}?" if near else f"one of: {', '.join(known)}"
            )


def _references(values: Mapping[str, Any]) -> dict[str, str]:
    named = dict(text.split("=", 1) for text in values.get("models", ()))
    url, key = values.get("base_url"), values.get("api_key_env")
    if values.get("model") is not None:
        return {**named, "judge": f"{values['model']}{f'@{url}' if url else ''}{f'#{key}' if key else ''}"}
    if url or key:
        msg = "base_url and api_key_env need a model"
        raise UsageError(msg, hint="add model=NAME")
    return named
