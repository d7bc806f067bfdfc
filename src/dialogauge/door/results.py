"""Agreement and comparison from Python: what was measured, with its figures, answers and page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, overload

import numpy as np

from dialogauge.app.entries import listed_study
from dialogauge.app.sources import PythonInput
from dialogauge.core import InputError, Place, Rating, UsageError
from dialogauge.core.json_keys import as_json
from dialogauge.data import RatingTable
from dialogauge.data.ratings import as_score
from dialogauge.door.library import AnyPath, Ratings, path_of, rating_table
from dialogauge.door.run import Run, RunSummary

if TYPE_CHECKING:
    from dialogauge.app.agreement import AgreementOutcome
    from dialogauge.app.compare import CompareOutcome
    from dialogauge.app.outcome import CommandOutcome
    from dialogauge.report import Page
    from dialogauge.stats import Estimate


class _WithPage(Protocol):
    @property
    def page(self) -> Page: ...


class Paged:
    """A result of which there is a page."""

    __slots__ = ()
    _result: _WithPage

    @overload
    def page(self, path: None = None) -> str: ...
    @overload
    def page(self, path: AnyPath) -> Path: ...
    def page(self, path: AnyPath | None = None) -> str | Path:
        """Return the page as HTML; with a path, write it there and return the path."""
        from dialogauge.app.outputs import output_file
        from dialogauge.report import to_html
        from dialogauge.runs.directory import write_whole

        page = to_html(self._result.page)
        if path is None:
            return page
        write_whole(output_file(fspath(path)), [page.encode()])
        return Path(path)


def _measured(
    study: str, values: Mapping[str, Any], out: AnyPath | None, python: PythonInput, **made: object
) -> CommandOutcome[Any]:
    """Compute what a command computes, with the settings that are chosen."""
    from dialogauge.app.command import load
    from dialogauge.app.merging import settings_from

    listed = listed_study(study)
    entry: Any = load(listed)
    options = settings_from(listed.options, **values, **({} if out is None else {"out": fspath(out)}))
    outcome: CommandOutcome[Any] = entry.measured(replace(options, **made), python)
    return outcome


Target = str | tuple[str, int]
"""The id of a conversation, or of a conversation and the number of a turn."""
_DIMENSION: Final = "rating"
"""What the ratings of a matrix are called."""
_WHY: Final = (
    "name both axes: values=[[...]], targets=[...] for the rows and raters=[...] for the columns; nobody can "
    "tell targets from raters by their shape, and read the other way a matrix gives other figures, which say "
    "nothing of agreement"
)


class Agreement(Paged):
    """What was measured."""

    figures: RunSummary
    """The content of `agreement.json`: `judges`, `people`, `between`, `comparisons`, `groups` ..."""
    answers: tuple[str, ...]
    """In sentences: does a judge agree with people more than the best constant, do people with each other?"""
    faults: tuple[InputError, ...]
    """Ratings that could not be used."""
    notes: tuple[str, ...]
    """What was recognised and assumed."""

    _result: AgreementOutcome

    def __init__(self, outcome: CommandOutcome[AgreementOutcome]) -> None:
        from dialogauge.studies.agreement.page import answers_in_words

        self._result = outcome.result
        self.figures = RunSummary(as_json(outcome.result))
        self.answers = answers_in_words(outcome.result.result)
        self.faults, self.notes = tuple(outcome.faults), tuple(outcome.notes)

    def __repr__(self) -> str:
        return f"<Agreement: {' '.join(self.answers[:1]) or 'no answer'}>"

    def _repr_html_(self) -> str:
        sentences = "".join(f"<p>{escape(one)}</p>" for one in self.answers)
        heads = "".join(f"<th>{name}</th>" for name in ("", "AC1", "alpha", "exact", "targets"))
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self._rows()
        )
        return f"{sentences}<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"

    def _rows(self) -> Iterator[tuple[str, ...]]:
        result = self._result.result
        for judge in result.judges:
            level = "" if judge.level is None else f" of {judge.level}s"
            yield _row(f"{judge.about.name}, {judge.pair}{level}", judge.figures, judge.counts.scored)
        for one in (*result.people, *result.between):
            yield _row(f"{len(one.sources)} among each other, {one.question}", one.figures, one.shared)
        for pairs in result.pairs:
            for of in pairs.against_people:
                yield _row(f"{of.source}, {pairs.dimension}, pairs", of.figures, of.n)
            name = f"{len(pairs.people)} among each other, {pairs.dimension}, pairs"
            yield _row(name, pairs.figures, pairs.shared)


def _row(name: str, figures: Mapping[str, Estimate], n: int) -> tuple[str, ...]:
    alpha = "alpha_interval" if "alpha_interval" in figures else "alpha_nominal"
    from dialogauge.studies.agreement.among_page import figure_words

    estimates = (figures.get(measure) for measure in ("ac1", alpha, "exact"))
    return (name, *("" if e is None else figure_words(e) for e in estimates), f"{n:,}")


def agreement(  # noqa: PLR0913 - the everyday settings by name
    source: AnyPath | Run | Sequence[AnyPath | Run] = (),
    *,
    ratings: Ratings | None = None,
    scale: str | None = None,
    values: Sequence[Sequence[float | str | None]] | None = None,
    targets: Sequence[Target] | None = None,
    raters: Sequence[str] | None = None,
    out: AnyPath | None = None,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> Agreement:
    """Measure how far people agree with each other, judges with people, and judges with each other.

    Args:
        source: Rating files and runs; with `ratings` also files of judges' scores.
        ratings: People's ratings: a file, or records.
        scale: All that raters could give: `1-5`, `0,1`, `good,bad`; for runs that of the rubric unless said.
        values: Ratings as a matrix in place of `source`: a row for each target, a column for each rater, None
            or NaN where one did not rate.
        targets: The name of each row: the id of a conversation, or an id and the number of a turn.
        raters: The name of each column.
        out: A folder for `agreement.json` and `agreement.html`.
        settings: Every other setting of `dialogauge agreement`, by its name in docs/library.md.

    Raises:
        UsageError: Nothing can be compared, nothing says what the scale is, or a matrix has no named axes.
        InputError: A file cannot be read.
        StoreError: A run cannot be read.
    """
    several = [source] if isinstance(source, str | PathLike | Run) else list(source)
    chosen = {**settings, "sources": tuple(map(path_of, several))}
    chosen |= {} if scale is None else {"scale": scale}
    people: RatingTable | None = None
    if values is not None or targets is not None or raters is not None:
        if several or ratings is not None:
            msg = "a matrix of ratings stands in place of files, not beside them"
            raise UsageError(msg, hint="give values, targets and raters alone")
        people = _matrix(values, targets, raters)
    elif isinstance(ratings, str | PathLike):
        chosen["ratings_file"] = fspath(ratings)
    elif ratings is not None:
        people = rating_table(ratings, None)
    elif not several:
        msg = "there is nothing to compare"
        raise UsageError(msg, hint="give rating files or runs, or values with targets and raters")
    return Agreement(_measured("agreement", chosen, out, PythonInput(ratings=people)))


def _matrix(
    values: Sequence[Sequence[float | str | None]] | None,
    targets: Sequence[Target] | None,
    raters: Sequence[str] | None,
) -> RatingTable:
    """Return the ratings of a matrix; raises UsageError where its axes are not named, or do not fit."""
    if values is None or targets is None or raters is None:
        msg = "a matrix of ratings has no names on " + (
            "its axes" if targets is raters else "one of its axes"
        )
        raise UsageError(msg if values is not None else "axes are named, and there are no values", hint=_WHY)
    rows = [list(row) for row in values]
    if len(rows) != len(targets) or any(len(row) != len(raters) for row in rows):
        shape = f"{len(rows)} rows of {len(rows[0]) if rows else 0}"
        turned = len(rows) == len(raters) and all(len(row) == len(targets) for row in rows)
        msg = f"{shape} values for {len(targets)} targets and {len(raters)} raters"
        raise UsageError(msg + ("; the matrix is transposed" if turned else ""), hint=_WHY)
    ratings = []
    for i, (target, row) in enumerate(zip(targets, rows, strict=True)):
        name, turn = (target, None) if isinstance(target, str) else target
        for j, (rater, value) in enumerate(zip(raters, row, strict=True)):
            if value is not None and value == value:
                score = as_score(value.item() if isinstance(value, np.generic) else value)
                ratings.append(Rating(name, _DIMENSION, score, turn, rater, place=Place(f"values[{i}][{j}]")))
    return RatingTable(tuple(ratings))


@dataclass(frozen=True, slots=True, repr=False)
class RunChange(Paged):
    """What changed from one run to another; true where every gate was met."""

    figures: RunSummary
    """The content of `compare.json`: `findings`, `ratings`, `dimensions`, `verdicts`, `down`, `up` ..."""
    answers: tuple[str, ...]
    """In sentences, what changed most first."""
    gates: tuple[str, ...]
    """How each gate ended, in a sentence."""
    met: bool
    """Whether every gate was met; without gates it is."""
    _result: CompareOutcome = field(repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.met

    def __repr__(self) -> str:
        return f"<RunChange: {' '.join((*self.answers[: 1 + self._result.result.unchecked], *self.gates))}>"

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(one)}</p>" for one in (*self.answers, *self.gates))


def compare(
    a: AnyPath | Run,
    b: AnyPath | Run,
    *,
    by: Sequence[str] = (),
    gates: Sequence[str] = (),
    out: AnyPath | None = None,
    **settings: Any,  # noqa: ANN401 - of any setting
) -> RunChange:
    """Compare two finished runs of one rubric, on the same conversations or not.

    Args:
        a: A run, or its directory: what was.
        b: What is new.
        by: `scenario`, `user`, `language`: differences by group too.
        gates: Such as `findings.delta<=0.05`.
        out: A folder for `compare.json` and `compare.html`.
        settings: Every other setting of `dialogauge compare`, by its name in docs/library.md.

    Raises:
        UsageError: One of the two is no run, the rubrics differ, or a gate asks for what they lack or what is
            not checked.
        StoreError: A run cannot be read.
    """
    paths = {"a": path_of(a), "b": path_of(b)}
    chosen = {**settings, **paths, "gates": tuple(gates)}
    chosen |= {"by": ",".join(by)} if by else {}
    outcome = _measured("compare", chosen, out, PythonInput(), names=_names(a, b))
    result, sentences = outcome.result, tuple(gate.sentence for gate in outcome.gates)
    return RunChange(RunSummary(as_json(result)), result.answer, sentences, not outcome.exit_code, result)


def _names(a: AnyPath | Run, b: AnyPath | Run) -> tuple[str, str] | None:
    """Name two runs where the path of one is made up; None where both have a path of their own."""
    if not any(isinstance(run, Run) and run.temporary for run in (a, b)):
        return None
    first, second = _name(a, "A"), _name(b, "B")
    return ("A", "B") if first == second else (first, second)


def _name(run: AnyPath | Run, letter: str) -> str:
    if not isinstance(run, Run) or not run.temporary:
        return Path(run.path if isinstance(run, Run) else run).name
    inputs: Sequence[str] = run.manifest.settings.get("inputs") or ()
    return Path(inputs[0]).stem if len(inputs) == 1 and Path(inputs[0]).is_file() else letter
