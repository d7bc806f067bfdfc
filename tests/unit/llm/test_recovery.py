from __future__ import annotations

import asyncio
import json

import pytest

from dialogauge.core.errors import EndpointError
from dialogauge.llm import ChatFailure, ChatReply, ChatRequest, SamplingParameters
from dialogauge.llm.problems import read_problem
from dialogauge.llm.recovery import shorter_reply
from servers.asking import SCORE, question, quick
from servers.faults import FaultPlan

ALL = SamplingParameters(temperature=0.0, top_p=1.0, max_tokens=4096, seed=1)
VAGUE = "400:Invalid request."


def refusing(words, when):
    """A plan that refuses requests with these words where `when` says so of the body."""
    return FaultPlan(choose=lambda body: words if when(body) else None)


def has_real_schema(body):
    return "json_schema" in body.get("response_format", {}) and "probe_k7" not in str(body)


async def ask_many(client, count, **options):
    return await asyncio.gather(*(client.complete(question(str(n), **options)) for n in range(count)))


@pytest.mark.parametrize(
    "words",
    [
        VAGUE,
        "400:The provided JSON schema contains features not supported by xgrammar.",
        "400:Invalid value at 'generation_config.response_schema'",
        "422:no",
        "500:Grammar error",
    ],
)
async def test_a_schema_that_is_refused_on_its_first_use_is_left_whatever_the_words(serve, connect, words):
    stub = serve('{"score": 4}', faults=refusing(words, has_real_schema))
    client = connect(stub.url, parameters=ALL)
    first = await ask_many(client, 20, schema=SCORE)
    assert {reply.text for reply in first} == {'{"score": 4}'}
    second = await ask_many(client, 20, schema=SCORE)
    assert {reply.text for reply in second} == {'{"score": 4}'}
    assert client.describe()["schema_support"]["rung"] == "json_object"
    assert len(stub.requests) < 120
    assert sum(reply.usage.calls for reply in second) == 20
    assert set(stub.requests[-1]) >= {"temperature", "top_p", "max_tokens", "seed"}


@pytest.mark.parametrize("name", ["temperature", "top_p", "max_tokens", "seed"])
async def test_a_parameter_that_is_refused_without_its_name_is_found(serve, connect, name):
    stub = serve("fine", faults=refusing(VAGUE, lambda body: name in body))
    client = connect(stub.url, parameters=ALL)
    assert isinstance(await client.complete(question()), ChatReply)
    before = len(stub.requests)
    assert isinstance(await client.complete(question()), ChatReply)
    assert len(stub.requests) == before + 1
    others = {"temperature", "top_p", "max_tokens", "seed"} - {name}
    assert others <= set(stub.requests[-1])
    assert list(client.describe()["dropped"]) == [name]


async def test_what_stood_in_the_way_of_the_probe_does_not_cost_the_schema(serve, connect):
    stub = serve('{"score": 4}', faults=refusing(VAGUE, lambda body: "seed" in body))
    client = connect(stub.url, parameters=ALL)
    for _ in range(3):
        assert isinstance(await client.complete(question(schema=SCORE)), ChatReply)
    assert client.describe()["schema_support"]["rung"] == "json_schema"
    assert "seed" not in stub.requests[-1]


async def test_two_things_refused_in_the_same_words_are_left_together(serve, connect):
    stub = serve("fine", faults=refusing(VAGUE, lambda body: "seed" in body or "top_p" in body))
    client = connect(stub.url, parameters=ALL)
    assert isinstance(await client.complete(question()), ChatReply)
    assert (await client.complete(question())).usage.calls == 1


async def test_two_things_refused_in_their_own_words_are_left_one_after_the_other(serve, connect):
    def choose(body):
        wrong = [name for name in ("max_tokens", "temperature") if name in body]
        return f"400:Unsupported parameter: '{wrong[0]}'. Use max_completion_tokens." if wrong else None

    stub = serve("fine", faults=FaultPlan(choose=choose))
    client = connect(stub.url, parameters=ALL)
    assert (await client.complete(question())).usage.calls == 3
    assert stub.requests[-1]["max_completion_tokens"] == 4096
    assert set(client.describe()["dropped"]) == {"max_tokens", "temperature"}


@pytest.mark.parametrize(
    "words",
    [VAGUE, "422:no", "400:You said 'temperature' and seed and system message", "400:billing, json schema"],
)
async def test_a_text_that_is_refused_costs_little_and_harms_no_other(serve, connect, words):
    stub = serve('{"score": 4}', faults=refusing(words, lambda body: "poison" in str(body)))
    client = connect(stub.url, parameters=ALL)
    await client.complete(question(schema=SCORE))
    texts = ["poison" if n % 2 else "good" for n in range(40)]
    ended = await asyncio.gather(
        *(client.complete(question(f"{t} {n}", schema=SCORE)) for n, t in enumerate(texts))
    )
    kinds = {
        text: {getattr(e, "kind", "reply") for e, t in zip(ended, texts, strict=True) if t == text}
        for text in texts
    }
    assert kinds == {"poison": {"rejected"}, "good": {"reply"}}
    assert len(stub.requests) < 40 * 3
    assert client.describe()["dropped"] == {}
    assert client.describe()["schema_support"]["rung"] == "json_schema"


