"""Traces of OpenAI's Agents SDK: spans of agents, generations and functions, as its exporter writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.spans import SpanKind, TraceSpan, sessions_of, span_format
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import excerpt

_OBJECTS: Final = ("trace", "trace.span")
_KINDS: Final[dict[str, SpanKind]] = {"generation": "model", "response": "model", "function": "tool"}


def _values(record: Any) -> list[Any]:  # noqa: ANN401  # any JSON value
    """Return the traces and spans of a page, or the record alone."""
    inner = record.get("data") if isinstance(record, dict) else None
    return inner if isinstance(inner, list) else [record]


def _recognises(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(_values(record)), None)
    if not isinstance(first, dict) or first.get("object") not in _OBJECTS:
        return False
    return "workflow_name" in first or isinstance(first.get("span_data"), dict)


def _spans_of(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    for value in _values(record):
        name = text_at(value, "id") if isinstance(value, dict) else None
        data = value.get("span_data") if name is not None else None
        if name is not None and isinstance(data, dict):
            yield _of_span(value, name, data)
        elif name is not None and data is None and value.get("object") != "trace.span":
            yield _of_trace(value, name)
        else:
            raise fault_in(entry, f"the record is {excerpt(value)}: no trace and no span")


def _of_trace(value: Mapping[str, Any], name: str) -> TraceSpan:
    metadata = value.get("metadata")
    about = metadata if isinstance(metadata, dict) else {}
    return TraceSpan(
        name,
        name,
        at=0.0,  # it says no time, and stands first
        session=text_at(value, "group_id"),
        user=text_at(about, "user_id"),
        metadata={"workflow_name": value.get("workflow_name"), **about},
    )


def _of_span(value: Mapping[str, Any], name: str, data: Mapping[str, Any]) -> TraceSpan:
    response = data.get("response")
    return TraceSpan(
        text_at(value, "trace_id") or name,
        name,
        _KINDS.get(str(data.get("type")), "step"),
        moment_of(value.get("started_at")),
        text_at(data, "name"),
        data.get("input"),
        data.get("output") if response is None else response,
        candidate=text_at(data, "model"),
    )


OPENAI_AGENTS = span_format("openai-agents", _recognises, _spans_of, sessions_of)
