"""Models by role: where each is reached, and how it is sampled.

Precedence: what the command line says, then the file, then the environment (endpoint and key variable
of the main role), then the default. Keys are named by their variable and never written anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dialogauge.app.environment import variable
from dialogauge.core.errors import ConfigError

_FORMS = "MODEL@URL#KEYVAR, the name of a role in the configuration file, file:PATH or py:MODULE:NAME"

# Sampling defaults by role: a judge must be repeatable, a candidate is sampled as its users meet it.
ROLE_DEFAULTS: dict[str, dict[str, Any]] = {
    "judge": {"temperature": 0.0, "max_tokens": 4096},
    "memory_builder": {"temperature": 0.3, "max_tokens": 4096},
    "repair": {"temperature": 0.7, "max_tokens": 1024},
    "candidate": {"temperature": 0.7, "max_tokens": 1024},
    "simulator": {"temperature": 1.0, "max_tokens": 1024},
}


_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What stands after the last @ of a reference and is an endpoint whose http:// was forgotten.
_BARE_HOST: Final = re.compile(r"(localhost|[\w.-]+:\d+)(/.*)?")


class RoleSettings(BaseModel):
    """A model, where it is reached, and how it is sampled."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    """The model's name; or `file:PATH` (a local Hugging Face folder), or `py:MODULE:NAME`."""
    base_url: str | None = None
    api_key_env: str | None = None
    """The name of the variable that holds the key; never the key."""
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    timeout_s: float | None = Field(default=None, gt=0)
    """Deadline of one attempt."""
    deadline_s: float | None = Field(default=None, gt=0)
    """Deadline of one item, all attempts included."""
    headers: dict[str, str] = Field(default_factory=dict)
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further request parameters, as the endpoint wants them."""

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, value: str | None) -> str | None:
        # What stands here may be the key itself by mistake, so it is not repeated.
        if value is not None and not _VARIABLE.fullmatch(value):
            msg = "this is not the name of an environment variable"
            raise ValueError(msg)
        return value


def parse_role(text: str, roles: Mapping[str, RoleSettings]) -> RoleSettings:
    """Read how a model is given on the command line.

    Args:
        text: `MODEL@URL#KEYVAR` (`@URL` and `#KEYVAR` may be left out), a name in `roles`, `file:PATH`
            or `py:MODULE:NAME`.
        roles: The roles of the configuration file.
    """
    if text in roles:
        return roles[text]
    if text.startswith(("file:", "py:")):
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
        raise ConfigError(msg, hint=f"write @http://{host}, or @https://{host}")
    if key and not _VARIABLE.fullmatch(key):
        msg = f"what stands after # of the model {model!r} is not the name of an environment variable"
        raise ConfigError(msg, hint="put the key into a variable and give the variable's name")
    return RoleSettings(model=model, base_url=f"http{url}" if at else None, api_key_env=key or None)


def with_defaults(settings: RoleSettings, role: str) -> RoleSettings:
    """Fill in the role's sampling defaults, and endpoint and key variable from the environment."""
    filled: dict[str, Any] = {
        k: v for k, v in ROLE_DEFAULTS.get(role, {}).items() if getattr(settings, k) is None
    }
    if not settings.model.startswith(("file:", "py:")) and settings.base_url is None:
        named = variable("OPENAI_BASE_URL")
        filled["base_url"] = named or "https://api.openai.com/v1"
        # A server of one's own often needs no key; the vendor's always does.
        if settings.api_key_env is None and (not named or variable("OPENAI_API_KEY")):
            filled["api_key_env"] = "OPENAI_API_KEY"
    return settings.model_copy(update=filled)


def read_key(settings: RoleSettings, role: str) -> str | None:
    """Read the key of a role from its variable; None when the role names no variable."""
    if settings.api_key_env is None:
        return None
    key = variable(settings.api_key_env)
    if not key:
        msg = f"the role {role!r} takes its key from the variable {settings.api_key_env}, which is not set"
        raise ConfigError(msg, hint=f"export {settings.api_key_env}=... or name another with --api-key-env")
    return key


def shown_role(role: RoleSettings) -> dict[str, Any]:
    """Return a role's settings as a manifest may hold them: no headers' values, no secrets in the URL.

    A key is never among them, only the name of its variable.
    """
    from dialogauge.llm.transport import Endpoint  # with it comes the HTTP client

    shown = role.model_dump(exclude={"headers"}, exclude_none=True)
    shown["headers"] = sorted(role.headers)
    # User info and query of a URL may be secrets too.
    shown["base_url"] = None if role.base_url is None else Endpoint(role.base_url).shown_url
    return shown
