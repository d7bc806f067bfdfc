"""A shop with two tables and six tools: an environment to check tasks in, and a pattern for one of your own.

    dialogauge success runs.jsonl --kind tau --environment py:shop:SHOP

A tool takes the tables, then its arguments by name. It changes the tables in place, and raises to refuse.
"""

from __future__ import annotations

from typing import Any

from dialogauge.agents import TableEnvironment, World

Tables = dict[str, dict[str, dict[str, Any]]]

TABLES: Tables = {
    "orders": {
        "o1": {"customer": "ana", "items": ["p1"], "status": "pending"},
        "o2": {"customer": "ana", "items": ["p2"], "status": "delivered"},
        "o3": {"customer": "ben", "items": ["p1", "p3"], "status": "pending"},
    },
    "products": {
        "p1": {"name": "mug", "colour": "blue", "price": 9.5, "stock": 10},
        "p2": {"name": "mug", "colour": "red", "price": 9.5, "stock": 0},
        "p3": {"name": "plate", "colour": "white", "price": 12.0, "stock": 4},
    },
}


def orders_of(tables: Tables, customer: str) -> list[str]:
    """Return the ids of a customer's orders."""
    return [id for id, order in tables["orders"].items() if order["customer"] == customer]


def order(tables: Tables, id: str) -> dict[str, Any]:
    """Return an order."""
    return tables["orders"][id]


def products_named(tables: Tables, name: str) -> list[str]:
    """Return the ids of the products of that name."""
    return [id for id, product in tables["products"].items() if product["name"] == name]


def product(tables: Tables, id: str) -> dict[str, Any]:
    """Return a product."""
    return tables["products"][id]


def cancel(tables: Tables, id: str) -> None:
    """Cancel an order that is pending, and put its items back on the shelf."""
    cancelled = tables["orders"][id]
    if cancelled["status"] != "pending":
        message = f"{id} is {cancelled['status']}"
        raise ValueError(message)
    cancelled["status"] = "cancelled"
    for item in cancelled["items"]:
        tables["products"][item]["stock"] += 1


def exchange(tables: Tables, id: str, item: str, instead: str) -> None:
    """Put a product that is in stock in the place of an item of an order."""
    if tables["products"][instead]["stock"] < 1:
        message = f"{instead} is sold out"
        raise ValueError(message)
    items = tables["orders"][id]["items"]
    items[items.index(item)] = instead
    tables["products"][item]["stock"] += 1
    tables["products"][instead]["stock"] -= 1


TOOLS = {tool.__name__: tool for tool in (orders_of, order, products_named, product, cancel, exchange)}
SHOP = TableEnvironment({None: World(TABLES, TOOLS)})
