"""What calls would take, before one is made: the answer to `--dry-run`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from dialogauge.core.values import Value
from dialogauge.llm.budget import BYTES_PER_TOKEN, REPLY_TOKENS, PriceTable
from dialogauge.llm.cache import CachedClient
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatReply, ChatRequest, WrappedClient

_ENTRIES: Final = 3
"""Of a list in a reply, where its schema does not say how many there may be."""
_SENTENCE: Final = 120
"""Bytes of a text in a list."""


class Expected(Value):
    """What calls are expected to take, before one is made."""

    calls: int
    """One for each question; retries, re-asks and the probe of a new endpoint come on top."""
    prompt_tokens: int
    """By the length of the prompts, rather too many than too few."""
    completion_tokens: int
    """Of replies as they usually are."""
    cost: float | None
    """None where a model has no price."""
    currency: str
    assumed: int = 0
    """So many of the replies stand in later prompts: they were taken to be as long as replies usually are."""
    cached: int = 0
    """Answers that the response cache holds: they are no calls, and cost nothing."""

    @classmethod
    def counted(
        cls, clients: Sequence[tuple[str, CountingClient]], prices: PriceTable, times: float = 1.0
    ) -> Expected:
        """Return what the calls would take that clients of these models have counted, so many times."""
        tokens = [(c.prompts / BYTES_PER_TOKEN * times, c.calls * REPLY_TOKENS * times) for _, c in clients]
        costs = [
            prices.cost(model, round(prompt), round(reply))
            for (model, client), (prompt, reply) in zip(clients, tokens, strict=True)
            if client.calls
        ]
        return cls(
            round(sum(c.calls for _, c in clients) * times),
            round(sum(prompt for prompt, _ in tokens)),
            round(sum(reply for _, reply in tokens)),
            None if None in costs else sum(cost or 0.0 for cost in costs),
            prices.currency,
            round(sum(c.assumed for _, c in clients) * times),
            round(sum(c.cached for _, c in clients) * times),
        )

    def __add__(self, other: Expected) -> Expected:
        """Add two; an unknown cost makes the sum unknown, unless it is of no call."""
        costs = [one.cost for one in (self, other) if one.calls]
        return Expected(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if None in costs else sum(cost or 0.0 for cost in costs),
            self.currency,
            self.assumed + other.assumed,
            self.cached + other.cached,
        )


class CountingClient(WrappedClient):
    """Asks nothing, and counts what it would ask; what the cache holds it answers.

    A reply that judges fails. One that only says something, which later prompts may hold (a candidate's
    reply, a summary, a memory, criteria), is made up: as long as replies usually are, each text another, in
    lists a sentence each, and lists as full as they may be.
    """

    def __init__(self, inner: ChatClient) -> None:
        super().__init__(inner)
        self.calls = 0
        self.prompts = 0
        """Bytes of all prompts."""
        self.assumed = 0
        """Replies that were made up."""
        self.cached = 0
        self._numbers = count(1)

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Count the request."""
        stored = self.inner.stored(request) if isinstance(self.inner, CachedClient) else None
        if stored is not None:
            self.cached += 1
            return stored
        self.calls += 1
        self.prompts += sum(len(str(message.get("content") or "").encode()) for message in request.messages)
        if request.schema is None:
            self.assumed += 1
            return ChatReply(self._text(REPLY_TOKENS * BYTES_PER_TOKEN))
        schema = request.schema.schema
        # A reply may hold texts and lists of them, and neither a number nor a choice of its own.
        fields = schema.get("properties", {}).values()
        if not fields or any("enum" in one or not _is_text(one) for one in fields):
            return ChatFailure("connection", "nothing is asked in a dry run")
        self.assumed += 1
        alone = sum(one["type"] == "string" for one in fields)
        listed = (
            sum(int(one.get("maxItems", _ENTRIES)) for one in fields if one["type"] == "array") * _SENTENCE
        )
        rest = REPLY_TOKENS * BYTES_PER_TOKEN - listed
        return ChatReply(json.dumps(self._made_up(schema, max(rest // max(alone, 1), _SENTENCE))))

    def _made_up(self, schema: Mapping[str, Any], length: int) -> Any:  # noqa: ANN401 - any JSON value
        if schema["type"] == "object":
            return {key: self._made_up(one, length) for key, one in schema["properties"].items()}
        if schema["type"] == "array":
            return [
                self._made_up(schema["items"], _SENTENCE) for _ in range(schema.get("maxItems", _ENTRIES))
            ]
        return schema["enum"][0] if "enum" in schema else self._text(length)

    def _text(self, length: int) -> str:
        return f"{next(self._numbers)} ".ljust(length, "x")


def _is_text(schema: Mapping[str, Any]) -> bool:
    if schema.get("type") == "object":
        return all(map(_is_text, schema["properties"].values()))
    return _is_text(schema["items"]) if schema.get("type") == "array" else schema.get("type") == "string"
