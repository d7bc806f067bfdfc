"""Prices, and caps on calls and cost that all clients of a run share."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dialogauge.core.errors import BudgetSpent, ConfigError, Place
from dialogauge.core.files import read_text, shown_path
from dialogauge.core.values import Value
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatReply, ChatRequest, WrappedClient

BYTES_PER_TOKEN: Final = 3
"""An upper estimate for caps on cost, for endpoints that do not count their tokens."""
REPLY_TOKENS: Final = 500
"""Of a usual reply."""


class PrefixMeter:
    """Measures the common beginning of consecutive prompts to one endpoint.

    Servers that cache prefixes (vLLM, SGLang, most vendors) keep more than the last prompt, so this is a
    lower bound of what they can reuse.
    """

    def __init__(self) -> None:
        self._previous: list[tuple[str, str]] = []

    def measure(self, messages: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        """Return the length of a prompt and of its common beginning with the previous one, in characters."""
        prompt = [(str(m.get("role")), _text(m.get("content"))) for m in messages]
        repeated = 0
        for (old_role, old), (role, text) in zip(self._previous, prompt, strict=False):
            if role != old_role:
                break
            # The length of the common beginning, by bisection: a loop is 100 times slower.
            if old == text:
                same = len(text)
            else:
                same, high = 0, min(len(old), len(text))
                while same < high:
                    middle = (same + high + 1) // 2
                    if old[same:middle] == text[same:middle]:
                        same = middle
                    else:
                        high = middle - 1
            repeated += same
            if same < len(old) or same < len(text):
                break
        self._previous = prompt
        return sum(len(text) for _, text in prompt), repeated


def _text(content: object) -> str:
    return content if isinstance(content, str) else str(content or "")


_KEYS = frozenset({"name", "input_per_million", "output_per_million", "cached_input_per_million", "currency"})


_DEAREST = 10**12


class Price(Value):
    """The price of one model's tokens, per million."""

    name: str
    input_per_million: float
    output_per_million: float
    cached_input_per_million: float | None = None
    """For prompt tokens from the provider's cache; None: as other input."""


class PriceTable:
    """The prices of models, all in one currency.

    The file has ``[[model]]`` tables with ``name``, ``input_per_million``, ``output_per_million`` and
    optionally ``cached_input_per_million`` and ``currency``.
    """

    def __init__(self, prices: Iterable[Price] = (), *, currency: str = "USD") -> None:
        self.currency = currency
        self._prices = {price.name: price for price in prices}

    @classmethod
    def load(cls, path: Path) -> PriceTable:
        """Read a TOML file; a `ConfigError` names the file and the wrong entry."""
        text, place = read_text(path, "price table"), Place(shown_path(path))
        try:
            content = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            message = f"the price table cannot be read: {error}"
            raise ConfigError(message, place=place) from None
        tables = content.get("model")
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            message = "the price table has no [[model]] entries"
            raise ConfigError(message, place=place, hint="see the command `dialogauge init` for a sample")
        prices = [_price(table, place) for table in tables]
        names = [price.name for price in prices]
        if twice := next((name for name in names if names.count(name) > 1), None):
            message = f"the model {twice!r} has two prices"
            raise ConfigError(message, place=place, hint="keep one of its [[model]] entries")
        currencies = {t["currency"] for t in tables if "currency" in t}
        if len(currencies) > 1:
            message = f"the price table mixes currencies: {', '.join(sorted(currencies))}"
            raise ConfigError(message, place=place, hint="costs are summed: give all prices in one currency")
        return cls(prices, currency=currencies.pop() if currencies else "USD")

    def knows(self, model: str) -> bool:
        """Say whether the model has a price."""
        return model in self._prices

    def cost(self, model: str, prompt: int, completion: int, cached: int = 0) -> float | None:
        """Return the cost of a call by its tokens; None if the model has no price.

        `cached` tokens of the prompt come from the provider's cache; reasoning counts as completion.
        """
        price = self._prices.get(model)
        if price is None:
            return None
        reduced = price.cached_input_per_million
        if reduced is None:
            reduced = price.input_per_million
        tokens = (prompt - cached) * price.input_per_million + cached * reduced
        return (tokens + completion * price.output_per_million) / 1_000_000


