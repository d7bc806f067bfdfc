"""Spans of OpenTelemetry, as OTLP in JSON or one a record, and the exports of Phoenix and MLflow.

`attributes` reads what a span says; here is where spans stand, and what they are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from dialogauge.data.formats.attributes import described
from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.spans import TraceScore, TraceSpan, sessions_of, span_format
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import excerpt

_RESOURCES: Final = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
_SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs")
_LEAVES: Final = ("spans", "logRecords", "log_records")
_TRACES: Final = ("traceId", "trace_id", "context.trace_id", "request_id")
_IDS: Final = ("spanId", "span_id", "context.span_id")
_PARENTS: Final = ("parentSpanId", "parent_span_id", "parent_id", "parentId")
_STARTS: Final = (
    *("startTimeUnixNano", "start_time_unix_nano", "timeUnixNano", "time_unix_nano", "start_time"),
    *("startTime", "start_timestamp", "timestamp", "observed_timestamp"),
    *("request_time", "timestamp_ms"),
)
_FLAT: Final = "attributes."
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
    inner = record.get("attributes")
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
        scores=tuple(_annotations(record.get("annotations"))),
        metadata={} if parent or at is None else {"timestamp": at},
        event=event,
    )
    return described(span, attributes, _events(record))


def _annotations(values: object) -> Iterator[TraceScore]:
    """Yield the annotations of Phoenix on a span, and the assessments of MLflow on a trace."""
    for value in values if isinstance(values, list) else ():
        name = _name_in(value, ("name", "assessment_name")) if isinstance(value, dict) else None
        result, source = (value.get("result"), value.get("source")) if name else (None, None)
        result = result if isinstance(result, dict) else value.get("feedback") if name else None
        source = source if isinstance(source, dict) else {}
        if name is None or not isinstance(result, dict):
            continue
        keys = ("score", "value", "label")
        score = next((result[key] for key in keys if isinstance(result.get(key), str | int | float)), "")
        by = text_at(value, "annotator_kind") or text_at(source, "source_type")
        if score != "":
            yield TraceScore(
                name,
                score,
                text_at(value, "user_id") or text_at(source, "source_id"),
                text_at(result, "explanation") or text_at(value, "rationale"),
                automatic=by != "HUMAN",
            )


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
            scores=tuple(_annotations(info.get("assessments"))),
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
