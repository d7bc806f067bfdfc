"""Traces, sessions, observations and scores of Langfuse, as its interface and its exports write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.fields import asks_people
from dialogauge.data.formats.spans import SpanKind, TraceScore, TraceSpan, sessions_of, span_format
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import excerpt

_KINDS: Final[dict[str, SpanKind]] = {"GENERATION": "model", "TOOL": "tool"}
_TYPES: Final = frozenset({"SPAN", "EVENT", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING"}) | {
    "GUARDRAIL",
    *_KINDS,
}
_SNAKE: Final = {
    "".join(f"_{c.lower()}" if c.isupper() else c for c in name): name
    for name in (
        *("traceId", "sessionId", "userId", "startTime", "parentObservationId", "stringValue", "dataType"),
        *("authorUserId", "observationId", "providedModelName"),
    )
}
"""Keys as exports to a bucket write them -> as the interface does."""
_ABOUT: Final = ("name", "timestamp", "tags", "release", "version", "environment", "metadata")


def _values(record: Any) -> list[Any]:  # noqa: ANN401  # any JSON value
    """Return the values of a page of the interface, or the record alone, with the keys of the interface."""
    inner = record.get("data") if isinstance(record, dict) else None
    values = inner if isinstance(inner, list) else [record]
    return [
        {_SNAKE.get(k, k): v for k, v in value.items()} if isinstance(value, dict) else value
        for value in values
    ]


def _name(value: Mapping[str, Any], key: str) -> str | None:
    inner = value.get(key)
    return inner if isinstance(inner, str) and inner else None


def _is_observation(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    typed = isinstance(kind, str) and kind.upper() in _TYPES
    return typed and _name(value, "traceId") is not None and value.get("startTime") is not None


def _is_trace(value: Mapping[str, Any]) -> bool:
    keys = ("observations", "sessionId", "session_id", "htmlPath", "totalCost")
    return (
        "timestamp" in value and "id" in value and any(key in value for key in keys) and not _is_score(value)
    )


def _is_session(value: Mapping[str, Any]) -> bool:
    traces = value.get("traces")
    return (
        isinstance(traces, list)
        and "id" in value
        and all(isinstance(t, dict) and _is_trace(t) for t in traces)
    )


def _is_score(value: Mapping[str, Any]) -> bool:
    return "source" in value and "name" in value and "value" in value and value.get("dataType") is not None


def _recognises(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(_values(record)), None)
    return isinstance(first, dict) and (_is_observation(first) or _is_trace(first) or _is_session(first))


def _spans_of(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    for value in _values(record):
        if not isinstance(value, dict):
            raise fault_in(entry, f"the record is {excerpt(value)}: no trace, session, observation or score")
        if _is_session(value):
            for trace in value["traces"]:
                yield from _of_trace({"sessionId": value["id"], **trace}, entry)
        elif _is_observation(value):
            yield _of_observation(value, entry)
        elif _is_score(value) and (trace := _name(value, "traceId") or _name(value, "sessionId")):
            yield TraceSpan(trace, at=moment_of(value.get("timestamp")), scores=tuple(_scores([value])))
        elif _is_trace(value):
            yield from _of_trace(value, entry)
        else:
            keys = ", ".join(map(repr, value)) or "nothing"
            raise fault_in(entry, f"the record has {keys}: no trace, session, observation or score")


def _of_trace(value: Mapping[str, Any], entry: Entry) -> Iterator[TraceSpan]:
    trace = _name(value, "id")
    if trace is None:
        raise fault_in(entry, f"the trace has the id {excerpt(value.get('id'))}: not a text")
    scores = value.get("scores")
    yield TraceSpan(
        trace,
        trace,
        "root",
        moment_of(value.get("timestamp")),
        _name(value, "name"),
        value.get("input"),
        value.get("output"),
        session=_name(value, "sessionId"),
        user=_name(value, "userId"),
        scores=tuple(_scores(scores)) if isinstance(scores, list) else (),
        metadata={key: value[key] for key in _ABOUT if value.get(key)},
    )
    observations = value.get("observations")
    for one in observations if isinstance(observations, list) else ():
        if isinstance(one, dict):
            yield _of_observation({"traceId": trace, **one}, entry)


def _of_observation(value: Mapping[str, Any], entry: Entry) -> TraceSpan:
    trace, kind = _name(value, "traceId"), value.get("type")
    if trace is None or not isinstance(kind, str):
        raise fault_in(entry, f"an observation has the type {excerpt(kind)} and names no trace")
    whole: SpanKind = "step" if value.get("parentObservationId") else "root"
    return TraceSpan(
        trace,
        _name(value, "id") or "",
        _KINDS.get(kind.upper(), whole),
        moment_of(value.get("startTime")),
        _name(value, "name"),
        value.get("input"),
        value.get("output"),
        session=_name(value, "sessionId"),
        user=_name(value, "userId"),
        candidate=_name(value, "model") or _name(value, "providedModelName"),
    )


def _scores(values: list[Any]) -> Iterator[TraceScore]:
    for value in values:
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            continue
        score = value.get("value")
        if value.get("dataType") in ("CATEGORICAL", "TEXT"):
            score = value.get("stringValue") or score
        elif value.get("dataType") == "BOOLEAN" and score in (0, 1):
            score = "true" if score else "false"
        if score is not None and score != "":
            yield TraceScore(
                value["name"],
                score,
                _name(value, "authorUserId"),
                _name(value, "comment"),
                of_session=value.get("traceId") is None,
                automatic=value.get("source") == "EVAL"
                or (value.get("source") != "ANNOTATION" and not asks_people(value["name"])),
            )


LANGFUSE = span_format("langfuse", _recognises, _spans_of, sessions_of)
