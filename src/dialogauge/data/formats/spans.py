"""Traces as conversations: the calls of a model, ordered in time, and what the user saw of them.

Each call repeats the messages before it, so a trace is read by the call that says most, and a session by its
traces one after the other. Calls beside the conversation (titles, routes, other agents) are counted and said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any, Final

import orjson

from dialogauge.core import Conversation, FileFault, Message, Place, Rating, RecordFault, ToolCall
from dialogauge.data.form import SpanKind
from dialogauge.data.formats.base import Context, Entry, Outcome, Sample, TextFormat, entries, fault_in
from dialogauge.data.formats.blocks import result_of
from dialogauge.data.formats.fields import labels_of, message_ratings
from dialogauge.data.formats.openai import MessageReader
from dialogauge.data.formats.payloads import OTHER_CHOICES, asked, others_in, replied, system_items
from dialogauge.data.formats.threads import DataRow, Threads, in_threads
from dialogauge.data.notes import LONGEST, NoteBook, too_long
from dialogauge.data.ratings import score_at
from dialogauge.data.sources import LineStream
from dialogauge.data.splits import message_turns

_START: Final = "start time"
SAME_ID: Final = "calls have the id of another and say other things: read as calls of their own"
"""Under it a source keeps those calls: their ids and numbers."""


@dataclass(frozen=True, slots=True)
class TraceScore:
    """What somebody gave a trace."""

    dimension: str
    value: object
    rater: str | None = None
    note: str | None = None
    of_session: bool = False
    automatic: bool = False
    """Whether an evaluator gave it, and no person."""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One step of a trace; its payloads are as the tracer kept them."""

    trace: str
    id: str = ""
    kind: SpanKind = "step"
    at: float | None = None
    """When it began, in seconds."""
    name: str | None = None
    asked: Any = None
    replied: Any = None
    system: Any = None
    session: str | None = None
    user: str | None = None
    candidate: str | None = None
    scores: tuple[TraceScore, ...] = ()
    about: Conversation | None = None
    """What stands beside the messages of a record, without its ratings."""
    event: bool = False
    """Whether it is an event of a log: one message or choice of its call."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


_NOTHING: Final[tuple[Any, ...]] = (None, "", {}, [])

SpansOf = Callable[[Any, Entry], Iterator[TraceSpan]]
"""Yields the spans that a JSON value holds; raises `RecordFault` where it is none."""
Sessions = Callable[[Iterator[TraceSpan], Entry], Mapping[str, str]]
"""Returns the session of each trace that has one."""


def span_format(
    name: str,
    recognise: Callable[[Any], bool],
    spans_of: SpansOf,
    sessions: Sessions,
    brief: SpansOf | None = None,
) -> TextFormat:
    """Return the format of a tracer, in which a conversation is several JSON values that may stand apart.

    `brief` yields as many spans with trace, time and session alone, for a first look.
    """

    def recognises(sample: Sample) -> bool:
        mapped = sample.mapping.messages or sample.mapping.role or sample.mapping.content
        return not mapped and sample.record is not None and recognise(sample.record)

    return TextFormat(
        name, recognises, partial(_read, spans_of=spans_of, sessions=sessions, brief=brief or spans_of)
    )


def sessions_of(spans: Iterator[TraceSpan], entry: Entry) -> dict[str, str]:
    """Return the session that any span of a trace names."""
    del entry
    return {span.trace: span.session for span in spans if span.session}


def _rows(stream: LineStream, context: Context, spans_of: SpansOf) -> Iterator[DataRow | RecordFault]:
    number = 0
    for value, entry in entries(stream, context):
        if isinstance(value, RecordFault):
            yield value
            continue
        try:
            for span in spans_of(value, _muted(entry)):
                number += 1
                yield DataRow({"span": span}, entry.place, number)
        except RecordFault as fault:
            yield fault


def _read(
    stream: LineStream, context: Context, *, spans_of: SpansOf, sessions: Sessions, brief: SpansOf
) -> Iterator[Outcome]:
    rows, looked = (partial(_rows, stream, context, one) for one in (spans_of, brief))

    timed: list[bool] = []
    unsaid = replace(context, notes=NoteBook())
    session = sessions(_spans(looked, timed), Entry(unsaid, Place(context.source.name), context.source.label))

    if same := context.memo.get(SAME_ID):
        context.notes.recognise(SAME_ID, Place(context.source.name), count=len(same))

    def thread(row: DataRow) -> str:
        trace: str = row.cells["span"].trace
        return session.get(trace, trace)

    by = Threads("trace", thread, _START if any(timed) else None, lambda row: row.cells["span"].at)
    group: list[DataRow] = []
    for row in in_threads(rows, by, context.notes, context.source.name, looked):
        if isinstance(row, RecordFault):
            yield row
            continue
        if group and thread(row) != thread(group[0]):
            yield _outcome(thread(group[0]), group, context)
            group = []
        group.append(row)
    if group:
        yield _outcome(thread(group[0]), group, context)


def _spans(rows: Callable[[], Iterator[DataRow | RecordFault]], timed: list[bool]) -> Iterator[TraceSpan]:
    """Yield the spans up to where the file breaks off, and keep whether any has a time."""
    try:
        for row in rows():
            if isinstance(row, DataRow):
                span: TraceSpan = row.cells["span"]
                timed[:] = [span.at is not None or any(timed)]
                yield span
    except FileFault:
        return


def _outcome(name: str, group: Sequence[DataRow], context: Context) -> Outcome:
    entry = Entry(context, replace(group[0].place, conversation_id=name), name)
    spans: list[TraceSpan] = [row.cells["span"] for row in group]
    if not spans[0].id and name == spans[0].trace:
        entry.assume("conversations have no id: made from file name and line")
    try:
        return _conversation(spans, entry)
    except RecordFault as fault:
        return fault


def _conversation(spans: Sequence[TraceSpan], entry: Entry) -> Conversation:
    """Return what the traces of one session say, one after the other."""
    traces: dict[str, list[TraceSpan]] = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    traces = {trace: _merged(steps, entry) for trace, steps in traces.items()}
    messages: list[Message] = []
    ends: dict[str, int] = {}
    models: set[str] = set()
    for trace, steps in traces.items():
        call = _shown(steps, entry)
        if call is None:
            continue
        _append(messages, call.messages, entry)
        ends[trace] = len(messages)
        models.update(filter(None, [call.candidate]))
        if sum(len(m.text) for m in messages) > LONGEST:
            raise too_long(entry.place)
    if all(message.role == "assistant" for message in messages):
        what = "replies without what was asked" if messages else "no message that can be read"
        raise fault_in(
            entry,
            f"the trace holds {what}",
            "does its tracer keep contents? requests and results of a batch go into one file",
        )
    roots = [next((s for s in steps if s.kind == "root"), steps[0]) for steps in traces.values()]
    session = len(traces) > 1 or any(span.session for span in spans)
    metadata = {key: value for root in reversed(roots) for key, value in root.metadata.items()}
    if session:
        metadata["traces"] = list(traces)
    if evaluations := [asdict(score) for span in spans for score in span.scores if score.automatic]:
        metadata["evaluations"] = evaluations
    about = next((span.about for span in spans if span.about is not None), Conversation("", ()))
    stated = _on_messages(messages, entry)
    ratings = [*_ratings(spans, ends, messages, entry, turns=session), *stated]
    return replace(
        about,
        id=entry.made_id,
        messages=tuple(messages),
        user_id=next((span.user for span in spans if span.user), None),
        candidate="+".join(sorted(models)) or None,
        ratings=tuple(ratings),
        metadata=metadata,
        place=entry.place,
    )


def _on_messages(messages: list[Message], entry: Entry) -> list[Rating]:
    """Return the ratings on messages of the assistant, and take them off these."""
    rated: list[tuple[int, dict[str, Any]]] = []
    for number, message in enumerate(messages):
        if message.role == "assistant" and (labels := labels_of(message.extra, entry)):
            rest = {key: value for key, value in message.extra.items() if key not in labels}
            messages[number] = replace(message, extra=rest)
            rated.append((number, labels))
    return message_ratings(entry.made_id, messages, rated, entry) if rated else []


def _merged(steps: Sequence[TraceSpan], entry: Entry) -> list[TraceSpan]:
    """Put together what stands apart of one span: a request and its response, a span and its events."""
    merged: dict[str, TraceSpan] = {}
    for number, step in enumerate(steps):
        first = merged.get(step.id)
        differs = first is not None and not step.event and _differ(first, step)
        if first is None or differs:
            if differs:
                entry.recognise(SAME_ID)
            merged[f"{step.id}\0{number}" if differs else step.id or f"{number}"] = step
            continue
        if step.about is not None and step.replied is not None is not first.replied:
            entry.leave_out("the same call again", what="records")
        values = {
            name: inner
            for name in (f.name for f in fields(TraceSpan))
            if getattr(first, name) in (None, "step") and (inner := getattr(step, name)) is not None
        }
        if first.event and step.event:
            # The messages and the choices of two events of one call.
            out: dict[str, Any] = {}
            if isinstance(first.asked, list) and isinstance(step.asked, list):
                out["asked"] = first.asked + step.asked
            if isinstance(first.replied, dict) and isinstance(step.replied, dict):
                lists = [one["choices"] for one in (first.replied, step.replied) if "choices" in one]
                out["replied"] = {"choices": [choice for one in lists for choice in one]}
            values |= out
        merged[step.id] = replace(first, **values, scores=first.scores + step.scores)
    return list(merged.values())


def _differ(first: TraceSpan, step: TraceSpan) -> bool:
    """Say whether two spans of one id were asked or replied different things."""
    pairs = ((first.asked, step.asked), (first.replied, step.replied))
    return any(one != other and None not in (one, other) for one, other in pairs)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What one call of a model was asked and replied."""

    messages: tuple[Message, ...]
    request: int
    """How many of the messages are the request."""
    candidate: str | None = None

    @property
    def asked(self) -> int:
        """Messages of the request, without those of the system."""
        return sum(m.role not in _SYSTEM for m in self.messages[: self.request])

    @property
    def keys(self) -> list[Key]:
        """What each message says, those of the system left out."""
        return [key_of(m) for m in self.messages if m.role not in _SYSTEM]

    @property
    def system(self) -> list[str]:
        """The system messages."""
        return [m.text for m in self.messages if m.role in _SYSTEM]

    @property
    def end(self) -> str:
        """The last text of the assistant."""
        return next((m.text.strip() for m in reversed(self.messages) if m.role == "assistant"), "")

    def replies(self, whole: ModelCall | None) -> int:
        """Return 2 where its last reply is that of the whole trace, 1 where an earlier one is, else 0."""
        if whole is None or not whole.end:
            return 0
        texts = [m.text.strip() for m in self.messages if m.role == "assistant"]
        return 2 if texts and texts[-1] == whole.end else int(whole.end in texts)

    def ending_as(self, whole: ModelCall) -> ModelCall | None:
        """Return the call with the last reply of the whole trace; None where it was asked something else."""
        asks = [key for key in whole.keys if key[0] == "user"]
        last = self.messages[-1] if self.messages else None
        if (
            not asks
            or asks[-1] not in self.keys
            or last is None
            or last.role != "assistant"
            or last.tool_calls
        ):
            return None
        reply = next(m for m in reversed(whole.messages) if m.role == "assistant")
        return replace(self, messages=(*self.messages[:-1], reply))

    def goes_on_from(self, other: ModelCall) -> bool:
        """Say whether it repeats what the other was asked, and a reply."""
        mine, past = self.keys, other.keys[: other.asked]
        return self.asked > other.asked and self.system == other.system and mine[: other.asked] == past


