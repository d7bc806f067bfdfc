"""Requests for a value: the JSON of the reply is extracted and validated, with one re-ask per cause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import orjson

from dialogauge.core.judgement import FailureKind, Usage
from dialogauge.llm.protocol import ChatClient, ChatFailure, ChatReply, ChatRequest
from dialogauge.llm.wire import split_reasoning

_MARKS = re.compile(r'[{}"]|\\.', re.DOTALL)
_LIKE_OBJECT = re.compile(r"""\{\s*(?:["'“”‘’}]|[A-Za-z_]\w*\s*:)""")
_REPAIR_LIMIT = 200_000
"""Characters; json-repair is not made for more, and no verdict is longer."""


class NoJsonObject(ValueError):
    """The text has no readable JSON object."""


class TruncatedJson(NoJsonObject):
    """The text ends inside a JSON object; repair could close it but not restore the rest."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The object of a reply."""

    value: dict[str, Any]
    repaired: bool = False
    """Whether its JSON was faulty and had to be repaired."""


def extract_object(text: str) -> Extracted:
    """Return the last complete top-level JSON object of the text.

    Reasoning blocks, code fences and prose around it are ignored; an empty object counts only if there is no
    other. Raises `TruncatedJson` if the text ends inside an object, `NoJsonObject` without a readable object.
    """
    text, _ = split_reasoning(text)
    whole = _load(text)
    if whole is not None:
        return Extracted(whole)
    empty: Extracted | None = None
    for span in reversed(list(_spans(text))):
        value = _load(span)
        if value:
            return Extracted(value)
        if value is not None:
            empty = Extracted(value)
        else:
            return Extracted(_repair(span), repaired=True)
    if empty is not None:
        return empty
    message = "the reply holds no JSON object" if text.strip() else "the reply is empty"
    raise NoJsonObject(message)


def _load(text: str) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _spans(text: str) -> Iterator[str]:
    """Yield every balanced top-level `{...}` in one pass; raises `TruncatedJson` if the last is not closed.

    A brace without JSON behind it is prose.
    """
    position = 0
    while (opening := _LIKE_OBJECT.search(text, position)) is not None:
        end = _closing(text, opening.start())
        if end is None:
            # Or an extra quote hides the end; a guess could complete a truncated object.
            message = "the JSON object of the reply is cut off"
            raise TruncatedJson(message)
        yield text[opening.start() : end]
        position = end


def _closing(text: str, start: int) -> int | None:
    """Return the position after the brace that closes the one at `start`; braces in strings do not count."""
    depth, in_string = 0, False
    for mark in _MARKS.finditer(text, start):
        sign = mark.group()
        if sign == '"':
            in_string = not in_string
        elif in_string or sign[0] == "\\":
            continue
        elif sign == "{":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return mark.end()
    return None


def _repair(span: str) -> dict[str, Any]:
    from json_repair import repair_json  # needed for faulty replies only, and slow to load

    message = "the JSON of the reply is faulty beyond repair"
    if len(span) > _REPAIR_LIMIT:
        raise NoJsonObject(message)
    try:
        value = repair_json(span, return_objects=True, skip_json_loads=True)
    except (RecursionError, ValueError, IndexError):
        raise NoJsonObject(message) from None
    # json-repair returns "" for prose and a list for two objects.
    if not isinstance(value, dict) or not value:
        raise NoJsonObject(message)
    return value


T = TypeVar("T")

_DECLINES = re.compile(
    r"\s*(?:I(?:'|’)?m (?:very )?sorry|I am sorry|Sorry,|I (?:cannot|can(?:'|’)?t|won(?:'|’)?t|am unable)"
    r"|As an AI|很?抱歉|对不起|我(?:无法|不能))",
    re.IGNORECASE,
)
_LEAST_DOUBLED = 512
"""Tokens: a re-ask after truncation gets at least this many."""


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
    has the last reply as `raw`.

    `validate` turns the object into the value, or raises a `ValueError` that names the error. Raises the
    client's errors (`EndpointError`, `BudgetSpent`).
    """
    usage = Usage()
    causes: set[str] = set()
    current = request
    while True:
        reply = await client.complete(current)
        usage += reply.usage
        outcome = _outcome(reply, validate)
        if isinstance(outcome, Structured):
            return replace(outcome, usage=usage, reasked=True) if causes else outcome
        if isinstance(outcome, ChatFailure):
            # The model has no room for more tokens: the failure is still the truncated reply.
            kind: FailureKind = (
                "truncated" if "truncated" in causes and outcome.kind == "too_long" else outcome.kind
            )
            return replace(outcome, kind=kind, usage=usage)
        if outcome.cause in causes or not outcome.cause:
            return ChatFailure(outcome.kind, outcome.message, usage, outcome.raw)
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
        extracted = extract_object(reply.text)
    except NoJsonObject as error:
        return _no_object(reply, error)
    try:
        value = validate(extracted.value)
    except ValueError as error:
        return _UnusableReply("invalid_schema", str(error), reply.text, "invalid")
    return Structured(value, reply.usage, extracted.repaired)


def _no_object(reply: ChatReply, error: NoJsonObject) -> _UnusableReply:
    if not isinstance(error, TruncatedJson) and "{" not in reply.text and _DECLINES.match(reply.text):
        return _UnusableReply("refused", "the model declined in words", reply.text, "invalid")
    return _UnusableReply("invalid_json", str(error), reply.text, "invalid")


def _next_request(
    current: ChatRequest,
    first: ChatRequest,
    fault: _UnusableReply,
    reply: ChatReply | ChatFailure,
    client: ChatClient,
    reask: Callable[[str], str],
) -> ChatRequest:
    if fault.cause == "truncated":
        return replace(current, max_tokens=_doubled(current, reply, client))
    question = {"role": "user", "content": reask(fault.message)}
    if fault.cause == "empty" or not isinstance(reply, ChatReply):
        return replace(current, messages=(*first.messages, question))
    answer = {"role": "assistant", "content": reply.text}
    return replace(current, messages=(*first.messages, answer, question))


def _doubled(request: ChatRequest, reply: ChatReply | ChatFailure, client: ChatClient) -> int:
    limit = request.max_tokens
    if limit is None:
        parameters = client.describe().get("parameters")
        set_limit = parameters.get("max_tokens") if isinstance(parameters, dict) else None
        limit = set_limit if isinstance(set_limit, int) else reply.usage.completion_tokens
    return max(2 * limit, _LEAST_DOUBLED)
