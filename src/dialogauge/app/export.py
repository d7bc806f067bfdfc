"""A run's judgements as JSONL, CSV or Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import orjson

from dialogauge.app.inspect_log import write_eval
from dialogauge.app.outputs import output_file, spare
from dialogauge.app.sources import JUDGED, SHOWN
from dialogauge.core.errors import MissingExtra, UsageError
from dialogauge.runs.directory import write_whole
from dialogauge.runs.privacy import OPEN, Privacy
from dialogauge.runs.records import json_line
from dialogauge.runs.run import StoredRun, open_run
from dialogauge.studies.judging.people import stored_people

_BATCH = 10_000
_EVAL = ".eval"
# The columns that are taken over from a row as they are, in their order; lists are written as JSON.
_TARGET = ("conversation_id", "user_id", "scenario", "candidate", "level", "turn", "repeat")
_VERDICT = ("verdict", "verdict_basis", "weakest_turn")
_LISTS = ("issues", "evidence")
_JUDGE = ("rationale", "judge", "prompt_digest")
_REPLY = ("item", "gold", "reply")
_USAGE = ("calls", "cached", "prompt_tokens", "completion_tokens", "cost")
_VOTE = ("conversation_id", "arena", "a", "b", "winner", "rater", "shown_first", "judge")
_SIDES = ("a", "b")
# What spreadsheet programs leave out in front of a cell: spaces, controls, marks of no width.
_UNSEEN = (
    r"\s\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
# They run a cell that begins with one of these signs as a formula.
_FORMULA_FIRST = re.compile(rf"[{_UNSEEN}]*[=+\-@＝＋－＠]|[\t\r\n]")
# Where the list separator is a semicolon or a tab, a cell begins behind each, and behind a line break.
_FORMULA_WITHIN = re.compile(rf'([;\t\r\n][{_UNSEEN}"]*)(?=[=+\-@＝＋－＠])')


def export_run(run: str, out: str, privacy: Privacy = OPEN) -> int:
    """Write the rows of a run in the format that the ending of `out` names; return how many there are.

    A log of Inspect (`.eval`) has a sample for each conversation. JSONL keeps rows as they are. CSV and
    Parquet have three columns per dimension: `score_NAME` (the value), `whole_NAME` (the judge's whole score,
    where it has one) and `raw_NAME` (the value before calibration, where there was one). n/a and failures
    are empty, told apart by the columns `not_applicable` and `failure_kind`. Where people rated there is a
    column `rating_NAME` for each dimension that they rated, and `raters`: how many of them the mean is of.
    Lists are JSON.
    In CSV a text that a spreadsheet would run as a formula has an apostrophe in front, also behind a
    semicolon, tab or line break within a cell: where the comma is the decimal mark, a new cell begins there.
    """
    target = output_file(out)
    writers = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": _write_parquet}
    writer = writers.get(Path(out).suffix.lower())
    ending = Path(out).suffix.lower()
    if writer is None and ending != _EVAL:
        msg = f"-o {out}: the ending says the format, and {ending or 'none'} is not known"
        raise UsageError(msg, hint=f"use one of {', '.join([*writers, _EVAL])}")
    with open_run(run, privacy, studies=SHOWN) as finished:
        spare([target], finished.manifest.settings)
        if writer is None:
            return _write_eval(target, finished)
        counted = _Counter(rows_of(finished))
        writer(target, counted, export_columns(finished))
        return counted.number


def rows_of(run: StoredRun) -> Iterator[Mapping[str, Any]]:
    """Return the rows of a run: as they stand in it, and of a replay one for every reply, or pair."""
    if run.manifest.study == "replay":
        from dialogauge.studies.replay.states import replay_rows

        return replay_rows(run)
    return run.rows()


def _write_eval(target: Path, run: StoredRun) -> int:
    if run.manifest.study not in JUDGED:
        msg = f"a run of {run.manifest.study} has no judgements, of which a log of Inspect is made"
        raise UsageError(msg, hint="export it as .jsonl")
    return write_eval(target, run)


class ExportColumns(Protocol):
    """The columns of a table, and how a row fills them."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""

    @property
    def whole(self) -> Collection[str]:
        """Columns of whole numbers."""

    @property
    def fractions(self) -> Collection[str]:
        """Columns of other numbers; the rest are texts."""

    def flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Write a row as one level of plain values."""


@dataclass(frozen=True, slots=True)
class VoteColumns:
    """Those of votes; where a model was asked, its answers with `a` and with `b` first."""

    of_turns: bool = False
    """Whether a vote is of a turn, and not of a whole dialogue."""

    whole = frozenset({"turn", "length_a", "length_b", *_USAGE[:-1]})
    fractions = frozenset({"quality_a", "quality_b", "cost"})

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""
        empty = dict.fromkeys((*_VOTE, "lengths", "qualities", "failure"))
        return tuple(self.flat({**empty, "orders": (), "usage": dict.fromkeys(_USAGE)}))

    def flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Write a vote as one level of plain values."""
        flat = {k: row.get(k) for k in (*_VOTE[:1], *(("turn",) if self.of_turns else ()), *_VOTE[1:])}
        for what in ("length", "quality"):
            both = row["lengths" if what == "length" else "qualities"] or (None, None)
            flat |= {f"{what}_{side}": value for side, value in zip(_SIDES, both, strict=True)}
        for side in _SIDES:
            order: Mapping[str, Any] = next((one for one in row["orders"] if one["first"] == side), {})
            flat |= {f"{side}_first_winner": order.get("winner"), f"{side}_first_reason": order.get("reason")}
        failure = row["failure"] or {}
        flat |= {"failure_kind": failure.get("kind"), "failure_message": failure.get("message")}
        return flat | {k: row["usage"][k] for k in _USAGE}