async def test_a_refused_text_at_the_very_start_harms_no_other(serve, connect):
    stub = serve('{"score": 4}', faults=refusing(VAGUE, lambda body: "poison" in str(body)))
    client = connect(stub.url, parameters=ALL)
    ended = [await client.complete(question(f"poison {n}", schema=SCORE)) for n in range(10)]
    assert {failure.kind for failure in ended} == {"rejected"}
    assert len(stub.requests) < 60
    assert isinstance(await client.complete(question("good", schema=SCORE)), ChatReply)
    assert set(stub.requests[-1]) >= {"temperature", "top_p", "max_tokens", "seed", "response_format"}


async def test_an_endpoint_that_refuses_even_the_barest_question_is_of_no_use(serve, connect):
    stub = serve("fine", faults=FaultPlan([None] * 3, always="400:Your credit balance is too low"))
    client = connect(stub.url, parameters=ALL)
    for _ in range(3):
        await client.complete(question())
    with pytest.raises(EndpointError, match="credit balance"):
        await client.complete(question())
    assert len(stub.requests) == 6  # who has answered before is believed the second time
    stub.faults = FaultPlan(always=VAGUE)
    with pytest.raises(EndpointError, match="Invalid request"):
        await connect(stub.url, parameters=ALL).complete(question())


async def test_a_gateway_that_errs_now_and_then_ends_nothing(serve, connect):
    stub = serve("fine", faults=FaultPlan([None, "404", "404", None, None, "403"]))
    client = connect(stub.url)
    for _ in range(5):
        assert isinstance(await client.complete(question()), ChatReply)


async def test_an_endpoint_that_changes_its_mind_ends_the_run_after_a_few(serve, connect):
    stub = serve("fine")
    client = connect(stub.url)
    await client.complete(question())
    stub.faults = FaultPlan(always=VAGUE)
    failed = [await client.complete(question()) for _ in range(4)]
    assert {failure.kind for failure in failed} == {"rejected"}
    with pytest.raises(EndpointError, match="Invalid request"):
        await client.complete(question())


@pytest.mark.parametrize(
    "words",
    [
        VAGUE,
        "400:Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "400:System role not supported",
    ],
)
async def test_a_model_without_system_role_gets_it_with_the_question(serve, connect, words):
    stub = serve("fine", faults=refusing(words, lambda body: body["messages"][0]["role"] == "system"))
    client = connect(stub.url, parameters=ALL)
    system = {"role": "system", "content": "Be strict."}
    request = ChatRequest((system, {"role": "user", "content": "Judge."}))
    for _ in range(2):
        assert isinstance(await client.complete(request), ChatReply)
    assert stub.requests[-1]["messages"] == [{"role": "user", "content": "Be strict.\n\nJudge."}]
    assert "temperature" in stub.requests[-1]
    assert "system role" in client.describe()["dropped"]


async def test_a_model_whose_roles_must_alternate_gets_one_message(serve, connect):
    words = "400:Conversation roles must alternate user/assistant/user/assistant/..."
    stub = serve("fine", faults=refusing(words, lambda body: len(body["messages"]) > 1))
    client = connect(stub.url)
    user = [{"role": "user", "content": text} for text in ("a", "b")]
    assert isinstance(await client.complete(question()), ChatReply)
    assert isinstance(await client.complete(ChatRequest(tuple(user))), ChatReply)
    assert stub.requests[-1]["messages"] == [{"role": "user", "content": "a\n\nb"}]


async def test_a_faulty_reply_of_the_model_is_asked_for_again(serve, connect):
    faulty = "400:Failed to validate JSON [json_validate_failed]"
    stub = serve('{"score": 4}')
    client = connect(stub.url)
    await client.complete(question(schema=SCORE))
    stub.faults = FaultPlan([faulty])
    reply = await client.complete(question(schema=SCORE))
    assert (reply.text, reply.usage.calls) == ('{"score": 4}', 2)
    stub.faults = refusing(faulty, lambda body: "response_format" in body)
    assert (await client.complete(question(schema=SCORE))).usage.calls == 4
    assert client.describe()["schema_support"]["rung"] == "json_schema"
    stub.faults = FaultPlan(always=faulty)
    assert (await client.complete(question(schema=SCORE))).kind == "invalid_json"


# The length of the reply


def context(size, prompt, words):
    def choose(body):
        limit = body.get("max_tokens", 16)
        return (
            f"400:{words.format(C=size, P=prompt, L=limit, T=prompt + limit)}"
            if prompt + limit > size
            else None
        )

    return FaultPlan(choose=choose)


