"""The clients of models: made of the settings of a role, on one budget and one cache, and freed together."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.app.config import RoleSettings, in_process
from dialogauge.app.environment import cache_folder, variable
from dialogauge.app.option_groups import LimitOptions, RetryOptions
from dialogauge.core.errors import ConfigError
from dialogauge.llm import LimiterState, SamplingParameters
from dialogauge.llm.budget import Budget, BudgetedClient, PriceTable
from dialogauge.llm.cache import CachedClient, ResponseCache
from dialogauge.llm.expected import CountingClient, Expected
from dialogauge.llm.protocol import ChatClient
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.llm import FolderEmbedder, HttpEmbedder

_LOG = logging.getLogger("dialogauge")


class Clients:
    """The clients that a command asks: built one by one, on one budget, and freed together."""

    def __init__(self, options: LimitOptions, *, dry: bool = False, sessions: bool = False) -> None:
        """Build nothing yet; dry clients ask nothing, and count what they would ask.

        With `sessions`, functions may take the id of a session too.

        Raises ConfigError for a faulty table of prices.
        """
        self._options = options
        self._dry, self._sessions = dry, sessions
        self._counting: list[tuple[str, CountingClient]] = []
        self._budget = Budget(options.max_calls, options.max_cost)
        if options.prices_file is not None:
            self._budget.prices = PriceTable.load(Path(options.prices_file))
        self._stack = AsyncExitStack()
        self._first: ChatClient | None = None

    def build(self, settings: RoleSettings, role: str) -> ChatClient:
        """Build the client of a role from its settings.

        A model in process or a callable is kept within the budget too; its replies are cached like others.
        What failed is asked anew where it is to be done again: the cache is then written, and not read.
        """
        o = self._options
        parameters = SamplingParameters(
            settings.temperature, settings.top_p, settings.max_tokens, settings.seed, extra=settings.extra
        )
        if in_process(settings.model):
            self._budget.require_price(settings.model)
            client: ChatClient = BudgetedClient(
                _client_here(settings, parameters, o.device, sessions=self._sessions), self._budget
            )
        else:
            client = _http(settings, role, parameters, o.max_concurrency, self._budget)
        self._stack.push_async_callback(client.close)
        self._first = self._first or client
        folder = cache_folder() if o.cache and not settings.model.startswith("py:") else None
        if folder is not None:
            cache = ResponseCache(folder)
            self._stack.callback(cache.close)
            client = CachedClient(client, cache, read=not (isinstance(o, RetryOptions) and o.retry_failed))
        elif o.cache and not settings.model.startswith("py:"):
            _LOG.warning("no response cache: there is no home folder; DIALOGAUGE_CACHE may name another")
        if not self._dry:
            return client
        counting = CountingClient(client)
        self._counting.append((settings.model, counting))
        return counting

    def limits(self) -> LimiterState | None:
        """Return what the adaptive limiter of the first of them does just now; None where there is none."""
        if self._first is None:
            return None
        from dialogauge.llm.http import HttpChatClient

        return self._first.limits() if isinstance(self._first, HttpChatClient) else None

    def counted(self, times: float = 1.0) -> Expected | None:
        """Return what the calls that dry clients have counted would take, so many times; else None."""
        return Expected.counted(self._counting, self._budget.prices, times) if self._counting else None

    def notices(self, stored: int) -> tuple[str, ...]:
        """Return what users should know of the endpoint of the first of them; warn of calls without a result.

        `stored` is how many calls the results of this run took.
        """
        if (lost := self._budget.calls - stored) > 0:
            _LOG.warning("no result counts %s: what they were sent for did not end", counted(lost, "call"))
        notice = getattr(self._first, "notice", None)
        return () if notice is None else (notice,)

    def build_embedder(self, settings: RoleSettings) -> FolderEmbedder | HttpEmbedder:
        """Build what makes vectors of texts: an endpoint's model within the budget, or that of a folder."""
        from dialogauge.llm import FolderEmbedder, HttpEmbedder

        if settings.model.startswith("file:"):
            return FolderEmbedder(settings.model.removeprefix("file:"), device=self._options.device)
        url, key = settings.base_url or "", read_key(settings, "embedder")
        embedder = HttpEmbedder(
            settings.model, url, api_key=key, key_variable=settings.api_key_env, budget=self._budget
        )
        self.free_too(embedder.close)
        return embedder

    def free_too(self, close: Callable[[], Awaitable[None]]) -> None:
        """Free something else with the clients."""
        self._stack.push_async_callback(close)

    async def close(self) -> None:
        """Free connections and caches."""
        await self._stack.aclose()


Limits = Callable[[], LimiterState | None]
"""What the adaptive limiter of an endpoint does just now; None where there is none."""


def _client_here(
    settings: RoleSettings, parameters: SamplingParameters, device: str, *, sessions: bool
) -> ChatClient:
    if settings.model.startswith("py:"):
        from dialogauge.app.functions import load_function
        from dialogauge.llm.scripted import CallableClient

        patience = {} if settings.timeout_s is None else {"patience": settings.timeout_s}
        return CallableClient(
            load_function(settings.model, sessions=sessions), name=settings.model, **patience
        )
    from dialogauge.llm.transformers_client import TransformersClient

    folder = settings.model.removeprefix("file:")
    if not folder or not Path(folder).is_dir():
        msg = f"the folder {folder!r} of the model is not there"
        raise ConfigError(msg, hint="file:PATH is a local Hugging Face folder: config, weights and tokenizer")
    return TransformersClient(folder, parameters=parameters, device=device)


def _http(
    settings: RoleSettings, role: str, parameters: SamplingParameters, max_concurrency: int, budget: Budget
) -> ChatClient:
    from dialogauge.llm.http import HttpChatClient, HttpSettings
    from dialogauge.llm.retry import RetrySettings

    if settings.base_url is None:
        msg = f"the role {role!r} has no base_url"
        raise ConfigError(msg, hint="give MODEL@URL, or base_url in the configuration file")
    key, usual = read_key(settings, role), HttpSettings()
    http = HttpSettings(
        retry=RetrySettings(
            attempt_deadline=settings.timeout_s or usual.retry.attempt_deadline,
            item_deadline=settings.deadline_s or usual.retry.item_deadline,
        ),
        max_concurrency=max_concurrency,
        key_variable=settings.api_key_env,
        headers=settings.headers,
        max_bytes=int(settings.max_reply_mb * 2**20) if settings.max_reply_mb else usual.max_bytes,
    )
    return HttpChatClient(
        settings.model,
        settings.base_url,
        api_key=key,
        parameters=parameters,
        settings=http,
        budget=budget,
    )


def read_key(settings: RoleSettings, role: str) -> str | None:
    """Read the key of a role from its variable; None when the role names no variable."""
    if settings.api_key_env is None:
        return None
    key = variable(settings.api_key_env)
    if not key:
        msg = f"the role {role!r} takes its key from the variable {settings.api_key_env}, which is not set"
        raise ConfigError(msg, hint=f"export {settings.api_key_env}=... or name another with --api-key-env")
    return key
