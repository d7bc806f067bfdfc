"""HTTP transport: bytes to one endpoint and its answers back, bounded, without secrets, errors as values."""

from __future__ import annotations

import asyncio
import errno
import socket
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import aiohttp
import orjson
from multidict import CIMultiDict
from yarl import URL

from dialogauge.llm.endpoint import Endpoint
from dialogauge.llm.problems import Problem
from dialogauge.llm.secrets import Secrets
from dialogauge.llm.wire import MAX_BYTES, parse_json

_AT_ONCE: Final = 1 << 14
"""Bytes that are read on the event loop; what is larger could block it, and is read in a thread."""
_LARGE: Final = 1 << 18
"""Bytes; larger responses are read one after the other, for JSON may take sixty times as much memory."""
_LARGE_AT_ONCE: Final = 4
"""Large responses that are received at the same time."""
_BUFFERED: Final = 1 << 15
"""Bytes of a connection that are received at a time: what aiohttp receives it parses at once, and tiny
responses one after the other take forty times as much memory."""
_MOST_PARTS: Final = 100_000
"""Brackets in a body that is read: with more it would take hundreds of MB, and hold up all threads."""
_HEADER: Final = 100
"""Characters of a header that is kept; those that are read hold a number, a duration or a date."""
_LAYERS: Final = 3
"""Encodings around one another that are unpacked."""
_MESSAGE: Final = 400


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response of any status, without the endpoint's secrets."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    payload: object = None
    """The JSON value of the body; None if it is none."""


class Transport:
    """Sends bytes to one endpoint and returns what it answers.

    This is where everything comes in that a server sends, and so where the endpoint's secrets are masked,
    before anything is cut, read or stored. Each request has its own connection: whatever a server sends after
    an answer would else be taken for the answer to the next request.
    """

    def __init__(
        self, endpoint: Endpoint, *, connect_deadline: float = 30.0, max_bytes: int = MAX_BYTES
    ) -> None:
        self._endpoint = endpoint
        self._connect_deadline = connect_deadline
        self._max_bytes = max_bytes
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)
        # Of its own: a thread goes on when the request that waits for it has met its deadline.
        self._reader = ThreadPoolExecutor(1, "dialogauge-read")
        self._chat = URL(endpoint.url("/chat/completions"), encoded=True)
        self._session: aiohttp.ClientSession | None = None

    async def post_chat(self, content: bytes, deadline: float) -> Response | Problem:
        """Send one JSON body, without retries; the deadline in seconds is for the whole exchange."""
        return await self._send("POST", self._chat, content, deadline)

    async def post(self, path: str, content: bytes, deadline: float) -> Response | Problem:
        """Send one JSON body to another path below the base URL, without retries."""
        return await self._send("POST", URL(self._endpoint.url(path), encoded=True), content, deadline)

    async def get(self, path: str, deadline: float) -> Response | Problem:
        """Fetch a path below the base URL, without retries."""
        return await self._send("GET", URL(self._endpoint.url(path), encoded=True), None, deadline)

    async def close(self) -> None:
        """Close all connections; closing twice is harmless."""
        self._reader.shutdown(wait=False, cancel_futures=True)
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _send(
        self, method: str, url: URL, content: bytes | None, deadline: float
    ) -> Response | Problem:
        session = self._session or self._open()
        try:
            async with (
                asyncio.timeout(deadline),
                session.request(method, url, data=content, allow_redirects=False) as response,
            ):
                return await self._read(response)
        except (aiohttp.ClientError, OSError) as error:
            # The order matters: aiohttp's errors inherit from each other and from built-in errors.
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                message = f"no connection within {self._connect_deadline:g} s"
                return Problem("connection", message, "retry", unreached=True)
            if isinstance(error, TimeoutError):
                return Problem("timeout", f"no complete answer within {deadline:.3g} s", "retry")
            if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
                message = "no more files can be opened here (raise `ulimit -n`, or lower --max-concurrency)"
                return Problem("connection", message, "wait", overload=True, unreached=True)
            if isinstance(error, aiohttp.ClientConnectorError):
                message = self._endpoint.redact(_why_unreached(error))
                return Problem("connection", message, "endpoint", unreached=True)
            if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError | ConnectionError):
                text = "the server closed it without an answer"
            elif isinstance(error, aiohttp.ClientResponseError):
                text = f"what came is no HTTP: {self._endpoint.redact(error.message)}"
            else:
                text = self._endpoint.redact(str(error) or type(error).__name__)
            return Problem("connection", f"the connection broke: {text[:_MESSAGE]}", "retry")

    async def _read(self, response: aiohttp.ClientResponse) -> Response | Problem:
        packed = ",".join(response.headers.getall("Content-Encoding", ())).lower().split(",")
        layers = [name for name in map(str.strip, packed) if name not in ("", "identity")]
        raw = bytearray()
        try:
            async for chunk in response.content.iter_any():
                if len(raw) <= _LARGE < len(raw) + len(chunk):
                    await self._large.acquire()
                raw += chunk
                if len(raw) > self._max_bytes:
                    return self._too_large(response.status)
            try:
                body, payload = await self._open_body(bytes(raw), layers)
            except OverflowError:
                return self._too_large(response.status)
            except (zlib.error, EOFError) as error:
                message = f"the answer cannot be unpacked: {error}"
                return Problem("server_error", message, "retry", response.status)
            mask = self._endpoint.redact
            short = ((n, v) for n, v in response.headers.items() if max(len(n), len(v)) <= _HEADER)
            headers = CIMultiDict((mask(name), mask(value)) for name, value in short)
            return Response(response.status, headers, body, payload)
        finally:
            if len(raw) > _LARGE:
                self._large.release()

    async def _open_body(self, raw: bytes, layers: list[str]) -> tuple[bytes, object]:
        """Unpack, read and mask a body; raises OverflowError for one that is too large."""
        secrets = self._endpoint.secrets
        try:
            body = _opened(raw, layers, min(_LARGE, self._max_bytes))
        except OverflowError:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(
                self._reader, lambda: read_body(_opened(raw, layers, self._max_bytes), secrets)
            )
        if len(body) > _AT_ONCE:
            return await asyncio.to_thread(read_body, body, secrets)
        return read_body(body, secrets)

    def _too_large(self, status: int) -> Problem:
        message = f"the answer has more than {self._max_bytes} bytes, or {_MOST_PARTS} lists and objects"
        return Problem("server_error", message, "give_up", status)

    def _open(self) -> aiohttp.ClientSession:
        # The limiter limits the connections; cookies and a second timer would cost time.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, ttl_dns_cache=300, force_close=True, socket_factory=_socket
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_deadline),
            headers={**self._endpoint.request_headers(), "Accept-Encoding": "gzip, deflate"},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )
        return self._session


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    connection = socket.socket(*address[:3])
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFERED)
    return connection


