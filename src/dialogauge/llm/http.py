"""A client for any endpoint that speaks the OpenAI chat completion format over HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dialogauge.core.errors import EndpointError
from dialogauge.core.judgement import Usage
from dialogauge.llm.budget import BYTES_PER_TOKEN, REPLY_TOKENS, Budget, PrefixMeter
from dialogauge.llm.endpoint import Endpoint
from dialogauge.llm.limiter import AdaptiveLimiter, LimiterState
from dialogauge.llm.problems import Problem, Remedy, read_problem
from dialogauge.llm.prompt_watch import PromptWatch
from dialogauge.llm.protocol import ChatFailure, ChatReply, ChatRequest, SamplingParameters
from dialogauge.llm.recovery import Form, Recovery, Search
from dialogauge.llm.retry import EndpointHealth, RetrySettings, RetryState, Timing
from dialogauge.llm.schema_support import SchemaLadder
from dialogauge.llm.secrets import shown_parameters
from dialogauge.llm.waits import read_reset, read_retry_after
from dialogauge.llm.wire import MAX_BYTES, Completion, Rung, encode, read_completion

if TYPE_CHECKING:
    from dialogauge.llm.transport import Response, Transport

_log = logging.getLogger(__name__)

_PASSING: Mapping[int | None, Remedy] = {403: "retry", 404: "retry", 429: "wait"}
"""What a gateway may answer by chance, and what is done about it the first time."""
_STRAIN = frozenset({"server_error", "connection"})
_DOWN = frozenset({429, 502, 503, 504, 529})
"""What gateways say while the server behind them is down, starts or is flooded."""
_LIST_DEADLINE = 10.0
_LONG_PAUSE = 5.0
"""Seconds that the endpoint asks to wait, from which on it is said."""
_BAREST = ({"role": "user", "content": "Reply with the word: yes"},)
"""What any model answers: if not even this, the endpoint is of no use."""


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How a client talks to its endpoint."""

    retry: RetrySettings = field(default_factory=RetrySettings)
    max_concurrency: int = 64
    schema_support: Rung | None = None
    """Set to skip the probe."""
    key_variable: str | None = None
    """The environment variable that the key came from, for messages."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further headers."""
    max_bytes: int = MAX_BYTES
    """Of one response, as it is sent and unpacked."""


