"""`agents.toml`: what a leaderboard says of its candidates, and where each is reached."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dialogauge.core.errors import ConfigError

__all__ = ["Agent", "read_agents"]


class Agent(BaseModel):
    """One entry `[[agent]]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    candidate: str | None = None
    """Where its replies come from, as `--candidate` takes it."""
    organisation: str | None = None
    version: str | None = None
    licence: str | None = None
    family: str | None = None
    """The family of models, for self-preference; else read off the model's name."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    agent: list[Agent] = Field(default_factory=list)


def read_agents(path: str | None) -> dict[str, Agent]:
    """Read the file, by name; nothing when there is no path.

    Raises:
        ConfigError: It cannot be read, or a key is wrong, or a name is there twice.
    """
    if path is None:
        return {}
    try:
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        found = _File.model_validate(raw).agent
    except OSError as error:
        msg = f"the agents file {path} cannot be read: {error.strerror}"
        raise ConfigError(msg) from error
    except ValidationError as error:
        first = error.errors()[0]
        msg = f"{path}: {'.'.join(str(part) for part in first['loc'])}: {first['msg'].lower()}"
        keys = ", ".join(Agent.model_fields)
        raise ConfigError(msg, hint=f"an [[agent]] has {keys}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        msg = f"{path} is not a TOML file: {error}"
        raise ConfigError(msg) from error
    agents: dict[str, Agent] = {}
    for agent in found:
        if agent.name in agents:
            msg = f"{path}: the agent {agent.name!r} is there twice"
            raise ConfigError(msg)
        agents[agent.name] = agent
    return agents
