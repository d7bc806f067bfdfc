"""What a server may send, byte by byte, over a socket of our own."""

from __future__ import annotations

import asyncio
import errno
import gzip
import json
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any

import pytest

from dialogauge.core.errors import ConfigError, EndpointError
from dialogauge.llm import ChatReply, RetrySettings
from dialogauge.llm.endpoint import Endpoint
from dialogauge.llm.problems import Problem
from dialogauge.llm.secrets import Secrets
from dialogauge.llm.transport import Response, Transport, read_body
from servers.asking import question
from servers.echoing import message

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]
KEY = "sk-abcd1234efgh5678"


@asynccontextmanager
async def raw_server(serve: Serve, **options: Any) -> AsyncIterator[Transport]:
    """Yield a transport to a server that is one function."""

    serving: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task())
        writers.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await serve(reader, writer)
        writer.close()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport = Transport(Endpoint(f"http://127.0.0.1:{port}/v1", KEY), **options)
    try:
        yield transport
    finally:
        await transport.close()
        server.close()
        await asyncio.sleep(0.02)  # who was let in last begins to be served
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0.02)


async def request_in(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    return await reader.readexactly(size)


def answer(body: bytes, *headers: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    head = "\r\n".join([status, f"Content-Length: {len(body)}", *headers, "", ""])
    return head.encode() + body


def sends(*pieces: bytes, pause: float = 0.0) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_in(reader)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return serve


async def asked(serve: Serve, deadline: float = 5.0, **options: Any) -> Response | Problem:
    async with raw_server(serve, **options) as transport:
        return await transport.post_chat(b"{}", deadline)


def packed(data: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.compress(data, mtime=0)
    window = {"deflate": 15, "raw deflate": -15}[encoding]
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b'{"a": 1}', "identity"),
        (gzip.compress(b'{"a": 1}', mtime=0), "gzip"),
        (gzip.compress(b'{"a"', mtime=0) + gzip.compress(b": 1}", mtime=0) + b"\0\0", "x-gzip"),
        (packed(b'{"a": 1}', "deflate"), "Deflate"),
        (packed(b'{"a": 1}', "raw deflate"), "deflate"),
        (gzip.compress(packed(b'{"a": 1}', "deflate"), mtime=0), "deflate, gzip"),
    ],
)
async def test_a_packed_answer_is_unpacked(body, encoding):
    response = await asked(sends(answer(body, f"Content-Encoding: {encoding}")))
    assert isinstance(response, Response)
    assert (response.body, response.payload) == (b'{"a": 1}', {"a": 1})


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate", "gzip, gzip"])
async def test_a_bomb_is_given_up_early(encoding):
    bomb = packed(bytes(300 << 20), encoding.partition(",")[0])
    if "," in encoding:
        bomb = gzip.compress(bomb)
    named = encoding.removeprefix("raw ")
    tracemalloc.start()
    problem = await asked(sends(answer(bomb, f"Content-Encoding: {named}")), 20)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(problem, Problem)
    assert "more than 2097152 bytes" in problem.message
    assert (problem.kind, problem.remedy) == ("server_error", "give_up")
    assert most < 60 << 20


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"no gzip", "gzip"),
        (gzip.compress(b'{"a": 1}', mtime=0)[:-5], "gzip"),
        (b"x", "br"),
        (b"x", "zstd"),
        (gzip.compress(b"{}", mtime=0), "gzip, gzip, gzip, gzip"),
    ],
)
async def test_what_cannot_be_unpacked_is_a_problem(body, encoding):
    problem = await asked(sends(answer(body, f"Content-Encoding: {encoding}")))
    assert isinstance(problem, Problem)
    assert "cannot be unpacked" in problem.message
    assert problem.remedy == "retry"


async def test_an_answer_without_end_is_cut_off():
    async def serve(reader, writer):
        await request_in(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
            await writer.drain()

    problem = await asked(serve, max_bytes=1 << 20)
    assert isinstance(problem, Problem)
    assert "more than 1048576 bytes" in problem.message


async def test_a_drip_without_end_meets_the_deadline():
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    problem = await asked(sends(head, *[b"1\r\nx\r\n"] * 100, pause=0.02), deadline=0.3)
    assert isinstance(problem, Problem)
    assert problem.kind == "timeout"


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * (1 << 20) + b"\r\n\r\n",
        b"HTTP/1.1 200 " + b"x" * (1 << 20) + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-Many: 1\r\n" * 200_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"-ERR wrong number of arguments\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"",
    ],
    ids=range(10),
)
async def test_what_is_no_http_is_a_broken_connection_in_short(head):
    problem = await asked(sends(head))
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.remedy, problem.status) == ("connection", "retry", None)
    assert len(problem.message) < 450


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.05, 0.3])
async def test_an_answer_that_nobody_asked_for_is_no_answer_to_the_next_question(delay):
    async def serve(reader, writer):
        while True:
            asked_for = json.loads(await request_in(reader))["n"]
            writer.write(answer(json.dumps({"n": asked_for}).encode()))
            await writer.drain()
            await asyncio.sleep(delay)
            writer.write(answer(b'{"n": "unasked"}'))
            await writer.drain()

    async with raw_server(serve) as transport:
        for n in range(5):
            response = await transport.post_chat(json.dumps({"n": n}).encode(), 5)
            assert isinstance(response, Response)
            assert response.payload == {"n": n}
            await asyncio.sleep(0.03)


