from __future__ import annotations

import asyncio

import pytest

from dialogauge.core.errors import BudgetSpent, ConfigError
from dialogauge.core.judgement import Usage
from dialogauge.llm import Budget, BudgetedClient, ChatReply, HttpChatClient, PriceTable, ScriptedClient
from dialogauge.llm.budget import Price
from servers.asking import SCORE, question
from servers.faults import FaultPlan


async def test_calls_are_counted_with_retries_and_probes(serve, connect):
    stub = serve('{"score": 4}', faults=FaultPlan(["429", None, "500"]))
    budget = Budget(max_calls=5)
    client = connect(stub.url, budget=budget)
    # 429 and the probe, 500 and the reply: four; one is left.
    await client.complete(question(schema=SCORE))
    await client.complete(question())
    with pytest.raises(BudgetSpent, match=r"cap of 5 calls.*--max-calls"):
        await client.complete(question())
    assert len(stub.requests) == budget.calls == 5


def test_a_cap_of_nothing_is_not_a_cap_that_was_reached():
    """As when one step of a command took all that a later one may ask."""
    with pytest.raises(BudgetSpent, match="no call is left of --max-calls"):
        Budget(max_calls=0).admit()


async def test_many_at_once_never_exceed_the_cap(serve, connect):
    stub = serve("fine", latency=0.005)
    client = connect(stub.url, budget=Budget(max_calls=7))
    done = await asyncio.gather(
        *(client.complete(question(str(i))) for i in range(30)), return_exceptions=True
    )
    assert sum(isinstance(d, ChatReply) for d in done) == 7
    assert sum(isinstance(d, BudgetSpent) for d in done) == 23
    assert len(stub.requests) == 7
    assert client.limits().in_flight == 0


async def test_cost_stops_before_the_cap_is_passed(serve, connect):
    prices = PriceTable([Price("stub-model", 0.0, 1_000_000.0)])  # one word out costs 1
    client = connect(serve("one two").url, budget=Budget(max_cost=7.0, prices=prices))
    costs = [(await client.complete(question())).usage.cost for _ in range(3)]
    assert costs == [2.0, 2.0, 2.0]
    with pytest.raises(BudgetSpent, match=r"6.0000 spent of 7"):
        await client.complete(question())


async def test_the_first_calls_at_once_are_held_for_what_their_size_makes_expect(serve, connect):
    # A probe is settled, 30 tokens in all; then 64 calls come together, each some 1,000 tokens in, 40 out.
    prices = PriceTable([Price("stub-model", 1.0, 1.0)])  # a token costs 1e-6
    budget = Budget(max_cost=0.004, prices=prices)
    client = connect(serve("word " * 40, latency=0.005).url, budget=budget)
    await client.complete(question())
    asked = [question("word " * 1000 + str(i)) for i in range(64)]
    done = await asyncio.gather(*map(client.complete, asked), return_exceptions=True)
    assert 1 <= sum(isinstance(d, ChatReply) for d in done) < 4
    assert budget.cost <= 0.004
    spent = next(str(d) for d in done if isinstance(d, BudgetSpent))
    assert "in flight may take the rest" in spent


def test_once_enough_calls_are_settled_their_mean_decides():
    budget = Budget(max_cost=20)
    for _ in range(8):
        budget.admit(5)
        budget.settle(1.0, 5)
    for _ in range(12):  # 8 spent, 12 held at 1 each
        budget.admit(5)
    with pytest.raises(BudgetSpent, match=r"8\.0000 spent of 20, and the 12 in flight may take the rest"):
        budget.admit(5)


async def test_an_endpoint_that_does_not_count_is_still_capped(serve, connect):
    prices = PriceTable([Price("stub-model", 0.0, 1_000_000.0)])
    client = connect(serve("a" * 30, counts=False).url, budget=Budget(max_cost=15, prices=prices))
    assert (await client.complete(question())).usage.cost is None
    with pytest.raises(BudgetSpent):
        await client.complete(question())


def test_a_cost_cap_without_a_price_refuses_to_start():
    for prices in (None, PriceTable(), PriceTable([Price("other", 1, 1)])):
        with pytest.raises(ConfigError, match=r"'m' is unknown.*--prices.*--max-calls"):
            HttpChatClient("m", "http://localhost/v1", budget=Budget(max_cost=1, prices=prices))
    HttpChatClient("m", "http://localhost/v1", budget=Budget(max_calls=1))


def test_a_negative_cap_is_refused():
    with pytest.raises(ConfigError, match="--max-cost"):
        Budget(max_cost=-1)
    with pytest.raises(ConfigError, match="--max-calls"):
        Budget(max_calls=-1)


async def test_any_client_can_be_kept_within_a_budget():
    reply = ChatReply("x", usage=Usage(1, cost=2.0))
    budget = Budget(max_calls=10, max_cost=5)
    client = BudgetedClient(ScriptedClient([reply] * 5), budget)
    await client.complete(question())
    await client.complete(question())
    with pytest.raises(BudgetSpent):
        await client.complete(question())
    assert (budget.calls, budget.cost) == (2, 4.0)
    assert client.name == "scripted"
    assert client.describe()["kind"] == "scripted"
    await client.close()
