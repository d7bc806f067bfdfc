"""Models by role: where each is reached, and how it is sampled.

Precedence: what the command line says, then the file, then the environment (endpoint and key variable),
then the default. There is no default endpoint: nothing is sent where nobody named a place. Keys are named by
their variable and never written anywhere; a key goes only to the endpoint that it was named for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from ipaddress import ip_address
from math import isfinite
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dialogauge.app.environment import variable
from dialogauge.core.errors import ConfigError
from dialogauge.core.files import shown_path
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.settings import nearest

_FORMS = "MODEL@URL#KEYVAR, the name of a role in the configuration file, file:PATH or py:MODULE:NAME"

# Sampling defaults by role: a judge must be repeatable, a candidate is sampled as its users meet it.
ROLE_DEFAULTS: dict[str, dict[str, Any]] = {
    "judge": {"temperature": 0.0, "max_tokens": 4096},
    "memory_builder": {"temperature": 0.3, "max_tokens": 4096},
    "repair": {"temperature": 0.7, "max_tokens": 1024},
    "candidate": {"temperature": 0.7, "max_tokens": 1024},
    "simulator": {"temperature": 1.0, "max_tokens": 1024},
}


_OPENAI: Final = "https://api.openai.com/v1"
_PORTS: Final = {"http": 80, "https": 443}
_VARIABLE: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
# What stands after the last @ of a reference and is an endpoint whose http:// was forgotten.
_BARE_HOST: Final = lazy_pattern(
    r"(localhost|[\w.-]+:\d+)(/.*)?|[\w.-]+\.[a-z]{2,}/.*|[a-z+]*:?//.*", re.IGNORECASE
)


_DEEP: Final = 32


def _json_fault(value: object, path: str, depth: int) -> str | None:
    """Say what of a value no request can hold; None where it is plain JSON."""
    if depth > _DEEP:
        return f"{path} is nested too deeply"
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        faults = (_json_fault(inner, f"{path}.{key}", depth + 1) for key, inner in pairs)
        return next((fault for fault in faults if fault is not None), None)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return f"{path} is a number of more than 64 bits"
    if isinstance(value, float) and not isfinite(value):
        return f"{path} is {value}, which JSON does not have"
    if value is None or isinstance(value, str | int | float):
        return None
    return f"{path} is a {type(value).__name__}, which JSON does not have: write it in quotes"


class RoleSettings(BaseModel):
    """A model, where it is reached, and how it is sampled."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    model: str = Field(min_length=1)
    """The model's name; or `file:PATH` (a local Hugging Face folder), or `py:MODULE:NAME`."""
    base_url: str | None = Field(default=None, repr=False)
    api_key_env: str | None = None
    """The name of the variable that holds the key; never the key."""
    temperature: float | None = Field(default=None, ge=0, le=100)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=2**31 - 1)
    context_tokens: int | None = Field(default=None, ge=1, le=2**31 - 1)
    """The model's window, reply included: what it is shown is cut, or judged in segments, to fit into it."""
    seed: int | None = Field(default=None, ge=-1, le=2**63 - 1)
    """What servers take: -1 is a random one for some."""
    timeout_s: float | None = Field(default=None, gt=0, le=10**6)
    """Deadline of one attempt."""
    deadline_s: float | None = Field(default=None, gt=0, le=10**6)
    """Deadline of one item, all attempts included."""
    max_reply_mb: float | None = Field(default=None, gt=0, le=1024)
    """The largest response that is read, in MiB as it is sent and unpacked; None for 8."""
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    extra: dict[str, Any] = Field(default_factory=dict, repr=False)
    """Further request parameters, as the endpoint wants them."""

    @field_validator("extra")
    @classmethod
    def _is_json(cls, value: dict[str, Any]) -> dict[str, Any]:
        fault = _json_fault(value, "extra", 0)
        if fault is not None:
            raise ValueError(fault)
        return value

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, value: str | None) -> str | None:
        # What stands here may be the key itself by mistake, so it is not repeated.
        if value is not None and not _VARIABLE.fullmatch(value):
            msg = "this is not the name of an environment variable"
            raise ValueError(msg)
        return value


class FoundRoles(Mapping[str, RoleSettings]):
    """The roles of a file that nobody named: they may ask a model on this machine, without a key.

    Looking up any other raises ConfigError, for it would send conversations or a key to a place, or run
    code, that the user has not spoken of.
    """

    def __init__(self, roles: Mapping[str, RoleSettings], source: str) -> None:
        """Guard the roles of the file `source`."""
        self._roles, self.source = roles, source

    def __iter__(self) -> Iterator[str]:
        return iter(self._roles)

    def __len__(self) -> int:
        return len(self._roles)

    def __contains__(self, name: object) -> bool:
        return name in self._roles

    def __getitem__(self, name: str) -> RoleSettings:
        expect_harmless(
            self._roles[name],
            f"the role {name!r} of {self.source}, which was found here and not named,",
            f"if the file is yours, say --config {self.source}, or name it in DIALOGAUGE_CONFIG",
        )
        return self._roles[name]


def expect_harmless(role: RoleSettings, whose: str, hint: str) -> None:
    """Raise ConfigError where a role that nobody named would run code, send a key, or leave this machine.

    Args:
        role: As it stands in a file.
        whose: Begins the message.
        hint: How to name it.
    """
    why = None
    if in_process(role.model):
        why = f"runs {role.model}"
    elif role.api_key_env is not None:
        why = f"sends the key of {role.api_key_env}"
    elif role.base_url is not None and not _is_here(role.base_url):
        why = "sends conversations to another machine"
    if why is not None:
        msg = f"{whose} {why}"
        raise ConfigError(msg, hint=hint)


