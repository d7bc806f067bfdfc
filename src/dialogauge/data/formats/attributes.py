"""What the attributes and events of a span say, in the conventions that tracers of language models follow.

OpenTelemetry's for generative AI, today's and those before, OpenInference, OpenLLMetry, and what MLflow,
Langfuse, Logfire and the AI SDK write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from dialogauge.data.formats.payloads import Item
from dialogauge.data.formats.spans import SpanKind, TraceScore, TraceSpan
from dialogauge.data.json_values import too_deep

Attributes = Mapping[str, Any]

_DEEPEST: Final = 12
"""Parts of a name that are taken apart."""
_KINDS: Final[dict[str, SpanKind]] = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "completion"), "model"),
    **dict.fromkeys(("llm", "chat_model", "generation"), "model"),
    **dict.fromkeys(("execute_tool", "tool"), "tool"),
}
_OF_KIND: Final = (
    *("gen_ai.operation.name", "openinference.span.kind", "mlflow.spanType", "langfuse.observation.type"),
    *("traceloop.span.kind", "llm.request.type", "span_kind"),
)
_SESSIONS: Final = (
    *("gen_ai.conversation.id", "session.id", "langfuse.session.id", "mlflow.trace.session"),
    *("traceloop.association.properties.session_id", "traceloop.association.properties.thread_id"),
    *("ai.telemetry.metadata.sessionId", "langsmith.trace.session_id", "conversation.id"),
)
_USERS: Final = (
    "user.id",
    "enduser.id",
    "langfuse.user.id",
    "ai.telemetry.metadata.userId",
    "mlflow.trace.user",
)
_MODELS: Final = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id")
_TOOLS: Final = ("gen_ai.tool.name", "tool.name", "tool_name", "ai.toolCall.name")
_CALLS: Final = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt", "ai.prompt.messages")
_ASKED: Final = (
    *(*_CALLS, "gen_ai.tool.call.arguments", "ai.prompt", "ai.toolCall.args", "langfuse.observation.input"),
    *("mlflow.spanInputs", "request_data", "traceloop.entity.input", "input.value", "tool_arguments"),
)
_REPLIED: Final = (
    *("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion", "gen_ai.tool.call.result"),
    *("ai.toolCall.result", "langfuse.observation.output", "mlflow.spanOutputs", "response_data"),
    *("traceloop.entity.output", "output.value", "final_result", "tool_response"),
)
_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def described(span: TraceSpan, flat: Attributes, events: Sequence[Any]) -> TraceSpan:
    """Return a span with what its attributes and events say of payloads, kind, session, user and model."""
    tree = _tree(flat)
    asks, replies, scores = _of_events(events, tree)
    messages = _value(_at(tree, "pydantic_ai.all_messages"))
    if isinstance(messages, list) and len(messages) > 1:
        asks, replies = messages[:-1], messages[-1:]
    system = _value(_at(tree, "gen_ai.system_instructions"))
    named = (_text(tree, name) for name in _OF_KIND)
    kind = next((_KINDS[name.lower()] for name in named if name and name.lower() in _KINDS), None)
    operation = _text(tree, "ai.operationId") or ""
    if operation.endswith((".doGenerate", ".doStream")):
        kind = "model"
    elif operation == "ai.toolCall":
        kind = "tool"
    if kind is None and ((asks and not messages) or any(_at(tree, name) is not None for name in _CALLS)):
        kind = "model"
    return replace(
        span,
        kind=kind or span.kind,
        name=_first(tree, _TOOLS) or span.name if kind == "tool" else span.name,
        asked=asks or _payload(tree, _ASKED, span.asked),
        replied=_choices(replies) or _response(tree) or _payload(tree, _REPLIED, span.replied),
        system=system if isinstance(system, str | list) and system else span.system,
        session=_first(tree, _SESSIONS) or span.session,
        user=_first(tree, _USERS) or span.user,
        candidate=_first(tree, _MODELS) or span.candidate,
        scores=(*span.scores, *scores),
    )


def _tree(flat: Attributes) -> dict[str, Any]:
    """Return attributes with dotted names as objects in objects; numbered ones are lists."""
    root: dict[str, Any] = {}
    for name, value in flat.items():
        at = root
        *path, last = name.split(".", _DEEPEST)
        for part in path:
            inner = at.get(part)
            if not isinstance(inner, dict):
                inner = at[part] = {}
            at = inner
        if isinstance(at.get(last), dict) and isinstance(value, dict):
            at[last] = {**value, **at[last]}
        elif not isinstance(at.get(last), dict):
            at[last] = value
    return {key: _listed(value, _DEEPEST) for key, value in root.items()}


def _listed(value: Any, depth: int) -> Any:  # noqa: ANN401  # any JSON value
    if not isinstance(value, dict) or not value or depth == 0:
        return value
    inner = {key: _listed(one, depth - 1) for key, one in value.items()}
    if all(key.isascii() and key.isdigit() and len(key) < len("100000") for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def _at(tree: Any, name: str) -> Any:  # noqa: ANN401  # any JSON value
    for part in name.split("."):
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _value(value: object) -> Any:  # noqa: ANN401  # any JSON value
    """Return what an attribute holds, which may be written as JSON."""
    if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
        return value
    try:
        inner = orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
    return value if too_deep(inner) else inner


def _text(tree: Mapping[str, Any], name: str) -> str | None:
    value = _value(_at(tree, name))
    return value if isinstance(value, str) and value else None


def _first(tree: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((text for name in names if (text := _text(tree, name))), None)


def _payload(tree: Mapping[str, Any], names: Sequence[str], other: object) -> Any:  # noqa: ANN401
    for name in names:
        value = _value(_at(tree, name))
        if isinstance(value, list) and name.startswith("llm."):
            return [_of_inference(one) for one in value]
        if isinstance(value, list) and name == "gen_ai.output.messages" and all(map(_is_ended, value)):
            return _choices(value)
        if isinstance(value, list | str) and value:
            return value
        if isinstance(value, dict) and value and name not in ("gen_ai.prompt", "gen_ai.completion"):
            return value
    return other


def _is_ended(message: object) -> bool:
    """Say whether a message is a whole response, which says why it ended."""
    return isinstance(message, dict) and "finish_reason" in message


def _choices(replies: list[Any]) -> Any:  # noqa: ANN401  # any JSON value
    """Return replies to one request, of which the first is the one that was gone on from, as a response."""
    return {"choices": [{"message": one} for one in replies]} if replies else None


def _of_inference(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return a message of OpenInference without the objects around its parts and calls."""
    value = _tree(value) if isinstance(value, dict) else value
    message = _at(value, "message") if isinstance(_at(value, "message"), dict) else value
    if not isinstance(message, dict):
        return message
    contents, calls = message.get("contents"), message.get("tool_calls")
    out = {key: inner for key, inner in message.items() if key not in ("contents", "tool_calls")}
    if isinstance(contents, list):
        parts = [_at(part, "message_content") or part for part in contents]
        out["content"] = [*([message["content"]] if isinstance(message.get("content"), str) else []), *parts]
    if isinstance(calls, list) and calls:
        out["tool_calls"] = [_at(call, "tool_call") or call for call in calls]
    out.setdefault("content", None)
    return out