def inner_records(record: Any, key: str) -> list[Any]:  # noqa: ANN401  # any JSON value
    """Return the records that a page of an interface holds under a key; any other record alone."""
    inner = record.get(key) if isinstance(record, dict) else None
    return inner if isinstance(inner, list) else [record]


_SYSTEM: Final = ("system", "developer")


Key = tuple[str, str, tuple[str, ...]]


def key_of(message: Message) -> Key:
    """Return what a message says: the same for a reply and for the message that repeats it later."""
    return (message.role, message.text.strip(), tuple(call.name for call in message.tool_calls))


def _shown(steps: Sequence[TraceSpan], entry: Entry) -> ModelCall | None:
    """Return the call of a trace that says what the user saw; None where no text is readable.

    It is the one that ends with the reply of the whole trace, else the longest. Where none has that reply,
    the user saw what went into the trace and came out of it, and the tools that were used on the way.
    """
    roots = [c for s in steps if s.kind == "root" and (c := call_of(s, entry)) is not None]
    whole = roots[0] if roots else None
    calls = [c for s in steps if s.kind == "model" and (c := call_of(s, entry)) is not None]
    last: list[ModelCall] = []
    for call in calls:
        at = next((n for n, other in enumerate(last) if call.goes_on_from(other)), None)
        if at is None:
            last.append(call)
        else:
            last[at] = call
    best = max(last, key=lambda call: (call.replies(whole), len(call.messages)), default=None)
    if best is None:
        best = whole and _with_tools(whole, steps, entry)
    elif whole is not None and whole.asked and whole.end and not best.replies(whole):
        entry.assume(
            "traces end with another text than the calls of their model: the text of the trace is read"
        )
        best = best.ending_as(whole) or _with_tools(whole, steps, entry)
    if best is not None:
        known = {key_of(message) for message in best.messages}
        others = sum(not known.issuperset(map(key_of, call.messages)) for call in calls)
        if others:
            text = "of a model, beside the conversation (titles, routes, other agents)"
            entry.leave_out(text, others, what="calls")
        within = [call for step in steps if step.kind == "step" for call in _readable(step, entry)]
        if unread := sum(not _says(best, call) for call in (*roots, *within)):
            entry.leave_out("their calls say it in other words", unread, what="steps")
    return best


