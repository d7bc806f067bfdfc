"""Logs of requests and responses of a model's interface: a line for each call, or one for each half of it.

Calls of one conversation are put together: by its id, by the response that a request goes on from, or because
a request repeats what an earlier one was asked and replied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

import orjson

from dialogauge.core import RecordFault
from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.blocks import is_block
from dialogauge.data.formats.fields import REPLIES, conversation_from, text_at
from dialogauge.data.formats.payloads import is_of_cohere, messages_in, parsed, replied
from dialogauge.data.formats.spans import (
    SAME_ID,
    ModelCall,
    TraceScore,
    TraceSpan,
    call_of,
    key_of,
    span_format,
)
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import IdPlaces, excerpt

_REQUESTS: Final = (
    "request",
    "request_body",
    "requestBody",
    "req",
    "body",
    "params",
    "input",
    "full_request",
)
_RESPONSES: Final = (
    *("response", "response_body", "responseBody", "resp", "result", "output", "completion"),
    *("full_response", "outputs"),
    *(key for key in REPLIES if key not in ("response", "output", "completion")),
    "message",
)
_ASKS: Final = ("messages", "contents", "input", "prompt")
_CHOICES: Final = ("choices", "candidates")
_THREADS: Final = ("conversation_id", "session_id", "thread_id", "chat_id")
_TIMES: Final = ("timestamp", "created_at", "time", "start_time", "startTime", "created")
_PREVIOUS: Final = "previous_response_id"
_USED: Final = frozenset({*_REQUESTS, *_THREADS, *_CHOICES, "messages", "contents", "id", "model"}) | {
    *("custom_id", "method", "url", "error", "object", "user", "user_id", "system", "instructions"),
}
"""Keys of a record that are read, or say nothing of the conversation."""


def _body(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return what was sent, without the address and status that some logs keep around it.

    It may be written as JSON.
    """
    value = parsed(value)
    for key in (
        ("body", "json", "message", "inputBodyJson", "outputBodyJson") if isinstance(value, dict) else ()
    ):
        if isinstance(value.get(key), dict | list) and not any(
            name in value for name in (*_ASKS, *_CHOICES, "output")
        ):
            return value[key]
    return value


def _request(record: Mapping[str, Any]) -> Any:  # noqa: ANN401  # any JSON value
    inner = (_body(record.get(key)) for key in _REQUESTS)
    request = next((h for h in inner if isinstance(h, dict) and _asks(h)), None)
    if request is None and (_is_cohere(record) or _listed_in(record) or _is_response_object(record)):
        return record
    asks = record.get("input")
    return asks if request is None and isinstance(asks, list) and messages_in(asks) else request


def _asks(request: Mapping[str, Any]) -> bool:
    return any(key in request for key in _ASKS) or is_of_cohere(request)


def _is_cohere(record: Mapping[str, Any]) -> bool:
    """Say whether a record is a request of Cohere's first interface, with its response beside it."""
    return isinstance(record.get("chat_history"), list) and is_of_cohere(record)


def _is_response_object(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("output"), list) and isinstance(record.get("input"), list | str)


def _listed_in(record: Mapping[str, Any]) -> list[Any]:
    """Return the messages that stand in the record itself; none where there is no list of them."""
    return next((inner for key in _ASKS[:2] if isinstance(inner := record.get(key), list)), [])


def _response(record: Mapping[str, Any], request: object) -> tuple[str, Any] | None:
    """Return what was replied, and its key."""
    if request is record and _is_response_object(record):
        return "output", {"output": record["output"]}
    for key in _CHOICES:
        if isinstance(record.get(key), list):
            return key, {key: record[key]}
    if request is record and (record.get("role") == "assistant" or _are_blocks(record.get("content"))):
        return "content", {"role": "assistant", "content": record.get("content")}
    for key in _RESPONSES:
        inner = _body(record.get(key))
        if isinstance(inner, dict | list) and inner and replied(inner) is not None:
            return key, inner
        if isinstance(inner, str) and request is not None and key != "message":
            return key, inner
    return None


def _are_blocks(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_block, value))


def _is_half(record: Mapping[str, Any]) -> bool:
    """Say whether it is a line of a batch, which holds the request alone or the response alone."""
    return isinstance(record.get("custom_id"), str)


def _recognises(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict):
        return False
    request = _request(record)
    response = _response(record, request)
    if request is record and not _is_response_object(record) and not _is_cohere(record):
        last = messages_in(_listed_in(record)[-1:])
        if not last or last[-1]["role"] == "assistant":
            return False
    return (request is not None and response is not None) or (
        _is_half(record) and (request or response) is not None
    )