def _response(tree: Mapping[str, Any]) -> list[Item] | None:
    """Return the reply that the AI SDK writes as attributes of their own."""
    text, calls = _at(tree, "ai.response.text"), _value(_at(tree, "ai.response.toolCalls"))
    if not isinstance(text, str) and not isinstance(calls, list):
        return None
    blocks = [{"type": "text", "text": text}] if isinstance(text, str) and text else []
    called = calls if isinstance(calls, list) else []
    called = [{**call, "type": "tool-call"} if isinstance(call, dict) else call for call in called]
    return [{"role": "assistant", "content": [*blocks, *called]}]


def _of_events(events: Sequence[Any], tree: dict[str, Any]) -> tuple[list[Any], list[Any], list[TraceScore]]:
    """Return what events say was asked and replied, and scores; details of a call go into the attributes."""
    asks: list[Any] = []
    replies: list[Any] = []
    scores: list[TraceScore] = []
    for name, body in _named(events):
        if name in _EVENTS:
            asks.append({"content": None, **body, "role": _EVENTS[name]})
        elif name == "gen_ai.choice":
            message = body.get("message")
            message = (
                message if isinstance(message, dict) else {"content": message or body.get("content"), **body}
            )
            replies.append({"content": None, **_without_choice(message), "role": "assistant"})
        elif name == "gen_ai.evaluation.result":
            scores += _evaluation(_tree(body))
        elif name.startswith(("gen_ai.content.", "gen_ai.client.inference")):
            for part, inner in _tree(body).get("gen_ai", {}).items():
                tree.setdefault("gen_ai", {}).setdefault(part, inner)
    return asks, replies, scores


def _without_choice(message: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in ("index", "finish_reason", "message")}


def _named(events: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for event in events:
        if not isinstance(event, dict):
            continue
        attributes, body = event.get("attributes"), _value(event.get("body", event.get("event_body")))
        attributes = attributes if isinstance(attributes, dict) else {}
        named = (
            event.get("name"),
            event.get("event.name"),
            event.get("eventName"),
            attributes.get("event.name"),
        )
        name = next((one for one in named if isinstance(one, str) and one), "")
        own = body if isinstance(body, dict) else {}
        others = (
            {}
            if attributes or own
            else {key: v for key, v in event.items() if key not in ("name", "event.name")}
        )
        yield name, {key: _value(value) for key, value in {**others, **attributes, **own}.items()}


def _evaluation(tree: Mapping[str, Any]) -> Iterator[TraceScore]:
    score = _at(tree, "gen_ai.evaluation.score.value")
    score = _at(tree, "gen_ai.evaluation.score.label") if score is None else score
    if isinstance(score, str | int | float) and score != "":
        name = _text(tree, "gen_ai.evaluation.name") or "evaluation"
        yield TraceScore(name, score, note=_text(tree, "gen_ai.evaluation.explanation"), automatic=True)
