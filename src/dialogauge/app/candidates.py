"""Candidates by reference: an endpoint, a pool of them, a file of replies, a model here, a function."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dialogauge.app.clients import Clients
from dialogauge.app.config import RoleSettings, answering, model_of
from dialogauge.app.functions import load_function
from dialogauge.app.merging import FileConfig
from dialogauge.app.outputs import stem
from dialogauge.core.errors import ConfigError, FileFault, Place, UsageError
from dialogauge.core.files import read_toml, shown_path
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.unit import digest, digest_text
from dialogauge.data import pipe_of
from dialogauge.llm import (
    ChatClient,
    ChatFailure,
    ChatReply,
    ChatRequest,
    client_identity,
    folder_digest,
    function_digest,
)
from dialogauge.studies.replay.items import ORIGINAL
from dialogauge.studies.replay.planted import MAKERS


class AgentEntry(BaseModel):
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

    agent: list[AgentEntry] = Field(default_factory=list)


def read_agents(path: str | None) -> dict[str, AgentEntry]:
    """Read the file, by name; nothing when there is no path.

    Raises:
        ConfigError: It cannot be read, or a key is wrong, or a name is there twice.
    """
    if path is None:
        return {}
    try:
        listed = _File.model_validate(read_toml(Path(path), "agents file")).agent
    except ValidationError as error:
        first = error.errors()[0]
        msg = f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"
        keys = ", ".join(AgentEntry.model_fields)
        raise ConfigError(msg, hint=f"an [[agent]] has {keys}") from error
    agents: dict[str, AgentEntry] = {}
    for agent in listed:
        if agent.name in agents:
            msg = f"{path}: the agent {agent.name!r} is there twice"
            raise ConfigError(msg)
        agents[agent.name] = agent
    return agents


_Agents = Mapping[str, AgentEntry]
_Roles = Mapping[str, RoleSettings]
_NAMED: Final = lazy_pattern(r"([^@:/#,=]+)=(.+)", re.DOTALL)
_REPLIES, _POOL = "replies:", "pool:"
_FORMS: Final = (
    "give [NAME=]MODEL@URL#KEYVAR, [NAME=]replies:FILE, [NAME=]pool:REF,REF, py:MODULE:NAME, file:PATH, "
    "or a name in agents.toml or the configuration file"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate: where its replies come from, and what a leaderboard says of it."""

    name: str
    replies: str | None = None
    """A file of replies."""
    models: tuple[RoleSettings, ...] = ()
    """One model, or the members of a pool."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Organisation, version, licence, family."""

    @property
    def pool(self) -> bool:
        """Whether chance decides who answers which item."""
        return len(self.models) > 1


def read_candidates(
    references: Sequence[str], agents: Mapping[str, AgentEntry], config: FileConfig
) -> tuple[Candidate, ...]:
    """Read how candidates are given; without references all agents that say where they are reached.

    Raises:
        UsageError: None is given, a name is taken twice or is that of the original replies, or a reference
            is of no known form.
    """
    chosen = references or [a.name for a in agents.values() if a.candidate is not None]
    if not chosen:
        msg = "no candidate is given"
        raise UsageError(msg, hint=_FORMS)
    candidates = [_candidate(text, agents, config.roles) for text in chosen]
    names: set[str] = set()
    for name in (candidate.name for candidate in candidates):
        if not name:
            msg = "a candidate has no name"
            raise UsageError(msg, hint="give it a name: --candidate NAME=...")
        if name == ORIGINAL or name in MAKERS:
            called = "the replies in the data are" if name == ORIGINAL else "a planted candidate is"
            msg = f"no candidate may be called {name!r}: {called}"
            raise UsageError(msg, hint="give it a name: --candidate NAME=...")
        if name in names:
            msg = f"two candidates are called {name!r}"
            raise UsageError(msg, hint="give one of them a name: --candidate NAME=...")
        names.add(name)
    return tuple(candidates)


def _candidate(text: str, agents: _Agents, roles: _Roles) -> Candidate:
    named = None if text in agents else _NAMED.fullmatch(text)
    name, reference = (text if text in agents else _name_of(text)), text
    if named is not None:
        name, reference = named[1].strip(), named[2]
    agent = agents.get(reference) or agents.get(name)
    about: dict[str, Any] = {
        key: getattr(agent, key, None) for key in ("organisation", "version", "licence", "family")
    }
    reference = _reached(reference, agents)
    if reference.startswith(_REPLIES):
        path = reference.removeprefix(_REPLIES)
        if not Path(path).is_file():
            pipe = pipe_of(path) is not None
            why = "comes through a pipe, and is read more than once" if pipe else "is not there"
            msg = f"the file of replies {path!r} of the candidate {name!r} {why}"
            raise UsageError(msg, hint="save it to a file" if pipe else None)
        about["family"] = about["family"] or family_of(name)
        return Candidate(name, replies=path, about=about)
    parts = [reference]
    if reference.startswith(_POOL):
        parts = [_reached(part.strip(), agents) for part in reference.removeprefix(_POOL).split(",")]
        if len(parts) < 2:
            msg = f"the pool {name!r} has one member"
            raise UsageError(msg, hint="pool:REF,REF draws one of several for each item")
        if member := next((part for part in parts if part.startswith((_REPLIES, _POOL))), None):
            msg = f"the pool {name!r} has the member {member!r}, which is no model"
            raise UsageError(msg, hint="a pool draws among models; give it as a candidate of its own")
    models = tuple(model_of(part, "candidate", roles, agents) for part in parts)
    families = {family_of(m.model) for m in models}
    about["family"] = about["family"] or (families.pop() if len(families) == 1 else None)
    return Candidate(name, models=models, about=about)