WORDINGS = (
    "This model's maximum context length is {C} tokens. However, you requested {T} tokens "
    "({P} in the messages, {L} in the completion). Please reduce the length of the messages or completion.",
    "'max_tokens' or 'max_completion_tokens' is too large: {L}. This model's maximum context length is {C} "
    "tokens and your request has {P} input tokens ({L} > {C} - {P}).",
    "input length and `max_tokens` exceed context limit: {P} + {L} > {C}",
    "`inputs` tokens + `max_new_tokens` must be <= {C}. Given: {P} `inputs` tokens and {L} `max_new_tokens`",
    "Requested token count exceeds the model's maximum context length of {C} tokens. You requested a "
    "total of {T} tokens: {P} tokens from the input messages and {L} tokens for the completion.",
    "Request too large: Limit {C}, Requested {T}, please reduce your message size",
)


@pytest.mark.parametrize("words", WORDINGS)
@pytest.mark.parametrize(("size", "prompt"), [(8192, 6000), (4096, 1000), (5000, 4800), (32768, 30000)])
async def test_a_prompt_that_fits_is_asked_with_a_shorter_reply(serve, connect, words, size, prompt):
    stub = serve("fine", faults=context(size, prompt, words))
    client = connect(stub.url, parameters=ALL)
    reply = await client.complete(question())
    assert isinstance(reply, ChatReply)
    assert reply.usage.calls <= 4
    assert 64 <= stub.requests[-1]["max_tokens"] <= size - prompt
    stub.faults = FaultPlan()
    await client.complete(question())
    assert stub.requests[-1]["max_tokens"] == 4096


@pytest.mark.parametrize("words", WORDINGS)
@pytest.mark.parametrize(("size", "prompt"), [(8192, 9000), (4096, 4090), (4096, 100_000)])
async def test_a_prompt_that_does_not_fit_is_too_long(serve, connect, words, size, prompt):
    stub = serve("fine", faults=context(size, prompt, words))
    failure = await connect(stub.url, parameters=ALL).complete(question())
    assert isinstance(failure, ChatFailure)
    assert failure.kind == "too_long"
    assert len(stub.requests) <= 4


async def test_a_prompt_that_is_counted_only_so_far_is_asked_with_less_and_less(serve, connect):
    words = (
        "This model's maximum context length is {C} tokens. You requested {L} output tokens and your prompt "
    )
    stub = serve("fine")
    size, prompt = 128_000, 100_000

    def choose(body):
        limit = body["max_tokens"]
        least = size - limit + 1
        return (
            f"400:{words.format(C=size, L=limit)} contains at least {least}"
            if limit > size - prompt
            else None
        )

    stub.faults = FaultPlan(choose=choose)
    parameters = SamplingParameters(max_tokens=65_535)
    assert isinstance(await connect(stub.url, parameters=parameters).complete(question()), ChatReply)


@pytest.mark.parametrize(
    "words",
    [
        "Invalid max_tokens value, the valid range of max_tokens is [1, 1024]",
        "max_tokens is too large: 4096. This model supports at most 1,024 completion tokens, not 4096.",
        "max_tokens: 4096 > 1024, which is the maximum allowed number of output tokens",
        "The maximum tokens you requested exceeds the model limit of 1024. (4096)",
    ],
)
async def test_a_limit_of_every_reply_is_remembered(serve, connect, words):
    stub = serve(
        '{"score": 4}', faults=refusing(f"400:{words}", lambda body: body.get("max_tokens", 0) > 1024)
    )
    client = connect(stub.url, parameters=ALL)
    for _ in range(2):
        assert isinstance(await client.complete(question(schema=SCORE)), ChatReply)
    assert stub.requests[-1]["max_tokens"] == 1024
    assert client.describe()["schema_support"]["rung"] == "json_schema"
    assert sum("probe_k7" not in str(body) for body in stub.requests) == 2


@pytest.mark.parametrize("words", ["", "too long", "2 + 2", "max_tokens 4096"])
def test_numbers_that_leave_no_room(words):
    raw = json.dumps({"error": {"message": words}}).encode()
    assert shorter_reply(read_problem(400, raw, None), 4096, 4096) is None


# Too many requests, for good


async def test_a_quota_that_says_when_it_is_renewed_is_waited_for(serve, connect):
    words = "429:You exceeded your current quota, please check your plan and billing. Please retry in 0.1s."
    stub = serve("fine", faults=FaultPlan([words] * 3))
    assert (await connect(stub.url).complete(question())).usage.calls == 4


async def test_a_quota_that_is_used_up_for_good_ends_the_run(serve, connect):
    stub = serve("fine", faults=FaultPlan([None], always="429:Daily limit. Try again in 0.05s"))
    # Long enough for an answer of a busy machine: without one it would be a deadline, and no quota.
    client = connect(stub.url, retry=quick(item_deadline=2.0))
    await client.complete(question())
    with pytest.raises(EndpointError, match="Daily limit"):
        await client.complete(question())


async def test_a_refusal_that_passes_by_itself_teaches_nothing(serve, connect):
    stub = serve('{"score": 4}', faults=FaultPlan([None, VAGUE]))
    client = connect(stub.url, parameters=ALL)
    assert (await client.complete(question(schema=SCORE))).text == '{"score": 4}'
    assert client.describe()["dropped"] == {}
    assert client.describe()["schema_support"]["rung"] == "json_schema"
