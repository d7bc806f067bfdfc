from __future__ import annotations

import asyncio
import errno
import logging
import os
import sqlite3
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path
from types import MappingProxyType

import pytest

from dialogauge.core.judgement import Usage
from dialogauge.llm import (
    CachedClient,
    ChatFailure,
    ChatReply,
    ChatRequest,
    ReplySchema,
    ResponseCache,
    SamplingParameters,
    ScriptedClient,
    client_identity,
)
from servers.asking import SCORE, question

KEY = b"k" * 32


@pytest.fixture
def cache(tmp_path):
    cache = ResponseCache(tmp_path / "cache")
    yield cache
    cache.close()


async def test_the_second_time_costs_nothing(cache):
    reply = ChatReply("4", "stop", Usage(2, 0, 30, 5, 0.1), "hm", "model-1")
    inner = ScriptedClient([reply])
    client = CachedClient(inner, cache)
    assert await client.complete(question()) == reply
    again = await client.complete(question())
    assert again == ChatReply("4", "stop", Usage(0, 1, 30, 5, 0.0), "hm", "model-1")
    assert len(inner.requests) == 1


async def test_it_is_still_there_after_closing(tmp_path):
    for replies in (["4"], []):
        cache = ResponseCache(tmp_path)
        client = CachedClient(ScriptedClient(replies), cache)
        assert (await client.complete(question("中文 \ud800"))).text == "4"
        await client.close()
        cache.close()
        cache.close()


@pytest.mark.parametrize(
    "other",
    [
        question("Other?"),
        question(str(1)),
        question(max_tokens=5),
        question(schema=SCORE),
        question(schema=ReplySchema("other", SCORE.schema)),
        ChatRequest(({"role": "system", "content": "How good was it?"},)),
    ],
)
async def test_whatever_differs_is_asked_anew(cache, other):
    client = CachedClient(ScriptedClient(["a", "b"]), cache)
    assert (await client.complete(question())).text == "a"
    assert (await client.complete(other)).text == "b"


async def test_role_and_kind_of_mapping_make_no_difference(cache):
    client = CachedClient(ScriptedClient(["a"]), cache)
    await client.complete(question())
    frozen = ChatRequest(
        (MappingProxyType({"content": "How good was it?", "role": "user"}),), role="simulator"
    )
    assert (await client.complete(frozen)).usage.cached == 1


async def test_model_endpoint_and_parameters_are_part_of_the_key(cache, serve, connect):
    stub = serve("fine")
    for options in (
        {},
        {"model": "other"},
        {"parameters": SamplingParameters(temperature=0.5)},
        {"parameters": SamplingParameters(seed=1)},
    ):
        client = CachedClient(connect(stub.url, **options), cache)
        assert (await client.complete(question())).usage.cached == 0
        assert (await client.complete(question())).usage.cached == 1
    other = CachedClient(connect(serve("fine").url), cache)
    assert (await other.complete(question())).usage.cached == 0


async def test_query_and_headers_are_part_of_the_key_and_credentials_are_not(cache, serve, connect):
    stub = serve("fine")

    async def cached(query="", **options):
        headers = options.pop("headers", {})
        client = connect(stub.url + query, settings={"headers": headers}, **options)
        return (await CachedClient(client, cache).complete(question())).usage.cached

    assert await cached("?deployment=A") == 0
    assert await cached("?deployment=B") == 0
    assert await cached("?deployment=A&key=4711-secret", api_key="another-key") == 1
    assert await cached(headers={"X-Route": "a"}) == 0
    assert await cached(headers={"X-Route": "b"}) == 0
    assert await cached(headers={"x-route": "a", "Authorization": "Bearer other"}) == 1


WRONG = (
    {"text": 5},
    {"finish": "rubbish"},
    {"finish": ["stop"]},
    {"prompt_tokens": "12"},
    {"completion_tokens": 1e300},
    {"prompt_tokens": -1},
    {"prompt_tokens": True},
    {"reasoning": {"a": 1}},
    {"model": 7},
)


@pytest.mark.parametrize("wrong", WRONG, ids=str)
async def test_a_stored_reply_of_another_form_is_asked_anew(cache, wrong):
    client = CachedClient(ScriptedClient(["first", "second"]), cache)
    await client.complete(question())
    stored = cache.get(client._key(question()))
    assert (await client.complete(question())).text == "first"
    cache.put(client._key(question()), {**stored, **wrong})
    assert (await client.complete(question())).text == "second"