def _spans_of(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict):
        raise fault_in(entry, f"the record is {excerpt(record)}: no request with its response")
    request = _request(record)
    key, response = _response(record, request) or (None, None)
    if request is None and response is None:
        failed = record.get("error")
        why = (
            f"the request failed: {excerpt(failed)}" if failed else "it has neither a request nor a response"
        )
        raise fault_in(entry, why, f"it has {', '.join(map(repr, record)) or 'nothing'}")
    asks, replies = (inner if isinstance(inner, dict) else {} for inner in (request, response))
    about = [inner for one in (record, asks) if isinstance(inner := one.get("metadata"), dict)]
    places = (record, asks, *about)
    own = text_at(record, "custom_id") or text_at(replies, "id") or text_at(record, "id") or entry.made_id
    own = _apart(own, request, response, entry)
    times = (moment_of(inner.get(key)) for inner in (record, replies) for key in _TIMES)
    rest = {name: inner for name, inner in record.items() if name not in (*_USED, key)}
    beside = conversation_from({**rest, "conversation_id": own}, (), (), entry, messages_key="messages")
    kept = {key: replies[key] for key in _TIMES if replies.get(key)}
    kept |= {"tools": asks["tools"]} if asks.get("tools") else {}
    kept |= {_PREVIOUS: previous} if (previous := text_at(asks, _PREVIOUS)) else {}
    talk = asks.get("conversation")
    named = text_at(talk, "id") if isinstance(talk, dict) else text_at(asks, "conversation")
    yield TraceSpan(
        own,
        "" if own == entry.made_id else own,
        "model",
        next((at for at in times if at is not None), None),
        asked=_without_response(record, key) if request is record else request,
        replied=response,
        session=_first_text(places, _THREADS) or named,
        user=_first_text(places, ("user_id", "user", "request_user_id")),
        candidate=_first_text((replies, asks, record), ("model",)),
        scores=tuple(TraceScore(r.dimension, r.score, r.rater, r.note) for r in beside.ratings),
        about=replace(beside, ratings=()),
        metadata={**beside.metadata, **kept},
    )


def _apart(own: str, request: object, response: object, entry: Entry) -> str:
    """Return the id of a call, with its number where calls before have the same id and say other things."""
    key = hash((own, request is None, response is None))
    words = hash(orjson.dumps([request, response], default=repr))
    memo = entry.context.memo
    calls: IdPlaces = memo.setdefault("calls", IdPlaces())
    others: dict[tuple[int, int], int] = memo.setdefault(SAME_ID, {})
    seen, repeated = (calls.add(name, 0, 0) is not None for name in (f"{key}", f"{key} {words}"))
    if seen and not repeated:
        numbers: Counter[int] = memo.setdefault("calls of an id", Counter())
        numbers[key] += 1
        others[key, words] = numbers[key]
    number = others.get((key, words))
    return own if number is None else f"{own}~{number + 1}"


def _first_text(places: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str | None:
    return next((text for inner in places for key in keys if (text := text_at(inner, key))), None)


def _without_response(record: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """Return a request without the response that stands beside its messages."""
    return {name: inner for name, inner in record.items() if name not in (key, "error", "role", "type")}


def _sessions(spans: Iterator[TraceSpan], entry: Entry) -> Mapping[str, str]:
    """Return the conversation of each call that goes on from another, or that names one."""
    session: dict[str, str] = {}
    before: dict[str, str] = {}
    ended, waiting = _Calls(), _Calls()
    for span in spans:
        if span.session is not None:
            session[span.trace] = span.session
        elif previous := text_at(span.metadata, _PREVIOUS):
            before[span.trace] = previous
        elif (call := _readable(span, entry)) is not None:
            past, *wholes = _digests(call)
            if (later := waiting.take(*wholes)) is not None:
                before[later] = span.trace
            else:
                ended.add(span.trace, *wholes)
            if past is not None and (earlier := ended.take(past)) is not None:
                before[span.trace] = earlier
            elif past is not None:
                waiting.add(span.trace, past)
    return session | {trace: _first(trace, before) for trace in before}


@dataclass(slots=True)
class _Calls:
    """Calls by what stands for their messages, each of which is taken once."""

    by_digest: dict[bytes, list[str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def add(self, trace: str, *digests: bytes) -> None:
        for digest in dict.fromkeys(digests):
            self.by_digest.setdefault(digest, []).append(trace)

    def take(self, *digests: bytes) -> str | None:
        for digest in digests:
            traces = self.by_digest.get(digest, [])
            while traces:
                trace = traces.pop(0)
                if trace not in self.taken:
                    self.taken.add(trace)
                    return trace
        return None


def _readable(span: TraceSpan, entry: Entry) -> ModelCall | None:
    try:
        return call_of(span, entry) if span.asked is not None and span.replied is not None else None
    except RecordFault:
        return None


def _digests(call: ModelCall) -> tuple[bytes | None, bytes, bytes]:
    """Return what stands for the messages up to the last reply in the request, and for all of them.

    The last is without the use of tools, which a later request may leave out.
    """
    whole, spoken, past = blake2b(digest_size=12), blake2b(digest_size=12), None
    for number, message in enumerate(call.messages):
        arguments = [call.arguments for call in message.tool_calls]
        words = repr((key_of(message), arguments)).encode("utf-8", "surrogatepass")
        whole.update(words)
        if message.role != "tool" and not message.tool_calls:
            spoken.update(words)
        if message.role == "assistant" and number < call.request:
            past = whole.digest()
    return past, whole.digest(), spoken.digest()


def _first(trace: str, before: Mapping[str, str]) -> str:
    seen = {trace}
    while (previous := before.get(trace)) is not None and previous not in seen:
        seen.add(previous)
        trace = previous
    return trace


REQUESTS = span_format("requests", _recognises, _spans_of, _sessions)
