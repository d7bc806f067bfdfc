"""The protocol of language models: a request in, a reply or a failure out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from dialogauge.core.judgement import FailureKind, Usage


@dataclass(frozen=True, slots=True)
class SamplingParameters:
    """The parameters of every request; None leaves the choice to the endpoint."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """The most tokens of a reply, reasoning included."""
    seed: int | None = None
    """`ChatRequest.salt` is added to it, so that repeats differ."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Further fields, sent unchanged."""

    def to_body(self) -> dict[str, Any]:
        """Return the fields of a chat completion body that are set."""
        fields: dict[str, Any] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
        }
        return {**{k: v for k, v in fields.items() if v is not None}, **self.extra}


FinishReason = Literal["stop", "length", "filter", "other"]


@dataclass(frozen=True)
class ReplySchema:
    """The JSON schema of a reply, with the name that endpoints require."""

    name: str
    schema: Mapping[str, Any]

    @cached_property
    def strict(self) -> bool:
        """Whether endpoints accept the schema as strict: all objects closed, all keys required."""
        return _closed(self.schema)


def _closed(schema: object) -> bool:
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            closed = schema.get("additionalProperties") is False
            if not closed or set(properties) != set(schema.get("required", ())):
                return False
        return all(_closed(value) for value in schema.values())
    if isinstance(schema, list | tuple):
        return all(_closed(value) for value in schema)
    return True


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request; the model, its endpoint and its parameters belong to the client."""

    messages: tuple[Mapping[str, Any], ...]
    """OpenAI chat messages."""
    role: str = "judge"
    """The role that pays for the call: judge, candidate, simulator ..."""
    schema: ReplySchema | None = None
    """The schema of a JSON reply; the client decides how it is enforced."""
    max_tokens: int | None = None
    """Overrides the client's limit, for a re-ask after a truncated reply."""
    salt: int = 0
    """The seed of the run, and the number of repeats before this one; added to the seed that is sent."""
    session: str | None = None
    """The dialogue that the request is part of, for functions that keep a state; no endpoint is told."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The reply of a model."""

    text: str
    """Without reasoning blocks."""
    finish: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    reasoning: str | None = None
    model: str | None = None
    """The model as the endpoint names it."""


@dataclass(frozen=True, slots=True)
class ChatFailure:
    """The reason for no reply, after all retries."""

    kind: FailureKind
    message: str
    usage: Usage = field(default_factory=Usage)
    raw: str | None = None


class ChatClient(Protocol):
    """One model at one endpoint."""

    @property
    def name(self) -> str:
        """The model's name in rows and on pages."""

    def describe(self) -> Mapping[str, Any]:
        """Return model, endpoint and parameters as plain JSON values, without secrets."""

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask the model.

        Raises `EndpointError` for an unusable endpoint (refused, 401, unknown model) and `BudgetSpent` at a
        cap on calls or cost. Every other problem of this request is a `ChatFailure`.
        """

    async def close(self) -> None:
        """Free all resources; closing twice is harmless."""


class WrappedClient:
    """Has the name and the description of an inner client, and closes it; the base of caches and budgets."""

    def __init__(self, inner: ChatClient) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        """The inner client's name."""
        return self.inner.name

    def describe(self) -> Mapping[str, Any]:
        """Return the inner client's description."""
        return self.inner.describe()

    async def close(self) -> None:
        """Close the inner client."""
        await self.inner.close()
