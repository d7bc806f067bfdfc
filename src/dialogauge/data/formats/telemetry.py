"""Spans of OpenTelemetry, as OTLP in JSON or one a record, and the exports of Phoenix and MLflow.

What their attributes and events say is read in the conventions that tracers of language models follow:
OpenTelemetry's for generative AI, today's and those before, OpenInference, OpenLLMetry, and what MLflow,
Langfuse, Logfire and the AI SDK write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from dialogauge.data.form import ScoreForm, SpanKind
from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.payloads import Item
from dialogauge.data.formats.spans import TraceScore, TraceSpan, sessions_of, span_format
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.formats.traced import scores_in
from dialogauge.data.json_values import too_deep
from dialogauge.data.notes import excerpt

_RESOURCES: Final = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
_SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs")
_LEAVES: Final = ("spans", "logRecords", "log_records")
_TRACES: Final = ("traceId", "trace_id", "context.trace_id", "request_id", "operation_Id")
_IDS: Final = ("spanId", "span_id", "context.span_id", "itemId")
_PARENTS: Final = ("parentSpanId", "parent_span_id", "parent_id", "parentId", "operation_ParentId")
_STARTS: Final = (
    *("startTimeUnixNano", "start_time_unix_nano", "timeUnixNano", "time_unix_nano", "start_time"),
    *("startTime", "start_timestamp", "timestamp", "observed_timestamp"),
    *("request_time", "timestamp_ms"),
)
_FLAT: Final = "attributes."
_ASSESSED: Final = ScoreForm(
    "assessments",
    "name | assessment_name",
    " | ".join(f"{at}.{key}" for at in ("result", "feedback") for key in ("score", "value", "label")),
    "user_id | source.source_id",
    "result.explanation | rationale",
    automatic="not annotator_kind | source.source_type=HUMAN",
    people=".",
)
"""The annotations of Phoenix on a span, and the assessments of MLflow on a trace."""
_ANNOTATED: Final = replace(_ASSESSED, list="annotations")
_UNITS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which number on a time is in nano-, micro- and milliseconds, and how many of them are a second."""


def _within(record: Any, names: tuple[str, ...]) -> list[Any] | None:  # noqa: ANN401  # any JSON value
    for name in names if isinstance(record, dict) else ():
        if isinstance(record.get(name), list):
            inner: list[Any] = record[name]
            return inner
    return None


def _records(record: Any) -> Iterator[Any]:  # noqa: ANN401  # any JSON value
    """Yield the spans of a document of OTLP, of a page or list of spans, or the record itself."""
    if isinstance(record, dict) and isinstance(record.get("trace"), dict):
        record = record["trace"]
    resources = _within(record, _RESOURCES)
    if resources is None:
        yield from _within(record, ("data", "spans")) or [record]
        return
    for resource in resources:
        for scope in _within(resource, _SCOPES) or []:
            yield from _within(scope, _LEAVES) or []