def _price(table: Mapping[str, Any], place: Place) -> Price:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        message = "a [[model]] entry has no name"
        raise ConfigError(message, place=place)
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        message = f"model {name!r}: unknown key {unknown[0]!r}"
        raise ConfigError(message, place=place, hint=f"known are {', '.join(sorted(_KEYS))}")
    if not isinstance(table.get("currency", ""), str):
        message = f"model {name!r}: the currency is no text"
        raise ConfigError(message, place=place)
    cached = table.get("cached_input_per_million")
    return Price(
        name,
        _amount(table, "input_per_million", place),
        _amount(table, "output_per_million", place),
        None if cached is None else _amount(table, "cached_input_per_million", place),
    )


def _amount(table: Mapping[str, Any], key: str, place: Place) -> float:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _DEAREST:
        shown = "more" if isinstance(value, int) and value > _DEAREST else repr(value)
        message = f"model {table['name']!r}: {key} must be a number from 0 to {_DEAREST:,}, not {shown}"
        raise ConfigError(message, place=place, hint="a model that costs nothing has the price 0")
    return float(value)


_ENOUGH = 8
"""Settled calls from which on their mean predicts the cost of the next."""
_CONTINUE = "run the same command to go on, with a cap of the same size for what is left, or"


class Budget:
    """Caps on calls and cost; retries, re-asks and probes count like any other call.

    A call is admitted before it is sent and settled when its answer is there, so calls in flight count. Each
    of those is assumed to cost the mean of the settled calls; while these are few, its expected cost if that
    is more.
    """

    def __init__(
        self,
        max_calls: int | None = None,
        max_cost: float | None = None,
        prices: PriceTable | None = None,
    ) -> None:
        for name, cap in (("--max-calls", max_calls), ("--max-cost", max_cost)):
            if cap is not None and not cap >= 0:
                message = f"{name} must not be negative, and is {cap}"
                raise ConfigError(message)
        self.max_calls = max_calls
        self.max_cost = max_cost
        self.prices = prices or PriceTable()
        self.calls = 0
        self.cost = 0.0
        self._open = 0
        self._expected = 0.0
        self._settled = 0

    def require_price(self, model: str) -> None:
        """Raise `ConfigError` for a cap on cost if the model has no price."""
        if self.max_cost is None or self.prices.knows(model):
            return
        message = f"--max-cost cannot be kept: the price of model {model!r} is unknown"
        hint = "give its price with --prices FILE, or cap the number of calls with --max-calls N instead"
        raise ConfigError(message, hint=hint)

    def admit(self, expected: float = 0.0) -> None:
        """Count one call that is about to be sent; raises `BudgetSpent` when a cap is reached.

        Its `expected` cost is ignored while no other call is in flight.
        """
        if self.max_calls is not None and self.calls >= self.max_calls:
            spent = f"the cap of {self.max_calls} calls is reached"
            message = spent if self.max_calls else "no call is left of --max-calls"
            raise BudgetSpent(message, hint=f"{_CONTINUE} raise --max-calls")
        if self.max_cost is not None:
            mean = self.cost / self._settled if self._settled else 0.0
            reserved = mean * (self._open + 1)
            if self._open and self._settled < _ENOUGH:
                reserved = max(reserved, self._expected + expected)
            if self.cost >= self.max_cost or self.cost + reserved > self.max_cost:
                message = f"the cap on cost is reached: {self.cost:.4f} spent of {self.max_cost:g}"
                if self._open:
                    message += f", and the {self._open} in flight may take the rest"
                raise BudgetSpent(message, hint=f"{_CONTINUE} raise --max-cost")
        self.calls += 1
        self._open += 1
        self._expected += expected

    def settle(self, cost: float | None, expected: float = 0.0) -> None:
        """Book the cost of an admitted call; None if it was not billed."""
        self._open -= 1
        self._expected -= expected
        if cost is not None:
            self.cost += cost
            self._settled += 1

    def withdraw(self, expected: float = 0.0) -> None:
        """Cancel an admitted call that never reached the endpoint."""
        self._open -= 1
        self._expected -= expected
        self.calls -= 1


class BudgetedClient(WrappedClient):
    """Keeps any client within a budget; one `complete` counts as one call.

    Do not wrap `HttpChatClient`: it takes the budget itself, so that its retries count.
    """

    def __init__(self, inner: ChatClient, budget: Budget) -> None:
        super().__init__(inner)
        self._budget = budget

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask the inner client; raises `BudgetSpent` when a cap is reached."""
        self._budget.admit()
        cost: float | None = None
        try:
            reply = await self.inner.complete(request)
            cost = reply.usage.cost
        finally:
            self._budget.settle(cost)
        return reply