def _readable(step: TraceSpan, entry: Entry) -> Iterator[ModelCall]:
    """Yield what a step between calls was given and made, where these are messages."""
    if step.asked in _NOTHING and step.replied in _NOTHING:
        return
    try:
        if (call := call_of(step, _muted(entry))) is not None:
            yield call
    except RecordFault:
        return


def _says(best: ModelCall, root: ModelCall) -> bool:
    """Say whether a call holds all texts of another, maybe within others."""
    text = "\n".join(message.text for message in best.messages)
    return all(message.text.strip() in text for message in root.messages)


def call_of(span: TraceSpan, entry: Entry) -> ModelCall | None:
    """Return what a span was asked and replied; None where neither can be read.

    Raises `RecordFault` for a message of it that cannot be read.
    """
    request, response = asked(span.asked), replied(span.replied)
    if request is None and span.asked not in _NOTHING:
        entry.leave_out("of no form that is known", what="requests")
    if request is None and response is None:
        return None
    if response is None and request and span.kind == "model" and span.replied not in _NOTHING:
        entry.recognise("replies of a model were no text: written as JSON")
        response = [{"role": "assistant", "content": orjson.dumps(span.replied).decode("utf-8")}]
    elif response is None and span.replied not in _NOTHING:
        entry.leave_out("of no form that is known", what="replies")
    if others := others_in(span.replied):
        entry.leave_out(OTHER_CHOICES, others)
    request, response = request or [], response or []
    if span.system is not None:
        request = system_items({"system": span.system}) + request
    if len(response) > len(request) and response[: len(request)] == request:
        request, response = response, []
    messages = MessageReader(entry, label_keys=frozenset()).read(request + response)
    size = len(MessageReader(_muted(entry), label_keys=frozenset()).read(request)) if request else 0
    return ModelCall(messages, size, span.candidate)


