from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogauge.llm import (
    CallableClient,
    HttpChatClient,
    HttpSettings,
    SamplingParameters,
    ScriptedClient,
    examine,
)
from dialogauge.llm.doctor import is_same_model
from dialogauge.llm.retry import Timing
from dialogauge.llm.transport import Response
from servers.asking import quick
from servers.faults import FaultPlan
from sets import examples


def by_name(report):
    return {check.name: check for check in report.checks}


async def test_a_good_endpoint(serve, connect):
    stub = serve("The sea is wide and blue.", model="stub-model", latency=0.01)
    report = await examine(connect(stub.url))
    checks = by_name(report)
    assert list(checks) == [
        "reachable",
        "model",
        "schema",
        "json_object",
        "logprobs",
        "n",
        "seed",
        "long prompt",
        "parameters",
    ]
    assert {n for n, c in checks.items() if c.status == "ok"} == set(checks) - {
        "logprobs",
        "n",
        "long prompt",
    }
    assert report.usable
    assert report.schema_support == "json_schema"
    assert 0.01 <= report.latency < 1
    assert 6 / 1 < report.tokens_per_second <= 6 / 0.01
    assert len(stub.requests) < 14


async def test_an_endpoint_that_ignores_and_refuses(serve, connect):
    stub = serve(
        "Blue.", schema="ignore", model="stub-model", refused={"seed": "unknown argument seed"}, counts=False
    )
    report = await examine(connect(stub.url, parameters=SamplingParameters(seed=1)))
    checks = by_name(report)
    assert checks["schema"].status == checks["json_object"].status == checks["seed"].status == "limited"
    assert "accepted, but ignored" in checks["schema"].sentence
    assert "unknown argument seed" in checks["parameters"].sentence
    assert set(report.dropped) == {"seed"}
    assert report.tokens_per_second is None
    assert report.usable


@pytest.mark.parametrize("options", [{"key": "right"}, {"model": "another"}])
async def test_an_endpoint_failure_is_reported_not_raised(serve, connect, options):
    report = await examine(connect(serve("x", **options).url, api_key="wrong-key"))
    assert not report.usable
    assert "wrong-key" not in str(report)
    assert report.checks[0].status == "failed"


async def test_an_endpoint_that_gives_no_reply(serve, connect):
    client = connect(serve("x", faults=FaultPlan(always="500")).url, retry=quick(max_retries=0))
    report = await examine(client)
    assert not report.usable
    assert "HTTP 500" in report.checks[0].sentence


async def test_other_clients_are_examined_as_far_as_they_go():
    times = iter(range(100))
    report = await examine(ScriptedClient(["a", "b", "c"]), clock=lambda: next(times))
    assert [(c.name, c.status) for c in report.checks] == [("reachable", "ok"), ("parameters", "ok")]
    assert report.latency == 1
    report = await examine(CallableClient(lambda messages: 1 / 0))
    assert not report.usable


async def test_each_check_is_told_when_it_is_done(serve, connect):
    told = []
    report = await examine(connect(serve("Blue.").url), tell=told.append)
    assert tuple(told) == report.checks
    told.clear()
    report = await examine(connect("http://127.0.0.1:9/v1", retry=quick(max_retries=0)), tell=told.append)
    assert tuple(told) == report.checks


@pytest.mark.parametrize(
    ("asked", "listed", "same"),
    [
        ("llama3", "llama3:latest", True),
        ("llama3:latest", "llama3", True),
        ("gemini-2.0-flash", "models/gemini-2.0-flash", True),
        ("Qwen2.5-7B", "qwen2.5-7b", True),
        ("openai/gpt-4o", "gpt-4o", True),
        ("gpt-4o", "OpenAI/gpt-4o", True),
        ("llama3:8b", "llama3:latest", False),
        ("meta/llama", "other/llama", False),
        ("gpt-4o", "gpt-4o-mini", False),
        ("4o", "gpt-4o", False),
        ("", "x/", False),
        ("x", "models/", False),
    ],
)
async def test_a_model_is_known_by_its_other_names(asked, listed, same):
    assert is_same_model(asked, listed) is same


async def test_the_list_is_read_with_other_names(serve, connect):
    report = await examine(connect(serve("x", model="models/Mine:latest").url, model="mine"))
    check = by_name(report)["model"]
    assert (check.status, check.sentence) == ("ok", "mine is listed as models/Mine:latest")


def knows(window: int, counts: bool = True):
    """A model behind a server that lets it read the last `window` characters of a prompt."""

    def reply(body: dict[str, Any]):
        prompt = body["messages"][-1]["content"][-window:]
        text = "It is Zorvanik." if "zorvanik" in prompt else "There is none."
        return text, {"prompt_tokens": len(prompt) // 4 if counts else 0, "completion_tokens": 4}

    return reply


@pytest.mark.parametrize(
    ("reply", "status", "says"),
    [
        (knows(10**6), "ok", "knows the first word"),
        (knows(8000), "failed", "it counts 2,000 tokens"),
        (knows(8000, counts=False), "limited", "the server may cut it off"),
        (lambda _: ("Blue.", {"prompt_tokens": 9, "completion_tokens": 1}), "not_checked", "short prompt"),
    ],
)
async def test_a_prompt_that_is_cut_in_silence_is_found(serve, connect, reply, status, says):
    report = await examine(connect(serve(reply).url))
    check = by_name(report)["long prompt"]
    assert (check.status, says in check.sentence) == (status, True), check
    assert report.usable == (status != "failed")


TOO_LONG = "400:This model's maximum context length is 2048 tokens"


async def test_a_long_prompt_that_is_refused_is_told(serve, connect):
    stub = serve(
        knows(10**6), faults=FaultPlan(choose=lambda body: TOO_LONG if len(str(body)) > 9000 else None)
    )
    check = by_name(await examine(connect(stub.url)))["long prompt"]
    assert check.status == "limited", check
    assert "too_long" in check.sentence


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries({}, optional={"content": JSON, "refusal": JSON, "reasoning": JSON})
CHOICES = st.fixed_dictionaries(
    {}, optional={"message": JSON | MESSAGES, "logprobs": JSON, "finish_reason": JSON}
)
ANSWERS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "choices": JSON | st.lists(CHOICES | JSON, max_size=3),
        "usage": JSON,
        "error": JSON,
        "data": JSON | st.lists(st.fixed_dictionaries({}, optional={"id": JSON}), max_size=3),
    },
)


@given(st.lists(ANSWERS, min_size=1, max_size=6), st.sampled_from([200, 200, 200, 400, 404, 500]))
@examples(60)
async def test_any_answer_is_a_finding(answers, status):
    turn = iter(range(10**6))

    async def answer(*_: object) -> Response:
        # The first calls are answered in form, so that every probe is sent.
        number = next(turn)
        good = {"choices": [{"message": {"content": "The password is zorvanik."}}]}
        payload = good if number < 3 else answers[number % len(answers)]
        body = json.dumps(payload).encode()
        return Response(200 if number < 3 else status, {}, body, payload)

    async def close() -> None: ...

    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await asyncio.sleep(0)

    timing = Timing(clock=lambda: now, sleep=sleep)
    settings = HttpSettings(retry=quick(max_retries=0))
    client = HttpChatClient("m", "http://127.0.0.1:9/v1", settings=settings, timing=timing)
    vars(client)["_transport"] = SimpleNamespace(post_chat=answer, get=answer, close=close)
    report = await examine(client)
    assert {c.status for c in report.checks} <= {"ok", "limited", "failed", "not_checked"}
    await client.close()