async def test_what_a_client_learns_does_not_change_the_key(cache, serve, connect):
    stub = serve("fine", refused={"seed": "Unrecognized request argument supplied: seed"})
    inner = connect(stub.url, parameters=SamplingParameters(seed=1))
    before = client_identity(inner)
    await CachedClient(inner, cache).complete(question(schema=SCORE))
    assert client_identity(inner) == before
    assert (await CachedClient(inner, cache).complete(question(schema=SCORE))).usage.cached == 1


async def test_failures_and_filtered_replies_are_not_kept(cache):
    lines = [ChatFailure("timeout", "no"), ChatReply("no", "filter"), "yes"]
    client = CachedClient(ScriptedClient(lines), cache)
    assert [(await client.complete(question())) for _ in lines][2].text == "yes"


async def test_without_reading_the_answer_is_replaced(cache):
    inner = ScriptedClient(["old", "new"])
    await CachedClient(inner, cache).complete(question())
    assert (await CachedClient(inner, cache, read=False).complete(question())).text == "new"
    assert (await CachedClient(inner, cache).complete(question())).text == "new"


def test_no_secret_reaches_the_file(tmp_path, cache):
    cache.put(KEY, {"text": "hello"})
    cache.flush()
    assert cache.get(KEY) == {"text": "hello"}
    assert (cache.path.parent / "replies.db").exists()


def test_writes_are_gathered(tmp_path):
    now = [0.0]
    cache = ResponseCache(tmp_path, clock=lambda: now[0])

    def on_disk():
        with sqlite3.connect(cache.path) as reader:
            count = reader.execute("SELECT count(*) FROM replies").fetchone()[0]
        reader.close()
        return count

    for i in range(63):
        cache.put(bytes([i]), {"text": "x"})
    assert on_disk() == 0
    assert cache.get(bytes([5])) == {"text": "x"}
    cache.put(b"64th", {"text": "x"})
    assert on_disk() == 64
    cache.put(b"a", {"text": "x"})
    now[0] = 2.5
    cache.put(b"b", {"text": "x"})
    assert on_disk() == 66
    cache.close()


async def test_answers_are_on_disk_when_the_event_loop_comes_round(tmp_path):
    now = [0.0]
    cache = ResponseCache(tmp_path, clock=lambda: now[0])
    client = CachedClient(ScriptedClient([str(n) for n in range(5)]), cache)

    def on_disk():
        with sqlite3.connect(cache.path) as reader:
            count = reader.execute("SELECT count(*) FROM replies").fetchone()[0]
        reader.close()
        return count

    for n in range(2):
        await client.complete(question(str(n)))
    assert on_disk() == 0
    await asyncio.sleep(0)
    assert on_disk() == 2
    other = sqlite3.connect(cache.path)
    other.execute("BEGIN IMMEDIATE")
    await client.complete(question(str(2)))
    await asyncio.sleep(0)  # waits for the lock, in vain
    other.rollback()
    other.close()
    await client.complete(question(str(3)))
    await asyncio.sleep(0)
    assert on_disk() == 2, "not tried again at once"
    now[0] = 2.0
    await client.complete(question(str(4)))
    await asyncio.sleep(0)
    assert on_disk() == 5
    cache.close()


def test_another_process_writes_to_the_same_file(tmp_path):
    code = (
        "import sys; from pathlib import Path; from dialogauge.llm import ResponseCache\n"
        "c = ResponseCache(Path(sys.argv[1]))\n"
        "for i in range(300): c.put(f'{sys.argv[2]}{i}'.encode(), {'text': sys.argv[2]})\n"
        "c.close()"
    )
    import dialogauge

    source = str(Path(dialogauge.__file__).parent.parent)
    command = [sys.executable, "-c", code, str(tmp_path)]
    others = [subprocess.Popen([*command, name], env={**os.environ, "PYTHONPATH": source}) for name in "ab"]
    cache = ResponseCache(tmp_path)
    for i in range(300):
        cache.put(f"c{i}".encode(), {"text": "c"})
    assert [p.wait(30) for p in others] == [0, 0]
    cache.flush()
    for name in "abc":
        assert all(cache.get(f"{name}{i}".encode()) == {"text": name} for i in range(300))
    cache.close()