def _muted(entry: Entry) -> Entry:
    return replace(entry, context=replace(entry.context, notes=NoteBook()))


def _with_tools(whole: ModelCall, steps: Sequence[TraceSpan], entry: Entry) -> ModelCall:
    """Return what went into a trace and came out of it, with the tools that were used between."""
    if any(message.tool_calls for message in whole.messages):
        return whole
    used: list[Message] = []
    for step in steps:
        if step.kind == "tool" and step.name:
            arguments = step.asked if isinstance(step.asked, str) else orjson.dumps(step.asked).decode()
            used.append(Message("assistant", None, (ToolCall(step.id, step.name, arguments),)))
            if step.replied is not None:
                result = result_of(step.replied, len(used), entry)
                used.append(Message("tool", result, tool_call_id=step.id, name=step.name))
    last = max(
        (n for n, m in enumerate(whole.messages) if m.role == "assistant"), default=len(whole.messages)
    )
    return replace(whole, messages=(*whole.messages[:last], *used, *whole.messages[last:]))


def _append(messages: list[Message], more: Sequence[Message], entry: Entry) -> None:
    """Add the messages of the next trace of a session, which may repeat all or the last of those before."""
    past, coming = ([m for m in one if m.role not in _SYSTEM] for one in (messages, more))
    keys = [key_of(m) for m in past]
    if [key_of(m) for m in coming] == keys[: len(coming)]:
        return
    repeated = _repeated(keys, [key_of(m) for m in coming])
    if past and not repeated and len(coming) > len(past) and key_of(coming[0]) == keys[0]:
        why = "a later call of the session repeats them in other words"
        entry.leave_out(why, len(past), assumed=True)
        messages[:] = [m for m in messages if m.role in _SYSTEM]
    prompts = {m.text for m in messages if m.role in _SYSTEM}
    messages += [m for m in more if m.role in _SYSTEM and m.text not in prompts]
    messages += coming[repeated:]


