"""The wire: one pool of connections to one endpoint, errors as values."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from yarl import URL

from dialogauge.llm.endpoint import Endpoint
from dialogauge.llm.refusals import Problem

__all__ = ["Response", "Transport"]


@dataclass(frozen=True, slots=True)
class Response:
    """An answer with any status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends bytes to one endpoint and brings back bytes; opens its pool at the first request."""

    def __init__(
        self, endpoint: Endpoint, *, proxy: str | None = None, connect_deadline: float = 30.0
    ) -> None:
        self._endpoint = endpoint
        self._proxy = proxy
        self._connect_deadline = connect_deadline
        self._chat = URL(endpoint.url("/chat/completions"), encoded=True)
        self._session: aiohttp.ClientSession | None = None

    async def post_chat(self, content: bytes, deadline: float) -> Response | Problem:
        """Send one chat completion request, once.

        Args:
            content: The JSON body.
            deadline: Seconds that all of it may take.
        """
        session = self._session or self._open()
        try:
            async with (
                asyncio.timeout(deadline),
                session.post(self._chat, data=content, allow_redirects=False, proxy=self._proxy) as response,
            ):
                return Response(response.status, response.headers, await response.read())
        except (aiohttp.ClientError, OSError) as error:
            return self._problem(error, deadline)

    async def get(self, path: str, deadline: float) -> Response | Problem:
        """Fetch a path below the base URL, once."""
        session = self._session or self._open()
        url = URL(self._endpoint.url(path), encoded=True)
        try:
            async with (
                asyncio.timeout(deadline),
                session.get(url, allow_redirects=False, proxy=self._proxy) as response,
            ):
                return Response(response.status, response.headers, await response.read())
        except (aiohttp.ClientError, OSError) as error:
            return self._problem(error, deadline)

    async def close(self) -> None:
        """Close all connections; closing twice is harmless."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        # The limiter bounds the connections; cookies and a second timer would only cost time.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_deadline),
            headers=self._endpoint.request_headers(),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session

    def _problem(self, error: Exception, deadline: float) -> Problem:
        # The order matters: aiohttp's errors inherit from one another and from the built-in ones.
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            message = f"no connection within {self._connect_deadline:g} s"
            return Problem("connection", message, "retry", unreached=True)
        if isinstance(error, TimeoutError):
            return Problem("timeout", f"no complete answer within {deadline:.3g} s", "retry")
        if isinstance(error, aiohttp.ClientConnectorError):
            return Problem("connection", _why_unreached(error), "endpoint", unreached=True)
        text = str(error) or type(error).__name__
        return Problem("connection", f"the connection broke: {text}", "retry")


def _why_unreached(error: aiohttp.ClientConnectorError) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the host name {error.host!r} cannot be resolved"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"the certificate of {error.host} is not accepted"
    if isinstance(error.os_error, ConnectionRefusedError):
        return f"the connection to {error.host}:{error.port} was refused"
    return f"{error.host}:{error.port} cannot be reached: {error}"
