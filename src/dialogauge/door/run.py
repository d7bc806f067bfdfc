"""A run that can be asked: its figures, rows, conversations, page and gates."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from dialogauge.app.entries import JUDGED, SHOWN
from dialogauge.core import (
    Conversation,
    InputError,
    Judged,
    MissingExtra,
    RecordFault,
    StoreError,
    UsageError,
)
from dialogauge.door.working import carry_out
from dialogauge.runs import FILES, Manifest, StoredRun, judged_of, open_run
from dialogauge.text import counted

if TYPE_CHECKING:
    from dialogauge.app.columns import ExportColumns
    from dialogauge.app.command import RunCommand
    from dialogauge.core import Level
    from dialogauge.rubrics import Rubric
    from dialogauge.studies.evidence import RunEvidence
    from dialogauge.studies.judging.gate import GateResult
    from dialogauge.studies.judging.summary import Summary

T = TypeVar("T")


class RunSummary(Mapping[str, Any]):
    """What `summary.json` holds, by key or as attributes: `figures["dimensions"]`, `figures.dimensions`.

    Objects within it are figures too, lists are tuples; what is undefined is None. A key that is also the
    name of a mapping's method, such as `items`, is read as `figures["items"]`.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {key: _figures(value) for key, value in values.items()}

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        return self._values[key]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any JSON value
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            msg = f"there is no figure {name!r}; there are {', '.join(self._values)}"
            raise AttributeError(msg) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        return f"RunSummary({', '.join(self._values)})"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(k)}</th><td>{_in_a_cell(v)}</td></tr>" for k, v in self.items())
        return f"<table><tbody>{rows}</tbody></table>"


def _in_a_cell(value: object) -> str:
    """Write a figure for a table: a number with up to four digits, of what is within only the names."""
    if isinstance(value, RunSummary):
        return escape(", ".join(value)) or "–"
    if isinstance(value, tuple) and any(isinstance(v, RunSummary) for v in value):
        return counted(len(value), "entry", "entries")
    if isinstance(value, tuple):
        return ", ".join(map(_in_a_cell, value)) or "–"
    return f"{value:.4g}" if isinstance(value, float) else escape("–" if value is None else str(value))


