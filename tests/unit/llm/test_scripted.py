from __future__ import annotations

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