def read_body(raw: bytes, secrets: Secrets) -> tuple[bytes, object]:
    """Return a body and its JSON value (None if it is none), both without secrets.

    Raises OverflowError for one of too many parts.
    """
    if raw.count(b"[") + raw.count(b"{") > _MOST_PARTS:
        raise OverflowError
    payload = parse_json(raw)
    if payload is None:
        return secrets.mask_bytes(raw), None
    if not secrets.may_hold(raw):
        return raw, payload
    payload = secrets.mask_json(payload)
    return orjson.dumps(payload), payload


def _opened(raw: bytes, layers: list[str], limit: int) -> bytes:
    """Return what is in these encodings; raises OverflowError for more than `limit` bytes."""
    if len(layers) > _LAYERS:
        message = f"it is packed {len(layers)} times"
        raise zlib.error(message)
    for layer in reversed(layers):
        raw = b"".join(_unpacked(raw, layer, limit))
    if len(raw) > limit:
        raise OverflowError
    return raw


def _unpacked(raw: bytes, encoding: str, limit: int) -> Iterator[bytes]:
    """Yield what was packed, in pieces; raises `OverflowError` once it is more than `limit` bytes."""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        message = f"it is packed as {encoding[:20]!r}, which was not asked for"
        raise zlib.error(message)
    # Servers send deflate with and without the header of zlib; gzip may have several members.
    with_header = raw[:1] and raw[0] & 15 == 8
    window = 31 if encoding != "deflate" else 15 if with_header else -15
    while raw:
        reader = zlib.decompressobj(window)
        piece = reader.decompress(raw, limit + 1)
        limit -= len(piece)
        if limit < 0:
            raise OverflowError
        if not reader.eof:
            message = "it is cut off"
            raise EOFError(message)
        yield piece
        raw = reader.unused_data.lstrip(b"\0")


def _why_unreached(error: aiohttp.ClientConnectorError) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the host name {error.host!r} cannot be resolved"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"the certificate of {error.host} is not accepted"
    if isinstance(error.os_error, ConnectionRefusedError):
        return f"the connection to {error.host}:{error.port} was refused"
    return f"{error.host}:{error.port} cannot be reached: {error}"