def in_process(model: str) -> bool:
    """Say whether a model runs in this process."""
    return model.startswith(("file:", "py:"))


def _origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port; no host where a URL is malformed."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return "", "", None


def _is_here(url: str) -> bool:
    """Whether a URL leads to this machine."""
    host = _origin(url)[1]
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def parse_role(text: str, roles: Mapping[str, RoleSettings]) -> RoleSettings:
    """Read how a model is given on the command line.

    Args:
        text: `MODEL@URL#KEYVAR` (`@URL` and `#KEYVAR` may be left out), a name in `roles`, `file:PATH`
            or `py:MODULE:NAME`.
        roles: The roles of the configuration file.
    """
    if (shown := shown_path(text)) != text:
        msg = f"the model {shown} is not written in UTF-8"
        raise ConfigError(msg, hint="no request can name it; give a folder of a model another name")
    if text in roles:
        if isinstance(roles, FoundRoles) and (named := variable("OPENAI_BASE_URL")):
            msg = f"{text!r} is a role of {roles.source}, which was found here, and may be a model at {named}"
            raise ConfigError(msg, hint=f"say --config {roles.source} for the role, or {text}@URL")
        return roles[text]
    if in_process(text):
        return RoleSettings(model=text)
    rest, _, key = text.partition("#")
    model, at, url = rest.rpartition("@http")
    if not at:
        model, url = rest, ""
    if not model:
        known = f"; roles in the file: {', '.join(sorted(roles))}" if roles else ""
        msg = f"{text!r} names no model{known}"
        raise ConfigError(msg, hint=f"give {_FORMS}")
    host = model.rpartition("@")[2]
    if not at and host != model and _BARE_HOST.fullmatch(host):
        msg = f"{text!r}: {host!r} is no URL"
        raise ConfigError(msg, hint="a URL begins with http:// or https://: write MODEL@https://HOST/v1")
    if key and not _VARIABLE.fullmatch(key):
        msg = f"what stands after # of the model {model!r} is not the name of an environment variable"
        raise ConfigError(msg, hint="put the key into a variable and give the variable's name")
    return RoleSettings(model=model, base_url=f"http{url}" if at else None, api_key_env=key or None)


def model_of(
    reference: str | None, role: str, roles: Mapping[str, RoleSettings], agents: Collection[str] = ()
) -> RoleSettings:
    """Return the model that a reference means for a role, complete; that of the role in the file for None.

    Raises ConfigError, see `parse_role` and `with_defaults`.
    """
    settings = roles[role] if reference is None else parse_role(reference, roles)
    return with_defaults(settings, role, {*roles, *agents})


def with_defaults(settings: RoleSettings, role: str, known: Collection[str] = ()) -> RoleSettings:
    """Fill in the role's sampling defaults, and endpoint and key variable from the environment.

    The variable OPENAI_API_KEY is named for the endpoint OPENAI_BASE_URL; without it, for OpenAI's own.

    Args:
        settings: As they were given.
        role: Whose defaults.
        known: Names that the model's may be meant to be: of roles, of agents.

    Raises:
        ConfigError: The model has no endpoint, or its name is nearly a known one.
    """
    filled: dict[str, Any] = {
        k: v for k, v in ROLE_DEFAULTS.get(role, {}).items() if getattr(settings, k) is None
    }
    if not in_process(settings.model):
        named = variable("OPENAI_BASE_URL")
        url = settings.base_url or named
        meant = nearest(settings.model, {*known} - {settings.model}, alike=0.8)
        if url is None or (settings.base_url is None and meant is not None):
            names = f"; there are {', '.join(sorted(known))}" if known and meant is None else ""
            msg = f"{settings.model!r} is neither a role nor an agent in the configuration{names}"
            msg += ", and has no endpoint"
            hint = "" if meant is None else f"did you mean {meant!r}? "
            hint += f"for a model write {settings.model}@URL (OpenAI's own is {_OPENAI}), or give "
            hint += "--base-url, OPENAI_BASE_URL, or base_url in the configuration"
            raise ConfigError(msg, hint=hint)
        filled["base_url"] = url
        # A server of one's own often needs no key; the vendor's always does.
        own = _origin(url) == _origin(named or _OPENAI)
        if own and settings.api_key_env is None and (not named or variable("OPENAI_API_KEY")):
            filled["api_key_env"] = "OPENAI_API_KEY"
    return settings.model_copy(update=filled)


def shown_role(role: RoleSettings) -> dict[str, Any]:
    """Return a role's settings as a manifest may hold them: no headers' values, no secrets in the URL.

    A key is never among them, only the name of its variable.
    """
    shown = role.model_dump(exclude={"headers"}, exclude_none=True)
    return {**shown, **_reach(role)[0], "headers": sorted(role.headers)}


def answering(role: RoleSettings) -> dict[str, Any]:
    """Return what a model's answers depend on, for digests: another key is the same model."""
    asked = role.model_dump(exclude={"api_key_env", "headers", "timeout_s", "deadline_s", "max_reply_mb"})
    shown, variant = _reach(role)
    return asked | shown | ({} if variant is None else {"variant": variant})


def _reach(role: RoleSettings) -> tuple[dict[str, Any], str | None]:
    """Return base URL and further parameters without secrets, and the endpoint's variant."""
    from dialogauge.llm import Endpoint, shown_parameters

    endpoint = None if role.base_url is None else Endpoint(role.base_url, headers=role.headers)
    url, variant = (None, None) if endpoint is None else (endpoint.shown_url, endpoint.variant)
    return {"base_url": url, "extra": shown_parameters(role.extra)}, variant
