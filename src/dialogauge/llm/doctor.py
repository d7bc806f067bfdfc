"""Checks of an endpoint: its abilities, its speed, and what they mean for judging."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from dialogauge.core.errors import EndpointError
from dialogauge.llm.http import HttpChatClient
from dialogauge.llm.problems import Problem, error_text
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatReply, ChatRequest
from dialogauge.llm.schema_support import PROBE, QUESTIONS, obeys
from dialogauge.llm.wire import read_completion

Status = Literal["ok", "limited", "failed", "not_checked"]
"""The client works around `limited`; only `failed` prevents judging."""
Finding = tuple[Status, str]

_QUESTION = "Write one plain sentence about the sea."
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class EndpointCheck:
    """The result of one check."""

    name: str
    status: Status
    sentence: str


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The checks of one endpoint."""

    client: Mapping[str, Any]
    """The client's description, without secrets."""
    checks: tuple[EndpointCheck, ...]
    schema_support: str | None = None
    """`json_schema`, `json_object` or `prompt`; None if unknown."""
    latency: float | None = None
    """Seconds; the median of three short calls in sequence."""
    tokens_per_second: float | None = None
    """Completion tokens, with one call at a time."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Parameter that the endpoint refuses -> what the client does instead."""

    @property
    def usable(self) -> bool:
        """Whether nothing failed."""
        return all(check.status != "failed" for check in self.checks)


async def examine(
    client: ChatClient,
    *,
    clock: Callable[[], float] = time.perf_counter,
    tell: Callable[[EndpointCheck], None] = lambda _: None,
) -> EndpointReport:
    """Check one endpoint with about ten short calls and a long one.

    Only clients over HTTP get all checks. An unusable endpoint raises nothing: the report says so and what to
    do. Raises `BudgetSpent` if the budget does not allow the calls. The client stays open.

    Args:
        client: Of the endpoint and model to check.
        clock: Seconds.
        tell: Called with each check when it is done.
    """
    checks: list[EndpointCheck] = []

    def done(*ended: EndpointCheck) -> None:
        for check in ended:
            checks.append(check)
            tell(check)

    try:
        speed, latency, tokens = await _speed(client, clock)
    except EndpointError as error:
        done(EndpointCheck("reachable", "failed", str(error)))
        done(*[c for c in await _listed(client) if c.status != "not_checked"])
        return EndpointReport(client.describe(), tuple(checks))
    done(speed)
    done(*await _listed(client))
    schema: str | None = None
    if isinstance(client, HttpChatClient) and speed.status != "failed":
        try:
            check, schema = await _schema(client)
            done(check)
            for probe in _PROBES:
                done(await _probe(client, *probe))
            done(await _long_prompt(client))
        except EndpointError as error:
            done(EndpointCheck("reachable", "failed", f"it answered at first, and then no more: {error}"))
    dropped = client.describe().get("dropped") or {}
    if dropped:
        names = "; ".join(f"{name} {what}" for name, what in dropped.items())
        done(EndpointCheck("parameters", "limited", f"it does not take: {names}"))
    else:
        done(EndpointCheck("parameters", "ok", "it takes every parameter that is set"))
    return EndpointReport(client.describe(), tuple(checks), schema, latency, tokens, dropped)


async def _speed(
    client: ChatClient, clock: Callable[[], float]
) -> tuple[EndpointCheck, float | None, float | None]:
    request = ChatRequest(({"role": "user", "content": _QUESTION},))
    times, tokens = [], 0
    for _ in range(_ROUNDS):
        start = clock()
        reply = await client.complete(request)
        if isinstance(reply, ChatFailure):
            sentence = f"it was reached, but gave no reply ({reply.kind}): {reply.message}"
            return EndpointCheck("reachable", "failed", sentence), None, None
        times.append(clock() - start)
        tokens += reply.usage.completion_tokens
    median = statistics.median(times)
    rate = tokens / sum(times) if tokens and sum(times) > 0 else None
    speed = "it does not count its tokens" if rate is None else f"{rate:.0f} tokens a second"
    sentence = f"it answers; a short reply takes {median:.2f} s, {speed}"
    return EndpointCheck("reachable", "ok", sentence), median, rate


async def _listed(client: ChatClient) -> tuple[EndpointCheck, ...]:
    if not isinstance(client, HttpChatClient):
        return ()
    models = await client.list_models()
    if models is None:
        return (EndpointCheck("model", "not_checked", "the endpoint does not list its models"),)
    if client.model in models:
        return (EndpointCheck("model", "ok", f"{client.model} is listed"),)
    for name in models:
        if is_same_model(client.model, name):
            return (EndpointCheck("model", "ok", f"{client.model} is listed as {name}"),)
    names = ", ".join(name[:_NAME_CHARS] for name in models[:12]) or "none"
    return (EndpointCheck("model", "limited", f"{client.model} is not listed; listed are: {names}"),)


def is_same_model(asked: str, listed: str) -> bool:
    """Say whether two names are those of one model.

    Case, `models/` before a name, `:latest` behind it and a provider before it (`openai/NAME`) make no
    difference; two different providers do.
    """
    one, other = (name.casefold().removeprefix("models/").removesuffix(":latest") for name in (asked, listed))
    return bool(one and other) and (one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}"))


