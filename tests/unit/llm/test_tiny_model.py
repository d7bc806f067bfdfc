"""A real model behind a real HTTP endpoint, and in this process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys

import pytest

from dialogauge.core.errors import EndpointError, MissingExtra
from dialogauge.llm import (
    ChatRequest,
    ReplySchema,
    RetrySettings,
    SamplingParameters,
    Structured,
    TransformersClient,
    ask,
)
from servers.schemas import conforms, instance
from servers.tiny_model import ModelReply, build_tiny_model, card_examples, card_schema, serve_model

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("torch")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return build_tiny_model(tmp_path_factory.getbasetemp() / "tiny_model")


@pytest.fixture(scope="module")
def server(folder):
    with serve_model(folder) as server:
        yield server


def unseen(count, **options):
    return [
        (tuple(messages), json.loads(reply)) for messages, reply in card_examples(count, seed=77, **options)
    ]


@pytest.mark.long
async def test_the_model_is_held_to_the_schema_over_http(server, connect):
    client = connect(server.url, "tiny", retry=RetrySettings())
    for messages, gold in unseen(10):
        schema = card_schema(len(gold["per_turn"]))
        request = ChatRequest(messages, schema=ReplySchema("card", schema))
        outcome = await ask(client, request, lambda value: value, reask=str)
        assert isinstance(outcome, Structured)
        assert conforms(outcome.value, schema)
        assert not outcome.reasked
        assert outcome.usage.completion_tokens > 50
    assert client.describe()["schema_support"]["rung"] == "json_schema"


@pytest.mark.long
async def test_the_model_has_learnt_the_schema_by_itself(server, connect):
    client = connect(server.url, "tiny", retry=RetrySettings())
    valid = 0
    examples = unseen(10)
    for messages, gold in examples:
        reply = await client.complete(ChatRequest(messages, max_tokens=500))
        with contextlib.suppress(ValueError):
            valid += conforms(json.loads(reply.text), card_schema(len(gold["per_turn"])))
    assert valid >= 0.9 * len(examples)


def test_any_schema_is_obeyed_and_the_model_chooses(folder):
    reply = ModelReply(folder)
    number = {"type": "integer", "minimum": 1, "maximum": 12}
    schema = {
        "type": "object",
        "$defs": {"number": number},
        "properties": {
            "any": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}, number]},
            "types": {"type": ["boolean", "null"]},
            "reference": {"$ref": "#/$defs/number"},
            "list": {
                "type": "array",
                "items": {"type": "string", "minLength": 2},
                "minItems": 2,
                "maxItems": 3,
            },
            "pair": {
                "type": "array",
                "prefixItems": [number, {"type": "null"}],
                "minItems": 2,
                "maxItems": 2,
            },
            "criteria": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "criterion": {"type": "string", "enum": ["drifts", "gives_in"]},
                        "turns": {
                            "type": "array",
                            "items": {"type": "integer", "enum": [2, 3]},
                            "minItems": 1,
                        },
                        "quote": {"type": "string"},
                    },
                    "required": ["criterion", "turns", "quote"],
                    "additionalProperties": False,
                },
            },
            'odd "name"': {"enum": ["a b", "a", "中文", 3, None]},
            "nothing": {"type": "object", "properties": {}},
            "constant": {"const": {"x": [1]}},
        },
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}}
    texts = set()
    for seed in range(12):
        messages = [{"role": "user", "content": "Whatever."}]
        body = {"messages": messages, "response_format": wanted, "temperature": 3.0, "seed": seed}
        text, usage = reply(body)
        assert conforms(json.loads(text), schema), text
        assert usage["completion_tokens"] > 0
        texts.add(text)
    assert len(texts) > 6
    assert reply(body)[0] == text
    assert conforms(instance(schema), schema)


# In this process


async def test_a_model_in_process_is_greedy_and_counts(folder):
    client = TransformersClient(str(folder), parameters=SamplingParameters(temperature=0.0), name="tiny")
    messages, _ = unseen(1)[0]
    first = await client.complete(ChatRequest(messages, max_tokens=400))
    second = await client.complete(ChatRequest(messages, max_tokens=400))
    assert first == second
    assert (first.finish, first.model, first.usage.cost, first.usage.calls) == ("stop", "tiny", 0.0, 1)
    assert json.loads(first.text)["per_turn"]
    cut = await client.complete(ChatRequest(messages, max_tokens=9))
    assert (cut.finish, cut.usage.completion_tokens) == ("length", 9)
    assert first.text.startswith(cut.text)
    await client.close()
    await client.close()


async def test_a_seed_pins_sampling_and_the_repeat_changes_it(folder):
    parameters = SamplingParameters(temperature=5.0, top_p=0.9, seed=3, max_tokens=8)
    client = TransformersClient(str(folder), parameters=parameters)
    messages, _ = unseen(1)[0]
    replies = [await client.complete(ChatRequest(messages, salt=salt)) for salt in (0, 0, 1)]
    assert replies[0] == replies[1] != replies[2]
    await client.close()


async def test_a_prompt_that_does_not_fit_is_a_failure(folder):
    client = TransformersClient(str(folder))
    failure = await client.complete(ChatRequest(({"role": "user", "content": "1 " * 20_000},)))
    assert failure.kind == "too_long"
    await client.close()


async def test_a_folder_without_a_model_stops(tmp_path):
    pytest.importorskip("transformers")
    client = TransformersClient(str(tmp_path))
    with pytest.raises(EndpointError, match="cannot be loaded"):
        await client.complete(ChatRequest(({"role": "user", "content": "x"},)))
    await client.close()


async def test_without_the_extra_the_message_says_which(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    client = TransformersClient("m")
    with pytest.raises(MissingExtra, match=r"dialogauge\[transformers\]"):
        await client.complete(ChatRequest(({"role": "user", "content": "x"},)))
    await client.close()


async def test_what_a_model_in_process_cannot_do_fails_the_one_request(folder, monkeypatch):
    client = TransformersClient(str(folder), device="cpu")
    messages, _ = unseen(1)[0]
    await client.complete(ChatRequest(messages, max_tokens=2))
    model, tokenizer, device = client._loaded
    assert device == "cpu"

    def out_of_memory(**_):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(model, "generate", out_of_memory)
    failure = await client.complete(ChatRequest(messages, max_tokens=2))
    assert (failure.kind, "could not generate: CUDA out of memory" in failure.message) == (
        "server_error",
        True,
    )
    monkeypatch.setattr(tokenizer, "chat_template", "{{ raise_exception('no system role') }}")
    failure = await client.complete(ChatRequest(messages, max_tokens=2))
    assert (failure.kind, "no system role" in failure.message) == ("rejected", True)
    await client.close()


async def test_a_model_without_a_chat_template_stops(folder, monkeypatch):
    transformers = pytest.importorskip("transformers")
    plain = transformers.AutoTokenizer.from_pretrained(str(folder))
    plain.chat_template = None
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda _, **more: plain)
    client = TransformersClient(str(folder))
    with pytest.raises(EndpointError, match="has no chat template"):
        await client.complete(ChatRequest(({"role": "user", "content": "x"},)))
    await client.close()


async def test_two_models_side_by_side_reply_as_each_alone(folder):
    parameters = SamplingParameters(temperature=1.0, max_tokens=12, seed=5)
    requests = [ChatRequest(messages, max_tokens=12, salt=n) for n, (messages, _) in enumerate(unseen(4), 1)]

    async def replies(clients):
        asked = [client.complete(request) for request in requests for client in clients]
        return [reply.text for reply in await asyncio.gather(*asked)]

    first, second, alone = (TransformersClient(str(folder), parameters=parameters) for _ in range(3))
    together = await replies([first, second])
    assert together[::2] == together[1::2] == await replies([alone])