@dataclass(slots=True)
class _Item:
    """One request on its way."""

    request: ChatRequest
    rung: Rung | None
    earlier: EndpointError | None
    probing: bool
    retries: RetryState
    form: Form = field(default_factory=Form)
    """How it was sent last."""
    body: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    last: Problem | None = None
    search: Search | None = None
    turn: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Its place among the searches."""
    crashes: int = 0
    confirmed: bool = False
    """Whether the endpoint was found to be of use."""
    outlasted: bool = False
    """Whether it was sent anew after a time in which the endpoint answered nobody."""


class HttpChatClient:
    """One model at one endpoint, with one pool of connections.

    It keeps deadlines, retries with jitter, adapts to rate limits, does without what the endpoint
    refuses, probes how a schema can be enforced, and counts tokens and cost. For results and errors see
    `ChatClient.complete`.
    """

    def __init__(  # noqa: PLR0913 (the parts of a client, each with a default)
        self,
        model: str,
        base_url: str,
        *,
        api_key: str | None = None,
        parameters: SamplingParameters | None = None,
        settings: HttpSettings | None = None,
        budget: Budget | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Raises `ConfigError` for an invalid base URL, and for a cap on cost without a price.

        Nothing is sent before the first request.
        """
        self.model = model
        self.parameters = parameters or SamplingParameters()
        self._settings = settings or HttpSettings()
        self.endpoint = Endpoint(
            base_url,
            api_key,
            self._settings.key_variable,
            self._settings.headers,
            self.parameters.extra,
        )
        self._budget = budget or Budget()
        self._budget.require_price(model)
        self._timing = timing or Timing()
        self._limiter = AdaptiveLimiter(
            self._settings.max_concurrency, clock=self._timing.clock, sleep=self._timing.sleep
        )
        self._ladder = SchemaLadder(self._settings.schema_support)
        self._barest = {"model": model, "messages": _BAREST}
        self._base = {"model": model, **self.parameters.to_body()}
        self._recovery = Recovery(self._base)
        self._prefixes = PrefixMeter()
        self._health = EndpointHealth()
        self._watch = PromptWatch()

    def __repr__(self) -> str:
        """Without secrets."""
        return f"HttpChatClient({self.model!r}, {self.endpoint.shown_url!r})"

    @property
    def name(self) -> str:
        """The model's."""
        return self.model

    def describe(self) -> Mapping[str, Any]:
        """Return the client's identity, and `dropped` and `schema_support`, which change during use.

        `client_identity` leaves out the last two.
        """
        return {
            "kind": "http",
            "model": self.model,
            "base_url": self.endpoint.shown_url,
            "parameters": shown_parameters(self.parameters.to_body()),
            **({} if self.endpoint.variant is None else {"variant": self.endpoint.variant}),
            "dropped": {k: self.endpoint.redact(v) for k, v in self._recovery.changes.items()},
            "schema_support": self._ladder.describe(),
        }

    @property
    def notice(self) -> str | None:
        """What a user should know of the endpoint's answers; None for nothing."""
        return None if self._watch.notice is None else f"{self.model}: {self._watch.notice}"

    def limits(self) -> LimiterState:
        """Return the limiter's state, for a progress line."""
        return self._limiter.state()

    async def complete(self, request: ChatRequest) -> ChatReply | ChatFailure:
        """Ask the model; see `ChatClient.complete`."""
        earlier = self._health.failure
        if request.schema is None or self._ladder.settled:
            return await self._ask(request, None if request.schema is None else self._ladder.rung, earlier)

        async def probe(question: ChatRequest, rung: Rung) -> ChatReply | ChatFailure:
            return await self._ask(question, rung, earlier, probing=True)

        probe_usage = await self._ladder.settle(probe, request.role)
        outcome = await self._ask(request, self._ladder.rung, earlier)
        return replace(outcome, usage=probe_usage + outcome.usage) if probe_usage.calls else outcome

    async def list_models(self) -> tuple[str, ...] | None:
        """Return the models that the endpoint lists; None without a list."""
        response = await self._transport.get("/models", _LIST_DEADLINE)
        if isinstance(response, Problem) or response.status != 200:
            return None
        payload = response.payload
        entries = payload.get("data") if isinstance(payload, dict) else None
        if not isinstance(entries, list):
            return None
        return tuple(str(e["id"]) for e in entries if isinstance(e, dict) and "id" in e)

    async def post(self, fields: Mapping[str, Any]) -> Response | Problem:
        """Send the client's parameters with further fields, unchanged and without retries, for probes.

        The call counts against the budget.
        """
        body = {**self._recovery.form.parameters(self._base), **fields}
        self._budget.admit()
        try:
            return await self._transport.post_chat(encode(body), self._settings.retry.attempt_deadline)
        finally:
            self._budget.settle(None)

    async def close(self) -> None:
        """Close the connections; closing twice is harmless."""
        self._limiter.close()
        if "_transport" in vars(self):
            await self._transport.close()

    @cached_property
    def _transport(self) -> Transport:
        # Loading aiohttp takes a tenth of a second, so it waits for the first request.
        from dialogauge.llm.transport import Transport

        deadline = self._settings.retry.connect_deadline
        return Transport(self.endpoint, connect_deadline=deadline, max_bytes=self._settings.max_bytes)

    async def _ask(
        self,
        request: ChatRequest,
        rung: Rung | None,
        earlier: EndpointError | None,
        *,
        probing: bool = False,
    ) -> ChatReply | ChatFailure:
        """Ask until there is a reply or retries end; an `EndpointError` after `earlier` ends the item."""
        item = _Item(request, rung, earlier, probing, RetryState(self._settings.retry, self._timing))
        async with item.turn:
            while True:
                item.form = self._form(item) if item.search is None else item.search.form
                item.body = item.form.write(self._base, item.request)
                if not item.retries.attempts and not item.probing:
                    chars, repeated = self._prefixes.measure(item.body["messages"])
                    item.usage += Usage(prompt_chars=chars, repeated_chars=repeated)
                outcome = await self._attempt(item.body, item.retries, item.earlier, item.last)
                if isinstance(outcome, Problem):
                    item.usage += Usage(calls=int(outcome.status is not None))
                if not isinstance(outcome, Problem):
                    self._learn(item)
                    return replace(outcome, usage=item.usage + outcome.usage)
                problem = await self._suspect(item, outcome)
                if problem.remedy == "mend":
                    unmended = await self._mend(item, problem)
                    if unmended is None:
                        continue
                    problem = unmended
                item.last = problem
                delay = await self._delay(problem, item)
                if delay is None:
                    message = self.endpoint.redact(problem.message)
                    if item.retries.attempts > 1:
                        retries = item.retries
                        message += f" (given up after {retries.attempts} attempts in {retries.elapsed:.1f} s)"
                    raw = None if problem.raw is None else self.endpoint.redact(problem.raw)
                    return ChatFailure(problem.kind, message, item.usage + item.retries.lost, raw)
                await self._timing.sleep(delay)

    def _form(self, item: _Item) -> Form:
        form = self._recovery.form
        rung = item.rung if item.rung is None or item.probing else self._ladder.rung
        return form if form.rung == rung else replace(form, rung=rung)

    async def _suspect(self, item: _Item, problem: Problem) -> Problem:
        """Return the problem with what is to be done about it.

        Raises `EndpointError` if it is confirmed that no request is answered. A crash may be the answer to a
        schema: the third request with one that was never answered is changed, and a probe ends.
        """
        if problem.remedy == "confirm":
            passing: Mapping[int | None, Remedy] = {429: "wait"} if item.confirmed else _PASSING
            await self._confirm(item, problem)
            return replace(problem, remedy=passing.get(problem.status, "mend"))
        item.crashes += problem.status == 500 or problem.kind == "timeout"
        if item.probing and item.crashes > 1:
            return replace(problem, remedy="give_up")
        if problem.status == 500 and item.rung is not None:
            searching = item.search is not None
            new = self._recovery.is_new(item.request, item.form)
            new = new or not self._recovery.knows_schema(item.request, item.form)
            if searching or (item.crashes == 2 and new):
                return replace(problem, remedy="mend")
        return problem

    async def _mend(self, item: _Item, problem: Problem) -> Problem | None:
        """Change the request after a refusal; the problem that is left if nothing can be changed."""
        if item.search is None:
            item.search = await self._begin(item, problem)
        if item.search is None or item.search.advance(problem, item.body):
            return None
        first = item.search.first or problem
        if first.status == 500:
            item.search = None
            await item.turn.aclose()
            return replace(first, remedy="retry")
        if item.search.everything:
            await self._confirm(item, first)
        return replace(first, remedy="give_up")

    async def _begin(self, item: _Item, problem: Problem) -> Search | None:
        """Begin the search for a form that is taken; None if another item has found one in the meantime.

        Those whose result holds for all come one after the other: each takes its `turn`.
        """
        request, form = item.request, item.form
        if problem.kind in ("rejected", "server_error"):
            self._recovery.note_refusal(request, form)
        if self._recovery.is_new(request, form):
            await item.turn.enter_async_context(self._recovery.lock)
            if self._form(item) != form:
                await item.turn.aclose()
                return None
        return self._recovery.search(request, form, problem, probing=item.probing)

    def _learn(self, item: _Item) -> None:
        """Remember that a request of this form was answered, and what helped it."""
        self._recovery.note_answer(item.request, item.form)
        search = item.search
        if search is None or not search.remembered or not search.reasons:
            return
        before, after = search.start.rung, search.lasting.rung
        self._recovery.learn(search)
        if before is not None and after is not None and before != after:
            self._ladder.replace(before, after, search.reasons.get("response_format", "by its refusals"))
        else:
            self._ladder.reopen()

    async def _confirm(self, item: _Item, problem: Problem) -> None:
        """Raise `EndpointError` if the endpoint refuses the barest question as well; once for an item."""
        if item.confirmed:
            return
        item.confirmed = True
        retries = RetryState(self._settings.retry, self._timing)
        refusals = 0
        delay: float | None = 0.0
        while delay is not None:
            await self._timing.sleep(delay)
            outcome = await self._attempt(self._barest, retries, item.earlier, None)
            if not isinstance(outcome, Problem):
                item.usage += outcome.usage
                return
            item.usage += Usage(calls=int(outcome.status is not None))
            if outcome.remedy not in ("wait", "retry"):
                refusals += 1
                # Gateways err at times: who has answered before is believed the second time.
                if refusals > self._health.has_answered:
                    raise await self._endpoint_error(problem)
                outcome = replace(outcome, remedy="retry")
            delay = retries.delay(outcome)
        item.retries.lost += retries.lost

    async def _delay(self, problem: Problem, item: _Item) -> float | None:
        """Return the seconds before the next attempt; None to give the item up.

        Raises `EndpointError` if all items would fail: at once if the endpoint has never answered, after more
        attempts if it has.
        """
        if problem.remedy == "endpoint":
            if not self._health.has_answered:
                raise await self._endpoint_error(problem)
            if problem.status is None:
                problem = replace(problem, remedy="retry")
        delay = item.retries.delay(problem)
        if delay is None and self._health.is_at_fault(problem, item.retries, probing=item.probing):
            raise await self._endpoint_error(problem)
        return await self._outlast(problem, item) if delay is None else delay

    async def _outlast(self, problem: Problem, item: _Item) -> float | None:
        """Return the seconds before an item is tried anew that found the endpoint down; None to give it up.

        If nobody was answered between its last two attempts, the barest question is asked, up to the item's
        deadline where it may help to wait. Raises `EndpointError` if it is not answered: no item is to blame.
        """
        since, crashed = item.retries.silent_since, item.probing and problem.status == 500
        too_large = problem.status == 200 and problem.remedy == "give_up"
        broken = (problem.kind in _STRAIN and not too_large) or problem.kind == "timeout"
        if not broken or crashed or item.outlasted or since is None or self._health.last_answer >= since:
            return None
        item.outlasted = True
        retries = RetryState(self._settings.retry, self._timing)
        may_pass = problem.kind == "connection" or problem.status in _DOWN
        asked = 0
        while True:
            outcome = await self._attempt(self._barest, retries, item.earlier, None)
            if not isinstance(outcome, Problem):
                item.usage += outcome.usage
                break
            item.usage += Usage(calls=int(outcome.status is not None))
            if self._health.last_answer >= since:
                item.usage += retries.lost
                break
            asked += 1
            delay = retries.delay(replace(outcome, remedy="wait"))
            left = item.retries.remaining
            late = delay is None or left is None or delay >= left
            if late or (not may_pass and asked > self._health.has_answered):
                raise await self._endpoint_error(problem)
            await self._timing.sleep(delay or 0.0)
        if problem.kind == "timeout" and not asked:
            return None
        item.retries.renew(self._settings.retry.max_retries if asked else 0)
        return 0.0

    async def _attempt(
        self,
        body: Mapping[str, Any],
        retries: RetryState,
        earlier: EndpointError | None,
        last: Problem | None,
    ) -> ChatReply | ChatFailure | Problem:
        """Send once, when the limiter has room.

        After the deadline the item fails with the problem of the attempt before: `last`.
        """
        self._health.raise_if_failed(earlier)
        content = encode(body)
        if not await self._wait_for_slot(retries):
            return _out_of_time(last, "no place before the deadline")
        try:
            self._health.raise_if_failed(earlier)
            # An estimate of the tokens, and a usual reply.
            expected = (
                self._budget.prices.cost(self.model, len(content) // BYTES_PER_TOKEN, REPLY_TOKENS) or 0.0
            )
            self._budget.admit(expected)
            retries.start()
            sent = self._timing.clock()
            outcome = await self._exchange(content, retries.attempt_limit, expected)
            # Before the release: the limit must change before the next request is admitted.
            if isinstance(outcome, Completion):
                self._limiter.succeeded(self._timing.clock() - sent)
            elif outcome.status == 503 and outcome.retry_after is None:
                self._limiter.unavailable()
            elif outcome.overload:
                self._limiter.overloaded(self._pause(outcome.retry_after))
            elif outcome.kind in _STRAIN:
                self._limiter.strained()
            if isinstance(outcome, Problem) and outcome.status is None and not outcome.unreached:
                outcome = self._note_silence(outcome, sent, retries, expected)
        finally:
            self._limiter.release()
        if isinstance(outcome, Completion):
            self._health.has_answered = True
            self._health.last_answer = self._timing.clock()
            if self._watch.read(body["messages"], outcome):
                _log.warning("%s", self.notice)
            return self._reply(outcome, retries.lost)
        if outcome.kind == "timeout" and retries.shortened and last is not None:
            outcome = replace(_out_of_time(last, "no time for another attempt"), overload=False)
        retries.note_problem(outcome)
        return outcome

    def _note_silence(self, problem: Problem, sent: float, retries: RetryState, expected: float) -> Problem:
        """Book a request that was sent in vain; one that waited for others of ours is forgiven."""
        if problem.kind != "timeout":
            retries.lost += Usage(calls=1)
            return problem
        retries.lost += Usage(calls=1, cost=expected if self._budget.prices.knows(self.model) else None)
        if retries.shortened:
            self._limiter.strained()
            return problem
        if not self._limiter.timed_out(sent):
            return problem
        retries.forgive()
        return replace(problem, remedy="wait")

    def _pause(self, asked: float | None) -> float | None:
        """Return how long nobody is sent, of the seconds that the endpoint asks for; a long one is told."""
        retry = self._settings.retry
        pause = None if asked is None else min(asked, retry.retry_after_cap, retry.item_deadline)
        if pause is not None and asked and asked >= _LONG_PAUSE and not self._limiter.state().paused_for:
            _log.warning("%s asks for a pause of %.0f s, and gets one of %.0f s", self.model, asked, pause)
        return pause

    async def _wait_for_slot(self, retries: RetryState) -> bool:
        """Wait for the limiter; False if the item's deadline comes first."""
        remaining = retries.remaining
        if (remaining is None or remaining > 0) and self._limiter.take():
            return True
        try:
            async with asyncio.timeout(None if remaining is None else max(remaining, 0.0)):
                await self._limiter.acquire(again=retries.attempts > 0)
        except TimeoutError:
            return False
        return True

    async def _exchange(self, content: bytes, deadline: float, expected: float) -> Completion | Problem:
        """Send and read; the admitted call is always settled with the budget."""
        cost: float | None = None
        reached = True
        try:
            response = await self._transport.post_chat(content, deadline)
            if isinstance(response, Problem):
                reached = not response.unreached
                cost = expected if response.kind == "timeout" else None
                return response
            self._health.note_response(self._timing.clock())
            if 200 <= response.status < 300:
                answer = read_completion(response.payload)
                if answer is not None:
                    # An estimate, if the endpoint counts no tokens.
                    if answer.counted:
                        cost = self._price(answer)
                    else:
                        prompt, reply = (len(of) // BYTES_PER_TOKEN for of in (content, answer.text.encode()))
                        cost = self._budget.prices.cost(self.model, prompt, reply)
                    return answer
            headers, now = response.headers.get, self._timing.wall()
            return read_problem(
                response.status, response.body, read_retry_after(headers, now), read_reset(headers, now)
            )
        finally:
            if reached:
                self._budget.settle(cost, expected)
            else:
                self._budget.withdraw(expected)

    def _price(self, answer: Completion) -> float | None:
        if not answer.counted:
            return None
        return self._budget.prices.cost(
            self.model, answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens
        )

    def _reply(self, answer: Completion, lost: Usage) -> ChatReply | ChatFailure:
        if answer.joined:
            mask = self.endpoint.redact
            answer = replace(answer, text=mask(answer.text), reasoning=mask(answer.reasoning or "") or None)
        usage = Usage(1, 0, answer.prompt_tokens, answer.completion_tokens, self._price(answer)) + lost
        if not answer.text.strip() and answer.finish not in ("length", "filter"):
            return ChatFailure("empty_reply", "the reply is empty", usage, answer.reasoning)
        return ChatReply(answer.text, answer.finish, usage, answer.reasoning, answer.model)

    async def _endpoint_error(self, problem: Problem) -> EndpointError:
        listed = await self.list_models() if problem.status in (400, 404) else None
        error = self.endpoint.error(problem, self.model, listed)
        self._health.failure = error
        return error


def _out_of_time(last: Problem | None, then: str) -> Problem:
    """Return the problem of an item that ran out of time."""
    if last is None:
        return Problem("rate_limited", then, "give_up")
    return replace(last, message=f"{last.message}; then {then}", remedy="give_up", status=None)
