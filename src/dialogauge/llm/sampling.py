"""How a model is asked to sample: part of what identifies a judge, so a frozen record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SamplingParameters"]


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
