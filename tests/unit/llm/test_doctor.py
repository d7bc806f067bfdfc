from __future__ import annotations

import pytest

from dialogauge.llm import CallableClient, SamplingParameters, ScriptedClient, examine
from servers.asking import quick
from servers.faults import FaultPlan


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
        "parameters",
    ]
    assert {n for n, c in checks.items() if c.status == "ok"} == set(checks) - {"logprobs", "n"}
    assert report.usable
    assert report.schema_support == "json_schema"
    assert 0.01 <= report.latency < 1
    assert 6 / 1 < report.tokens_per_second <= 6 / 0.01
    assert len(stub.requests) < 12


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
    assert "server_error" in report.checks[0].sentence


async def test_other_clients_are_examined_as_far_as_they_go():
    times = iter(range(100))
    report = await examine(ScriptedClient(["a", "b", "c"]), clock=lambda: next(times))
    assert [(c.name, c.status) for c in report.checks] == [("reachable", "ok"), ("parameters", "ok")]
    assert report.latency == 1
    report = await examine(CallableClient(lambda messages: 1 / 0))
    assert not report.usable
