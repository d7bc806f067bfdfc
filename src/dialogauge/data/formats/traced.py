"""Traces of a tracer that an entry describes: a table for each kind of its records says where what stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from dialogauge.core.values import Value
from dialogauge.data.form import Paths, listed, scored
from dialogauge.data.formats.base import Entry, TextFormat, fault_in
from dialogauge.data.formats.fields import asks_people, list_at
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
from dialogauge.data.paths import condition_of, is_there, path_of

AROUND = "@outer"
"""The record around an inner one, in its paths."""


class ScoreForm(Value):
    """The scores of a record; all paths but the first begin at a score."""

    list: str = "."
    """Where they stand, in the record."""
    name: str | None = None
    """Without it they stand by their names."""
    value: str = "value"
    rater: str | None = None
    note: str | None = None
    of_session: str | None = None
    """Whether it is of a whole session: a condition."""
    automatic: Paths = ()
    """Conditions, of which one is met where an evaluator gave it."""
    people: Paths = ()
    """The same of a person; where none is met, its name says who gives it."""


class TraceForm(Value):
    """One kind of record; `@outer` in a path is the record around it."""

    when: Paths = ()
    """Conditions that it meets, all of them."""
    records: str | None = None
    """The list of records in a page."""
    inner: tuple[str, ...] = ()
    """The lists of records within it; these have its trace, session and time where they name none."""
    trace: str | None = None
    """Without it the record holds others, and is no step of a trace itself."""
    id: str | None = None
    session: str | None = None
    user: str | None = None
    time: str | None = None
    name: str = "name"
    input: str = "input"
    output: str = "output"
    model: str | None = None
    kinds: Mapping[SpanKind, Paths] = field(default_factory=dict)
    """Kind of a step -> conditions, of which one is met. Any other step is the whole trace."""
    drop: tuple[str, ...] = ()
    """Keys of the input that are none of it."""
    scores: tuple[ScoreForm, ...] = ()
    """The first of them that stand there."""
    about: tuple[str, ...] = ()
    """What is kept as metadata of the whole trace, maybe with ` as NAME`; as `*`, each key of it."""


def traced_format(name: str, forms: Mapping[str, TraceForm]) -> TextFormat:
    """Return the format of a tracer whose records have one of several forms, the first that fits."""
    tracer = _Tracer(name, forms)
    return span_format(name, tracer.recognises, tracer.spans, sessions_of)


class _Tracer(Value):
    """Reads the records of a tracer."""

    name: str
    forms: Mapping[str, TraceForm]

    def recognises(self, record: Any) -> bool:  # noqa: ANN401  # any JSON value
        first = next(iter(self._in_page(record)), None)
        begins = (form for form in self.forms.values() if form.id is not None or form.inner)
        return isinstance(first, dict) and any(_meets_all(first, form.when) for form in begins)

    def spans(self, record: Any, entry: Entry) -> Iterator[TraceSpan]:  # noqa: ANN401  # any JSON value
        for value in self._in_page(record):
            yield from self._within(value, value, TraceSpan(""), entry)

    def _in_page(self, record: Any) -> list[Any]:  # noqa: ANN401  # any JSON value
        return inner_records(record, next((f.records for f in self.forms.values() if f.records), ""))

    def _within(
        self,
        value: Any,  # noqa: ANN401  # any JSON value
        record: Any,  # noqa: ANN401  # the same with what is around it
        outer: TraceSpan,
        entry: Entry,
    ) -> Iterator[TraceSpan]:
        """Yield the step that a record is, and those within it."""
        fitting = [one for one in self.forms.items() if _meets_all(record, one[1].when)]
        if not isinstance(value, dict) or not (fitting or len(self.forms) == 1):
            what = f"the record is {excerpt(value)}: no {' and no '.join(self.forms)} of {self.name}"
            raise fault_in(entry, what)
        kind, form = next(iter(fitting or self.forms.items()))
        span = _span(record, form, outer)
        if form.trace is not None:
            if not span.trace:
                key = form.trace.split(" | ")[0]
                what = f"has the {key} {excerpt(value[key])}: not a text" if value.get(key) else ""
                raise fault_in(entry, f"the {kind} {what or f'is {excerpt(value)}: it has no {key!r}'}")
            yield span
        for one in (one for path in form.inner for one in list_at(value, path)):
            if isinstance(one, dict):
                yield from self._within(one, {**one, AROUND: value}, span, entry)


def _meets_all(record: Any, when: Paths) -> bool:  # noqa: ANN401  # any JSON value
    return all(condition_of(one)(record) for one in listed(when))


def _meets_one(record: Any, when: Paths) -> bool:  # noqa: ANN401  # any JSON value
    return any(condition_of(one)(record) for one in listed(when))


def _span(record: Mapping[str, Any], form: TraceForm, outer: TraceSpan) -> TraceSpan:
    """Return what a record says of its step."""
    asked, at = _value(record, form.input), moment_of(_value(record, form.time))
    if isinstance(asked, dict) and form.drop:
        asked = {key: value for key, value in asked.items() if key not in form.drop}
    whole = not _meets_one(record, form.kinds.get("step", ()))
    return TraceSpan(
        _text(record, form.trace) or outer.trace,
        _text(record, form.id) or "",
        next((kind for kind, when in form.kinds.items() if _meets_one(record, when)), "root"),
        outer.at if at is None else at,
        _text(record, form.name),
        asked,
        _value(record, form.output),
        session=_text(record, form.session) or outer.session,
        user=_text(record, form.user),
        candidate=_text(record, form.model),
        scores=tuple(scores_in(record, form.scores)),
        metadata=_about(record, form.about) if whole else {},
    )


def _value(record: Any, path: str | None) -> Any:  # noqa: ANN401  # any JSON value
    value = None if path is None else path_of(path)(record)
    return value if is_there(value) else None


def _text(record: Any, path: str | None) -> str | None:  # noqa: ANN401  # any JSON value
    value = _value(record, path)
    return value if isinstance(value, str) else None


def _about(record: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    about: dict[str, Any] = {}
    for path in paths:
        where, name = scored(path)
        value = _value(record, where)
        about |= {name: value} if name != "*" else value if isinstance(value, dict) else {}
    return {name: value for name, value in about.items() if is_there(value)}


def scores_in(record: Any, forms: Sequence[ScoreForm]) -> Iterator[TraceScore]:  # noqa: ANN401
    """Yield the scores of a record, as the first form says that has any."""
    for form in forms:
        value = _value(record, form.list)
        rows = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        if form.name is None:
            named = [pair for row in rows if isinstance(row, dict) for pair in row.items()]
        else:
            named = [(_text(row, form.name), row) for row in rows]
        for name, row in named:
            score = _value(row, form.value)
            if name is not None and isinstance(score, str | int | float):
                automatic = _meets_one(row, form.automatic)
                asks = _meets_one(row, form.people) or asks_people(name)
                yield TraceScore(
                    name,
                    score,
                    _text(row, form.rater),
                    _text(row, form.note),
                    of_session=form.of_session is not None and condition_of(form.of_session)(row),
                    automatic=automatic or not asks,
                )
        if named:
            return
