from __future__ import annotations

import asyncio
import gc
import json
import logging
import random
import socket
import warnings

import pytest

from dialogauge.core.errors import ConfigError, EndpointError
from dialogauge.core.judgement import Usage
from dialogauge.llm import ChatFailure, ChatReply, ChatRequest, PriceTable, SamplingParameters
from dialogauge.llm.budget import Budget, Price
from dialogauge.llm.problems import Problem
from dialogauge.llm.retry import Timing
from servers.asking import SCORE, but_for_barest, question, quick
from servers.faults import FaultPlan

KEY = "sk-very-secret-0123456789"
# A request that is ended while it connects leaves its socket to Python, which closes it when it comes to it.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(scope="module", autouse=True)
def closed_here():
    """Let no socket of these tests be closed in a later one."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def test_a_reply_carries_text_finish_and_usage(serve, connect):
    stub = serve("Rather good.")
    prices = PriceTable([Price("stub-model", 2.0, 10.0)])
    reply = await connect(stub.url, budget=Budget(prices=prices)).complete(question("one two three"))
    # 3 words in, 2 out: 3 * 2 / 1e6 + 2 * 10 / 1e6
    assert reply == ChatReply("Rather good.", "stop", Usage(1, 0, 3, 2, 26e-6, 13, 0), None, "stub-model")


async def test_what_repeats_the_previous_prompt_is_counted_once_per_request(serve, connect):
    stub = serve("ok", faults=FaultPlan([None, "500"]))
    client = connect(stub.url)
    first, second = [await client.complete(question(text)) for text in ("one two", "one three")]
    assert (first.usage.prompt_chars, first.usage.repeated_chars) == (7, 0)
    assert second.usage.calls == 2  # the second request was sent again
    assert (second.usage.prompt_chars, second.usage.repeated_chars) == (9, len("one t"))


async def test_parameters_and_overrides_reach_the_endpoint(serve, connect):
    stub = serve("ok")
    extra = {"stop": ["END"], "top_k": 3}
    parameters = SamplingParameters(temperature=0.0, max_tokens=100, seed=7, extra=extra)
    client = connect(stub.url, api_key=KEY, parameters=parameters)
    await client.complete(question(salt=2, max_tokens=200))
    sent = stub.requests[0]
    assert sent["messages"] == [{"role": "user", "content": "How good was it?"}]
    assert (sent["temperature"], sent["max_tokens"], sent["seed"]) == (0.0, 200, 9)
    assert (sent["stop"], sent["top_k"], sent["model"]) == (["END"], 3, "stub-model")
    assert stub.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_a_repeat_has_a_seed_of_its_own_unless_seeds_are_refused(serve, connect):
    stub = serve("ok")
    client = connect(stub.url)
    for salt in (0, 1, 2):
        await client.complete(question(salt=salt))
    assert [sent.get("seed") for sent in stub.requests] == [None, 1, 2]
    stub.faults = FaultPlan(choose=lambda body: "400:Invalid request." if "seed" in body else None)
    client = connect(stub.url)
    assert all([isinstance(await client.complete(question(salt=salt)), ChatReply) for salt in (0, 1, 2)])
    assert "seed" not in stub.requests[-1]
    random_one = connect(stub.url, parameters=SamplingParameters(seed=-1))
    stub.faults = FaultPlan()
    await random_one.complete(question(salt=1))
    assert stub.requests[-1]["seed"] == -1


async def test_an_endpoint_that_cuts_prompts_is_named(serve, connect, caplog):
    stub = serve(lambda body: ("fine", {"prompt_tokens": 512, "completion_tokens": 1}))
    client = connect(stub.url)
    for _ in range(2):
        await client.complete(question("word " * 5000))
    assert "512 tokens" in client.notice
    assert len(caplog.records) == 1


async def test_an_unknown_price_or_an_uncounted_reply_has_no_cost(serve, connect):
    reply = await connect(serve("ok").url, budget=Budget(prices=PriceTable())).complete(question())
    assert reply.usage.cost is None
    prices = PriceTable([Price("stub-model", 1, 1)])
    reply = await connect(serve("ok", counts=False).url, budget=Budget(prices=prices)).complete(question())
    assert reply.usage == Usage(1, 0, 0, 0, None, 16, 0)


@pytest.mark.parametrize(
    "fault",
    [
        "429",
        "429:0.01",
        "500",
        "502",
        "html502",
        "503",
        "503:0.01",
        "drop",
        "reset",
        "html",
        "error200",
        "no_choices",
    ],
)
async def test_a_passing_fault_is_retried(serve, connect, fault):
    stub = serve("fine", faults=FaultPlan([None, fault]))
    client = connect(stub.url)
    await client.complete(question())
    reply = await client.complete(question())
    assert isinstance(reply, ChatReply)
    assert reply.text == "fine"
    assert len(stub.requests) == 3
    # A connection that broke gave no answer.
    assert reply.usage.calls == 2


async def test_a_connection_closed_between_requests_is_no_failure(serve, connect):
    stub = serve("fine", faults=FaultPlan(always="close"))
    client = connect(stub.url)
    for _ in range(4):
        assert isinstance(await client.complete(question()), ChatReply)
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("500", "server_error"),
        ("html502", "server_error"),
        ("html", "server_error"),
        ("error200", "server_error"),
        ("drop", "connection"),
        ("no_choices", "empty_reply"),
    ],
)
async def test_a_lasting_fault_is_a_failure_after_bounded_retries(serve, connect, fault, kind):
    stub = serve("fine")
    client = connect(stub.url, retry=quick(max_retries=3))
    await client.complete(question())
    stub.faults = but_for_barest(fault)
    failure = await client.complete(question())
    assert isinstance(failure, ChatFailure)
    assert failure.kind == kind
    again = kind != "empty_reply"  # nobody else was answered: the barest question is, and the item once more
    assert len(stub.requests) == 1 + 4 + 2 * again
    assert failure.usage.calls == 4 + 2 * again
    assert f"{4 + again} attempts" in failure.message


@pytest.mark.parametrize("fault", ["503", "html502", "500", "hang", "drop"])
async def test_an_endpoint_that_answers_nobody_ends_the_run(serve, connect, fault):
    stub = serve("fine", faults=FaultPlan([None], always=fault))
    client = connect(stub.url, retry=quick(attempt_deadline=0.05, item_deadline=0.5, max_retries=2))
    await client.complete(question())
    with pytest.raises(EndpointError):
        await client.complete(question())


@pytest.mark.parametrize("fault", ["503", "html502", "reset"])
async def test_an_endpoint_that_is_down_for_a_while_costs_nobody_a_score(serve, connect, fault):
    stub = serve("fine", latency=0.002)
    client = connect(stub.url, retry=quick(max_retries=2))
    await client.complete(question())
    stub.faults = FaultPlan([fault] * 60)
    ended = await asyncio.gather(*(client.complete(question(str(n))) for n in range(8)))
    assert all(isinstance(reply, ChatReply) for reply in ended)
    assert len(stub.requests) == 1 + sum(reply.usage.calls for reply in ended)


@pytest.mark.parametrize("fault", ["empty", "null"])
async def test_an_empty_reply_is_a_failure(serve, connect, fault):
    failure = await connect(serve("x", faults=FaultPlan([fault])).url).complete(question())
    assert isinstance(failure, ChatFailure)
    assert (failure.kind, failure.usage.calls) == ("empty_reply", 1)


async def test_hanging_meets_the_deadline_of_the_attempt(serve, connect):
    stub = serve("fine", faults=FaultPlan(["hang"]))
    reply = await connect(stub.url, retry=quick(attempt_deadline=0.1)).complete(question())
    assert isinstance(reply, ChatReply)
    stub = serve("fine", faults=but_for_barest("hang"))
    failure = await connect(stub.url, retry=quick(attempt_deadline=0.05, max_retries=1)).complete(question())
    assert isinstance(failure, ChatFailure)
    assert (failure.kind, failure.usage.calls) == ("timeout", 3)


async def test_a_slow_drip_meets_the_deadline_too(serve, connect):
    stub = serve("fine", faults=but_for_barest("drip:0.3"))
    failure = await connect(stub.url, retry=quick(attempt_deadline=0.05, max_retries=0)).complete(question())
    assert isinstance(failure, ChatFailure)
    assert failure.kind == "timeout"


async def test_rate_limits_are_waited_out_until_the_deadline_of_the_item(serve, connect):
    stub = serve("fine", faults=FaultPlan(["429"] * 12))
    reply = await connect(stub.url, retry=quick(max_retries=1)).complete(question())
    assert isinstance(reply, ChatReply)
    assert reply.usage.calls == 13
    stub = serve("fine", faults=FaultPlan(choose=lambda body: "429" if "unlucky" in str(body) else None))
    client = connect(stub.url, retry=quick(item_deadline=0.3))
    asking = asyncio.create_task(client.complete(question("unlucky")))
    while not asking.done():
        assert isinstance(await client.complete(question()), ChatReply)
    assert asking.result().kind == "rate_limited"


async def test_an_endpoint_that_lets_nobody_in_ends_the_run(serve, connect):
    stub = serve("fine", faults=FaultPlan([None], always="429:\u4f59\u989d\u4e0d\u8db3"))
    client = connect(stub.url, retry=quick(item_deadline=0.2))
    await client.complete(question())
    with pytest.raises(EndpointError, match="\u4f59\u989d\u4e0d\u8db3"):
        await client.complete(question())


async def test_retry_after_is_honoured_by_everyone_and_capped(serve, connect):
    stub = serve("fine", faults=FaultPlan(["429:0.15"]))
    client = connect(stub.url)
    asking = asyncio.create_task(client.complete(question()))
    await asyncio.sleep(0.05)
    assert client.limits().paused_for > 0
    other = asyncio.create_task(client.complete(question()))
    await asyncio.gather(asking, other)
    assert all(later - stub.times[0] >= 0.15 for later in stub.times[1:])
    stub = serve("fine", faults=FaultPlan(["429:3600"]))
    reply = await connect(stub.url, retry=quick(retry_after_cap=0.05)).complete(question())
    assert isinstance(reply, ChatReply)


async def test_nobody_waits_longer_than_the_deadline_and_a_long_pause_is_told(serve, connect, caplog):
    stub = serve("fine", faults=FaultPlan(always="503:259200"))
    client = connect(stub.url, retry=quick(item_deadline=0.3))
    with caplog.at_level(logging.WARNING):
        async with asyncio.timeout(10):
            for ended in await asyncio.gather(
                *(client.complete(question(str(n))) for n in range(3)), return_exceptions=True
            ):
                assert isinstance(ended, EndpointError)
    assert "asks for a pause of 259200 s" in caplog.text


async def test_nobody_slips_in_between_a_refusal_and_its_pause(serve, connect):
    """The place of the request that was told to wait must not let in the next one first."""
    stub = serve("fine", faults=FaultPlan(["429:0.15"]))
    client = connect(stub.url, settings={"max_concurrency": 1})
    await asyncio.gather(*(client.complete(question(str(n))) for n in range(3)))
    assert all(later - stub.times[0] >= 0.15 for later in stub.times[1:])


async def test_a_missing_credit_is_no_rate_limit(serve, connect):
    stub = serve("x", faults=FaultPlan(always="402:no credit"))
    with pytest.raises(EndpointError, match="credit"):
        await connect(stub.url).complete(question())


async def test_requests_at_once_stay_below_the_maximum(serve, connect):
    stub = serve("fine", latency=0.01)
    client = connect(stub.url, settings={"max_concurrency": 3})
    await asyncio.gather(*(client.complete(question(str(i))) for i in range(20)))
    assert stub.most_at_once <= 3
    assert client.limits().limit == 3


# What an endpoint does not take


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        ("temperature", "Unsupported value: 'temperature' does not support 0.0 with this model."),
        ("seed", "Unrecognized request argument supplied: seed"),
        ("top_p", "property 'top_p' is unsupported"),
    ],
)
async def test_a_refused_parameter_is_dropped_for_good_and_told(serve, connect, refused, message):
    stub = serve("fine", refused={refused: message})
    parameters = SamplingParameters(temperature=0.0, top_p=1.0, seed=1, max_tokens=64)
    client = connect(stub.url, parameters=parameters)
    assert isinstance(await client.complete(question()), ChatReply)
    assert isinstance(await client.complete(question(salt=3)), ChatReply)
    assert len(stub.requests) == 3
    assert refused not in stub.requests[2]
    assert set(stub.requests[2]) == {"model", "messages", "temperature", "top_p", "seed", "max_tokens"} - {
        refused
    }
    assert message in client.describe()["dropped"][refused]


async def test_max_tokens_is_renamed(serve, connect):
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    stub = serve("fine", refused={"max_tokens": message})
    client = connect(stub.url, parameters=SamplingParameters(max_tokens=64))
    await asyncio.gather(*(client.complete(question(str(i))) for i in range(5)))
    reply = await client.complete(question(max_tokens=128))
    assert isinstance(reply, ChatReply)
    assert stub.requests[-1]["max_completion_tokens"] == 128
    assert "max_tokens" not in stub.requests[-1]
    assert client.describe()["dropped"]["max_tokens"].startswith("sent as max_completion_tokens")


async def test_a_model_without_system_role_gets_it_with_the_question(serve, connect):
    def reply(body):
        return "fine"

    stub = serve(reply, faults=FaultPlan(["400:System role not supported"]))
    client = connect(stub.url)
    system = {"role": "system", "content": "Be strict."}
    await client.complete(ChatRequest((system, {"role": "user", "content": "Judge."})))
    assert stub.requests[1]["messages"] == [{"role": "user", "content": "Be strict.\n\nJudge."}]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("400:This model's maximum context length is 4096 tokens, reduce the length", "too_long"),
        ("413:too large", "too_long"),
        ("400:blocked by content_filter", "refused"),
    ],
)
async def test_what_nothing_mends_is_a_failure_at_once(serve, connect, fault, kind):
    stub = serve("fine", faults=FaultPlan(always=fault))
    failure = await connect(stub.url, parameters=SamplingParameters(max_tokens=9)).complete(question())
    assert isinstance(failure, ChatFailure)
    assert failure.kind == kind
    assert len(stub.requests) == 1
    assert "fault" in failure.raw or fault.partition(":")[2] in failure.raw


# Endpoints of no use


async def test_a_refused_connection_at_the_start_stops(connect):
    with pytest.raises(EndpointError, match=r"refused.*is the server running"):
        await connect(f"http://127.0.0.1:{a_free_port()}/v1").complete(question())


async def test_an_unknown_host_stops(connect):
    with pytest.raises(EndpointError, match=r"cannot be (resolved|reached)"):
        await connect("http://no-such-host.invalid/v1").complete(question())


async def test_a_server_that_goes_away_fails_no_item_but_stops(serve, connect):
    stub = serve("fine")
    client = connect(stub.url)
    await client.complete(question())
    stub.stop()
    with pytest.raises(EndpointError, match="refused"):
        await client.complete(question())


async def test_one_item_that_is_not_let_in_fails_alone_while_others_are_answered(serve, connect):
    client = connect(serve("fine").url, retry=quick(max_retries=3))
    await client.complete(question())
    inner, refused = client._transport, Problem("connection", "refused", "endpoint", unreached=True)

    class Door:
        async def post_chat(self, content, deadline):
            return refused if b"unlucky" in content else await inner.post_chat(content, deadline)

        async def close(self):
            await inner.close()

    client._transport = Door()

    async def others():
        while True:
            await client.complete(question())

    busy = asyncio.create_task(others())
    failure = await client.complete(question("unlucky"))
    busy.cancel()
    assert isinstance(failure, ChatFailure)
    assert (failure.kind, failure.usage.calls) == ("connection", 0)


async def test_one_item_that_finds_the_endpoint_useless_ends_the_others(serve, connect):
    """Without it each would probe for itself, one after the other."""
    stub = serve("x", faults=FaultPlan(always="html"))
    client = connect(stub.url, retry=quick(max_retries=2))
    asked = (client.complete(question(str(n), schema=SCORE)) for n in range(20))
    ended = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(e) for e in ended} == {EndpointError}
    assert len({str(e) for e in ended}) == 1
    assert len(stub.requests) == 3
    stub.faults = FaultPlan()
    assert isinstance(await client.complete(question()), ChatReply)


async def test_a_server_that_never_answers_a_probe_stops_soon(serve, connect):
    stub = serve("x", faults=FaultPlan(always="hang"))
    client = connect(stub.url, retry=quick(attempt_deadline=0.05))
    with pytest.raises(EndpointError, match=r"no complete answer within 0\.05 s"):
        await client.complete(question(schema=SCORE))
    assert len(stub.requests) == 2


async def test_waiting_in_vain_for_a_place_keeps_the_reason(serve, connect):
    """Two items and one place: the one that waits for it again had met a timeout, no rate limit."""
    stub = serve("x", faults=but_for_barest("hang"))
    retries = quick(attempt_deadline=0.1, item_deadline=0.15, max_retries=9)
    client = connect(stub.url, retry=retries, settings={"max_concurrency": 1})
    ended = await asyncio.gather(*(client.complete(question(str(n))) for n in range(4)))
    assert {failure.kind for failure in ended} == {"timeout"}
    assert any("no place before the deadline" in failure.message for failure in ended)


async def test_a_last_attempt_without_time_keeps_the_reason(serve, connect):
    """Told to wait until almost the end, then no answer within what is left: that was the rate limit."""
    stub = serve("x", faults=FaultPlan(["429:0.2"], always="hang"))
    retries = quick(attempt_deadline=5.0, item_deadline=0.4, max_retries=9)
    failure = await connect(stub.url, retry=retries).complete(question())
    assert isinstance(failure, ChatFailure)
    assert (failure.kind, failure.usage.calls) == ("rate_limited", 2)
    assert "then no time for another attempt" in failure.message


async def test_an_attempt_with_all_its_time_is_a_timeout_whatever_came_before(serve, connect):
    stub = serve("x", faults=but_for_barest("500", "hang"))
    retries = quick(attempt_deadline=0.05, max_retries=1)
    failure = await connect(stub.url, retry=retries).complete(question())
    assert isinstance(failure, ChatFailure)
    assert failure.kind == "timeout"


async def test_a_wrong_key_stops_and_names_the_variable(serve, connect):
    stub = serve("fine", key="right")
    client = connect(stub.url, api_key=KEY, settings={"key_variable": "JUDGE_KEY"})
    with pytest.raises(EndpointError, match="JUDGE_KEY") as caught:
        await client.complete(question())
    assert KEY not in str(caught.value)
    assert "***" in str(caught.value)
    with pytest.raises(EndpointError, match="MY_KEY is not set"):
        await connect(stub.url, settings={"key_variable": "MY_KEY"}).complete(question())
    with pytest.raises(EndpointError, match="--api-key-env"):
        await connect(stub.url).complete(question())


async def test_a_key_refused_half_way_stops_after_a_few_retries(serve, connect):
    stub = serve("fine", faults=FaultPlan([None, "401", None], always="401"))
    client = connect(stub.url)
    await client.complete(question())
    assert isinstance(await client.complete(question()), ChatReply)
    before = len(stub.requests)
    with pytest.raises(EndpointError, match="401"):
        await client.complete(question())
    assert len(stub.requests) - before == 3


async def test_a_403_half_way_fails_the_item_only_if_others_are_answered(serve, connect):
    stub = serve("fine", faults=FaultPlan(choose=lambda body: "403" if "bad" in str(body) else None))
    client = connect(stub.url)
    await client.complete(question())
    failure = await client.complete(question("bad"))
    assert isinstance(failure, ChatFailure)
    assert failure.kind == "rejected"
    stub.faults = FaultPlan(always="403")
    with pytest.raises(EndpointError, match="403"):
        await client.complete(question())


async def test_an_unknown_model_stops_and_lists_the_models(serve, connect):
    stub = serve("fine", model="the-real-one")
    with pytest.raises(EndpointError, match="'other' is not listed; the endpoint has the-real-one"):
        await connect(stub.url, "other").complete(question())


async def test_a_wrong_base_url_stops(serve, connect):
    stub = serve("fine")
    with pytest.raises(EndpointError, match="base URL"):
        await connect(stub.url.removesuffix("/v1") + "/wrong").complete(question())
    stub = serve("fine", faults=FaultPlan(always="html"))
    with pytest.raises(EndpointError, match="HTML page"):
        await connect(stub.url, retry=quick(max_retries=1)).complete(question())


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://host/v1", "http://"])
def test_what_is_no_url_is_refused(connect, url):
    with pytest.raises(ConfigError, match="no base URL"):
        connect(url)


# Reasoning, finish, odd text


@pytest.mark.parametrize("fault", ["think", "think_field", "think_orphan"])
async def test_reasoning_is_kept_apart(serve, connect, fault):
    reply = await connect(serve("So: 4", faults=FaultPlan([fault])).url).complete(question())
    assert isinstance(reply, ChatReply)
    assert reply.text == "So: 4"
    assert "Let me think" in reply.reasoning


@pytest.mark.parametrize(
    ("fault", "finish"), [("cut", "length"), ("filter", "filter"), ("refusal", "filter")]
)
async def test_the_reason_for_finishing(serve, connect, fault, finish):
    reply = await connect(serve("So: 4", faults=FaultPlan([fault])).url).complete(question())
    assert isinstance(reply, ChatReply)
    assert reply.finish == finish


async def test_text_that_is_not_valid_unicode_is_sent_all_the_same(serve, connect):
    stub = serve("fine")
    assert isinstance(await connect(stub.url).complete(question("a\ud800b 中文")), ChatReply)
    assert stub.requests[0]["messages"][0]["content"] == "a?b 中文"


# Secrets


async def test_no_secret_is_shown(serve, connect):
    stub = serve("fine", faults=FaultPlan([None], always=f"400:bad {KEY} and hush-hush"))
    url = stub.url.replace("http://", "http://user:hush-hush@") + "?code=query-secret"
    client = connect(url, api_key=KEY, settings={"headers": {"X-Org": "header-secret"}})
    await client.complete(question())
    failure = await client.complete(question())
    shown = repr(client) + json.dumps(client.describe()) + repr(failure) + repr(client.endpoint)
    for secret in (KEY, "hush-hush", "query-secret", "header-secret"):
        assert secret not in shown
    assert stub.headers[0]["X-Org"] == "header-secret"


async def test_user_info_in_the_url_is_a_key(serve, connect):
    stub = serve("fine")
    await connect(stub.url.replace("http://", "http://us%40er:pa:ss@")).complete(question())
    assert stub.headers[0]["Authorization"] == "Basic dXNAZXI6cGE6c3M="


# Schemas over HTTP


@pytest.mark.parametrize(
    ("server", "rung", "probes"),
    [
        ("obey", "json_schema", 1),
        ("json_object", "json_object", 3),
        ("refuse", "prompt", 3),
        ("ignore", "prompt", 3),
    ],
)
async def test_the_ladder_is_settled_once_for_all(serve, connect, server, rung, probes):
    stub = serve('{"score": 4}', schema=server)
    if server == "ignore":
        stub.reply = lambda body: '{"score": 4}' if "probe_k7" not in str(body) else "No JSON today."
    client = connect(stub.url)
    replies = await asyncio.gather(*(client.complete(question(str(i), schema=SCORE)) for i in range(6)))
    assert all(reply.text == '{"score": 4}' for reply in replies)
    assert client.describe()["schema_support"]["rung"] == rung
    assert len(stub.requests) == 6 + probes
    assert sum(reply.usage.calls for reply in replies) == 6 + probes
    last = stub.asked[-1]
    assert last.get("response_format", {}).get("type", "prompt") == rung
    assert ("maximum" in last["messages"][-1]["content"]) == (rung != "json_schema")


async def test_a_server_that_fails_on_a_schema_gets_none(serve, connect):
    client = connect(serve('{"score": 4}', schema="error").url)
    reply = await client.complete(question(schema=SCORE))
    assert reply.text == '{"score": 4}'
    assert client.describe()["schema_support"]["rung"] == "json_object"


async def test_a_rung_that_is_refused_later_is_left_once_it_is_no_exception(serve, connect):
    stub = serve('{"score": 4}')
    client = connect(stub.url)
    await client.complete(question(schema=SCORE))
    stub.schema = "refuse"
    replies = [await client.complete(question(schema=SCORE)) for _ in range(6)]
    assert {reply.text for reply in replies} == {'{"score": 4}'}
    assert replies[0].usage.calls == 2
    assert replies[-1].usage.calls == 1
    support = client.describe()["schema_support"]
    assert support["rung"] == "prompt"
    assert support["findings"]["json_schema"].startswith("refused later")


async def test_the_probe_can_be_skipped(serve, connect):
    stub = serve('{"score": 4}')
    client = connect(stub.url, settings={"schema_support": "json_schema"})
    await client.complete(question(schema=SCORE))
    assert len(stub.requests) == 1
    assert stub.requests[0]["response_format"]["json_schema"]["strict"] is True


async def test_a_storm_of_faults_loses_no_item(serve, connect):
    rates = {"429": 0.1, "500": 0.1, "drop": 0.05, "reset": 0.05, "html502": 0.05, "no_choices": 0.05}
    stub = serve(lambda body: body["messages"][0]["content"], faults=FaultPlan([None], rates=rates, seed=3))
    client = connect(stub.url, retry=quick(max_retries=12), timing=Timing(rng=random.Random(5)))
    await client.complete(question())
    replies = await asyncio.gather(*(client.complete(question(f"item {i}")) for i in range(200)))
    assert [reply.text for reply in replies] == [f"item {i}" for i in range(200)]
    assert client.limits().in_flight == client.limits().waiting == 0


async def test_cancelling_gives_the_place_back(serve, connect):
    stub = serve("fine", faults=FaultPlan(["hang"]))
    client = connect(stub.url)
    task = asyncio.create_task(client.complete(question()))
    await asyncio.sleep(0.05)
    assert client.limits().in_flight == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert client.limits().in_flight == 0


async def test_closing_twice_is_harmless_and_using_it_again_too(serve, connect):
    client = connect(serve("fine").url)
    await client.close()
    await client.complete(question())
    await client.close()
    await client.close()
    assert isinstance(await client.complete(question()), ChatReply)