def _repeated(past: list[Key], coming: list[Key]) -> int:
    """Return with how many messages a call repeats the last ones before, be it without the use of tools."""
    most = min(len(past), len(coming))
    whole = next((n for n in range(most, 0, -1) if past[-n:] == coming[:n]), 0)
    if whole:
        return whole
    spoken, again = ([n for n, key in enumerate(keys) if _is_spoken(key)] for keys in (past, coming))
    for n in range(min(len(spoken), len(again)), 0, -1):
        if [past[at] for at in spoken[-n:]] == [coming[at] for at in again[:n]]:
            start, tail = again[n - 1] + 1, past[spoken[-1] + 1 :]
            return start + (len(tail) if coming[start : start + len(tail)] == tail else 0)
    return 0


def _is_spoken(key: Key) -> bool:
    return key[0] == "user" or (key[0] == "assistant" and not key[2])


def _ratings(
    spans: Sequence[TraceSpan],
    ends: Mapping[str, int],
    messages: Sequence[Message],
    entry: Entry,
    *,
    turns: bool,
) -> Iterator[Rating]:
    """Yield the scores of traces as ratings: of the last turn of a trace in a session, else of the whole."""
    numbers = message_turns(messages)
    for span in spans:
        for score in span.scores:
            if score.automatic:
                entry.recognise("scores of evaluators are no ratings of people: kept under `evaluations`")
                continue
            whole = score.of_session or not turns or span.trace not in ends
            stated = str(score.value).lower() if isinstance(score.value, bool) else score.value
            value = score_at(entry.place, f"the score {score.dimension!r}", stated)
            turn = None if whole else numbers[min(ends[span.trace], len(messages)) - 1]
            entry.recognise(f"scores named {score.dimension!r} were read as ratings")
            yield Rating(entry.made_id, score.dimension, value, turn, score.rater, note=score.note)
