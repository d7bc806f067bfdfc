"""Names to objects: the only place that knows which class answers to which setting."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.app.config import RoleSettings, read_key
from dialogauge.app.environment import cache_folder
from dialogauge.app.option_groups import LimitOptions, RetryOptions
from dialogauge.app.settings import JudgeOptions
from dialogauge.core.errors import ConfigError, UsageError
from dialogauge.core.files import read_text
from dialogauge.core.protocols import Judge
from dialogauge.llm import Budget, CountingClient, Expected, LimiterState, PriceTable, SamplingParameters
from dialogauge.llm.protocol import ChatClient
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.rubrics import Policies

_LOG = logging.getLogger("dialogauge")


class Clients:
    """The clients that a command asks: built one by one, on one budget, and freed together."""

    def __init__(self, options: LimitOptions, budget: Budget | None = None, *, dry: bool = False) -> None:
        """Build nothing yet.

        Args:
            options: What asking may take.
            budget: Shared with others; else one of their own.
            dry: Build clients that ask nothing, and count what they would ask.
        """
        self._options = options
        self._dry = dry
        self._counting: list[tuple[str, CountingClient]] = []
        self._budget = budget or Budget(options.max_calls, options.max_cost)
        self._stack = AsyncExitStack()
        self._first: ChatClient | None = None

    def build(self, settings: RoleSettings, role: str) -> ChatClient:
        """Build the client of a role from its settings.

        A model in process or a callable is kept within the budget too; its replies are cached like others.
        What failed is asked anew where it is to be done again: the cache is then written, and not read.
        """
        client = self._built(settings, role)
        if not self._dry:
            return client
        counting = CountingClient(client)
        self._counting.append((settings.model, counting))
        return counting

    def _built(self, settings: RoleSettings, role: str) -> ChatClient:
        o, prices = self._options, self._prices()
        if settings.model.startswith(("py:", "file:")):
            from dialogauge.llm.budget import BudgetedClient

            self._budget.require_price(settings.model, prices)
            inner: ChatClient = BudgetedClient(_in_process(settings, o.device), self._budget)
        else:
            inner = _http(settings, role, o.max_concurrency, self._budget, prices)
        self._stack.push_async_callback(inner.close)
        self._first = self._first or inner
        if not o.cache or settings.model.startswith("py:"):
            return inner
        folder = cache_folder()
        if folder is None:
            _LOG.warning("no response cache: there is no home folder; DIALOGAUGE_CACHE may name another")
            return inner
        from dialogauge.llm.cache import CachedClient, ResponseCache

        cache = ResponseCache(folder)
        self._stack.callback(cache.close)
        return CachedClient(inner, cache, read=not (isinstance(o, RetryOptions) and o.retry_failed))

    def limits(self) -> LimiterState | None:
        """Return what the adaptive limiter of the first of them does just now; None where there is none."""
        if self._first is None:
            return None
        from dialogauge.llm.http import HttpChatClient

        return self._first.limits() if isinstance(self._first, HttpChatClient) else None

    def counted(self, times: float = 1.0) -> Expected | None:
        """Return what the calls that dry clients have counted would take, so many times; else None."""
        return Expected.counted(self._counting, self._prices(), times) if self._counting else None

    def _prices(self) -> PriceTable | None:
        path = self._options.prices_file
        return None if path is None else PriceTable.load(Path(path))

    def notices(self, stored: int) -> tuple[str, ...]:
        """Return what users should know of the endpoint of the first of them; warn of calls without a result.

        `stored` is how many calls the results of this run took.
        """
        if (lost := self._budget.calls - stored) > 0:
            _LOG.warning("no result counts %s: what they were sent for did not end", counted(lost, "call"))
        notice = getattr(self._first, "notice", None)
        return () if notice is None else (notice,)

    async def close(self) -> None:
        """Free connections and caches."""
        await self._stack.aclose()


Limits = Callable[[], LimiterState | None]
"""What the adaptive limiter of an endpoint does just now; None where there is none."""


@dataclass(frozen=True, slots=True)
class BuiltJudge:
    """A judge, and the clients that it asks, if any."""

    judge: Judge
    clients: Clients = field(default_factory=lambda: Clients(LimitOptions()))
    worked_examples: frozenset[str] = frozenset()
    """Ids of conversations that its prompt shows solved, and that it may not judge."""


def build_judge(options: JudgeOptions, *, dry: bool = False) -> BuiltJudge:
    """Build the judge that the options name; a dry one asks nothing, and counts what it would ask."""
    if options.judge == "fitted":
        return BuiltJudge(_fitted(options))
    from dialogauge.rubrics import load_policies, load_rubric

    rubric = load_rubric(options.rubric)
    policies = None if options.policy_file is None else load_policies(options.policy_file)
    if options.judge == "local":
        if policies is not None and "policy" not in rubric.shows:
            msg = f"the rubric {rubric.id!r} shows no policy"
            raise UsageError(msg, hint="leave --policy out, or give --rubric td-turn or td-dialogue")
        return BuiltJudge(_local(options, rubric.id, policies))
    from dialogauge.judges.rubric.judge import RubricJudge

    if options.role is None:
        msg = "the judge llm needs a model"
        raise UsageError(msg, hint="give --model NAME --base-url URL")
    source = None
    if options.source_file is not None:
        source = _read(Path(options.source_file), "source", "--source takes a UTF-8 text file")
    clients = Clients(options, dry=dry)
    judge = RubricJudge(
        rubric,
        clients.build(options.role, "judge"),
        language=options.language,
        window=options.window,
        mode=options.mode,
        source=source,
        policies=policies,
        calls=options.calls,
    )
    return BuiltJudge(judge, clients, rubric.example_ids)


def _read(path: Path, what: str, hint: str) -> str:
    return read_text(path, what, hint=hint)


def _fitted(options: JudgeOptions) -> Judge:
    from dialogauge.judges.fitted.judge import RatingsJudge
    from dialogauge.judges.fitted.model import RatingsModel
    from dialogauge.runs import RunDirectory, read_manifest
    from dialogauge.studies.fit.study import FIT

    path = Path(options.fitted_model or "")
    hint = "`dialogauge fit DATA -o RUN` writes it"
    if path.is_dir():
        manifest = read_manifest(RunDirectory(path))
        if manifest is not None and manifest.study != FIT:
            msg = f"{path} is a run of `dialogauge {manifest.study}`"
            raise UsageError(msg, hint="give a run of `dialogauge fit`")
        if manifest is not None and manifest.pending_units:
            msg = f"the run {path} is not finished, and has no model yet"
            raise UsageError(msg, hint="give its `dialogauge fit` command again: it goes on where it stopped")
        path /= "model.json"
    text = _read(path, "model of ratings", hint)
    return RatingsJudge(RatingsModel.from_json(text, file=str(path)))


def _local(options: JudgeOptions, rubric: str, policies: Policies | None) -> Judge:
    from dialogauge.judges.local.judge import RUBRICS, LocalJudge
    from dialogauge.judges.local.model import LocalCoefficients

    coefficients = None
    if options.local_model is not None:
        path = Path(options.local_model)
        text = _read(path, "coefficients", "`dialogauge fit DATA -o FILE` writes them")
        coefficients = LocalCoefficients.from_json(text, file=str(path))
    if rubric not in RUBRICS:
        msg = f"the local judge cannot judge by the rubric {rubric!r}"
        known = ", ".join(RUBRICS)
        raise UsageError(msg, hint=f"it knows {known}; give a model (--model, --base-url) for others")
    return LocalJudge(options.mode, options.language, coefficients, rubric, policies)


def _in_process(settings: RoleSettings, device: str) -> ChatClient:
    if settings.model.startswith("py:"):
        from dialogauge.app.functions import load_function
        from dialogauge.llm.scripted import CallableClient

        function = load_function(settings.model)
        if settings.timeout_s is None:
            return CallableClient(function, name=settings.model)
        return CallableClient(function, name=settings.model, patience=settings.timeout_s)
    from dialogauge.llm.transformers_client import TransformersClient

    folder = settings.model.removeprefix("file:")
    if not folder or not Path(folder).is_dir():
        msg = f"the folder {folder!r} of the model is not there"
        raise ConfigError(msg, hint="file:PATH is a local Hugging Face folder: config, weights and tokenizer")
    return TransformersClient(folder, parameters=_sampling(settings), device=device)


def _http(
    settings: RoleSettings, role: str, max_concurrency: int, budget: Budget, prices: PriceTable | None
) -> ChatClient:
    from dialogauge.llm.http import HttpChatClient, HttpSettings
    from dialogauge.llm.retry import RetrySettings

    if settings.base_url is None:
        msg = f"the role {role!r} has no base_url"
        raise ConfigError(msg, hint="give MODEL@URL, or base_url in the configuration file")
    retry = RetrySettings()
    if settings.timeout_s is not None:
        retry = replace(retry, attempt_deadline=settings.timeout_s)
    if settings.deadline_s is not None:
        retry = replace(retry, item_deadline=settings.deadline_s)
    http = HttpSettings(
        retry=retry,
        max_concurrency=max_concurrency,
        key_variable=settings.api_key_env,
        headers=settings.headers,
    )
    if settings.max_reply_mb is not None:
        http = replace(http, max_bytes=int(settings.max_reply_mb * 2**20))
    return HttpChatClient(
        settings.model,
        settings.base_url,
        api_key=read_key(settings, role),
        parameters=_sampling(settings),
        settings=http,
        prices=prices,
        budget=budget,
    )


def _sampling(settings: RoleSettings) -> SamplingParameters:
    return SamplingParameters(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_tokens=settings.max_tokens,
        seed=settings.seed,
        extra=settings.extra,
    )
