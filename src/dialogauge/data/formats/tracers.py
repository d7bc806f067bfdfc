"""Traces as tracers keep them: Langfuse, LangSmith, LangGraph, Braintrust, Weave, and OpenAI's Agents SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.formats.fields import asks_people, list_at, text_at
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

_LANGFUSE_KINDS: Final[dict[str, SpanKind]] = {"GENERATION": "model", "TOOL": "tool"}
_TYPES: Final = frozenset({"SPAN", "EVENT", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING"}) | {
    "GUARDRAIL",
    *_LANGFUSE_KINDS,
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


def _values_of_langfuse(record: Any) -> list[Any]:  # noqa: ANN401  # any JSON value
    """Return the values of a page of the interface, or the record alone, with the keys of the interface."""
    inner = record.get("data") if isinstance(record, dict) else None
    values = inner if isinstance(inner, list) else [record]
    return [
        {_SNAKE.get(k, k): v for k, v in value.items()} if isinstance(value, dict) else value
        for value in values
    ]


def _is_observation(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    typed = isinstance(kind, str) and kind.upper() in _TYPES
    return typed and text_at(value, "traceId") is not None and value.get("startTime") is not None


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


def _recognises_langfuse(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(_values_of_langfuse(record)), None)
    return isinstance(first, dict) and (_is_observation(first) or _is_trace(first) or _is_session(first))


def _spans_of_langfuse(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    for value in _values_of_langfuse(record):
        if not isinstance(value, dict):
            raise fault_in(entry, f"the record is {excerpt(value)}: no trace, session, observation or score")
        if _is_session(value):
            for trace in value["traces"]:
                yield from _of_trace_langfuse({"sessionId": value["id"], **trace}, entry)
        elif _is_observation(value):
            yield _of_observation(value, entry)
        elif _is_score(value) and (trace := text_at(value, "traceId") or text_at(value, "sessionId")):
            yield TraceSpan(
                trace, at=moment_of(value.get("timestamp")), scores=tuple(_scores_of_langfuse([value]))
            )
        elif _is_trace(value):
            yield from _of_trace_langfuse(value, entry)
        else:
            keys = ", ".join(map(repr, value)) or "nothing"
            raise fault_in(entry, f"the record has {keys}: no trace, session, observation or score")


def _of_trace_langfuse(value: Mapping[str, Any], entry: Entry) -> Iterator[TraceSpan]:
    trace = text_at(value, "id")
    if trace is None:
        raise fault_in(entry, f"the trace has the id {excerpt(value.get('id'))}: not a text")
    scores = value.get("scores")
    yield TraceSpan(
        trace,
        trace,
        "root",
        moment_of(value.get("timestamp")),
        text_at(value, "name"),
        value.get("input"),
        value.get("output"),
        session=text_at(value, "sessionId"),
        user=text_at(value, "userId"),
        scores=tuple(_scores_of_langfuse(scores)) if isinstance(scores, list) else (),
        metadata={key: value[key] for key in _ABOUT if value.get(key)},
    )
    for one in list_at(value, "observations"):
        if isinstance(one, dict):
            yield _of_observation({"traceId": trace, **one}, entry)


def _of_observation(value: Mapping[str, Any], entry: Entry) -> TraceSpan:
    trace, kind = text_at(value, "traceId"), value.get("type")
    if trace is None or not isinstance(kind, str):
        raise fault_in(entry, f"an observation has the type {excerpt(kind)} and names no trace")
    whole: SpanKind = "step" if value.get("parentObservationId") else "root"
    return TraceSpan(
        trace,
        text_at(value, "id") or "",
        _LANGFUSE_KINDS.get(kind.upper(), whole),
        moment_of(value.get("startTime")),
        text_at(value, "name"),
        value.get("input"),
        value.get("output"),
        session=text_at(value, "sessionId"),
        user=text_at(value, "userId"),
        candidate=text_at(value, "model") or text_at(value, "providedModelName"),
    )


def _scores_of_langfuse(values: list[Any]) -> Iterator[TraceScore]:
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
                text_at(value, "authorUserId"),
                text_at(value, "comment"),
                of_session=value.get("traceId") is None,
                automatic=value.get("source") == "EVAL"
                or (value.get("source") != "ANNOTATION" and not asks_people(value["name"])),
            )


LANGFUSE = span_format("langfuse", _recognises_langfuse, _spans_of_langfuse, sessions_of)
"""Traces, sessions, observations and scores of Langfuse, as its interface and its exports write them."""


_LANGSMITH_KINDS: Final[dict[str, SpanKind]] = {"llm": "model", "chat_model": "model", "tool": "tool"}
_LANGSMITH_THREADS: Final = ("session_id", "thread_id", "conversation_id")
"""What the thread of a run is called in its metadata; the session of the run itself is its project."""


def _recognises_langsmith(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(inner_records(record, "runs")), None)
    return isinstance(first, dict) and isinstance(first.get("run_type"), str) and "inputs" in first


def _spans_of_langsmith(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    for run in inner_records(record, "runs"):
        if not isinstance(run, dict):
            raise fault_in(entry, f"the record is {excerpt(run)}: no run")
        yield from _of_run(run, None, entry)


def _of_run(run: Mapping[str, Any], trace: str | None, entry: Entry) -> Iterator[TraceSpan]:
    name, kind = text_at(run, "id"), run.get("run_type")
    trace = text_at(run, "trace_id") or trace or name
    if name is None or trace is None or not isinstance(kind, str):
        raise fault_in(entry, f"the run has the id {excerpt(run.get('id'))} and the type {excerpt(kind)}")
    extra = run.get("extra")
    inner = extra.get("metadata") if isinstance(extra, dict) else run.get("metadata")
    about = inner if isinstance(inner, dict) else {}
    whole: SpanKind = "step" if run.get("parent_run_id") or name != trace else "root"
    yield TraceSpan(
        trace,
        name,
        _LANGSMITH_KINDS.get(kind, whole),
        moment_of(run.get("start_time")),
        text_at(run, "name"),
        run.get("inputs"),
        run.get("outputs"),
        session=next((text for key in _LANGSMITH_THREADS if (text := text_at(about, key))), None),
        user=text_at(about, "user_id"),
        candidate=text_at(about, "ls_model_name"),
        scores=tuple(_scores_of_langsmith(run)),
        metadata={}
        if whole == "step"
        else {"name": run.get("name"), "timestamp": run.get("start_time"), **about},
    )
    for child in list_at(run, "child_runs"):
        if isinstance(child, dict):
            yield from _of_run({"parent_run_id": name, **child}, trace, entry)


def _scores_of_langsmith(run: Mapping[str, Any]) -> Iterator[TraceScore]:
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


LANGSMITH = span_format("langsmith", _recognises_langsmith, _spans_of_langsmith, sessions_of)
"""Runs of LangSmith, as its client and its exports write them, with their feedback."""


def _recognises_langgraph(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    values = record.get("values") if isinstance(record, dict) else None
    listed = isinstance(values, dict) and isinstance(values.get("messages"), list)
    configured = _configured(record) if listed else None
    return isinstance(configured, dict) and text_at(configured, "thread_id") is not None


def _spans_of_langgraph(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
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


LANGGRAPH = span_format("langgraph", _recognises_langgraph, _spans_of_langgraph, sessions_of)
"""Checkpoints of LangGraph: the states of a thread, of which each holds all messages so far."""


_BRAINTRUST_KINDS: Final[dict[str, SpanKind]] = {"llm": "model", "tool": "tool"}
_BRAINTRUST_THREADS: Final = ("session_id", "thread_id", "conversation_id", "sessionId")


def _recognises_braintrust(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(inner_records(record, "events")), None)
    return isinstance(first, dict) and {"span_id", "root_span_id", "span_attributes"} <= first.keys()


def _spans_of_braintrust(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
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
            _BRAINTRUST_KINDS.get(str(kind.get("type")), whole),
            moment_of(event.get("created")),
            text_at(kind, "name"),
            event.get("input"),
            event.get("output"),
            session=next((text for key in _BRAINTRUST_THREADS if (text := text_at(about, key))), None),
            user=text_at(about, "user_id"),
            candidate=text_at(about, "model"),
            scores=tuple(_scores_of_braintrust(event)),
            metadata=about if whole == "root" else {},
        )


def _scores_of_braintrust(event: Mapping[str, Any]) -> Iterator[TraceScore]:
    """Yield the scores of a span; who gave them is not said, so they count as an evaluator's."""
    scores = event.get("scores")
    for name, value in scores.items() if isinstance(scores, dict) else ():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield TraceScore(name, value, automatic=True)


