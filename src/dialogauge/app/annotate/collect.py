"""What raters sent: imported into the folder of its plan, and counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dialogauge.annotate.agreement import (
    RaterProgress,
    SharedAgreement,
    advice,
    progress_of,
    shared_agreement,
)
from dialogauge.annotate.answers import (
    Answer,
    merge_answers,
    rating_rows,
    read_answers,
    standing_answers,
)
from dialogauge.annotate.plan import AssignmentPlan
from dialogauge.app.annotate.folder import PlanFiles
from dialogauge.app.annotate.settings import AnnotateImportOptions, AnnotateStatusOptions
from dialogauge.core.errors import FileFault, InputError, Place, RecordFault, StoreError
from dialogauge.core.files import shown_path
from dialogauge.data import read_rows
from dialogauge.runs.records import json_line
from dialogauge.text import redact


@dataclass(frozen=True, slots=True)
class ImportedAnswers:
    """What was imported, and what stands now."""

    plan: AssignmentPlan
    ratings: int
    """Ratings, or choices between two, that stand."""
    twice: int
    """Items that a rater answered again, otherwise: what was imported last counts."""
    backwards: int
    """Of these answers those whose time is before that of the answer that they replace."""
    corrections: int
    """Better replies that stand."""
    raters: tuple[RaterProgress, ...]
    written: Path | None
    """None where nothing was ever imported."""
    faults: tuple[InputError, ...]


def import_answers(options: AnnotateImportOptions) -> ImportedAnswers:
    """Add files of raters to what the folder holds, and write the ratings anew.

    What cannot be used is a fault; everything else is kept. The same file again changes nothing.

    Raises:
        StoreError: The folder holds no plan, or answers that cannot be read.
    """
    files = PlanFiles(Path(options.folder))
    plan = files.read_plan()
    target = files.pairs if plan.pairs else files.ratings
    broken: list[InputError] = []
    with files.locked():
        stored = list(stored_answers(files))
        read = read_answers(_rows(options.files, broken), plan)
        if plan.settings.get("redact"):  # what raters wrote is as personal as what they read
            read.answers = [replace(a, note=a.note and redact(a.note)) for a in read.answers]
        merged = merge_answers(stored, read.answers)
        standing = standing_answers(merged.answers)
        rows = list(rating_rows(plan, standing))
        if merged.answers:
            files.write(files.answers, (json_line(answer.to_json()) for answer in merged.answers))
            files.write(target, map(json_line, rows))
    raters = tuple(progress_of(plan, standing))
    faults = (*broken, *read.faults)
    again = len(merged.twice), merged.backwards, sum(len(one.corrections) for one in standing.values())
    return ImportedAnswers(plan, len(rows), *again, raters, target if merged.answers else None, faults)


def _rows(
    paths: tuple[str, ...], broken: list[InputError]
) -> Iterator[tuple[dict[str, object], Place] | RecordFault]:
    """Yield the rows of files; of one that breaks off those before. A file without a row is broken too."""
    for path in paths:
        row = None
        try:
            for row in read_rows(path):
                yield row
        except FileFault as fault:
            broken.append(fault)
        else:
            if row is None:
                msg = "it holds no answers"
                broken.append(
                    FileFault(msg, place=Place(str(path)), hint="save the page again, and import that")
                )


def stored_answers(files: PlanFiles) -> Iterator[Answer]:
    """Yield what was imported before; StoreError where it cannot be read."""
    if not files.answers.is_file():
        return
    try:
        for row in read_rows(files.answers):
            if isinstance(row, RecordFault):
                raise row
            yield Answer.from_json(row[0])
    except (InputError, ValueError) as error:
        msg = f"{shown_path(files.answers)} cannot be read: {error}"
        raise StoreError(msg, hint="remove it, and import the files of all raters again") from error


@dataclass(frozen=True, slots=True)
class RatingStatus:
    """How far raters are, and how far they agree."""

    plan: str
    """Its id."""
    raters: tuple[RaterProgress, ...]
    agreement: tuple[SharedAgreement, ...]
    advice: str
    """What would tighten the figures most."""


def rating_status(options: AnnotateStatusOptions) -> RatingStatus:
    """Count what was imported into a folder.

    Raises:
        StoreError: The folder holds no plan, or answers that cannot be read.
    """
    files = PlanFiles(Path(options.folder))
    plan = files.read_plan()
    standing = standing_answers(stored_answers(files))
    agreement = tuple(shared_agreement(plan, standing))
    return RatingStatus(plan.id, tuple(progress_of(plan, standing)), agreement, advice(list(agreement)))
