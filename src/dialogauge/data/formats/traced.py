"""Traces of a tracer that an entry describes: a table for each kind of its records says where what stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from dialogauge.core.values import Value
from dialogauge.data.form import Paths, ScoreForm, TraceForm, listed, scored
from dialogauge.data.formats.base import Entry, TextFormat, fault_in
from dialogauge.data.formats.fields import asks_people, list_at
from dialogauge.data.formats.spans import (
    TraceScore,
    TraceSpan,
    inner_records,
    sessions_of,
    span_format,
)
from dialogauge.data.formats.threads import moment_of
from dialogauge.data.notes import excerpt
from dialogauge.data.paths import MISSING, condition_of, is_there, path_of

AROUND = "@outer"
"""The record around an inner one, in its paths."""


def traced_format(name: str, forms: Mapping[str, TraceForm]) -> TextFormat:
    """Return the format of a tracer whose records have one of several forms, the first that fits."""
    tracer = _RecordsOfTracer(name, tuple(_RecordKind(kind, form) for kind, form in forms.items()))
    return span_format(name, tracer.recognises, tracer.spans, sessions_of, partial(tracer.spans, brief=True))


class _RecordKind:
    """One kind of record of a tracer, ready to be read."""

    def __init__(self, name: str, form: TraceForm) -> None:
        self.name, self.form = name, form
        self.when = [condition_of(one) for one in listed(form.when)]
        names = ("trace", "time", "session", "id", "name", "input", "output", "user", "model")
        self._read = [_nothing if (path := getattr(form, n)) is None else path_of(path) for n in names]
        self._kinds = [(kind, condition_of(one)) for kind, of in form.kinds.items() for one in listed(of)]

    def fits(self, record: Any) -> bool:  # noqa: ANN401  # any JSON value
        """Say whether a record is of this kind."""
        return all(condition(record) for condition in self.when)

    def outline(self, record: Mapping[str, Any], outer: TraceSpan) -> TraceSpan:
        """Return of a step its trace, time and session alone."""
        trace, time, session = [read(record) for read in self._read[:3]]
        at = moment_of(time)
        return TraceSpan(
            _text(trace) or outer.trace,
            "-",
            at=outer.at if at is None else at,
            session=_text(session) or outer.session,
        )

    def span(self, record: Mapping[str, Any], outer: TraceSpan) -> TraceSpan:
        """Return what a record says of its step."""
        trace, time, session, id, name, asked, replied, user, model = [read(record) for read in self._read]
        at = moment_of(time)
        if self.form.drop and isinstance(asked, dict):
            asked = {key: value for key, value in asked.items() if key not in self.form.drop}
        met = [kind for kind, condition in self._kinds if condition(record)]
        return TraceSpan(
            _text(trace) or outer.trace,
            _text(id) or "",
            met[0] if met else "root",
            outer.at if at is None else at,
            _text(name),
            None if asked is MISSING else asked,
            None if replied is MISSING else replied,
            session=_text(session) or outer.session,
            user=_text(user),
            candidate=_text(model),
            scores=tuple(scores_in(record, self.form.scores)) if self.form.scores else (),
            metadata={} if "step" in met or not self.form.about else _about(record, self.form.about),
        )


class _RecordsOfTracer(Value):
    """Reads the records of a tracer."""

    name: str
    kinds: tuple[_RecordKind, ...]

    def recognises(self, record: Any) -> bool:  # noqa: ANN401  # any JSON value
        first = next(iter(self._in_page(record)), None)
        begins = (kind for kind in self.kinds if kind.form.id is not None or kind.form.inner)
        return isinstance(first, dict) and any(kind.fits(first) for kind in begins)

    def spans(self, record: Any, entry: Entry, *, brief: bool = False) -> Iterator[TraceSpan]:  # noqa: ANN401
        for value in self._in_page(record):
            yield from self._within(value, value, _NO_SPAN, entry, brief=brief)

    def _kind(self, record: Any, name: str | None = None) -> _RecordKind | None:  # noqa: ANN401  # any JSON value
        """Return the kind of a name, or of a record; where there is but one, that."""
        fits = (k for k in self.kinds if (k.fits(record) if name is None else k.name == name))
        return next(fits, self.kinds[0] if len(self.kinds) == 1 else None)

    def _in_page(self, record: Any) -> list[Any]:  # noqa: ANN401  # any JSON value
        return inner_records(record, next((k.form.records for k in self.kinds if k.form.records), ""))

    def _within(
        self,
        value: Any,  # noqa: ANN401  # any JSON value
        record: Any,  # noqa: ANN401  # the same with what is around it
        outer: TraceSpan,
        entry: Entry,
        kind: _RecordKind | None = None,
        *,
        brief: bool,
    ) -> Iterator[TraceSpan]:
        """Yield the step that a record is, and those within it; scores within it are its own."""
        if not isinstance(value, dict) or (kind := kind or self._kind(record)) is None:
            kinds = " and no ".join(one.name for one in self.kinds)
            raise fault_in(entry, f"the record is {excerpt(value)}: no {kinds} of {self.name}")
        span, form = (kind.outline if brief else kind.span)(record, outer), kind.form
        if form.trace is not None and not span.trace:
            key = form.trace.split(" | ")[0]
            what = f"has the {key} {excerpt(value[key])}: not a text" if value.get(key) else ""
            raise fault_in(entry, f"the {kind.name} {what or f'is {excerpt(value)}: it has no {key!r}'}")
        inner = [
            step
            for path, name in form.inner.items()
            for one in list_at(value, path)
            if isinstance(one, dict)
            for step in self._within(
                one, {**one, AROUND: value}, span, entry, self._kind(one, name), brief=brief
            )
        ]
        if scores := [score for step in inner if not step.id for score in step.scores]:
            span = replace(span, scores=(*span.scores, *scores))
        if form.trace is not None:
            yield span
        yield from (step for step in inner if step.id or form.trace is None)


_NO_SPAN: Final = TraceSpan("")


def _nothing(record: object) -> Any:  # noqa: ANN401  # any JSON value
    del record
    return MISSING


def _meets_one(record: Any, when: Paths) -> bool:  # noqa: ANN401  # any JSON value
    return any(condition_of(one)(record) for one in listed(when))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _about(record: Mapping[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    about: dict[str, Any] = {}
    for path in paths:
        where, name = scored(path)
        value = path_of(where)(record)
        about |= {name: value} if name != "*" else value if isinstance(value, dict) else {}
    return {name: value for name, value in about.items() if is_there(value)}


def scores_in(record: Any, forms: Sequence[ScoreForm]) -> Iterator[TraceScore]:  # noqa: ANN401
    """Yield the scores of a record, as the first form says that has any."""
    for form in forms:
        value = path_of(form.list)(record)
        rows = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        named: list[tuple[Any, Any]] = [pair for row in rows if isinstance(row, dict) for pair in row.items()]
        if form.name is not None:
            named = [(path_of(form.name)(row), row) for row in rows]
        for name, row in named:
            score = path_of(form.value)(row)
            if isinstance(name, str) and name and isinstance(score, str | int | float) and score != "":
                automatic = _meets_one(row, form.automatic)
                asks = _meets_one(row, form.people) or asks_people(name)
                yield TraceScore(
                    name,
                    score,
                    _text(path_of(form.rater)(row)) if form.rater else None,
                    _text(path_of(form.note)(row)) if form.note else None,
                    of_session=form.of_session is not None and condition_of(form.of_session)(row),
                    automatic=automatic or not asks,
                )
        if named:
            return
