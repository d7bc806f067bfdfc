"""The chat completion format: request bodies are written and completions are read here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.shape import repeated_keys
from dialogauge.llm.protocol import ChatRequest, FinishReason, ReplySchema
from dialogauge.text import split_reasoning

MAX_BYTES = 2 << 20
"""Of a response by default, as it is sent and unpacked; a verdict has a few kB."""
_MOST_TOKENS = 1_000_000_000
_REPLY = frozenset({"choices", "message", "content"})
"""Keys that an endpoint's answer may have once: it would be two replies."""
_DEEPEST = 250
"""Levels that can be written again for sure."""
_LONE_SURROGATE = lazy_pattern(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""An escaped backslash or a pair, which stay; and what is left."""
Rung = Literal["json_schema", "json_object_schema", "json_object", "prompt"]
"""How a schema is enforced.

By the endpoint, with the schema as OpenAI or as llama.cpp's Python server takes it; by the endpoint as any
JSON object; by the prompt only.
"""

_FINISH: Mapping[str, FinishReason] = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(
        ("length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"),
        "length",
    ),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "safety", "refusal", "recitation", "sensitive", "blocklist"),
        "filter",
    ),
    **dict.fromkeys(("prohibited_content", "spii", "guardrail_intervened", "error_toxic"), "filter"),
}
"""By the reason in small letters: gateways pass on those of Gemini, Anthropic, Mistral, Cohere and Zhipu."""
_BROKEN: Final = frozenset(
    ("error", "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource")
)
"""Reasons of a reply that its server did not finish."""

_SEEDS = 2**63
"""No endpoint takes a greater seed."""
_SCHEMA_NOTE = "Reply with one JSON object and nothing else. It must satisfy this JSON schema:\n"


@dataclass(frozen=True, slots=True)
class Completion:
    """A chat completion."""

    text: str
    finish: FinishReason
    reasoning: str | None = None
    model: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    counted: bool = True
    """Whether the endpoint counted its tokens."""
    joined: bool = False
    """Whether it was put together, so that it may hold what none of its parts does."""


def parse_json(raw: bytes) -> object:
    """Return the JSON value; None if there is none, one nested too deep to be written again, or two replies.

    Bytes and escapes that are no valid Unicode are read as the replacement character.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raw = _LONE_SURROGATE.sub(_replaced, raw.decode("utf-8-sig", "replace")).encode()
        try:
            value = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return None
    if raw.count(b"{") + raw.count(b"[") >= _DEEPEST:
        try:
            orjson.dumps(value)
        except orjson.JSONEncodeError:
            return None
    return None if _REPLY & repeated_keys(raw, value) else value


def _replaced(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]


def encode(value: object) -> bytes:
    """Write a value as JSON; mappings of any kind are objects, lone surrogates become `?`."""
    try:
        return orjson.dumps(value, default=_plain)
    except TypeError:
        # orjson refuses strings that are not valid Unicode; user data may contain them.
        return json.dumps(value, default=_plain, ensure_ascii=False).encode("utf-8", "replace")


def with_schema(body: dict[str, Any], schema: ReplySchema, rung: Rung) -> dict[str, Any]:
    """Return the body with the schema on this rung; on the lower two it goes into the last message.

    There, what it says alike of several fields stands once.
    """
    if rung == "json_schema":
        json_schema = {"name": schema.name, "schema": schema.schema, "strict": schema.strict}
        return {**body, "response_format": {"type": "json_schema", "json_schema": json_schema}}
    if rung == "json_object_schema":
        return {**body, "response_format": {"type": "json_object", "schema": schema.schema}}
    note = _SCHEMA_NOTE + encode(_with_references(schema.schema)).decode()
    body = {**body, "messages": _with_note(body["messages"], note)}
    if rung == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def request_body(base: Mapping[str, Any], request: ChatRequest, limit_name: str | None) -> dict[str, Any]:
    """Return the body of a request without its schema.

    `base` has model and parameters; `limit_name` is the endpoint's name for the token limit, None if it takes
    none.
    """
    body = {**base, "messages": request.messages}
    if request.max_tokens is not None and limit_name is not None:
        body[limit_name] = request.max_tokens
    seed = body.get("seed", 0)
    if request.salt and isinstance(seed, int) and seed >= 0:  # a negative seed is a random one
        body["seed"] = (seed + request.salt) % _SEEDS
    return body


def fold_system(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Move system messages into the first user message, for models without a system role."""
    system = "\n\n".join(str(m.get("content", "")) for m in messages if m.get("role") == "system")
    rest = [m for m in messages if m.get("role") != "system"]
    if not system:
        return rest
    if rest and rest[0].get("role") == "user" and isinstance(rest[0].get("content"), str):
        return [{**rest[0], "content": f"{system}\n\n{rest[0]['content']}"}, *rest[1:]]
    return [{"role": "user", "content": system}, *rest]


def join_roles(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Join neighbours of one role, for models whose roles must alternate."""
    joined: list[Mapping[str, Any]] = []
    for message in messages:
        last = joined[-1] if joined else {}
        texts = last.get("content"), message.get("content")
        if last.get("role") == message.get("role") and all(isinstance(t, str) for t in texts):
            joined[-1] = {**last, "content": f"{texts[0]}\n\n{texts[1]}"}
        else:
            joined.append(message)
    return joined


def read_completion(payload: object) -> Completion | None:
    """Return the completion in a payload; None without a readable choice, or with an error in it."""
    if not isinstance(payload, dict):
        return None
    choice = first_choice(payload)
    reason = choice.get("finish_reason")
    if payload.get("error") or choice.get("error") or is_broken(reason):
        return None
    message = choice.get("message")
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    text, inside = split_reasoning(_text_of(content))
    reasoning = _thoughts(message, inside)
    finish = _FINISH.get(reason.lower() if isinstance(reason, str) else "", "other")
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        text, finish = text or refusal, "filter"
    model = payload.get("model")
    prompt, completion, cached, counted = _tokens(payload.get("usage"))
    return Completion(
        text,
        finish,
        reasoning,
        model if isinstance(model, str) else None,
        prompt,
        completion,
        cached,
        counted,
        isinstance(content, list) or inside is not None,
    )


def first_choice(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the choice with the index 0, or that which stands first; empty without any."""
    choices = payload.get("choices")
    entries = [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
    return next((c for c in entries if c.get("index") == 0), entries[0] if entries else {})


def is_broken(reason: object) -> bool:
    """Say whether a finish reason tells that the server broke off."""
    return isinstance(reason, str) and reason.lower() in _BROKEN


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    message = f"{type(value).__name__} is no JSON value"
    raise TypeError(message)


def _with_references(schema: Mapping[str, Any], path: str = "#") -> Mapping[str, Any]:
    """Write objects that are like the first field beside them as references to it: a prompt says it once."""
    fields = schema.get("properties")
    if not isinstance(fields, Mapping) or not fields:
        return schema
    (first, model), *_ = fields.items()
    reference = {"$ref": f"{path}/properties/{first}"}
    shown = {
        name: reference
        if name != first and field == model and "properties" in field
        else _with_references(field, f"{path}/properties/{name}")
        for name, field in fields.items()
    }
    return {**schema, "properties": shown}


def _with_note(messages: Sequence[Mapping[str, Any]], note: str) -> list[Mapping[str, Any]]:
    last = messages[-1] if messages else {}
    content = last.get("content")
    if last.get("role") == "user" and isinstance(content, str):
        return [*messages[:-1], {**last, "content": f"{content}\n\n{note}"}]
    return [*messages, {"role": "user", "content": note}]


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = ("text", "output_text", None)
        parts = (p.get("text") for p in content if isinstance(p, dict) and p.get("type") in texts)
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _thoughts(message: Mapping[str, Any], in_text: str | None) -> str | None:
    for key in ("reasoning_content", "reasoning"):
        value = message.get(key)
        if isinstance(value, str) and value:
            return value if in_text is None else f"{value}\n{in_text}"
    return in_text


def _tokens(usage: object) -> tuple[int, int, int, bool]:
    if not isinstance(usage, dict):
        return 0, 0, 0, False
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    counted = prompt is not None and completion is not None
    return prompt or 0, completion or 0, min(cached or 0, prompt or 0), counted


def _count(value: object) -> int | None:
    """Return a number of tokens; None for what is none, or is more than any request has."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None
