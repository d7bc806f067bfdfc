"""Calls of Weave, as its interface and its export write them, with their feedback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.fields import text_at
from dialogauge.data.formats.spans import (
    SpanKind,
    TraceScore,
    TraceSpan,
    inner_records,
    sessions_of,
    span_format,
)
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import excerpt

_OF_MODELS: Final = (
    "completions.create",
    "completions.parse",
    "messages.create",
    "responses.create",
)
"""How the operations end that clients of models are traced by."""
_REACTION: Final = "wandb.reaction"
_BY_SCORER: Final = "wandb.runnable."


def _recognises(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(inner_records(record, "calls")), None)
    return isinstance(first, dict) and {"op_name", "trace_id", "inputs"} <= first.keys()


def _spans_of(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    for call in inner_records(record, "calls"):
        trace, name = (
            text_at(call, key) if isinstance(call, dict) else None for key in ("trace_id", "op_name")
        )
        if trace is None or name is None:
            raise fault_in(entry, f"the record is {excerpt(call)}: no call with its operation and trace")
        inputs, about = (
            call.get(key) if isinstance(call.get(key), dict) else {} for key in ("inputs", "attributes")
        )
        yield TraceSpan(
            trace,
            text_at(call, "id") or "",
            _kind(call, name.split("/")[-1].split(":")[0], about),
            moment_of(call.get("started_at")),
            text_at(call, "display_name") or name.split("/")[-1].split(":")[0],
            {key: value for key, value in inputs.items() if key != "self"},
            call.get("output"),
            session=text_at(call, "thread_id") or text_at(about, "thread_id") or text_at(about, "session_id"),
            user=text_at(about, "user_id"),
            candidate=text_at(inputs, "model"),
            scores=tuple(_scores(call)),
            metadata={}
            if call.get("parent_id")
            else {"name": name, "timestamp": call.get("started_at"), **about},
        )


def _kind(call: Mapping[str, Any], operation: str, about: Mapping[str, Any]) -> SpanKind:
    if operation.endswith(_OF_MODELS) or about.get("kind") == "llm":
        return "model"
    if about.get("kind") == "tool":
        return "tool"
    return "step" if call.get("parent_id") else "root"


def _scores(call: Mapping[str, Any]) -> Iterator[TraceScore]:
    at: Any = call.get("summary")
    for key in ("weave", "feedback"):
        at = at.get(key) if isinstance(at, dict) else None
    for row in at if isinstance(at, list) else ():
        kind, payload = (
            (row.get("feedback_type"), row.get("payload")) if isinstance(row, dict) else (None, None)
        )
        if not isinstance(kind, str) or not isinstance(payload, dict):
            continue
        value = (
            payload.get("emoji")
            if kind.startswith(_REACTION)
            else payload.get("value", payload.get("output"))
        )
        if isinstance(value, str | int | float) and value != "":
            name = "reaction" if kind.startswith(_REACTION) else kind.split(".", 2)[-1]
            by = text_at(row, "creator") or text_at(row, "wb_user_id")
            yield TraceScore(name, value, by, automatic=kind.startswith(_BY_SCORER))


WEAVE = span_format("weave", _recognises, _spans_of, sessions_of)