async def test_an_answer_before_the_question_was_read_belongs_to_it():
    async def serve(reader, writer):
        writer.write(answer(b'{"error": "too busy"}', status="HTTP/1.1 503 Busy"))
        await writer.drain()
        await reader.read()

    response = await asked(serve)
    assert isinstance(response, Response)
    assert response.status == 503


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", answer(b"{}")],
        [answer(b"{}", status="HTTP/1.0 200 OK")],
        [b"HTTP/1.0 200 OK\r\n\r\n{}"],
        [answer(b"{}") + answer(b'{"second": 1}')],
    ],
    ids=["1xx", "1.0", "until the end", "pipelined"],
)
async def test_unusual_answers_are_read(pieces):
    response = await asked(sends(*pieces))
    assert isinstance(response, Response)
    assert response.payload == {}


async def test_the_key_is_masked_in_headers_body_and_errors():
    body = f'{{"{KEY}": "\\u0073{KEY[1:]}"}}'.encode()
    response = await asked(sends(answer(body, f"Retry-After: {KEY}", f"X-{KEY}: 1")))
    assert isinstance(response, Response)
    assert KEY not in f"{response.payload}{response.body!r}{dict(response.headers)}"
    problem = await asked(sends(f"no HTTP but {KEY}\r\n\r\n".encode()))
    assert isinstance(problem, Problem)
    assert KEY not in problem.message


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": ' + b"[" * 500_000 + b"]" * 500_000 + b"}",
        b'{"a": ' + b"[" * 99_000 + b"]" * 99_000 + b"}",
        b'{"a": ' + b"9" * 1_000_000 + b"}",
        b'{"a": 1e' + b"9" * 1_000_000 + b"}",
        b"{" + b",".join(b'"%d": 1' % n for n in range(80_000)) + b"}",
        b'{"a": "' + b"\\u0073\\ud800" * 80_000 + b'"}',
        b'{"a": "' + b"\\\\" * 500_000 + b'"',
    ],
    ids=["too deep", "deep", "long number", "huge number", "many keys", "many escapes", "cut"],
)
async def test_reading_a_large_answer_does_not_stop_the_others(body):
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.process_time()  # what others do on the machine is no fault of the reader
            await asyncio.sleep(0.005)
            longest = max(longest, time.process_time() - before)

    watching = asyncio.create_task(watch())
    response = await asked(sends(answer(body)), 60)
    watching.cancel()
    assert isinstance(response, Problem if body.count(b"[") > 100_000 else Response)
    assert longest < 1.0  # 0.02 on a machine of its own


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h/v1",
        "h:8000",
        "http://",
        "http://:80/v1",
        "http://u:hush@.:80/v1",
        "http://u:hush@a..b/v1",
        f"http://u:hush@{'a' * 64}.org/v1",
        "http://u:hush@h:notaport/v1",
        "http://u:hush@h:99999/v1",
        "http://u:hush@h:0/v1",
        "http://u:hush@[::1/v1",
        "http://u:12/hush@h/v1",
        "http://u:12#hush@h/v1",
        "http://u:hush#more@h/v1",
        "http://u:hush@h/v1 x",
        "http://u:hush@h/v1\n",
        "http://u:hush@hé/v1",
        "http://u:hush@h\\x/v1",
    ],
)
def test_a_malformed_url_is_refused_without_its_password(url):
    with pytest.raises(ConfigError) as refused:
        Endpoint(url)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("key", ["abc\n", "a\r\nX: y", "ключ", "a\0b"])
def test_a_key_or_header_that_http_cannot_carry_is_refused_unseen(key):
    for make in (
        lambda: Endpoint("http://h/v1", key, "MY_KEY"),
        lambda: Endpoint("http://h/v1", headers={"X-Org": key}),
        lambda: Endpoint("http://h/v1", headers={key: "x"}),
    ):
        with pytest.raises(ConfigError):
            make()
    with pytest.raises(ConfigError, match="MY_KEY") as refused:
        Endpoint("http://h/v1", key, "MY_KEY")
    assert key not in str(refused.value)


def test_the_variant_is_of_what_may_change_answers_and_not_of_keys():
    plain = Endpoint("http://h/v1")
    assert plain.variant is None
    assert (
        Endpoint("http://u:p@h/v1?key=abc", "k", headers={"Authorization": "x", "api-key": "y"}).variant
        is None
    )
    a = Endpoint("http://h/v1?deployment=A&key=1")
    assert a.variant == Endpoint("http://h/v1?key=2&deployment=A").variant
    assert a.variant != Endpoint("http://h/v1?deployment=B&key=1").variant
    one = Endpoint("http://h/v1", headers={"X-Route": "a"}).variant
    assert one == Endpoint("http://h/v1", headers={"x-route": "a"}).variant
    assert one != Endpoint("http://h/v1", headers={"x-route": "b"}).variant


