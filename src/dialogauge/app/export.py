"""A run's judgements as JSONL, CSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from dialogauge.app.columns import ExportColumns
from dialogauge.app.command import entry_of
from dialogauge.app.entries import JUDGED, SHOWN
from dialogauge.app.inspect_log import write_eval
from dialogauge.app.outputs import output_file, spare
from dialogauge.core.errors import MissingExtra, UsageError
from dialogauge.core.patterns import lazy_pattern
from dialogauge.runs.directory import write_whole
from dialogauge.runs.privacy import OPEN, Privacy
from dialogauge.runs.records import conversation_to_json, json_line
from dialogauge.runs.run import open_run

_BATCH = 10_000
_EVAL = ".eval"
# What spreadsheet programs leave out in front of a cell: spaces, controls, marks of no width.
_UNSEEN = (
    r"\s\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
# They run a cell that begins with one of these signs as a formula.
_FORMULA_FIRST = lazy_pattern(rf"[{_UNSEEN}]*[=+\-@＝＋－＠]|[\t\r\n]")
# Where the list separator is a semicolon or a tab, a cell begins behind each, and behind a line break.
_FORMULA_WITHIN = lazy_pattern(rf'([;\t\r\n][{_UNSEEN}"]*)(?=[=+\-@＝＋－＠])')


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
            if finished.manifest.study not in JUDGED:
                kind = finished.manifest.study
                msg = f"a run of {kind} has no judgements, of which a log of Inspect is made"
                raise UsageError(msg, hint="export it as .jsonl")
            return write_eval(target, finished)
        entry = entry_of(finished.manifest.study)
        number = 0

        def rows() -> Iterator[Mapping[str, Any]]:
            nonlocal number
            for number, row in enumerate(entry.rows(finished), start=1):  # noqa: B007 - the last one counts
                yield row

        writer(target, rows(), entry.columns(finished))
        return number


def export_messages(run: str, out: str, privacy: Privacy = OPEN) -> int:
    """Write the conversations of a run as OpenAI messages, one a line; return how many there are.

    Each has its id, what else is known of it, and its messages; ratings and scores are left out. Raises
    UsageError for another ending than `.jsonl`.
    """
    target = output_file(out)
    if target.suffix.lower() != ".jsonl":
        msg = f"-o {out}: messages are written as .jsonl"
        raise UsageError(msg, hint="leave --messages out for a table of the rows")
    number = 0
    with open_run(run, privacy, studies=JUDGED) as finished:
        spare([target], finished.manifest.settings)

        def lines() -> Iterator[bytes]:
            nonlocal number
            for talk in finished.database.conversations():
                shown = talk if finished.mask is None else finished.mask.conversation(talk)
                number += 1
                body = conversation_to_json(replace(shown, ratings=()))
                yield json_line({"conversation_id": body.pop("id"), **body})

        write_whole(target, lines())
    return number


def _write_jsonl(target: Path, rows: Iterable[Mapping[str, Any]], _: ExportColumns) -> None:
    write_whole(target, map(json_line, rows))


def _write_csv(target: Path, rows: Iterable[Mapping[str, Any]], columns: ExportColumns) -> None:
    lines = chain([columns.names], (columns.flat(row).values() for row in rows))
    write_whole(target, map(_csv_line, lines))


def _csv_line(cells: Iterable[object]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerow(map(_harmless, cells))
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
    kinds = dict.fromkeys(columns.names, pyarrow.string())
    kinds |= dict.fromkeys(columns.fractions, pyarrow.float64())
    kinds |= dict.fromkeys(columns.whole, pyarrow.int64())
    schema = pyarrow.schema([(name, kinds[name]) for name in columns.names])
    sink, flat = io.BytesIO(), map(columns.flat, rows)
    with pyarrow.parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        while batch := list(islice(flat, _BATCH)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
    write_whole(target, [sink.getvalue()])