def _reached(reference: str, agents: _Agents) -> str:
    """Return where an agent is reached, be it by another's name; any other reference as it is."""
    passed: set[str] = set()
    while reference in agents.keys() - passed:
        passed.add(reference)
        candidate = agents[reference].candidate
        if candidate is None:
            msg = f"the agent {reference!r} does not say where it is reached"
            raise UsageError(msg, hint='add candidate = "..." to its entry, or give --candidate NAME=...')
        reference = candidate
    return reference


def _name_of(text: str) -> str:
    if text.startswith(_REPLIES):
        return shown_path(stem(text.removeprefix(_REPLIES)))
    if text.startswith(_POOL):
        return "pool"
    if text.startswith(("py:", "file:")):
        return text.rstrip("/").rpartition("/" if text.startswith("file:") else ":")[2]
    return text.partition("@http")[0].partition("#")[0]


def candidate_digest(candidate: Candidate, context: str, seed: int) -> str:
    """Return what a candidate's replies depend on: its models and their parameters, or its file."""
    if candidate.replies is not None:
        try:
            with Path(candidate.replies).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()[:32]
        except OSError as error:
            msg = f"the file of replies cannot be read: {error.strerror}"
            raise FileFault(msg, place=Place(candidate.replies)) from error
    return digest([[answering(model) | _code(model.model) for model in candidate.models], context, seed])


def about_candidate(candidate: Candidate, context: str, seed: int) -> dict[str, Any]:
    """Return what a run keeps of a candidate: its digest, its kind, its models and how they are sampled."""
    kind = "file" if candidate.replies is not None else "pool" if candidate.pool else "model"
    return {
        "digest": candidate_digest(candidate, context, seed),
        "kind": kind,
        "context": None if kind == "file" else context,
        "source": None if candidate.replies is None else shown_path(candidate.replies),
        "models": [m.model for m in candidate.models],
        "sampling": [
            {k: getattr(m, k) for k in ("temperature", "top_p", "max_tokens", "seed")}
            for m in candidate.models
        ],
        **candidate.about,
    }


def _code(model: str) -> dict[str, Any]:
    """Return a digest of a function's file or of a model's folder; nothing of a model at an endpoint."""
    if model.startswith("py:"):
        return {"code": function_digest(load_function(model, sessions=True))}
    folder = Path(model.removeprefix("file:"))
    return {"files": folder_digest(folder)} if model.startswith("file:") and folder.is_dir() else {}


class ClientPool:
    """Several models as one: which of them answers a request is drawn by the request and the seed."""

    def __init__(self, name: str, clients: Sequence[ChatClient], seed: int) -> None:
        self._name, self._clients, self._seed = name, tuple(clients), seed

    @property
    def name(self) -> str:
        """The pool's."""
        return self._name

    def describe(self) -> Mapping[str, Any]:
        """Return what the members say of themselves."""
        return {
            "kind": "pool",
            "seed": self._seed,
            "members": [dict(client_identity(c)) for c in self._clients],
        }

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask the member that the request falls to."""
        asked = digest([[dict(m) for m in request.messages], self._seed])
        client = self._clients[int(digest_text(asked)[:8], 16) % len(self._clients)]
        reply = await client.complete(request)
        return replace(reply, model=reply.model or client.name) if isinstance(reply, ChatReply) else reply

    async def close(self) -> None:
        """Nothing: the members are closed by who built them."""


def build_candidate_client(candidate: Candidate, clients: Clients, seed: int) -> ChatClient:
    """Build the client of a candidate, or the members of a pool: `seed` draws among them."""
    built = [clients.build(settings, "candidate") for settings in candidate.models]
    return ClientPool(candidate.name, built, seed) if candidate.pool else built[0]


_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "gpt": ("gpt", "chatgpt", "o1", "o3", "o4"),
    "claude": ("claude",),
    "gemini": ("gemini", "gemma"),
    "qwen": ("qwen", "qwq"),
    "deepseek": ("deepseek",),
    "llama": ("llama",),
    "mistral": ("mistral", "mixtral", "ministral", "magistral"),
    "glm": ("glm", "chatglm"),
    "kimi": ("kimi", "moonshot"),
    "minimax": ("minimax", "abab"),
    "doubao": ("doubao",),
    "hunyuan": ("hunyuan",),
    "ernie": ("ernie",),
    "yi": ("yi-",),
    "phi": ("phi-", "phi3", "phi4"),
    "grok": ("grok",),
    "command": ("command-",),
}


def family_of_judge(judge: Mapping[str, Any]) -> str | None:
    """Read the family off the model that a judge names in what it says of itself; None without a model."""
    named = [judge.get("model"), *(v.get("model") for v in judge.values() if isinstance(v, Mapping))]
    return next((family for text in named if isinstance(text, str) and (family := family_of(text))), None)


def family_of(model: str) -> str | None:
    """Return the family that a model's name tells; None when it tells none."""
    name = model.lower().rpartition("/")[2]
    return next((family for family, stems in _FAMILIES.items() if name.startswith(stems)), None)
