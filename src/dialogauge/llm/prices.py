"""What a model's tokens cost, from a file of the user's; a price that is not there is unknown, never 0."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialogauge.core.errors import ConfigError, Place

__all__ = ["Price", "PriceTable"]

_KEYS = frozenset({"name", "input_per_million", "output_per_million", "cached_input_per_million", "currency"})


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one model's tokens, per million."""

    name: str
    input_per_million: float
    output_per_million: float
    cached_input_per_million: float | None = None
    """For prompt tokens that the provider had in its cache; as other input where None."""


class PriceTable:
    """The prices of some models, all in one currency.

    The file: ``[[model]]`` tables with ``name``, ``input_per_million``, ``output_per_million`` and, if
    need be, ``cached_input_per_million`` and ``currency``.
    """

    def __init__(self, prices: Iterable[Price] = (), *, currency: str = "USD") -> None:
        self.currency = currency
        self._prices = {price.name: price for price in prices}

    @classmethod
    def load(cls, path: Path) -> PriceTable:
        """Read a TOML file; raises `ConfigError` that names the file and the entry at fault."""
        place = Place(str(path))
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            message = f"the price table cannot be read: {why}"
            raise ConfigError(message, place=place) from None
        tables = content.get("model")
        if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
            message = "the price table has no [[model]] entries"
            raise ConfigError(message, place=place, hint="see the command `dialogauge init` for a sample")
        prices = [_price(table, place) for table in tables]
        return cls(prices, currency=_currency(tables, place))

    def knows(self, model: str) -> bool:
        """Say whether the model has a price."""
        return model in self._prices

    def cost(self, model: str, prompt: int, completion: int, cached: int = 0) -> float | None:
        """Return what a call cost; None when the model has no price.

        Args:
            model: The name under which the model is asked for.
            prompt: Prompt tokens, the cached ones included.
            completion: Completion tokens, reasoning included.
            cached: Prompt tokens that the provider had in its cache.
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
    cached = table.get("cached_input_per_million")
    return Price(
        name,
        _amount(table, "input_per_million", place),
        _amount(table, "output_per_million", place),
        None if cached is None else _amount(table, "cached_input_per_million", place),
    )


def _amount(table: Mapping[str, Any], key: str, place: Place) -> float:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        message = f"model {table['name']!r}: {key} must be a number from 0 up, not {value!r}"
        raise ConfigError(message, place=place, hint="a model that costs nothing has the price 0")
    return float(value)


def _currency(tables: Iterable[Mapping[str, Any]], place: Place) -> str:
    currencies = {str(t["currency"]) for t in tables if "currency" in t}
    if len(currencies) > 1:
        message = f"the price table mixes currencies: {', '.join(sorted(currencies))}"
        raise ConfigError(message, place=place, hint="costs are summed: give all prices in one currency")
    return currencies.pop() if currencies else "USD"
