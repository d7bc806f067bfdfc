"""A run's judgements as JSONL, CSV or Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from dialogauge.app.outputs import output_file, spare, spare_runs
from dialogauge.app.sources import JUDGED
from dialogauge.core.errors import MissingExtra, UsageError
from dialogauge.runs.directory import write_whole
from dialogauge.runs.privacy import OPEN, Privacy
from dialogauge.runs.records import json_line
from dialogauge.runs.run import StoredRun, open_run
from dialogauge.studies.judging.people import stored_people

_BATCH = 10_000
# The columns that are taken over from a row as they are, in their order; lists are written as JSON.
_TARGET = ("conversation_id", "user_id", "scenario", "candidate", "level", "turn", "repeat")
_VERDICT = ("verdict", "verdict_basis", "weakest_turn")
_LISTS = ("issues", "evidence")
_JUDGE = ("rationale", "judge", "prompt_digest")
_USAGE = ("calls", "cached", "prompt_tokens", "completion_tokens", "cost")
# A cell that begins with one of these is run as a formula by spreadsheet programs.
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
# Where the list separator is a semicolon or a tab, a cell begins behind each, and behind a line break.
_FORMULA_WITHIN = re.compile(r'([;\t\r\n][\s"]*)(?=[=+\-@＝＋－＠])')


def export_run(run: str, out: str, privacy: Privacy = OPEN) -> int:
    """Write the judgements of a run in the format that the ending of `out` names; return the rows.

    JSONL keeps rows as they are. CSV and Parquet have three columns per dimension: `score_NAME` (the value),
    `whole_NAME` (the judge's whole score, where it has one) and `raw_NAME` (the value before calibration,
    where there was one). n/a and failures are empty, told apart by the columns `not_applicable` and
    `failure_kind`. Where people rated there is a column `rating_NAME` for each dimension that they rated,
    and `raters`: how many of them the mean is of. Lists are JSON.
    In CSV a text that a spreadsheet would run as a formula has an apostrophe in front, also behind a
    semicolon, tab or line break within a cell: where the comma is the decimal mark, a new cell begins there.
    """
    target = output_file(out)
    writers = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": _write_parquet}
    writer = writers.get(Path(out).suffix.lower())
    if writer is None:
        msg = f"-o {out}: the ending says the format, and {Path(out).suffix or 'none'} is not known"
        raise UsageError(msg, hint=f"use one of {', '.join(writers)}")
    spare_runs(target)
    with open_run(run, privacy, studies=JUDGED) as finished:
        spare([target], finished.manifest.settings)
        counted = _Counter(finished.rows())
        writer(target, counted, export_columns(finished))
        return counted.number


@dataclass(frozen=True, slots=True)
class ExportColumns:
    """Which dimensions have columns."""

    judged: Sequence[str]
    rated: Mapping[str, bool] = field(default_factory=dict)
    """Those that people rated, and whether only in numbers."""


def export_columns(run: StoredRun) -> ExportColumns:
    """Return which dimensions of a run have columns."""
    people = stored_people(run)
    rated: dict[str, bool] = {}
    for figure in () if people is None else people.figures:
        rated[figure.dimension] = rated.get(figure.dimension, True) and figure.scale is not None
    return ExportColumns([d.name for d in run.dimensions], rated)


class _Counter:
    """Counts what passes through."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._rows = rows
        self.number = 0

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for row in self._rows:
            self.number += 1
            yield row


def flat_row(row: Mapping[str, Any], columns: ExportColumns) -> dict[str, Any]:
    """Write a row as one level of plain values."""
    scores = row["scores"] or {}
    failure, usage = row["failure"] or {}, row["usage"]
    flat, dimensions = {k: row[k] for k in _TARGET}, columns.judged
    for name in dimensions:
        value = scores.get(name)
        flat[f"score_{name}"] = None if value is None or isinstance(value, str) else float(value)
    flat |= {f"whole_{name}": _whole(row, name) for name in dimensions}
    flat |= {f"raw_{name}": (row["raw"] or {}).get(name) for name in dimensions}
    flat["overall"] = row["overall"]
    flat |= _ratings(row.get("rating") or {}, columns.rated)
    flat["not_applicable"] = " ".join(k for k, v in scores.items() if isinstance(v, str)) or None
    flat["failure_kind"], flat["failure_message"] = failure.get("kind"), failure.get("message")
    flat |= {k: row[k] for k in _VERDICT}
    flat |= {k: orjson.dumps(row[k]).decode() for k in _LISTS}
    flat |= {k: row[k] for k in _JUDGE}
    return flat | {k: usage[k] for k in _USAGE}


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


def flat_columns(columns: ExportColumns) -> tuple[str, ...]:
    """Return the names of what `flat_row` writes."""
    single = (*_TARGET, *_VERDICT, *_JUDGE, "scores", "whole", "raw", "overall", "failure")
    blank = {**dict.fromkeys(single), **dict.fromkeys(_LISTS, ()), "usage": dict.fromkeys(_USAGE)}
    return tuple(flat_row(blank, columns))


def _write_jsonl(target: Path, rows: Iterable[Mapping[str, Any]], _: ExportColumns) -> None:
    write_whole(target, map(json_line, rows))


def _write_csv(target: Path, rows: Iterable[Mapping[str, Any]], columns: ExportColumns) -> None:
    write_whole(target, _csv_chunks(rows, columns))


def _csv_chunks(rows: Iterable[Mapping[str, Any]], columns: ExportColumns) -> Iterator[bytes]:
    yield _csv_line([_harmless(name) for name in flat_columns(columns)])
    for row in rows:
        yield _csv_line([_harmless(value) for value in flat_row(row, columns).values()])


def _csv_line(cells: Sequence[object]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue().encode("utf-8", "surrogatepass")


def _harmless(value: object) -> object:
    if not isinstance(value, str):
        return value
    value = _FORMULA_WITHIN.sub(r"\1'", value)
    return f"'{value}" if value.startswith(_FORMULA) else value


def _write_parquet(target: Path, rows: Iterable[Mapping[str, Any]], columns: ExportColumns) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        msg = "writing Parquet needs pyarrow"
        raise MissingExtra(msg, hint="pip install 'dialogauge[parquet]', or export .csv or .jsonl") from error
    schema = pyarrow.schema(list(_parquet_fields(columns, pyarrow)))
    sink, flat = io.BytesIO(), (flat_row(row, columns) for row in rows)
    with pyarrow.parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        while batch := list(islice(flat, _BATCH)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
    write_whole(target, [sink.getvalue()])


def _parquet_fields(columns: ExportColumns, arrow: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - a module
    whole = {"turn", "repeat", "weakest_turn", "raters", *_USAGE[:-1]}
    whole |= {f"whole_{name}" for name in columns.judged}
    scores = {f"{what}_{name}" for what in ("score", "raw") for name in columns.judged} | {"overall", "cost"}
    scores |= {f"rating_{name}" for name, number in columns.rated.items() if number}
    kinds: Callable[[str], Any] = lambda c: (  # noqa: E731 - one expression, used once
        arrow.int64() if c in whole else arrow.float64() if c in scores else arrow.string()
    )
    for column in flat_columns(columns):
        yield column, kinds(column)