def _name_in(record: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    context = record.get("context")
    places = (record, context) if isinstance(context, dict) else (record,)
    return next((text for place in places for name in names if (text := text_at(place, name))), None)


def _seconds(record: Mapping[str, Any]) -> float | None:
    for name in _STARTS:
        moment = moment_of(record.get(name))
        if moment:
            return moment / next((unit for low, unit in _UNITS if moment > low), 1.0)
    return None


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    inner = record.get("attributes", record.get("customDimensions"))
    if isinstance(inner, str):
        try:
            inner = orjson.loads(inner)
        except orjson.JSONDecodeError:
            inner = None
    if isinstance(inner, list):
        pairs = [one for one in inner if isinstance(one, dict) and isinstance(one.get("key"), str)]
        inner = {one["key"]: _any_value(one.get("value")) for one in pairs}
    flat = {key.removeprefix(_FLAT): value for key, value in record.items() if key.startswith(_FLAT)}
    kind = {"span_kind": record["span_kind"]} if isinstance(record.get("span_kind"), str) else {}
    return {**kind, **flat, **(inner if isinstance(inner, dict) else {})}


def _any_value(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Return the value of an attribute of OTLP, which names its type."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    values = inner.get("values") if isinstance(inner, dict) else None
    if kind in ("arrayValue", "array_value"):
        return [_any_value(one) for one in values] if isinstance(values, list) else []
    if kind in ("kvlistValue", "kvlist_value"):
        pairs = [one for one in values or [] if isinstance(one, dict) and isinstance(one.get("key"), str)]
        return {one["key"]: _any_value(one.get("value")) for one in pairs}
    return inner if kind.endswith(("Value", "_value")) else value


def _events(record: Mapping[str, Any]) -> list[Any]:
    """Return the events of a span; a record of a log is an event itself."""
    events = record.get("events", record.get("otel_events"))
    if "body" in record or "eventName" in record:
        events = [record]
    return [
        {**event, "attributes": _attributes(event), "body": _any_value(event.get("body"))}
        for event in (events if isinstance(events, list) else [])
        if isinstance(event, dict)
    ]


def _is_span(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict) or _name_in(record, _TRACES) is None or _name_in(record, _IDS) is None:
        return False
    return bool(_attributes(record)) or _seconds(record) is not None


def _of_span(record: Any, entry: Entry, *, trace: str | None = None) -> TraceSpan:  # noqa: ANN401  # any JSON value
    if not isinstance(record, dict):
        raise fault_in(entry, f"the record is {excerpt(record)}: no span")
    trace = trace or _name_in(record, _TRACES)
    if trace is None:
        keys = ", ".join(map(repr, record)) or "nothing"
        raise fault_in(entry, f"the record has {keys}: no span with the id of its trace")
    parent = _name_in(record, _PARENTS)
    event = "body" in record or "eventName" in record
    attributes, at = _attributes(record), _seconds(record)
    span = TraceSpan(
        trace,
        _name_in(record, _IDS) or "",
        "step" if parent or event else "root",
        at,
        text_at(record, "name") or text_at(record, "span_name"),
        scores=tuple(scores_in(record, (_ANNOTATED,))),
        metadata={} if parent or at is None else {"timestamp": at},
        event=event,
    )
    return described(span, attributes, _events(record))


def _spans_of(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    for span in _records(record):
        yield _of_span(span, entry)


def _of_mlflow(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    values = _within(record, ("traces",)) or [record]
    for value in values:
        info, spans = _trace_of(value)
        trace = _name_in(info, ("trace_id", "request_id")) if info is not None else None
        if info is None or trace is None or spans is None:
            raise fault_in(entry, f"the record is {excerpt(value)}: no trace with `info` and `data`")
        about = info.get("trace_metadata", info.get("request_metadata"))
        about = about if isinstance(about, dict) else {}
        yield TraceSpan(
            trace,
            trace,
            at=_seconds(info),
            session=text_at(about, "mlflow.trace.session"),
            user=text_at(about, "mlflow.trace.user"),
            scores=tuple(scores_in(info, (_ASSESSED,))),
            metadata={"tags": info["tags"]} if info.get("tags") else {},
        )
        for span in spans:
            yield _of_span(span, entry, trace=trace)


def _trace_of(value: Any) -> tuple[dict[str, Any] | None, list[Any] | None]:  # noqa: ANN401  # any JSON value
    """Return the information and the spans of a trace of MLflow, which a table holds side by side."""
    if not isinstance(value, dict):
        return None, None
    info = value.get("info", value)
    return (info if isinstance(info, dict) else None), _within(value.get("data", value), ("spans",))


def _is_mlflow(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    info, spans = _trace_of(next(iter(_within(record, ("traces",)) or [record])))
    return info is not None and spans is not None and _name_in(info, ("trace_id", "request_id")) is not None


def _is_phoenix(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(_records(record), None)
    if not isinstance(first, dict) or not _is_span(first):
        return False
    flat = _attributes(first)
    return any(key.split(".")[0] in ("openinference", "llm", "span_kind") for key in flat)


def _is_telemetry(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    return _within(record, _RESOURCES) is not None or _is_span(next(_records(record), None))


MLFLOW = span_format("mlflow", _is_mlflow, _of_mlflow, sessions_of)
PHOENIX = span_format("phoenix", _is_phoenix, _spans_of, sessions_of)
OPENTELEMETRY = span_format("opentelemetry", _is_telemetry, _spans_of, sessions_of)


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
    contents, calls = (_trees(message.get(key)) for key in ("contents", "tool_calls"))
    out = {key: inner for key, inner in message.items() if key not in ("contents", "tool_calls")}
    if isinstance(contents, list):
        parts = [_at(part, "message_content") or part for part in contents]
        out["content"] = [*([message["content"]] if isinstance(message.get("content"), str) else []), *parts]
    if isinstance(calls, list) and calls:
        out["tool_calls"] = [_at(call, "tool_call") or call for call in calls]
    out.setdefault("content", None)
    return out


def _trees(values: object) -> Any:  # noqa: ANN401  # any JSON value
    return [_tree(v) if isinstance(v, dict) else v for v in values] if isinstance(values, list) else values


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
        elif not name or name.startswith(("gen_ai.content.", "gen_ai.client.inference")):
            about = _tree(body).get("gen_ai")
            for part, inner in about.items() if isinstance(about, dict) else ():
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
