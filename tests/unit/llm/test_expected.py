from __future__ import annotations

import json

import pytest

from dialogauge.llm import CountingClient, Expected, PriceTable
from dialogauge.llm.budget import Price
from dialogauge.llm.protocol import ChatFailure, ChatReply, ChatRequest, ReplySchema
from dialogauge.llm.scripted import CallableClient

SCORED = {"type": "object", "properties": {"score": {"type": "number"}}}
TEXT = {"type": "string", "description": "in a sentence"}


def request(content: str = "äb", **fields: object) -> ChatRequest:
    schema = ReplySchema("it", {"type": "object", "properties": fields}) if fields else None
    return ChatRequest(({"role": "user", "content": content},), schema=schema)


@pytest.fixture
def client() -> CountingClient:
    return CountingClient(CallableClient(lambda _: pytest.fail("it was asked"), name="m"))


@pytest.mark.parametrize(
    "fields",
    [
        {"score": {"type": "integer"}, "why": TEXT},
        {"class": {"type": "string", "enum": ["SAT", "DSAT"]}, "why": TEXT},
        {
            "turns": {
                "type": "array",
                "items": {"type": "object", "properties": {"score": {"type": "number"}}},
            }
        },
    ],
)
async def test_what_judges_has_no_reply(client, fields) -> None:
    reply = await client.complete(request(**fields))
    assert isinstance(reply, ChatFailure)
    assert (client.calls, client.prompts, client.assumed) == (1, 3, 0)


async def test_what_later_prompts_hold_is_made_up_in_the_usual_length(client) -> None:
    """500 tokens of 3 bytes: 2 sentences of 120 bytes in the list, the rest is for the two texts."""
    listed = {"type": "array", "items": TEXT, "maxItems": 2}
    replies = [await client.complete(request(style=TEXT, form=TEXT, criteria=listed)) for _ in range(2)]
    values = [json.loads(reply.text) for reply in replies if isinstance(reply, ChatReply)]
    assert [len(v["style"]) for v in values] == [630, 630]
    assert [len(text) for v in values for text in v["criteria"]] == [120] * 4
    texts = [text for v in values for text in (v["style"], v["form"], *v["criteria"])]
    assert len(set(texts)) == 8
    assert client.assumed == 2


async def test_a_free_reply_is_made_up(client) -> None:
    replies = [await client.complete(request()) for _ in range(2)]
    texts = [reply.text for reply in replies if isinstance(reply, ChatReply)]
    assert [len(text) for text in texts] == [1500, 1500]
    assert texts[0] != texts[1]


async def test_a_choice_inside_a_list_is_the_first(client) -> None:
    seen = {"type": "object", "properties": {"task": {"type": "string", "enum": ["cook"]}, "seen": TEXT}}
    reply = await client.complete(request(notes={"type": "array", "items": seen}))
    assert isinstance(reply, ChatReply)
    notes = json.loads(reply.text)["notes"]
    assert [one["task"] for one in notes] == ["cook"] * 3


async def test_models_are_added_up_and_a_price_that_is_missing_makes_the_cost_unknown(client) -> None:
    """3 + 2 * 3 bytes are 1 + 2 tokens; a call is answered in 500."""
    other = CountingClient(client.inner)
    for one, calls in ((client, 1), (other, 2)):
        for _ in range(calls):
            await one.complete(request())
    clients = [("m", client), ("n", other)]
    both = PriceTable([Price("m", 1e6, 0.0), Price("n", 0.0, 1e6)], currency="EUR")
    assert Expected.counted(clients, both) == Expected(3, 3, 1500, 1.0 + 1000.0, "EUR", 3)
    assert Expected.counted(clients, PriceTable([Price("m", 1e6, 0.0)])).cost is None
    one, two = (Expected.counted([each], both) for each in clients)
    assert one + two == Expected.counted(clients, both)
    assert (Expected(0, 0, 0, None, "USD") + one).cost == 1.0
    unused = [("m", client), ("n", CountingClient(client.inner))]
    assert Expected.counted(unused, PriceTable([Price("m", 1e6, 0.0)])).cost == 1.0
