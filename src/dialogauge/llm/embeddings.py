"""Vectors of texts from any endpoint that speaks the OpenAI embeddings format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from dialogauge.core.errors import EndpointError
from dialogauge.core.judgement import Usage
from dialogauge.llm.budget import BYTES_PER_TOKEN, Budget
from dialogauge.llm.endpoint import Endpoint
from dialogauge.llm.problems import Problem, read_problem
from dialogauge.llm.retry import RetrySettings, RetryState, Timing
from dialogauge.llm.waits import read_reset, read_retry_after
from dialogauge.llm.wire import encode

if TYPE_CHECKING:
    from dialogauge.llm.transport import Response, Transport

_BATCH: Final = 64
"""Texts in one request."""
_PATH: Final = "/embeddings"


class HttpEmbedder:
    """One embedding model at one endpoint; implements `agents.memory.systems.Embedder`.

    It keeps deadlines and budget, and retries what may pass. What does not pass is an `EndpointError`, since
    without vectors nothing can be searched.
    """

    def __init__(  # noqa: PLR0913 (the parts of a client, each with a default)
        self,
        model: str,
        base_url: str,
        *,
        api_key: str | None = None,
        key_variable: str | None = None,
        retry: RetrySettings | None = None,
        budget: Budget | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Raises `ConfigError` for an invalid base URL, and for a cap on cost without a price."""
        self.model = model
        self.endpoint = Endpoint(base_url, api_key, key_variable)
        self._retry, self._timing = retry or RetrySettings(), timing or Timing()
        self._budget = budget or Budget()
        self._budget.require_price(model)
        self._width: int | None = None

    def describe(self) -> Mapping[str, Any]:
        """Return model and endpoint, without secrets."""
        return {"kind": "embeddings", "model": self.model, "base_url": self.endpoint.shown_url}

    async def embed(self, texts: Sequence[str]) -> tuple[list[list[float]], Usage]:
        """Return a vector for each text, in their order, and what they took.

        Raises:
            EndpointError: The endpoint gives none, or others than were asked for.
            BudgetSpent: A cap is reached.
        """
        vectors, usage = list[list[float]](), Usage()
        for start in range(0, len(texts), _BATCH):
            some, used = await self._batch(texts[start : start + _BATCH])
            vectors += some
            usage += used
        return vectors, usage

    async def close(self) -> None:
        """Close the connections; closing twice is harmless."""
        if "_transport" in vars(self):
            await self._transport.close()

    @cached_property
    def _transport(self) -> Transport:
        from dialogauge.llm.transport import Transport  # with aiohttp, which takes a tenth of a second

        return Transport(self.endpoint, connect_deadline=self._retry.connect_deadline)

    async def _batch(self, texts: Sequence[str]) -> tuple[list[list[float]], Usage]:
        # An empty text is refused by many; a blank has a vector everywhere.
        content = encode({"model": self.model, "input": [text or " " for text in texts]})
        retries, calls = RetryState(self._retry, self._timing), 0
        while True:
            self._budget.admit()
            retries.start()
            try:
                response = await self._transport.post(_PATH, content, retries.attempt_limit)
            except BaseException:  # the run was stopped
                self._budget.settle(None)
                raise
            calls += 1
            if isinstance(response, Problem):
                problem = response
                self._budget.settle(None)
            elif 200 <= response.status < 300:
                return self._read(response, len(texts), len(content), calls)
            else:
                headers, now = response.headers.get, self._timing.wall()
                waits = read_retry_after(headers, now), read_reset(headers, now)
                problem = read_problem(response.status, response.body, *waits)
                self._budget.settle(None)
            retries.note_problem(problem)
            # Nothing about a request can be mended here, nor is there a barer one to ask.
            delay = retries.delay(problem) if problem.remedy in ("wait", "retry", "endpoint") else None
            if delay is None:
                raise self.endpoint.error(problem, self.model, None)
            await self._timing.sleep(delay)

    def _read(self, response: Response, asked: int, sent: int, calls: int) -> tuple[list[list[float]], Usage]:
        """Return the vectors of an answer; its entries may come in any order."""
        body = response.payload if isinstance(response.payload, dict) else {}
        counted = body.get("usage")
        tokens = counted.get("prompt_tokens") if isinstance(counted, dict) else None
        tokens = tokens if isinstance(tokens, int) and tokens >= 0 else sent // BYTES_PER_TOKEN
        cost = self._budget.prices.cost(self.model, tokens, 0)
        self._budget.settle(cost)
        entries = body.get("data")
        vectors: dict[object, list[float]] = {}
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            vector = entry.get("embedding") if isinstance(entry, dict) else None
            if isinstance(vector, list) and vector and all(map(_finite, vector)):
                index = entry.get("index", place)
                vectors[index if isinstance(index, int) else None] = [float(x) for x in vector]
        widths = {len(vector) for vector in vectors.values()} | ({self._width} if self._width else set())
        if set(vectors) != set(range(asked)) or len(widths) > 1:
            what = f"{len(vectors)} vectors of {asked}" if len(widths) < 2 else "vectors of unequal length"
            msg = f"{self.model} at {self.endpoint.shown_url} gave {what}"
            raise EndpointError(msg, hint="is it a model for embeddings, behind /embeddings?")
        self._width = widths.pop()
        return [vectors[n] for n in range(asked)], Usage(calls, 0, tokens, 0, cost)


def _finite(x: object) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