async def _schema(client: HttpChatClient) -> tuple[EndpointCheck, str | None]:
    message = {"role": "user", "content": QUESTIONS["json_schema"]}
    reply = await client.complete(ChatRequest((message,), schema=PROBE))
    support = client.describe()["schema_support"]
    rung = support["rung"]
    if isinstance(reply, ChatReply) and rung == "json_schema":
        return EndpointCheck("schema", "ok", "it enforces a JSON schema"), rung
    why = "; ".join(f"{name}: {finding}" for name, finding in support["findings"].items())
    sentence = f"it does not enforce a JSON schema, replies are checked and asked for again ({why})"
    return EndpointCheck("schema", "limited", sentence), rung


async def _long_prompt(client: HttpChatClient) -> EndpointCheck:
    """Ask for a word at the start of a short and of a long prompt: some servers cut what does not fit.

    A model that does not find it in the short one says nothing about the long one.
    """
    name = "long prompt"
    short, long = [f"{_HIDDEN}\n\n{_FILLER * times}{_ASKED}" for times in (1, _LONG_CHARS // len(_FILLER))]
    echoed = await client.complete(ChatRequest(({"role": "user", "content": short},)))
    if isinstance(echoed, ChatFailure) or _WORD not in echoed.text.casefold():
        return EndpointCheck(name, "not_checked", "it does not repeat a word of a short prompt either")
    reply = await client.complete(ChatRequest(({"role": "user", "content": long},)))
    size = f"a prompt of {len(long):,} characters"
    if isinstance(reply, ChatFailure):
        status: Status = "limited" if reply.kind == "too_long" else "not_checked"
        return EndpointCheck(name, status, f"it does not take {size} ({reply.kind}): {reply.message}")
    if _WORD in reply.text.casefold():
        return EndpointCheck(name, "ok", f"it knows the first word of {size}")
    counted = reply.usage.prompt_tokens
    if 0 < counted < len(long) / _CHARS_A_TOKEN:
        sentence = (
            f"it cuts the beginning off {size} and does not say so: it counts {counted:,} tokens and does "
            "not know the first word; give the server a larger context (Ollama: num_ctx)"
        )
        return EndpointCheck(name, "failed", sentence)
    sentence = (
        f"it does not know the first word of {size}: the server may cut it off, or the model overlooks it"
    )
    return EndpointCheck(name, "limited", sentence)


def _json_object(payload: Mapping[str, Any]) -> Finding:
    completion = read_completion(payload)
    if completion is None:
        return "limited", "it accepts json_object, and its answer is no chat completion"
    if obeys("json_object", completion.text):
        return "ok", "it replies with a JSON object when asked for one"
    return "limited", "it accepts json_object and ignores it"


def _logprobs(payload: Mapping[str, Any]) -> Finding:
    choices = payload["choices"]
    if (choices[0] if choices and isinstance(choices[0], dict) else {}).get("logprobs"):
        return "ok", "it gives the probabilities of tokens"
    return "limited", "it accepts logprobs and gives none; nothing here needs them"


def _several(payload: Mapping[str, Any]) -> Finding:
    count = len(payload["choices"])
    if count == 2:
        return "ok", "it gives several replies in one call"
    return "limited", f"asked for 2 replies it gives {count}; each repeat is its own call"


_NAME_CHARS = 80
_WORD: Final = "zorvanik"
_HIDDEN: Final = f"The password is {_WORD}."
_FILLER: Final = "The harbour is quiet today. Boats lie at the quay, and somebody is mending a net. "
_ASKED: Final = "\n\nWhat is the password at the beginning of this message? Reply with it alone."
_LONG_CHARS: Final = 20_000
"""About 4,500 tokens: more than the windows of 2,048 and 4,096 that cut in silence."""
_CHARS_A_TOKEN: Final = 8.0
"""More characters than a token of English has in any vocabulary, on average."""

_SEED_TAKEN: Final = "it accepts a seed; whether it keeps to it only repeats can show"
_FOR_JSON: Final = {"messages": [{"role": "user", "content": QUESTIONS["json_object"]}]}
_PROBES: Final[tuple[tuple[str, Mapping[str, Any], Callable[[Mapping[str, Any]], Finding]], ...]] = (
    ("json_object", {**_FOR_JSON, "response_format": {"type": "json_object"}}, _json_object),
    ("logprobs", {"logprobs": True, "top_logprobs": 5}, _logprobs),
    ("n", {"n": 2}, _several),
    ("seed", {"seed": 7}, lambda _: ("ok", _SEED_TAKEN)),
)
"""Name of a check, the fields of its request, and what the answer shows."""


async def _probe(
    client: HttpChatClient,
    name: str,
    fields: Mapping[str, Any],
    check: Callable[[Mapping[str, Any]], Finding],
) -> EndpointCheck:
    """Send a request and check the JSON of its answer; after a broken connection once more."""
    fields = {"messages": [{"role": "user", "content": _QUESTION}], **fields}
    response = await client.post(fields)
    if isinstance(response, Problem):
        response = await client.post(fields)
    if isinstance(response, Problem):
        return EndpointCheck(name, "not_checked", client.endpoint.redact(response.message))
    payload = response.payload
    if response.status == 200 and isinstance(payload, dict) and isinstance(payload.get("choices"), list):
        return EndpointCheck(name, *check(payload))
    message = client.endpoint.redact(error_text(response.body, payload))
    if response.status in (400, 404, 422, 501):
        return EndpointCheck(name, "limited", f"it refuses {name}: {message}")
    return EndpointCheck(name, "not_checked", f"HTTP {response.status}: {message}")
