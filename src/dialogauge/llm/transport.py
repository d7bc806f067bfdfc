"""HTTP transport: one pool of connections to one endpoint, errors as values."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

import aiohttp
from yarl import URL

from dialogauge.core.errors import ConfigError, EndpointError
from dialogauge.llm.problems import Problem

_LISTED = 12


@dataclass(frozen=True, repr=False)
class Endpoint:
    """An OpenAI-compatible base URL with key and headers; raises `ConfigError` for an invalid URL."""

    base_url: str
    """For example ``https://api.example.org/v1``; requests keep its query, and its user info is a key."""
    api_key: str | None = None
    key_variable: str | None = None
    """The environment variable with the key, for messages only."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers; their values count as secrets."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            message = f"{self.shown_url!r} is no base URL of an endpoint"
            raise ConfigError(message, hint="it looks like http://localhost:8000/v1")

    def __repr__(self) -> str:
        """Without secrets."""
        return f"Endpoint({self.shown_url!r})"

    @property
    def shown_url(self) -> str:
        """The base URL without user info and query, which may be secrets."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, _host(parts), parts.path.rstrip("/"), "", ""))

    def url(self, path: str) -> str:
        """Return the URL of a path below the base, with the query and without user info."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, _host(parts), parts.path.rstrip("/") + path, parts.query, ""))

    def request_headers(self) -> dict[str, str]:
        """Return the headers of every request, including the key."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        parts = urlsplit(self.base_url)
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        elif parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        return {**headers, **self.headers}

    def redact(self, text: str) -> str:
        """Return the text without secrets."""
        parts = urlsplit(self.base_url)
        for secret in (self.api_key, parts.password, parts.query, *self.headers.values()):
            if secret and len(secret) >= 4:
                text = text.replace(secret, "***")
        return text

    def error(self, problem: Problem, model: str, listed: Sequence[str] | None = None) -> EndpointError:
        """Return the error for an unusable endpoint, with a hint what to do.

        `listed` are the models that the endpoint lists; None without a list.
        """
        message = f"{self.shown_url}: {self.redact(problem.message)}"
        return EndpointError(message, hint=self._hint(problem, model, listed))

    def _hint(self, problem: Problem, model: str, listed: Sequence[str] | None) -> str:
        status = problem.status
        if status in (401, 403):
            return self._key_hint()
        if status in (402, 429):
            return "the account has no credit left; nothing but paying or another endpoint helps"
        if status in (400, 404):
            if listed and model not in listed:
                more = ", ..." if len(listed) > _LISTED else ""
                return f"model {model!r} is not listed; the endpoint has {', '.join(listed[:_LISTED])}{more}"
            return f"check the model name {model!r} and the base URL, which mostly ends in /v1"
        if status is not None:
            return "check the base URL; it mostly ends in /v1"
        return "is the server running, and are host and port right?"

    def _key_hint(self) -> str:
        if self.key_variable is None:
            return "the endpoint wants a key: put it into an environment variable, name it by --api-key-env"
        if not self.api_key:
            return f"the environment variable {self.key_variable} is not set: put the key there"
        return f"check the key in the environment variable {self.key_variable}"


def _host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response of any status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends bytes to one endpoint and returns bytes; opens its pool at the first request."""

    def __init__(
        self, endpoint: Endpoint, *, proxy: str | None = None, connect_deadline: float = 30.0
    ) -> None:
        self._endpoint = endpoint
        self._proxy = proxy
        self._connect_deadline = connect_deadline
        self._chat = URL(endpoint.url("/chat/completions"), encoded=True)
        self._session: aiohttp.ClientSession | None = None

    async def post_chat(self, content: bytes, deadline: float) -> Response | Problem:
        """Send one JSON body, without retries; the deadline in seconds is for the whole exchange."""
        return await self._send("POST", self._chat, content, deadline)

    async def get(self, path: str, deadline: float) -> Response | Problem:
        """Fetch a path below the base URL, without retries."""
        return await self._send("GET", URL(self._endpoint.url(path), encoded=True), None, deadline)

    async def close(self) -> None:
        """Close all connections; closing twice is harmless."""
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
                session.request(
                    method, url, data=content, allow_redirects=False, proxy=self._proxy
                ) as response,
            ):
                return Response(response.status, response.headers, await response.read())
        except (aiohttp.ClientError, OSError) as error:
            return self._problem(error, deadline)

    def _open(self) -> aiohttp.ClientSession:
        # The limiter limits the connections; cookies and a second timer would cost time.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_deadline),
            headers=self._endpoint.request_headers(),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session

    def _problem(self, error: Exception, deadline: float) -> Problem:
        # The order matters: aiohttp's errors inherit from each other and from built-in errors.
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
