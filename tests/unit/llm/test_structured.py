from __future__ import annotations

import asyncio
import json

import pytest

from dialogauge.core.errors import EndpointError
from dialogauge.core.judgement import Usage
from dialogauge.llm import ChatFailure, ChatReply, SamplingParameters, ScriptedClient, Structured, ask
from dialogauge.llm.json_text import LONGEST
from servers.asking import SCORE, question
from servers.faults import FaultPlan
from servers.long_texts import long_texts

GOOD = '{"score": 4}'
WORDING = "That was wrong: {}. Again, please."


def read(value):
    if not isinstance(value.get("score"), int):
        raise ValueError(f"score must be a whole number, not {value.get('score')!r}")
    return value["score"]


async def run(*lines, **options):
    client = ScriptedClient(list(lines))
    outcome = await ask(client, question(schema=SCORE, **options), read, reask=WORDING.format)
    return outcome, client.requests


async def test_a_good_reply_is_one_call():
    outcome, requests = await run(GOOD)
    assert outcome == Structured(4, Usage(calls=1))
    assert len(requests) == 1


async def test_a_repaired_reply_says_so():
    outcome, _ = await run("{'score': 4,}")
    assert (outcome.value, outcome.repaired, outcome.reasked) == (4, True, False)


@pytest.mark.parametrize(
    ("faulty", "error"),
    [
        ("Rather good.", "the reply holds no JSON object"),
        ('{"score": "five"}', "score must be a whole number, not 'five'"),
        ('{"score": 4', "the JSON object of the reply is cut off"),
        ('{"score": 4} {"score": 5}', "the reply holds two answers that differ: give one"),
        ('{"score": 4, "score": 5}', 'the key "score" appears twice in one object'),
    ],
)
async def test_a_faulty_reply_is_shown_with_its_error_once(faulty, error):
    outcome, requests = await run(faulty, GOOD)
    assert (outcome.value, outcome.reasked, outcome.usage.calls) == (4, True, 2)
    assert requests[1].messages == (
        *requests[0].messages,
        {"role": "assistant", "content": faulty},
        {"role": "user", "content": f"That was wrong: {error}. Again, please."},
    )
    assert requests[1].schema is SCORE


@pytest.mark.parametrize(
    ("faulty", "kind"),
    [
        ("Rather good.", "invalid_json"),
        ('{"score": 4', "invalid_json"),
        ('{"score": "five"}', "invalid_schema"),
        ('{"score": 3 or 4}', "invalid_schema"),
        ('{"score": 4, "score": 4}', "invalid_schema"),
        ('{"score": 5} {"score": 4}', "invalid_schema"),
        ("I'm sorry, but I cannot judge this.", "refused"),
        ("抱歉，我无法评价。", "refused"),
    ],
)
async def test_a_second_faulty_reply_is_a_failure_with_the_reply(faulty, kind):
    outcome, requests = await run("prose", faulty)
    assert isinstance(outcome, ChatFailure)
    assert (outcome.kind, outcome.raw, outcome.usage.calls) == (kind, faulty, 2)
    assert len(requests) == 2


async def test_a_truncated_reply_is_asked_for_with_twice_the_tokens():
    cut = ChatReply('{"score": 4}', "length", Usage(1, completion_tokens=700))
    outcome, requests = await run(cut, GOOD)
    assert outcome.value == 4
    assert [r.max_tokens for r in requests] == [None, 1400]
    assert requests[1].messages == requests[0].messages
    outcome, requests = await run(cut, GOOD, max_tokens=1000)
    assert requests[1].max_tokens == 2000


async def test_what_was_cut_off_is_never_trusted_even_if_it_can_be_read():
    cut = ChatReply(GOOD, "length", Usage(1))
    outcome, requests = await run(cut, cut)
    assert isinstance(outcome, ChatFailure)
    assert (outcome.kind, outcome.raw, outcome.usage.calls) == ("truncated", GOOD, 2)
    assert requests[1].max_tokens == 512


async def test_no_room_for_more_tokens_is_still_a_truncated_reply():
    too_long = ChatFailure("too_long", "context", Usage(1))
    outcome, _ = await run(ChatReply("{", "length", Usage(1)), too_long)
    assert (outcome.kind, outcome.usage.calls) == ("truncated", 2)


async def test_the_doubled_limit_starts_from_the_clients_own(serve, connect):
    stub = serve(GOOD, faults=FaultPlan(["cut"]))
    client = connect(
        stub.url, parameters=SamplingParameters(max_tokens=900), settings={"schema_support": "json_schema"}
    )
    outcome = await ask(client, question(schema=SCORE), read, reask=WORDING.format)
    assert outcome.value == 4
    assert [r["max_tokens"] for r in stub.requests] == [900, 1800]


async def test_an_empty_reply_is_asked_for_once_more():
    empty = ChatFailure("empty_reply", "the reply is empty", Usage(1))
    outcome, requests = await run(empty, GOOD)
    assert (outcome.value, outcome.usage.calls) == (4, 2)
    # Some models take no two messages of one role in a row.
    assert [m["role"] for m in requests[1].messages] == ["user"]
    outcome, _ = await run(empty, ChatReply(" ", usage=Usage(1)))
    assert (outcome.kind, outcome.usage.calls) == ("empty_reply", 2)


