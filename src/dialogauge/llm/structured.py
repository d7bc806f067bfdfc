"""Requests for a value: the JSON of the reply is extracted and validated, with one re-ask per cause."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar

from dialogauge.core.judgement import FailureKind, Usage
from dialogauge.core.patterns import lazy_pattern
from dialogauge.llm.json_text import NoJsonObject, TruncatedJson, UnclearJson, extract_objects
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatReply, ChatRequest
from dialogauge.llm.wire import join_roles

T = TypeVar("T")

_DECLINES = lazy_pattern(
    r"\s*(?:I(?:'|’)?m (?:very )?sorry|I am sorry|Sorry,|I (?:cannot|can(?:'|’)?t|won(?:'|’)?t|am unable)"
    r"|As an AI|很?抱歉|对不起|我(?:无法|不能))",
    re.IGNORECASE,
)
_DECLINES_TO_JUDGE = lazy_pattern(
    r"\s*(?:I(?:'|’)?m (?:very )?sorry,? but )?I (?:cannot|can(?:'|’)?t|won(?:'|’)?t|am unable to|will not)"
    r" (?:judge|rate|score|assess|evaluate|help|assist|comply)\b|\s*我(?:无法|不能)(?:评|打分)",
    re.IGNORECASE,
)
_LEAST_DOUBLED: Final = 512
"""Tokens: a re-ask after truncation gets at least this many."""
_QUICK: Final = 10_000
"""Characters: a longer reply is read in a thread, so that nobody else waits for it."""
_LONGEST_FAULT: Final = 4000
"""Characters of what is wrong with a reply."""
_KEPT: Final = 20_000
"""Characters of an unusable reply that are kept and shown to the model again."""


@dataclass(frozen=True, slots=True)
class Structured(Generic[T]):
    """A validated value and its reply."""

    value: T
    usage: Usage
    """Of all attempts."""
    repaired: bool = False
    """Whether its JSON was faulty and had to be repaired."""
    reasked: bool = False
    """Whether an earlier reply could not be used."""
    text: str | None = field(default=None, compare=False)
    """The reply, or its beginning."""


@dataclass(frozen=True, slots=True)
class _UnusableReply:
    """Why a reply cannot be used; each `cause` is re-asked once."""

    kind: FailureKind
    message: str
    raw: str | None
    cause: str


async def ask(
    client: ChatClient,
    request: ChatRequest,
    validate: Callable[[dict[str, Any]], T],
    *,
    reask: Callable[[str], str],
) -> Structured[T] | ChatFailure:
    """Ask for a JSON object and turn it into a value.

    Each cause is re-asked once: a reply without a valid object (with the reply and `reask(error)`
    appended), an empty one (with `reask(error)` appended), and a truncated one (with twice the tokens; a
    truncated object is never used). So there are at most four calls and mostly one. After that the failure
    has the beginning of the last reply as `raw`. The last object of a reply is the answer, unless an earlier
    one is another valid answer: that is a reply without a valid object.

    `validate` turns the object into the value, or raises a `ValueError` that names the error. Raises the
    client's errors (`EndpointError`, `BudgetSpent`).
    """
    usage = Usage()
    causes: set[str] = set()
    current = request
    while True:
        reply = await client.complete(current)
        usage += reply.usage
        if isinstance(reply, ChatReply) and len(reply.text) > _QUICK:
            outcome = await asyncio.to_thread(_outcome, reply, validate)
        else:
            outcome = _outcome(reply, validate)
        if isinstance(outcome, Structured):
            return replace(outcome, usage=usage, reasked=True) if causes else outcome
        if isinstance(outcome, ChatFailure):
            # The model has no room for more tokens: the failure is still the truncated reply.
            kind: FailureKind = (
                "truncated" if "truncated" in causes and outcome.kind == "too_long" else outcome.kind
            )
            return replace(outcome, kind=kind, usage=usage, raw=_kept(outcome.raw))
        if outcome.cause in causes or not outcome.cause:
            return ChatFailure(outcome.kind, outcome.message, usage, _kept(outcome.raw))
        causes.add(outcome.cause)
        current = _next_request(current, request, outcome, reply, client, reask)


def _outcome(
    reply: ChatReply | ChatFailure, validate: Callable[[dict[str, Any]], T]
) -> Structured[T] | ChatFailure | _UnusableReply:
    if isinstance(reply, ChatFailure):
        if reply.kind == "empty_reply":
            return _UnusableReply("empty_reply", reply.message, reply.raw, "empty")
        return reply
    if reply.finish == "length":
        return _UnusableReply(
            "truncated", "the reply was cut off at the token limit", reply.text, "truncated"
        )
    if reply.finish == "filter":
        return _UnusableReply("refused", "the model declined or a filter cut in", reply.text, "")
    if not reply.text.strip():
        return _UnusableReply("empty_reply", "the reply is empty", reply.text, "empty")
    return _parse(reply, validate)


def _parse(reply: ChatReply, validate: Callable[[dict[str, Any]], T]) -> Structured[T] | _UnusableReply:
    try:
        *earlier, last = extract_objects(reply.text)
    except NoJsonObject as error:
        if isinstance(error, UnclearJson):
            return _UnusableReply("invalid_schema", str(error), reply.text, "invalid")
        if not isinstance(error, TruncatedJson) and "{" not in reply.text and _DECLINES.match(reply.text):
            return _UnusableReply("refused", "the model declined in words", reply.text, "invalid")
        return _UnusableReply("invalid_json", str(error), reply.text, "invalid")
    try:
        value = validate(last.value)
    except ValueError as error:
        return _UnusableReply("invalid_schema", str(error)[:_LONGEST_FAULT], reply.text, "invalid")
    if _DECLINES_TO_JUDGE.match(reply.text):
        message = "the reply declines in words and gives an answer: give the answer alone, if there is one"
        return _UnusableReply("refused", message, reply.text, "invalid")
    if any(_differs(other.value, value, validate) for other in earlier if other.value != last.value):
        message = "the reply holds two answers that differ: give one"
        return _UnusableReply("invalid_schema", message, reply.text, "invalid")
    return Structured(value, reply.usage, last.repaired, text=_kept(reply.text))


def _differs(data: dict[str, Any], value: T, validate: Callable[[dict[str, Any]], T]) -> bool:
    """Say whether an object is a valid answer and another one; what is no answer was quoted or thought."""
    try:
        return validate(data) != value
    except ValueError:
        return False


def _next_request(
    current: ChatRequest,
    first: ChatRequest,
    fault: _UnusableReply,
    reply: ChatReply | ChatFailure,
    client: ChatClient,
    reask: Callable[[str], str],
) -> ChatRequest:
    if fault.cause == "truncated":
        limit = current.max_tokens
        if limit is None:
            parameters = client.describe().get("parameters")
            set_limit = parameters.get("max_tokens") if isinstance(parameters, dict) else None
            limit = set_limit if isinstance(set_limit, int) else reply.usage.completion_tokens
        return replace(current, max_tokens=max(2 * limit, _LEAST_DOUBLED))
    question = {"role": "user", "content": reask(fault.message)}
    if fault.cause == "empty" or not isinstance(reply, ChatReply):
        # Some models take no two messages of one role in a row.
        return replace(current, messages=tuple(join_roles((*first.messages, question))))
    answer = {"role": "assistant", "content": _kept(reply.text)}
    return replace(current, messages=(*first.messages, answer, question))


def _kept(text: str | None) -> str | None:
    if text is None or len(text) <= _KEPT:
        return text
    return f"{text[:_KEPT]} [... {len(text) - _KEPT} characters more]"
