"""Checkpoints of LangGraph: the states of a thread, of which each holds all messages so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.spans import TraceSpan, sessions_of, span_format
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import excerpt


def _recognises(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    values = record.get("values") if isinstance(record, dict) else None
    listed = isinstance(values, dict) and isinstance(values.get("messages"), list)
    configured = _configured(record) if listed else None
    return isinstance(configured, dict) and text_at(configured, "thread_id") is not None


def _spans_of(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    values = record.get("values") if isinstance(record, dict) else None
    messages = values.get("messages") if isinstance(values, dict) else None
    if not isinstance(messages, list):
        raise fault_in(entry, f"the record is {excerpt(record)}: no state with messages among its `values`")
    metadata = record.get("metadata")
    about = metadata if isinstance(metadata, dict) else {}
    places = [one for one in (_configured(record), record, about) if isinstance(one, dict)]
    thread = next((text for one in places if (text := text_at(one, "thread_id"))), None)
    user = next((text for one in places if (text := text_at(one, "user_id"))), None)
    yield TraceSpan(
        thread or entry.context.source.label,
        next((text for one in places if (text := text_at(one, "checkpoint_id"))), entry.made_id),
        "model",
        moment_of(record.get("created_at")),
        asked=messages,
        user=user,
        metadata=about,
    )


def _configured(record: Mapping[str, Any]) -> Any:  # noqa: ANN401  # any JSON value
    config = record.get("config")
    inner = config.get("configurable") if isinstance(config, dict) else None
    return inner if inner is not None else record.get("checkpoint")


LANGGRAPH = span_format("langgraph", _recognises, _spans_of, sessions_of)