def _figures(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return RunSummary(value)
    return tuple(_figures(v) for v in value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Frame:
    """A page in a frame of its own: its style and its script stay inside, and it loads nothing."""

    title: str
    html: str = field(repr=False)
    """A whole document."""
    height: int
    """In pixels."""

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


class Run:
    """A run directory with what stands in it; nothing of it is loaded before it is asked for."""

    path: Path
    """The directory. A temporary one is deleted when the Run is no longer used, or the process ends."""
    study: str
    """The kind of run: `judge`, `satisfaction` ..."""
    manifest: Manifest
    """What it was made from, and how it ended (`manifest.ended`: finished, budget, interrupted, error)."""
    summary: RunSummary
    """`summary.json`."""
    faults: tuple[InputError, ...]
    """Records and ratings that could not be used. Of a run that was opened: the records, as it lists them."""
    notes: tuple[str, ...]
    """What was recognised and assumed of the input; empty for a run that was opened."""
    temporary: bool

    def __init__(
        self,
        path: Path,
        *,
        faults: Sequence[InputError] | None = None,
        notes: Sequence[str] = (),
        temporary: bool = False,
        owner: Run | None = None,
    ) -> None:
        """Open a finished run; `open_run` is the shorter way.

        Args:
            path: The directory.
            faults: What could not be used; None for what the run lists.
            notes: What was recognised and assumed.
            temporary: Whether the directory is deleted with this Run.
            owner: Another Run of the directory, which may be a temporary one: it lives as long as this.

        Raises:
            StoreError: There is no finished run in it, or it is of an older dialogauge.
        """
        self.path = path
        self.temporary = temporary or (owner is not None and owner.temporary)
        self._owner = owner
        if temporary:
            weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)
        with self._open() as run:
            self.manifest = run.manifest
            self.summary = RunSummary(run.summary)
        self.study = self.manifest.study
        if faults is None:
            faults = [RecordFault(text) for text in self.manifest.unreadable_records]
        self.faults = tuple(faults)
        self.notes = tuple(notes)
        self._judging: Summary | None = None

    @property
    def rubric(self) -> Rubric | None:
        """The rubric that was judged by, as its file says now; None for a study without one.

        Raises RubricError where the file is gone or wrong.
        """
        from dialogauge.rubrics import NO_RUBRIC, load_rubric

        name = self.manifest.settings.get("rubric", NO_RUBRIC)
        return None if self.study != "judge" or name == NO_RUBRIC else load_rubric(name)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows, each a dict like a line of `judgements.jsonl`, in the order of the input.

        Of a replay there is one for every reply of the log and of the candidates, or for every pair.
        """
        with self._open() as run:
            for row in self._entry.rows(run):
                yield dict(row)

    def judgements(self) -> Iterator[Judged]:
        """Yield the rows as records: a target, and a `Judgement` or a `JudgeFailure` as the outcome.

        Raises UsageError for a run of a study that judges nothing, such as `fit`.
        """
        self._expect_rows_of(JUDGED)
        return (judged_of(row) for row in self.rows())

    def conversations(self) -> list[Conversation]:
        """Return the conversations that were judged, in the order of the input.

        Of a replay one for each reply, under its item's id and with its `candidate`.
        """
        with self._open() as run:
            return list(self._entry.conversations(run))

    def to_pandas(self, level: Level | None = None) -> Any:  # noqa: ANN401 - pandas is not imported
        """Return the rows as a pandas DataFrame: one column per dimension, as `dialogauge export` writes.

        Counts and turns are of the type Int64, scores float64, all else string; what is missing is NA.

        Args:
            level: Only rows of turns, or of conversations.

        Raises MissingExtra where pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            msg = "to_pandas needs pandas"
            raise MissingExtra(msg, hint="pip install pandas") from error
        columns, rows = self._table(level)
        frame = pandas.DataFrame(rows, columns=list(columns.names))
        return frame.astype(_types(columns, "Int64", "float64", "string"))

    def to_polars(self, level: Level | None = None) -> Any:  # noqa: ANN401 - polars is not imported
        """Return the rows as a polars DataFrame: one column per dimension, as `dialogauge export` writes.

        Counts and turns are of the type Int64, scores Float64, all else String; what is missing is null.

        Args:
            level: Only rows of turns, or of conversations.

        Raises MissingExtra where polars is not installed.
        """
        try:
            import polars
        except ImportError as error:
            msg = "to_polars needs polars"
            raise MissingExtra(msg, hint="pip install polars") from error
        columns, rows = self._table(level)
        types = _types(columns, polars.Int64, polars.Float64, polars.String)
        return polars.DataFrame({name: [row[name] for row in rows] for name in types}, schema=types)

    def show(self, id: str | None = None, turn: int | None = None, *, height: int = 720) -> Frame:
        """Return the page of the run, or one conversation of it, for a notebook's cell.

        Of an arena a dialogue as each agent led it, with the votes; of a replay every reply to an item.

        Args:
            id: Of a conversation, or of a replay's item; the whole page without.
            turn: Its only turn to show; all without.
            height: Of the frame, in pixels.

        Raises:
            UsageError: The run holds no such conversation, or the conversation no such turn.
            StoreError: There is no page.
        """
        if id is None:
            return Frame(f"{self.path.name}: report", self.page(), height)
        from dialogauge.report import Page, Transcript, to_html

        self._expect_rows_of(SHOWN)
        with self._open() as run:
            blocks = self._entry.shown(run, id, turn)
        opened = (replace(b, folded=False) if isinstance(b, Transcript) else b for b in blocks)
        return Frame(id, to_html(Page(id, tuple(opened))), height)

    def plot(self, *dimensions: str, height: int = 480) -> Frame:
        """Return the distribution of the scores, with mean, interval and bounds, for a notebook's cell.

        Args:
            dimensions: Which; all without.
            height: Of the frame, in pixels.

        Raises UsageError for an unknown dimension, and for a run without scores.
        """
        from dialogauge.report import to_html
        from dialogauge.studies.judging.page import distributions_page

        summary = self._scores()
        known = [d.name for d in summary.dimensions]
        for name in dimensions:
            if name not in known:
                msg = f"the run has no dimension {name!r}"
                raise UsageError(msg, hint=f"dimensions: {', '.join(known)}")
        with self._open() as run:
            page = distributions_page(run, summary, dimensions or known)
        return Frame(f"{self.path.name}: scores", to_html(page), height)

    @overload
    def page(self, path: None = None) -> str: ...
    @overload
    def page(self, path: str | PathLike[str]) -> Path: ...
    def page(self, path: str | PathLike[str] | None = None) -> str | Path:
        """Return the page of the run as HTML; with a path, write it there and return the path."""
        from dialogauge.app.outputs import output_file
        from dialogauge.runs.directory import write_whole

        try:
            page = (self.path / FILES["report"]).read_text(encoding="utf-8")
        except FileNotFoundError as error:
            msg = f"the run {self.path} has no page"
            raise StoreError(msg, hint="`dialogauge report` writes it anew") from error
        if path is None:
            return page
        write_whole(output_file(fspath(path), but="report"), [page.encode()])
        return Path(path)

    def gate(self, expression: str, *, unchecked: bool = False) -> GateResult:
        """Say whether the run meets a condition, such as `findings.share<=0.2` or `failed<=0.02`.

        The result is true when it is met; `sentence` says by which figure.

        Args:
            expression: The condition.
            unchecked: Whether it may ask about scores that nobody showed to agree with people.

        Raises UsageError for an expression of no known form, for what is not checked in this run, and for a
        run of a study that has no gates.
        """
        from dialogauge.studies.judging.gate import read_gates
        from dialogauge.studies.judging.people import stored_people

        summary, evidence = self._scores(), self.evidence
        (gate,) = read_gates((expression,), self.manifest.settings["rubric"])
        with self._open() as run:
            people = stored_people(run)
        result = gate.evaluate(summary, replace(evidence, unchecked=unchecked or evidence.unchecked), people)
        if result.refused:
            raise UsageError(result.sentence)
        return result

    @property
    def evidence(self) -> RunEvidence:
        """Which dimensions are checked: shown to agree with people or outcomes on such data."""
        from dialogauge.studies.evidence import stored_evidence

        with self._open() as run:
            return stored_evidence(run)

    def export(self, path: str | PathLike[str], *, redact: bool = False, hash_ids: bool = False) -> int:
        """Write the rows to a file, whose ending says the format, and return how many there are.

        Args:
            path: Ends with .jsonl, .csv, .parquet or .eval.
            redact: Mask personal data.
            hash_ids: Replace ids of users and conversations by digests.

        Raises UsageError for another ending, MissingExtra where Parquet cannot be written.
        """
        from dialogauge.app.export import export_run
        from dialogauge.runs.privacy import Privacy

        return export_run(fspath(self.path), fspath(path), Privacy(redact=redact, hash_ids=hash_ids))

    def pairs(self, path: str | PathLike[str], kind: str = "dpo", **settings: Any) -> int:  # noqa: ANN401
        """Write training rows as JSONL, as `dialogauge pairs` does, and return how many there are.

        Args:
            path: The file; beside it comes `NAME.provenance.jsonl`.
            kind: `dpo`, `kto`, `sft`, `segment`, `rl`, or `active`: what to label next.
            settings: Such as `chosen_field`, `recheck`, `per_user`, `split_by`, `model`; by their names in
                docs/library.md.

        Raises UsageError where nothing gives a better reply, no pair has a winner, or all rows would rest on
        an unchecked judge.
        """
        from dialogauge.app.merging import settings_from
        from dialogauge.app.pairs.command import ENTRY
        from dialogauge.app.pairs.settings import PairOptions
        from dialogauge.app.progress import ProgressObserver

        options = settings_from(
            PairOptions, **settings, inputs=fspath(self.path), out=fspath(path), kind=kind
        )
        observer = ProgressObserver(quiet=True)
        outcome = carry_out(lambda stop: ENTRY.run(options, observer, stop=stop))
        if outcome.ending.error is not None:
            raise outcome.ending.error
        return outcome.result.written

    def _scores(self) -> Summary:
        """Compute the summary of the rows, once; raise UsageError for a study without it."""
        if self._judging is None:
            scores = self._entry.scores
            if scores is None:
                msg = f"a run of {self.study} has no gates and no plots"
                raise UsageError(msg, hint="they are for runs of judge and success; look at its summary")
            with self._open() as run:
                self._judging = scores(run)
        return self._judging

    @property
    def _entry(self) -> RunCommand[Any, Any]:
        from dialogauge.app.command import entry_of

        return entry_of(self.study)

    def _open(self) -> AbstractContextManager[StoredRun]:
        return open_run(fspath(self.path))

    def _expect_rows_of(self, studies: Collection[str]) -> None:
        if self.study not in studies:
            msg = f"a run of {self.study} has no judgements"
            raise UsageError(msg, hint="`rows()` yields what it holds, `summary` its figures")

    def _table(self, level: Level | None) -> tuple[ExportColumns, list[dict[str, Any]]]:
        self._expect_rows_of(SHOWN)
        with self._open() as run:
            columns = self._entry.columns(run)
        rows = (row for row in self.rows() if level is None or row.get("level") == level)
        return columns, [columns.flat(row) for row in rows]

    def __repr__(self) -> str:
        where = f"{self.path}, temporary" if self.temporary else str(self.path)
        return f"<Run of {self.study}: {self._counts()} ({where})>"

    def _counts(self) -> str:
        counts, ended = self.summary, self.manifest.ended
        parts = [counted(self.manifest.conversations, "conversation")]
        parts += [f"{counts[k]:,} {k.replace('_', ' ')}" for k in _COUNTS if counts.get(k)]
        if (kinds := counts.get("failures")) and counts.get("failed"):
            parts[-1] += f" ({', '.join(kind.replace('_', ' ') for kind in kinds)})"
        if (findings := counts.get("findings")) is not None:
            parts.append(f"{findings['with_finding']:,} of {findings['conversations']:,} with a finding")
        parts += [counted(len(self.faults), "fault")] if self.faults else []
        parts += [] if ended == "finished" else [f"ended early: {ended}"]
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        judge = str(self.manifest.judge.get("name", ""))
        by = f" by {escape(judge)}" if judge not in ("", self.study) else ""
        head = f"<p><b>{escape(self.study)}</b>{by}: "
        head += f"{escape(self._counts())}<br><small>{escape(str(self.path))}</small></p>"
        names, rows = self._entry.overview(judge, self.summary)
        dimensions = (self.summary.get("dimensions") or {}).items() if self.study == "judge" else ()
        if unchecked := [name for name, of in dimensions if of["n"] and not of.get("checked")]:
            head += f"<p>unchecked: {escape(', '.join(unchecked).replace('_', ' '))}</p>"
        titles = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        return f"{head}<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>" if rows else head


def _types(columns: ExportColumns, whole: T, fraction: T, text: T) -> dict[str, T]:
    """Return the type of each column, in order."""
    kinds = dict.fromkeys(columns.whole, whole) | dict.fromkeys(columns.fractions, fraction)
    return {name: kinds.get(name, text) for name in columns.names}


_COUNTS = ("scored", "not_applicable", "failed", "asked", "votes")