BRAINTRUST = span_format("braintrust", _recognises_braintrust, _spans_of_braintrust, sessions_of)
"""Spans of Braintrust's logs and experiments, with their scores."""


_OF_MODELS: Final = (
    "completions.create",
    "completions.parse",
    "messages.create",
    "responses.create",
)
"""How the operations end that clients of models are traced by."""
_REACTION: Final = "wandb.reaction"
_BY_SCORER: Final = "wandb.runnable."


def _recognises_weave(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(inner_records(record, "calls")), None)
    return isinstance(first, dict) and {"op_name", "trace_id", "inputs"} <= first.keys()


def _spans_of_weave(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
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
            scores=tuple(_scores_of_weave(call)),
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


def _scores_of_weave(call: Mapping[str, Any]) -> Iterator[TraceScore]:
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


WEAVE = span_format("weave", _recognises_weave, _spans_of_weave, sessions_of)
"""Calls of Weave, as its interface and its export write them, with their feedback."""


_OBJECTS: Final = ("trace", "trace.span")
_OPENAI_AGENTS_KINDS: Final[dict[str, SpanKind]] = {
    "generation": "model",
    "response": "model",
    "function": "tool",
}


def _recognises_openai_agents(record: Any) -> bool:  # noqa: ANN401  # any JSON value
    first = next(iter(inner_records(record, "data")), None)
    if not isinstance(first, dict) or first.get("object") not in _OBJECTS:
        return False
    return "workflow_name" in first or isinstance(first.get("span_data"), dict)


def _spans_of_openai_agents(record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
    for value in inner_records(record, "data"):
        name = text_at(value, "id") if isinstance(value, dict) else None
        data = value.get("span_data") if name is not None else None
        if name is not None and isinstance(data, dict):
            yield _of_span(value, name, data)
        elif name is not None and data is None and value.get("object") != "trace.span":
            yield _of_trace_openai_agents(value, name)
        else:
            raise fault_in(entry, f"the record is {excerpt(value)}: no trace and no span")


def _of_trace_openai_agents(value: Mapping[str, Any], name: str) -> TraceSpan:
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
        _OPENAI_AGENTS_KINDS.get(str(data.get("type")), "step"),
        moment_of(value.get("started_at")),
        text_at(data, "name"),
        data.get("input"),
        data.get("output") if response is None else response,
        candidate=text_at(data, "model"),
    )


OPENAI_AGENTS = span_format("openai-agents", _recognises_openai_agents, _spans_of_openai_agents, sessions_of)
"""Traces of OpenAI's Agents SDK: spans of agents, generations and functions, as its exporter writes them."""
