"""Runs of LangSmith, as its client and its exports write them, with their feedback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.fields import asks_people, text_at
from dialogauge.data.formats.spans import SpanKind, TraceScore, TraceSpan, sessions_of, span_format
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import excerpt

_KINDS: Final[dict[str, SpanKind]] = {"llm": "model", "chat_model": "model", "tool": "tool"}
_THREADS: Final = ("session_id", "thread_id", "conversation_id")
"""What the thread of a run is called in its metadata; the session of the run itself is its project."""


def _runs(record: Any) -> list[Any]:  # noqa: ANN401  # any JSON value
    inner = record.get("runs") if isinstance(record, dict) else None
    return inner if isinstance(inner, list) else [record]


def _recognises(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(_runs(record)), None)
    return isinstance(first, dict) and isinstance(first.get("run_type"), str) and "inputs" in first


def _spans_of(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    for run in _runs(record):
        if not isinstance(run, dict):
            raise fault_in(entry, f"the record is {excerpt(run)}: no run")
        yield from _of_run(run, None, entry)


def _of_run(run: Mapping[str, Any], trace: str | None, entry: Entry) -> Iterator[TraceSpan]:
    name, kind = text_at(run, "id"), run.get("run_type")
    trace = text_at(run, "trace_id") or trace or name
    if name is None or trace is None or not isinstance(kind, str):
        raise fault_in(entry, f"the run has the id {excerpt(run.get('id'))} and the type {excerpt(kind)}")
    about = _metadata(run)
    whole: SpanKind = "step" if run.get("parent_run_id") or name != trace else "root"
    yield TraceSpan(
        trace,
        name,
        _KINDS.get(kind, whole),
        moment_of(run.get("start_time")),
        text_at(run, "name"),
        run.get("inputs"),
        run.get("outputs"),
        session=next((text for key in _THREADS if (text := text_at(about, key))), None),
        user=text_at(about, "user_id"),
        candidate=text_at(about, "ls_model_name"),
        scores=tuple(_scores(run)),
        metadata={}
        if whole == "step"
        else {"name": run.get("name"), "timestamp": run.get("start_time"), **about},
    )
    children = run.get("child_runs")
    for child in children if isinstance(children, list) else ():
        if isinstance(child, dict):
            yield from _of_run({"parent_run_id": name, **child}, trace, entry)


def _metadata(run: Mapping[str, Any]) -> Mapping[str, Any]:
    extra = run.get("extra")
    inner = extra.get("metadata") if isinstance(extra, dict) else run.get("metadata")
    return inner if isinstance(inner, dict) else {}


def _scores(run: Mapping[str, Any]) -> Iterator[TraceScore]:
    """Yield each feedback, or of a run with statistics alone the mean of each key."""
    rows, means = run.get("feedback"), run.get("feedback_stats")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("key"), str):
            score = row.get("value") if row.get("score") is None else row["score"]
            source = row.get("feedback_source")
            by = source.get("type") if isinstance(source, dict) else None
            if isinstance(score, str | int | float) and score != "":
                automatic = by in ("model", "auto_eval") or (by != "app" and not asks_people(row["key"]))
                user = text_at(source, "user_id") if isinstance(source, dict) else None
                yield TraceScore(row["key"], score, user, text_at(row, "comment"), automatic=automatic)
    for key, row in means.items() if isinstance(means, dict) and not rows else ():
        if isinstance(row, dict) and row.get("avg") is not None:
            yield TraceScore(key, row["avg"], automatic=not asks_people(key))


LANGSMITH = span_format("langsmith", _recognises, _spans_of, sessions_of)
