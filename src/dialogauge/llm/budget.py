"""Caps on calls and cost, shared by every client of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialogauge.core.errors import BudgetSpent, ConfigError
from dialogauge.llm.prices import PriceTable
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatReply, ChatRequest

__all__ = ["Budget", "BudgetedClient"]

_ENOUGH = 8
"""Settled calls of which the mean says what the next one costs."""
_GO_ON = "run the same command to go on, with a cap of the same size for what is left, or"


class Budget:
    """How much may be asked and spent; retries, re-asks and probes count like any other call.

    A call is admitted before it is sent and settled when its answer is there, so that calls in flight
    are counted. Their cost is not known yet: each is taken for the mean of those settled so far, and while
    these are few (a short probe may be all) for what it is expected to cost, if that is more.
    """

    def __init__(self, max_calls: int | None = None, max_cost: float | None = None) -> None:
        for name, cap in (("--max-calls", max_calls), ("--max-cost", max_cost)):
            if cap is not None and not cap >= 0:
                message = f"{name} must not be negative, and is {cap}"
                raise ConfigError(message)
        self.max_calls = max_calls
        self.max_cost = max_cost
        self.calls = 0
        self.cost = 0.0
        self._open = 0
        self._expected = 0.0
        self._settled = 0

    def require_price(self, model: str, prices: PriceTable | None) -> None:
        """Refuse a cost cap for a model whose price is unknown: it could never be kept.

        Raises `ConfigError` that offers what else to do.
        """
        if self.max_cost is None or (prices is not None and prices.knows(model)):
            return
        message = f"--max-cost cannot be kept: the price of model {model!r} is unknown"
        hint = "give its price with --prices FILE, or cap the number of calls with --max-calls N instead"
        raise ConfigError(message, hint=hint)

    def admit(self, expected: float = 0.0) -> None:
        """Count one call that is about to be sent; raises `BudgetSpent` when a cap is reached.

        Args:
            expected: What it may cost by its size. A call that is alone is let through without regard to it.
        """
        if self.max_calls is not None and self.calls >= self.max_calls:
            message = f"the cap of {self.max_calls} calls is reached"
            raise BudgetSpent(message, hint=f"{_GO_ON} raise --max-calls")
        if self.max_cost is not None:
            mean = self.cost / self._settled if self._settled else 0.0
            held = mean * (self._open + 1)
            if self._open and self._settled < _ENOUGH:
                held = max(held, self._expected + expected)
            if self.cost >= self.max_cost or self.cost + held > self.max_cost:
                message = f"the cap on cost is reached: {self.cost:.4f} spent of {self.max_cost:g}"
                if self._open:
                    message += f", and the {self._open} in flight may take the rest"
                raise BudgetSpent(message, hint=f"{_GO_ON} raise --max-cost")
        self.calls += 1
        self._open += 1
        self._expected += expected

    def settle(self, cost: float | None, expected: float = 0.0) -> None:
        """Book what an admitted call cost; None when nothing was billed for it."""
        self._open -= 1
        self._expected -= expected
        if cost is not None:
            self.cost += cost
            self._settled += 1

    def withdraw(self, expected: float = 0.0) -> None:
        """Take back an admitted call that never reached the endpoint."""
        self._open -= 1
        self._expected -= expected
        self.calls -= 1


class BudgetedClient:
    """Keeps any client within a budget, one `complete` counting as one call.

    `HttpChatClient` takes the budget itself, so that its retries count too: do not wrap it.
    """

    def __init__(self, inner: ChatClient, budget: Budget) -> None:
        self._inner = inner
        self._budget = budget

    @property
    def name(self) -> str:
        """The inner client's name."""
        return self._inner.name

    def describe(self) -> Mapping[str, Any]:
        """The inner client's description."""
        return self._inner.describe()

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask the inner client; raises `BudgetSpent` when a cap is reached."""
        self._budget.admit()
        cost: float | None = None
        try:
            reply = await self._inner.complete(request)
            cost = reply.usage.cost
        finally:
            self._budget.settle(cost)
        return reply

    async def close(self) -> None:
        """Close the inner client."""
        await self._inner.close()
