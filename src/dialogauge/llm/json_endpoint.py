"""A server that takes JSON and gives JSON: what is no model, such as a memory system under test."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dialogauge.core.errors import EndpointError
from dialogauge.llm.endpoint import Endpoint
from dialogauge.llm.problems import Problem
from dialogauge.llm.wire import encode

if TYPE_CHECKING:
    from dialogauge.llm.transport import Transport


class JsonEndpoint:
    """Posts to paths below a base URL. Nothing is sent twice: the first may have been taken in."""

    def __init__(self, base_url: str, *, api_key: str | None = None, deadline: float = 60.0) -> None:
        """Raises ConfigError for what is no base URL; nothing is sent before the first `post`."""
        self.endpoint = Endpoint(base_url, api_key)
        self._deadline = deadline

    async def post(self, path: str, value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
        """Return the JSON value that comes back, None for what is no JSON; EndpointError for no answer."""
        response = await self._transport.post(path, encode(value), self._deadline)
        if isinstance(response, Problem):
            msg = f"{self.endpoint.shown_url}: {response.message}"
            raise EndpointError(msg)
        if not 200 <= response.status < 300:
            msg = f"{self.endpoint.shown_url} answered {path} with HTTP {response.status}"
            raise EndpointError(msg)
        return response.payload

    async def close(self) -> None:
        """Close the connections; closing twice is harmless."""
        if "_transport" in vars(self):
            await self._transport.close()

    @cached_property
    def _transport(self) -> Transport:
        from dialogauge.llm.transport import Transport  # with aiohttp, which takes a tenth of a second

        return Transport(self.endpoint)
