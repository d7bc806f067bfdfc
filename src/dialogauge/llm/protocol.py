"""The one seam to a language model: a request goes in, a reply or a failure comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from dialogauge.core.judgement import FailureKind, Usage


@dataclass(frozen=True, slots=True)
class SamplingParameters:
    """The parameters sent with every request; None leaves the choice to the endpoint."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """The most tokens of a reply, reasoning included."""
    seed: int | None = None
    """The repeat (`ChatRequest.salt`) is added to it, so that repeats differ."""
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Sent as given: what an endpoint offers beyond the usual."""

    def to_body(self) -> dict[str, Any]:
        """Return the fields of a chat completion body, only those that are set."""
        fields: dict[str, Any] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "stop": list(self.stop) or None,
        }
        return {**{k: v for k, v in fields.items() if v is not None}, **self.extra}


FinishReason = Literal["stop", "length", "filter", "other"]


@dataclass(frozen=True)
class ReplySchema:
    """The JSON schema that a reply must satisfy, under a name that endpoints ask for."""

    name: str
    schema: Mapping[str, Any]

    @cached_property
    def strict(self) -> bool:
        """Whether endpoints that check it accept the schema as strict: closed objects, all required."""
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
    """What is asked of a model. The model, its endpoint and its parameters belong to the client."""

    messages: tuple[Mapping[str, Any], ...]
    """OpenAI chat messages."""
    role: str = "judge"
    """The role that pays for the call: judge, candidate, simulator ..."""
    schema: ReplySchema | None = None
    """Given when the reply must be JSON; how it is enforced is the client's affair."""
    max_tokens: int | None = None
    """Overrides the client's own limit, for a re-ask after a truncated reply."""
    salt: int = 0
    """Part of the cache key: the repeat, so that repeats are asked anew."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model said."""

    text: str
    """Without reasoning blocks."""
    finish: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    reasoning: str | None = None
    model: str | None = None
    """The model as the endpoint names it."""


@dataclass(frozen=True, slots=True)
class ChatFailure:
    """Why there is no reply, after all retries."""

    kind: FailureKind
    message: str
    usage: Usage = field(default_factory=Usage)
    raw: str | None = None


class ChatClient(Protocol):
    """One model at one endpoint."""

    @property
    def name(self) -> str:
        """What rows and pages call the model."""

    def describe(self) -> Mapping[str, Any]:
        """Return model, endpoint and parameters as plain JSON values, without secrets."""

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask the model.

        Raises `EndpointError` when the endpoint as a whole is of no use (refused, 401, unknown model)
        and `BudgetSpent` when the cap on calls or cost is reached. All else that goes wrong with this
        one request is a `ChatFailure`.
        """

    async def close(self) -> None:
        """Free what the client holds; closing twice is harmless."""