def test_a_locked_file_loses_nothing(tmp_path):
    cache = ResponseCache(tmp_path)
    other = sqlite3.connect(cache.path)
    other.execute("BEGIN IMMEDIATE")
    cache.put(KEY, {"text": "x"})
    cache.flush()
    assert cache.get(KEY) == {"text": "x"}
    other.rollback()
    other.close()
    cache.close()
    cache = ResponseCache(tmp_path)
    assert cache.get(KEY) == {"text": "x"}
    cache.close()


@pytest.mark.parametrize("size", [100, 5000, 100_000])
def test_a_damaged_file_is_moved_aside_with_a_warning(tmp_path, caplog, size):
    (tmp_path / "replies.db").write_bytes(b"not a database " * (size // 15))
    with caplog.at_level(logging.WARNING):
        cache = ResponseCache(tmp_path)
    assert "is damaged" in caplog.text
    assert len(list(tmp_path.glob("replies.db.damaged-*"))) == 1
    cache.put(KEY, {"text": "x"})
    cache.close()
    cache = ResponseCache(tmp_path)
    assert cache.get(KEY) == {"text": "x"}
    cache.close()


@pytest.mark.parametrize("place", range(8, 60, 4))
def test_a_schema_that_is_no_text_is_moved_aside(tmp_path, place):
    cache = ResponseCache(tmp_path)
    cache.put(KEY, {"text": "x"})
    cache.close()
    raw = cache.path.read_bytes()
    at = raw.index(b"tablereplies") + place - 8
    cache.path.write_bytes(raw[:at] + b"\xff\xfe" + raw[at + 2 :])
    cache = ResponseCache(tmp_path)
    assert cache.get(KEY) in (None, {"text": "x"})
    cache.put(KEY, {"text": "new"})
    cache.flush()
    assert cache.get(KEY) == {"text": "new"}
    cache.close()


def test_a_value_that_unpacks_to_more_than_any_reply_is_not_there(cache):
    cache.flush()
    huge = zlib.compress(b'{"text": "' + b"x" * (64 << 20) + b'"}')
    with sqlite3.connect(cache.path) as other:
        other.execute("INSERT INTO replies VALUES (?, ?)", (KEY, huge))
        other.execute("INSERT INTO replies VALUES (?, ?)", (b"as it is", bytes(20 << 20)))
    other.close()
    tracemalloc.start()
    try:
        assert cache.get(KEY) is None
        assert cache.get(b"as it is") is None
        assert tracemalloc.get_traced_memory()[1] < 18 << 20
    finally:
        tracemalloc.stop()


def test_damage_that_shows_later_is_no_end_either(tmp_path, caplog):
    cache = ResponseCache(tmp_path)
    for i in range(500):
        cache.put(os.urandom(32), {"text": os.urandom(200).hex(), "i": i})
    cache.close()
    with (tmp_path / "replies.db").open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(200_000))
    with caplog.at_level(logging.WARNING):
        cache = ResponseCache(tmp_path)
        for i in range(200):
            cache.get(i.to_bytes(32, "big"))
            cache.put(i.to_bytes(32, "big"), {"text": str(i)})
        cache.flush()
    assert "is damaged" in caplog.text
    assert cache.get((199).to_bytes(32, "big")) == {"text": "199"}
    cache.close()


def test_a_value_that_cannot_be_read_is_not_there(cache):
    cache.flush()
    with sqlite3.connect(cache.path) as other:
        other.execute("INSERT INTO replies VALUES (?, ?)", (KEY, b"rubbish"))
        other.execute("INSERT INTO replies VALUES (?, ?)", (b"text", "text"))
    other.close()
    assert cache.get(KEY) is None
    assert cache.get(b"text") is None


def test_a_folder_that_cannot_be_used_gives_a_cache_that_forgets(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        cache = ResponseCache(tmp_path / "file")
    assert "no response cache" in caplog.text
    cache.put(KEY, {"text": "x"})
    assert cache.get(KEY) is None
    cache.flush()
    cache.close()


def test_a_damaged_file_that_cannot_be_moved_costs_the_cache_alone(tmp_path, caplog, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    (tmp_path / "replies.db").write_bytes(b"not a database " * 500)
    with caplog.at_level(logging.WARNING):
        cache = ResponseCache(tmp_path)
        cache.put(KEY, {"text": "x"})
        cache.close()
    assert [r.message.partition(":")[0] for r in caplog.records] == ["no response cache"]
    assert "Permission denied" in caplog.text