# Endpoints that are slow, or none


def one_by_one(seconds: float, *, forgets: bool, came: list[bytes]) -> Serve:
    """Answer one request at a time; a server that does not forget works on for clients that left."""
    turn = asyncio.Lock()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(await request_in(reader))
        left = asyncio.ensure_future(reader.read())
        async with turn:
            if not (forgets and left.done()):
                await asyncio.sleep(seconds)
        left.cancel()
        message = {"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}
        writer.write(answer(json.dumps(message).encode()))
        await writer.drain()

    return serve


@pytest.mark.parametrize("forgets", [True, False])
async def test_a_server_that_does_one_at_a_time_gets_all_items_done(connect, forgets):
    came: list[bytes] = []
    async with raw_server(one_by_one(0.06, forgets=forgets, came=came)) as transport:
        url = transport._endpoint.base_url
        retry = RetrySettings(attempt_deadline=0.3, item_deadline=12, backoff_base=0.01, backoff_cap=0.6)
        client = connect(url, retry=retry)
        replies = await asyncio.gather(*(client.complete(question(str(n))) for n in range(20)))
        assert [type(reply) for reply in replies] == [ChatReply] * 20
        # What was sent counts, also what the server did not come to read in time.
        assert sum(reply.usage.calls for reply in replies) >= len(came)
        assert client.limits().limit < 10


PORTS = {
    "closes": b"",
    "garbage": b"\x00\x01\x02garbage\r\n\r\n",
    "another protocol": b"220 mail.example.org ESMTP\r\n",
    "TLS": b"\x15\x03\x03\x00\x02\x02\x46",
    "half an answer": b"HTTP/1.1 200 OK\r\nContent-Le",
}


@pytest.mark.parametrize("sent", PORTS.values(), ids=PORTS)
@pytest.mark.parametrize("resets", [False, True])
async def test_a_port_that_never_speaks_http_is_no_endpoint(connect, sent, resets):
    async def serve(reader, writer):
        if not resets:
            await request_in(reader)
        writer.write(sent)
        await writer.drain()

    async with raw_server(serve) as transport:
        client = connect(transport._endpoint.base_url)
        ended = await asyncio.gather(
            *(client.complete(question(str(n))) for n in range(8)), return_exceptions=True
        )
    assert {type(end) for end in ended} == {EndpointError}


async def test_a_server_of_tls_asked_without_is_no_endpoint(connect):
    client = connect("https://127.0.0.1:9/v1")
    with pytest.raises(EndpointError):
        await client.complete(question())


@pytest.mark.parametrize(("more", "kept"), [(0, True), (1, False)])
def test_a_body_of_too_many_parts_is_not_read(more, kept):
    raw = b"[" + b",".join([b"[]"] * (99_999 + more)) + b"]"
    with nullcontext() if kept else pytest.raises(OverflowError):
        assert read_body(raw, Secrets())[0] == raw


async def test_large_answers_are_read_one_after_the_other_whatever_became_of_their_requests(monkeypatch):
    reading, most = [], []

    def slowly(raw, _):
        reading.append(raw)
        most.append(len(reading))
        time.sleep(0.2)
        reading.pop()
        return raw, {}

    async def serve(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000)
        await writer.drain()

    monkeypatch.setattr("dialogauge.llm.transport.read_body", slowly)
    async with raw_server(serve) as transport:
        # The first ones meet their deadline while they are read.
        await asyncio.gather(*(transport.post_chat(b"{}", deadline) for deadline in (0.1, 0.1, 5, 5)))
    assert most == [1] * len(most)


async def test_a_secret_in_pieces_is_masked_once_it_is_whole(connect):
    key = "sk-very-secret-012345678"
    pieces = [key[at : at + 6] for at in range(0, len(key), 6)]
    parts = [{"type": "text", "text": text} for text in ("Good. ", *pieces, " it is.")]
    thoughts = "".join(f"<think>{piece}</think>" for piece in pieces[1:]) + "Good. *** it is."
    for content, more in ((parts, {}), (thoughts, {"reasoning_content": pieces[0]})):
        payload = message(content)
        payload["choices"][0]["message"].update(more)
        async with raw_server(sends(answer(json.dumps(payload).encode()))) as transport:
            client = connect(transport._endpoint.base_url, api_key=key)
            reply = await client.complete(question())
        assert isinstance(reply, ChatReply)
        assert reply.text.split() in (["Good.", "***", "it", "is."], ["Good.***", "it", "is."])
        assert reply.reasoning in (None, "***")


async def test_a_process_that_may_open_no_more_files_asks_fewer_at_once(monkeypatch):
    def refuse(_):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("dialogauge.llm.transport._socket", refuse)
    transport = Transport(Endpoint("http://127.0.0.1:9/v1", KEY))
    problem = await transport.post_chat(b"{}", 1.0)
    await transport.close()
    assert isinstance(problem, Problem)
    assert (problem.remedy, problem.overload, problem.unreached) == ("wait", True, True)
    assert "ulimit -n" in problem.message
