"""Settings put together: what the user chose, over the configuration file, over the defaults.

The command line and Python come through the same door, so that a value is refused in the same words.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from dialogauge.app.environment import variable
from dialogauge.app.option_groups import ModelOptions, Options, RubricJudgeOptions, UserJudgeOptions
from dialogauge.app.settings import (
    ArenaOptions,
    DoctorOptions,
    JudgeOptions,
    RecheckOptions,
    SatisfactionOptions,
)
from dialogauge.core.errors import ConfigError, UsageError
from dialogauge.core.files import read_toml
from dialogauge.core.settings import Setting, nearest, settings_of
from dialogauge.core.values import Value

if TYPE_CHECKING:
    from dialogauge.app.config import RoleSettings  # with it comes pydantic, which not every command needs
    from dialogauge.studies.trust.result import TrustThresholds

_LOG = logging.getLogger("dialogauge")

S = TypeVar("S", bound=Options)


def settings_from(kind: type[S], /, **values: Any) -> S:  # noqa: ANN401 - of any setting
    """Put settings together from keywords.

    Args:
        kind: Whose settings.
        values: By the settings' names; for one that takes several, a single text will do.

    Raises:
        UsageError: A name is unknown (the nearest one is named), a setting is missing, a value is out of
            range, or two settings exclude each other.
        ConfigError: The configuration file is faulty.
    """
    known = settings_of(kind)
    for name in values:
        if name not in known:
            msg = f"there is no setting {name!r}"
            same = next((one.name for one in known.values() if name in (one.key, one.option[2:])), None)
            meant = same or nearest(name, known)
            raise UsageError(msg, hint=f"did you mean {meant!r}?" if meant else f"one of: {', '.join(known)}")
    missing = [name for name, one in known.items() if one.required and name not in values]
    if missing:
        msg = f"the setting {missing[0]!r} is missing"
        raise UsageError(msg, hint=known[missing[0]].help)
    single = {n: (v,) for n, v in values.items() if known[n].many and isinstance(v, str)}
    return merged(kind, {**values, **single}, lambda one: one.name, _LOG.info)


def merged(
    kind: type[S],
    values: Mapping[str, Any],
    called: Callable[[Setting], str],
    say: Callable[[str], None],
    **made: str,
) -> S:
    """Check values, put them over those of the configuration file, and make of them what belongs to them.

    Args:
        kind: Whose settings.
        values: What the user chose, by the settings' names.
        called: What the user calls a setting.
        say: Is told which configuration file is read, and what of it is not used.
        made: Fields that are no settings.
    """
    known = settings_of(kind)
    explicit = _checked(values, known, lambda name, why: UsageError(f"{called(known[name])} {why}"))
    config = FileConfig()
    if "config_file" in known or kind.from_file:
        config = load_config(explicit.get("config_file"))
    stored = {}
    if kind.from_file and kind.table == "tune":
        from dialogauge.training import OnlineSettings, PairSettings

        of_training = {*settings_of(PairSettings), *settings_of(OnlineSettings)}
        keys = {name: one for name, one in known.items() if name in of_training}
        stored = _values(Path(config.source or ""), "tune", config.tune, keys)
    elif kind.from_file:
        stored = {name: config.judge[str(one.key)] for name, one in known.items() if one.key in config.judge}
    if config.source is not None:
        say(f"configuration: {config.source}")
    whole: S = resolved(kind(**stored | explicit, **made), config, explicit)
    if isinstance(whole, JudgeOptions) and whole.judge != "llm" and "judge" in config.roles:
        say(f"its model of [roles.judge] is not used: the judge is {whole.judge}; --judge llm asks the model")
    return whole


def _checked(
    values: Mapping[str, Any], known: Mapping[str, Setting], refusal: Callable[[str, str], UsageError]
) -> dict[str, Any]:
    """Return values in the form in which settings hold them; raise the refusal of a name and a reason."""
    checked = {}
    for name, value in values.items():
        try:
            checked[name] = known[name].checked(value)
        except ValueError as error:
            raise refusal(name, str(error)) from None
    return checked


class FileConfig(Value):
    """What a configuration file holds."""

    judge: Mapping[str, Any] = field(default_factory=dict)
    """The table of settings, by key."""
    tune: Mapping[str, Any] = field(default_factory=dict)
    """The table of training, as it stands: each method has settings of its own."""
    thresholds: Mapping[str, Any] = field(default_factory=dict)
    """The table of the trust checks' thresholds."""
    roles: Mapping[str, RoleSettings] = field(default_factory=dict)
    source: str | None = None
    """The file; None where there is none."""

    @property
    def trust(self) -> TrustThresholds:
        """The thresholds, with those that the file leaves out."""
        from dialogauge.studies.trust.result import TrustThresholds

        return TrustThresholds(**self.thresholds)


