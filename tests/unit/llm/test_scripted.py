from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from dialogauge.core.errors import ConfigError
from dialogauge.core.judgement import Usage
from dialogauge.llm import CallableClient, ChatFailure, ChatReply, ScriptedClient
from servers.asking import question


async def test_a_sequence_is_gone_through_once():
    failure = ChatFailure("timeout", "late")
    client = ScriptedClient(["a", failure], name="actor")
    assert await client.complete(question()) == ChatReply("a", usage=Usage(1), model="actor")
    assert await client.complete(question()) is failure
    with pytest.raises(ConfigError, match="run out after 2"):
        await client.complete(question())
    assert (client.name, len(client.requests)) == ("actor", 3)
    await client.close()


async def test_a_mapping_answers_by_what_stands_in_the_last_message():
    client = ScriptedClient({"weather": "Sunny.", "": "What?"})
    assert (await client.complete(question("How is the weather?"))).text == "Sunny."
    assert (await client.complete(question("Hm"))).text == "What?"
    with pytest.raises(ConfigError, match="no entry for 'Hm'"):
        await ScriptedClient({"a": "b"}).complete(question("Hm"))


async def test_a_function_sees_the_request():
    client = ScriptedClient(lambda request: f"salt {request.salt}")
    assert (await client.complete(question(salt=3))).text == "salt 3"


async def test_functions_of_any_colour_answer():
    def plain(messages):
        return messages[-1]["content"].upper()

    async def coloured(messages):
        return plain(messages)

    for function in (plain, coloured, lambda messages: coloured(messages)):
        client = CallableClient(function)
        assert (await client.complete(question("hi"))).text == "HI"
    assert CallableClient(plain).name == "plain"
    assert CallableClient(plain, name="mine").describe()["model"] == "mine"
    await client.close()


async def test_what_a_function_raises_fails_the_one_request():
    def broken(messages):
        raise KeyError("turn")

    failure = await CallableClient(broken).complete(question())
    assert (failure.kind, failure.message) == ("judge_error", "broken raised KeyError: 'turn'")
    failure = await CallableClient(lambda messages: 3).complete(question())
    assert (failure.kind, failure.usage.calls) == ("judge_error", 1)


class Own(BaseException):
    pass


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit(0)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (StopIteration(3), "StopIteration: 3"),
        (StopAsyncIteration, "StopAsyncIteration"),
        (SystemExit(0), "SystemExit: 0"),
        (KeyboardInterrupt, "KeyboardInterrupt"),
        (GeneratorExit, "GeneratorExit"),
        (asyncio.CancelledError, "CancelledError"),
        (TimeoutError("slow"), "TimeoutError: slow"),
        (RecursionError, "RecursionError"),
        (MemoryError, "MemoryError"),
        (Own("own"), "Own: own"),
        (Mute(), "<exception str() failed>"),
        (ValueError("\ud800"), "ValueError: \ufffd"),
        (ValueError("x" * 10_000), "xxx…"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("colour", ["plain", "coroutine", "awaitable"])
async def test_whatever_a_function_raises_fails_the_one_request(raised, said, colour):
    def plain(messages):
        raise raised

    async def coroutine(messages):
        raise raised

    functions = {"plain": plain, "coroutine": coroutine, "awaitable": lambda messages: coroutine(messages)}
    client = CallableClient(functions[colour])
    failures = await asyncio.wait_for(asyncio.gather(*(client.complete(question()) for _ in range(3))), 20)
    for failure in failures:
        assert (failure.kind, failure.usage.calls) == ("judge_error", 1)
        # a coroutine may not raise StopIteration
        assert said in failure.message or "coroutine raised StopIteration" in failure.message
        assert len(failure.message) < 600
    await client.close()


def endless(messages):
    while True:
        yield "x"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "NoneType"),
        (4, "int"),
        (b"4", "bytes"),
        ({"score": 4}, "dict"),
        (endless([]), "generator"),
        ("x" * ((8 << 20) + 1), "8,388,609 characters, more than 8,388,608"),
    ],
    ids=["none", "number", "bytes", "dict", "generator", "too long"],
)
async def test_what_is_no_text_of_any_use_is_a_failure(answer, said):
    failure = await CallableClient(lambda messages: answer).complete(question())
    assert failure.kind == "judge_error"
    assert f"returned {said}" in failure.message


async def test_half_a_surrogate_pair_is_no_part_of_a_reply():
    reply = await CallableClient(lambda messages: "a\ud83d b\ud83d\ude00").complete(question())
    assert reply.text == "a\ufffd b\U0001f600"


async def test_a_function_that_does_not_return_is_given_up():
    over = threading.Event()

    def sleeping(messages):
        over.wait()

    async def blocking(messages):
        over.wait()

    async def dreaming(messages):
        await asyncio.sleep(1e6)

    for function in (sleeping, blocking, dreaming):
        client = CallableClient(function, patience=0.05)
        failures = await asyncio.gather(*(client.complete(question()) for _ in range(40)))
        assert {f.kind for f in failures} == {"timeout"}
        assert failures[0].message == f"{function.__name__} has not returned after 0.05 s"
        await client.close()
    over.set()
    # Each sets the folder back when it returns: not while a later test looks at it.
    for thread in threading.enumerate():
        if thread.name in ("sleeping", "blocking", "dreaming"):
            thread.join(60)


async def test_coroutines_share_a_loop():
    loops = set()

    async def answer(messages):
        loops.add(asyncio.get_running_loop())
        return "x"

    client = CallableClient(answer)
    for _ in range(3):
        await client.complete(question())
    assert len(loops) == 1
    assert loops != {asyncio.get_running_loop()}
    await client.close()


async def test_a_function_changes_neither_the_request_nor_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def meddling(messages):
        messages[0]["content"] = "mine"
        os.chdir("/")
        return "x"

    request = question("hi")
    await CallableClient(meddling).complete(request)
    assert request.messages[-1]["content"] == "hi"
    assert Path.cwd() == tmp_path