async def test_a_refusal_is_not_asked_again():
    outcome, requests = await run(ChatReply("No.", "filter", Usage(1)))
    assert (outcome.kind, outcome.raw, len(requests)) == ("refused", "No.", 1)


async def test_a_reply_that_declines_in_words_is_asked_whether_its_answer_is_one():
    declined = 'I cannot judge this. The format would be {"score": 4}'
    outcome, requests = await run(declined, declined)
    assert (outcome.kind, len(requests)) == ("refused", 2)
    outcome, _ = await run(declined, '{"score": 3}')
    assert (outcome.value, outcome.reasked) == (3, True)


async def test_each_cause_is_asked_about_once():
    empty, cut = ChatFailure("empty_reply", "empty", Usage(1)), ChatReply("{", "length", Usage(1))
    outcome, requests = await run(empty, cut, "prose", GOOD)
    assert (outcome.value, outcome.usage.calls) == (4, 4)
    assert requests[3].max_tokens == 512
    outcome, _ = await run(empty, cut, "prose", cut)
    assert (outcome.kind, outcome.usage.calls) == ("truncated", 4)


async def test_other_failures_pass_through():
    failure = ChatFailure("timeout", "no answer", Usage(0))
    outcome, requests = await run(failure)
    assert (outcome, len(requests)) == (failure, 1)
    client = ScriptedClient(lambda _: (_ for _ in ()).throw(EndpointError("gone")))
    with pytest.raises(EndpointError):
        await ask(client, question(), read, reask=WORDING.format)


@pytest.mark.parametrize(
    ("fault", "repaired", "reasked"),
    [
        ("think", False, False),
        ("think_orphan", False, False),
        ("think_field", False, False),
        ("two_objects", False, True),
        ("two_verdicts", False, True),
        ("value:3 or 4", False, True),
        ("fenced", False, False),
        ("faulty", True, False),
        ("prose", False, True),
        ("wrong_schema", False, True),
        ("cut", False, True),
        ("cut_stop", False, True),
        ("empty", False, True),
    ],
)
async def test_every_fault_of_a_reply_over_http(serve, connect, fault, repaired, reasked):
    stub = serve('{"score": 4, "note": "ok"}', schema="ignore", faults=FaultPlan([fault]))
    client = connect(stub.url, settings={"schema_support": "prompt"})
    outcome = await ask(client, question(schema=SCORE), read, reask=WORDING.format)
    assert isinstance(outcome, Structured)
    assert (outcome.value, outcome.repaired, outcome.reasked) == (4, repaired, reasked)
    assert outcome.usage.calls == len(stub.requests) == 1 + reasked


@pytest.mark.parametrize(
    "text",
    ['{"score": 4}\n{"score": 4}', '{"grade": 5} {"score": 4}', '<think>{"score": 5}</think>{"score": 4}'],
)
async def test_the_same_answer_twice_and_what_is_no_answer_do_no_harm(text):
    outcome, _ = await run(text)
    assert (outcome.value, outcome.reasked) == (4, False)


async def test_what_is_wrong_is_said_in_few_words_however_much_is_wrong():
    def refuse(value):
        raise ValueError("; ".join(value["faults"]))

    reply = json.dumps({"faults": ["x" * 50] * 1000})
    outcome = await ask(ScriptedClient([reply, reply]), question(schema=SCORE), refuse, reask=WORDING.format)
    assert (outcome.kind, len(outcome.message)) == ("invalid_schema", 4000)


async def test_a_long_unusable_reply_is_kept_and_shown_again_in_part():
    outcome, requests = await run("prose", "x" * 1_000_000)
    assert outcome.raw == "x" * 20_000 + " [... 980000 characters more]"
    _, requests = await run("x" * 1_000_000, GOOD)
    assert len(requests[1].messages[-2]["content"]) < 20_100


@pytest.mark.long
async def test_a_long_reply_of_any_kind_lets_others_work():
    """A heart beats beside the reading; a quarter of a second leaves room for what else the machine does."""
    loop = asyncio.get_running_loop()
    last, worst = loop.time(), 0.0

    async def beat():
        nonlocal last, worst
        while True:
            await asyncio.sleep(0.005)
            worst, last = max(worst, loop.time() - last), loop.time()

    heart = asyncio.create_task(beat())
    slow = {}
    for size in (LONGEST - 1000, 1_000_000):
        for kind, text in long_texts(size).items():
            for _ in range(3):  # the best of three: others run on the machine too
                worst, last = 0.0, loop.time()
                await ask(ScriptedClient([text, text]), question(schema=SCORE), read, reask=WORDING.format)
                await asyncio.sleep(0.006)
                slow[kind, size] = worst
                if worst < 0.25:
                    break
    heart.cancel()
    assert max(slow.values()) < 0.25, slow