@dataclass(frozen=True, slots=True)
class JudgementColumns:
    """Those of judgements, by their dimensions."""

    judged: Sequence[str]
    rated: Mapping[str, bool] = field(default_factory=dict)
    """Those that people rated, and whether only in numbers."""
    of_replies: bool = False
    """Whether a row is of one reply of several to the same messages, and says which."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""
        single = (*_TARGET, *_VERDICT, *_JUDGE, *_REPLY, "scores", "whole", "raw", "overall", "failure")
        blank = {**dict.fromkeys(single), **dict.fromkeys(_LISTS, ()), "usage": dict.fromkeys(_USAGE)}
        return tuple(self.flat(blank))

    @property
    def whole(self) -> frozenset[str]:
        """Columns of whole numbers."""
        counts = ("turn", "repeat", "weakest_turn", "raters", *_USAGE[:-1])
        return frozenset({*counts, *(f"whole_{name}" for name in self.judged)})

    @property
    def fractions(self) -> frozenset[str]:
        """Columns of other numbers."""
        scores = {f"{what}_{name}" for what in ("score", "raw") for name in self.judged}
        rated = {f"rating_{name}" for name, number in self.rated.items() if number}
        return frozenset({*scores, *rated, "overall", "gold", "cost"})

    def flat(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Write a judgement as one level of plain values."""
        scores = row["scores"] or {}
        failure, usage = row["failure"] or {}, row["usage"]
        flat, dimensions = {k: row[k] for k in _TARGET}, self.judged
        for name in dimensions:
            value = scores.get(name)
            flat[f"score_{name}"] = None if value is None or isinstance(value, str) else float(value)
        flat |= {f"whole_{name}": _whole(row, name) for name in dimensions}
        flat |= {f"raw_{name}": (row["raw"] or {}).get(name) for name in dimensions}
        flat["overall"] = row["overall"]
        flat |= _ratings(row.get("rating") or {}, self.rated)
        flat["not_applicable"] = " ".join(k for k, v in scores.items() if isinstance(v, str)) or None
        flat["failure_kind"], flat["failure_message"] = failure.get("kind"), failure.get("message")
        flat |= {k: row[k] for k in _VERDICT}
        flat |= {k: orjson.dumps(row[k]).decode() for k in _LISTS}
        flat |= {k: row[k] for k in (*_JUDGE, *(_REPLY if self.of_replies else ()))}
        return flat | {k: usage[k] for k in _USAGE}


def export_columns(run: StoredRun) -> ExportColumns:
    """Return the columns of a run."""
    if run.manifest.study == "arena":
        return VoteColumns()
    if run.manifest.study == "replay":
        from dialogauge.studies.replay.states import ReplayStates

        states = ReplayStates.of(run)
        names = [name for name, _, _ in states.dimensions]
        return VoteColumns(of_turns=True) if states.by_pairs else JudgementColumns(names, of_replies=True)
    people = stored_people(run)
    rated: dict[str, bool] = {}
    for figure in () if people is None else people.figures:
        rated[figure.dimension] = rated.get(figure.dimension, True) and figure.scale is not None
    return JudgementColumns([d.name for d in run.dimensions], rated)


class _Counter:
    """Counts what passes through."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._rows = rows
        self.number = 0

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for row in self._rows:
            self.number += 1
            yield row


def _ratings(rating: Mapping[str, Any], rated: Mapping[str, bool]) -> dict[str, Any]:
    scores = {rating.get("dimension"): rating.get("score"), **rating.get("others", {})}
    flat: dict[str, Any] = {}
    for name, number in rated.items():
        score = scores.get(name)
        if score is not None:
            score = float(score) if number else score if isinstance(score, str) else f"{score:g}"
        flat[f"rating_{name}"] = score
    return flat | ({"raters": rating.get("raters")} if rated else {})


def _whole(row: Mapping[str, Any], name: str) -> int | None:
    value = (row["whole"] or {}).get(name, (row["scores"] or {}).get(name))
    return value if isinstance(value, int) else None


def _write_jsonl(target: Path, rows: Iterable[Mapping[str, Any]], _: ExportColumns) -> None:
    write_whole(target, map(json_line, rows))


def _write_csv(target: Path, rows: Iterable[Mapping[str, Any]], columns: ExportColumns) -> None:
    write_whole(target, _csv_chunks(rows, columns))


def _csv_chunks(rows: Iterable[Mapping[str, Any]], columns: ExportColumns) -> Iterator[bytes]:
    yield _csv_line([_harmless(name) for name in columns.names])
    for row in rows:
        yield _csv_line([_harmless(value) for value in columns.flat(row).values()])


def _csv_line(cells: Sequence[object]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue().encode("utf-8", "surrogatepass")


def _harmless(value: object) -> object:
    if not isinstance(value, str):
        return value
    value = _FORMULA_WITHIN.sub(r"\1'", value)
    return f"'{value}" if _FORMULA_FIRST.match(value) else value


def _write_parquet(target: Path, rows: Iterable[Mapping[str, Any]], columns: ExportColumns) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        msg = "writing Parquet needs pyarrow"
        raise MissingExtra(msg, hint="pip install 'dialogauge[parquet]', or export .csv or .jsonl") from error
    schema = pyarrow.schema(list(_parquet_fields(columns, pyarrow)))
    sink, flat = io.BytesIO(), map(columns.flat, rows)
    with pyarrow.parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        while batch := list(islice(flat, _BATCH)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
    write_whole(target, [sink.getvalue()])


def _parquet_fields(columns: ExportColumns, arrow: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - a module
    whole, fractions = columns.whole, columns.fractions
    for name in columns.names:
        kind = arrow.int64() if name in whole else arrow.float64() if name in fractions else arrow.string()
        yield name, kind