_HERE: Final = "dialogauge.toml"
_EXAMPLE: Final = "`dialogauge init` writes a commented example"


def load_config(path: str | None) -> FileConfig:
    """Read a configuration file: this one, else the one that DIALOGAUGE_CONFIG names, else the one here.

    `dialogauge.toml` in the current folder may be anybody's: its roles are guarded (`FoundRoles`).

    Raises ConfigError naming the file and the key.
    """
    path = path or variable("DIALOGAUGE_CONFIG")
    source = Path(path or _HERE)
    if path is None and not source.is_file():
        return FileConfig()
    raw = read_toml(source, "configuration file")
    _know(source, "", raw, ("judge", "tune", "trust", "roles"), "table")
    for name, table in raw.items():
        if not isinstance(table, dict):
            msg = f"{source}: {name}: a table is needed"
            raise ConfigError(msg, hint=_EXAMPLE)
    from dialogauge.studies.trust.result import TrustThresholds

    keys = {one.key: one for one in settings_of(JudgeOptions).values() if one.key is not None}
    roles: Mapping[str, RoleSettings] = {n: _role(source, n, r) for n, r in raw.get("roles", {}).items()}
    if path is None and roles:
        from dialogauge.app.config import FoundRoles

        roles = FoundRoles(roles, _HERE)
    return FileConfig(
        judge=_values(source, "judge", raw.get("judge", {}), keys),
        tune=raw.get("tune", {}),
        thresholds=_values(source, "trust", raw.get("trust", {}), settings_of(TrustThresholds)),
        roles=roles,
        source=str(source),
    )


def _values(source: Path, table: str, raw: Mapping[str, Any], known: Mapping[str, Setting]) -> dict[str, Any]:
    _know(source, f"{table}.", raw, known, "setting")
    at = f"{source}: {table}"
    return _checked(raw, known, lambda key, why: ConfigError(f"{at}.{key}: {why}", hint=_EXAMPLE))


def _know(source: Path, before: str, names: Iterable[str], known: Collection[str], what: str) -> None:
    for name in names:
        if name not in known:
            meant = nearest(name, known)
            msg = f"{source}: {before}{name}: there is no such {what}"
            raise ConfigError(msg, hint=f"did you mean {meant}?" if meant else _EXAMPLE)


def _role(source: Path, name: str, raw: object) -> RoleSettings:
    from pydantic import ValidationError

    from dialogauge.app.config import RoleSettings

    if isinstance(raw, dict):
        _know(source, f"roles.{name}.", raw, RoleSettings.model_fields, "setting")
    try:
        return RoleSettings.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(("roles", name, *map(str, first["loc"])))
        msg = f"{source}: {key}: {first['msg'].lower()}"
        raise ConfigError(msg, hint=_EXAMPLE) from error


T = TypeVar("T", bound=Value)


def training_settings(kind: type[T], path: str | None, **defaults: Any) -> T:  # noqa: ANN401 - of any setting
    """Return the settings of a method of training: those of `[tune]` in a configuration file, else these.

    Raises ConfigError for what the method does not have.
    """
    config = load_config(path)
    stored = _values(Path(config.source or ""), "tune", config.tune, settings_of(kind))
    return kind(**defaults | stored)


