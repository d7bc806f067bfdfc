"""Spans of Braintrust's logs and experiments, with their scores."""

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

_KINDS: Final[dict[str, SpanKind]] = {"llm": "model", "tool": "tool"}
_THREADS: Final = ("session_id", "thread_id", "conversation_id", "sessionId")


def _recognises(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(inner_records(record, "events")), None)
    return isinstance(first, dict) and {"span_id", "root_span_id", "span_attributes"} <= first.keys()


def _spans_of(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    for event in inner_records(record, "events"):
        trace = text_at(event, "root_span_id") if isinstance(event, dict) else None
        if trace is None:
            raise fault_in(entry, f"the record is {excerpt(event)}: no span with its root")
        kind, about = (
            event.get(key) if isinstance(event.get(key), dict) else {}
            for key in ("span_attributes", "metadata")
        )
        whole: SpanKind = "step" if event.get("span_parents") else "root"
        yield TraceSpan(
            trace,
            text_at(event, "span_id") or "",
            _KINDS.get(str(kind.get("type")), whole),
            moment_of(event.get("created")),
            text_at(kind, "name"),
            event.get("input"),
            event.get("output"),
            session=next((text for key in _THREADS if (text := text_at(about, key))), None),
            user=text_at(about, "user_id"),
            candidate=text_at(about, "model"),
            scores=tuple(_scores(event)),
            metadata=about if whole == "root" else {},
        )


def _scores(event: Mapping[str, Any]) -> Iterator[TraceScore]:
    """Yield the scores of a span; who gave them is not said, so they count as an evaluator's."""
    scores = event.get("scores")
    for name, value in scores.items() if isinstance(scores, dict) else ():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield TraceScore(name, value, automatic=True)


BRAINTRUST = span_format("braintrust", _recognises, _spans_of, sessions_of)