@singledispatch
def resolved(settings: Any, config: FileConfig, explicit: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any settings
    """Return settings with what follows from them; UsageError where two of them exclude each other.

    Args:
        settings: With the values of the configuration file.
        config: That file.
        explicit: What came from the user, and not from the file.
    """
    del config, explicit
    return settings


@resolved.register
def _(settings: JudgeOptions, config: FileConfig, explicit: Mapping[str, Any]) -> JudgeOptions:
    without = None if settings.fitted_model is None or references(settings) else "fitted"
    judge, role = judge_by_rubric(settings, explicit.get("judge", without), config)
    settings = replace(settings, judge=judge, role=role, trust=config.trust)
    refuse_settings_of_other_judges(settings, judge, explicit)
    if judge == "fitted":
        from dialogauge.rubrics import NO_RUBRIC

        return replace(settings, rubric=NO_RUBRIC, mode="foresight", language="auto")
    return settings


@resolved.register
def _(settings: ArenaOptions, config: FileConfig, explicit: Mapping[str, Any]) -> ArenaOptions:
    del explicit
    role = _role_of_judge(settings, settings.judge, config)
    adaptive, budget, until = settings.schedule == "adaptive", settings.budget, settings.until
    if role is None and (adaptive or budget is not None):
        msg = "--schedule adaptive and --budget are for comparisons that cost something"
        raise UsageError(msg, hint="give a model, or leave them out: all other votes cost nothing")
    if adaptive and budget is None and until is None:
        msg = "--schedule adaptive has no end"
        raise UsageError(msg, hint="give --until POINTS, --budget N, or both")
    if until is not None and not adaptive:
        msg = "--until is for --schedule adaptive"
        raise UsageError(msg, hint="add it, or leave --until out")
    return replace(settings, role=role)


JudgeName = Literal["local", "llm", "fitted"]
"""The judges that read no rating of the user: a rubric's, and the one that is fitted to ratings."""


def refuse_settings_of_other_judges(
    settings: RubricJudgeOptions, judge: JudgeName, explicit: Mapping[str, Any]
) -> None:
    """Raise UsageError for what the judge does not take: it would change nothing."""
    if judge == "fitted" and settings.fitted_model is None:
        msg = "the judge fitted needs a model of ratings"
        raise UsageError(msg, hint="give --fitted-model RUN, as `dialogauge fit DATA -o RUN` wrote it")
    if judge != "fitted" and settings.fitted_model is not None:
        msg = f"--judge {judge} takes no --fitted-model"
        raise UsageError(msg, hint="say --judge fitted, or leave --fitted-model out")
    reads_no_rubric = (("rubric", "--rubric"), ("language", "--lang"), ("mode", "--mode"))
    for name, option in reads_no_rubric if judge == "fitted" else ():
        if name in explicit and (name, explicit[name]) != ("mode", "foresight"):
            msg = f"the judge fitted takes no {option} {explicit[name]}"
            raise UsageError(msg, hint="it predicts what was rated, from what was said up to the reply")
    owners: Mapping[str, tuple[object, tuple[JudgeName, ...]]] = {
        "--local-model": (settings.local_model, ("local",)),
        "--source": (settings.source_file, ("llm",)),
        "--policy": (settings.policy_file, ("local", "llm")),
        "--weights": (explicit.get("weights_file"), ("llm",)),
        "--window": (explicit.get("window"), ("llm",)),
        "--calls separate": (settings.calls == "separate" or None, ("llm",)),
    }
    for option, (value, judges) in owners.items():
        if value is not None and judge not in judges:
            msg = f"the judge {judge} takes no {option}"
            raise UsageError(msg, hint=f"leave it out, or say --judge {' or '.join(judges)}")


def judge_by_rubric(
    settings: ModelOptions, wanted: JudgeName | None, config: FileConfig
) -> tuple[JudgeName, RoleSettings | None]:
    """Return the judge, `local` or `llm` where none is named, and the model that it asks."""
    role = _role_of_judge(settings, wanted, config)
    return wanted or ("local" if role is None else "llm"), role


def _role_of_judge(settings: ModelOptions, wanted: str | None, config: FileConfig) -> RoleSettings | None:
    """Return the model that is asked where the judge is `llm`, or is not named and a model is; else None."""
    reference = references(settings).get("judge")
    if wanted not in (None, "llm") and reference is not None:
        msg = f"--judge {wanted} takes no model"
        raise UsageError(msg, hint=f"drop --judge {wanted} to judge with the model, or drop the model")
    if wanted == "llm" and reference is None and "judge" not in config.roles:
        msg = "--judge llm needs a model"
        hint = "give --model NAME --base-url URL, or [roles.judge] in the configuration"
        raise UsageError(msg, hint=hint)
    if wanted != "llm" and reference is None:
        return None
    from dialogauge.app.config import model_of

    return model_of(reference, "judge", config.roles)


@resolved.register
def _(settings: UserJudgeOptions, config: FileConfig, explicit: Mapping[str, Any]) -> UserJudgeOptions:
    from dialogauge.app.build import MODEL_JUDGES  # with it comes numpy

    del explicit
    named = references(settings)
    if named and settings.judge not in MODEL_JUDGES:
        msg = f"the judge {settings.judge} asks no model"
        raise UsageError(msg, hint=f"models are for {', '.join(MODEL_JUDGES)}")
    refuse_settings_of_others(settings)
    if settings.judge not in MODEL_JUDGES:
        return settings
    return replace(settings, roles=_roles(named, config))


@resolved.register(DoctorOptions)
@resolved.register(RecheckOptions)
def _(settings: ModelOptions, config: FileConfig, explicit: Mapping[str, Any]) -> ModelOptions:
    del config, explicit
    references(settings)
    return settings


def references(settings: ModelOptions) -> dict[str, str]:
    """Return by role how its model was given, by the short form or by `--role`.

    Raises UsageError where a role is unknown, or its model is given in part only or twice.
    """
    main, named = settings.asks[0], named_roles(settings.models, settings.asks)
    if settings.model is None:
        if settings.base_url or settings.api_key_env:
            msg = "--base-url and --api-key-env need --model"
            raise UsageError(msg, hint=f"add --model NAME, or give --role {main}=MODEL@URL#KEYVAR")
        return named
    if main in named:
        msg = f"the model is given twice, by --model and by --role {main}=..."
        raise UsageError(msg, hint="keep one of the two")
    if settings.base_url is not None and not settings.base_url.startswith(("http://", "https://")):
        msg = "--base-url does not begin with http:// or https://"
        raise UsageError(msg, hint="for example --base-url http://localhost:8000/v1")
    at = f"@{settings.base_url}" if settings.base_url else ""
    key = f"#{settings.api_key_env}" if settings.api_key_env else ""
    return {main: f"{settings.model}{at}{key}", **named}


def named_roles(models: Iterable[str], asks: Sequence[str]) -> dict[str, str]:
    """Return by role how its model was given by `--role`; UsageError for a role that nobody asks."""
    named = dict[str, str]()
    for text in models:
        role, _, reference = text.partition("=")
        if not role or not reference:
            msg = f"--role {text!r} has not the form ROLE=MODEL@URL#KEYVAR"
            raise UsageError(msg, hint="for example --role judge=qwen2.5-7b@http://localhost:8000/v1#MY_KEY")
        named[role] = reference
    if unknown := sorted(named.keys() - set(asks)):
        roles = f"only the role {asks[0]}" if len(asks) == 1 else f"the roles {', '.join(asks)}"
        msg = f"--role {unknown[0]}=...: this command has {roles}"
        raise UsageError(msg)
    return named


def _roles(named: Mapping[str, str], config: FileConfig) -> dict[str, RoleSettings]:
    """Return the settings of both roles: memories are built by the judge's model if no other is named."""
    from dialogauge.app.config import ROLE_DEFAULTS, model_of

    asked = {role for role in UserJudgeOptions.asks if role in config.roles or role in named}
    if "judge" not in asked:
        return {}
    models = {role: model_of(named.get(role), role, config.roles) for role in asked}
    temperature = ROLE_DEFAULTS["memory_builder"]["temperature"]
    builder = models["judge"].model_copy(update={"temperature": temperature})
    return {"memory_builder": builder} | models


_READS_WHAT_FOLLOWS: Final = ("local", "local-user")
_GUARDED: Final = ("memory", "zero-shot", "local")
"""Those that read sessions, and so see what one fails on."""
_OF_SESSIONS: Final = (
    "global-mean",
    "global-majority",
    "task-mean",
    "task-majority",
    "history-mean",
    "history-median",
    "history-majority",
    "history-cdf-hash",
    *_GUARDED,
)
"""Those that read no reply, and those with a rubric for sessions; the others read one reply alone."""


def refuse_settings_of_others(settings: UserJudgeOptions) -> None:
    """Raise UsageError for a setting that the judge does not have: it would change nothing."""
    from dialogauge.judges.encoder.text import ENCODER_JUDGES

    retrieving = ("episodic-nearest", "rag")
    owners: dict[str, tuple[object, tuple[str, ...]]] = {
        "strategy": (settings.strategy, retrieving),
        "k": (settings.k, retrieving),
        "encoder": (settings.encoder, ENCODER_JUDGES),
        "guard": (settings.guard or None, _GUARDED),
    }
    if isinstance(settings, SatisfactionOptions):
        owners["signal"] = (settings.signals or None, ("local-user",))
    name = settings.judge
    for option, (value, judges) in owners.items():
        if value is not None and name not in judges:
            msg = f"the judge {name} takes no --{option}"
            raise UsageError(msg, hint=f"it belongs to {' and '.join(judges)}")
    if settings.level == "session" and name not in _OF_SESSIONS:
        msg = f"the judge {name} reads single replies, not sessions"
        raise UsageError(msg, hint=f"--level session has {', '.join(_OF_SESSIONS)}")
    if settings.guard and settings.level != "session":
        msg = "--guard is for sessions: a single reply has no type of task to fail"
        raise UsageError(msg, hint="add --level session, or leave --guard out")
    reads_on = isinstance(settings, SatisfactionOptions) and settings.mode != "foresight"
    if reads_on and name not in _READS_WHAT_FOLLOWS:
        msg = f"the judge {name} reads nothing that follows a reply"
        raise UsageError(msg, hint="leave --mode out")
