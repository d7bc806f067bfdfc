"""Which columns of a rating file hold what: by their usual names, a field map, or what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, Literal

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.core.patterns import lazy_pattern
from dialogauge.core.values import Value
from dialogauge.data.admission import thumb_of
from dialogauge.data.field_map import FieldMap
from dialogauge.data.notes import NoteBook, file_fault, record_fault
from dialogauge.data.ratings import as_score
from dialogauge.data.tables import find_column

Wide = Literal["dimensions", "raters"]
"""What the columns of a wide table are."""

_USUAL: Final[dict[str, tuple[str, ...]]] = {
    "conversation_id": (
        "conversation_id",
        "conversation",
        "dialogue_id",
        "dialog_id",
        "dialogue",
        "session_id",
        "id",
        "item",
        "item_id",
        "target",
        "subject",
        *("对话编号", "对话id", "会话编号", "会话id"),
    ),
    "turn": ("turn", "turn_number", "轮次", "轮"),
    "candidate": ("candidate", "model", "system"),
    "dimension": ("dimension", "criterion", "aspect", "metric"),
    "rater": ("rater", "annotator", "rater_id", "annotator_id", "worker_id", "judge", "评分员", "标注员"),
    "score": ("score", "rating", "value"),
    "note": ("note", "comment", "reason", "rationale"),
    "weight": ("weight",),
    "a": ("a", "model_a", "candidate_a"),
    "b": ("b", "model_b", "candidate_b"),
    "winner": ("winner", "preference", "preferred"),
    "shown_first": ("shown_first",),
}
_PAIRS: Final = "`dialogauge annotate import` and `dialogauge pairs` make training rows of them"
_PAGE: Final = frozenset(("plan", "item", "rater"))
"""In every row that a rating page saves."""
MARKS: Final[Mapping[str, str]] = {
    "skipped": "items were skipped by a rater",
    "flagged": "items were flagged by a rater",
    "correction": f"better replies by a rater are no ratings: {_PAIRS}",
}
"""Of such a row: why it has no score."""
_NEVER: Final = frozenset(
    ("", "user_id", "user", "scenario", "context", "language", "lang", "timestamp", "time", "date", "digest")
) | {"index", "role", "text", "content", "reply", "correction", "plan", "item", "seconds", "at"}
"""Columns without ratings."""
_JUDGED: Final = frozenset(("judge", "prompt_digest", "level"))
"""Columns of the judgements that a run exports."""
_RATER: Final = lazy_pattern(r"(?:rater|annotator|coder|labell?er)[\W_]*\w|评分员|标注员|评委", re.IGNORECASE)
"""The name of a column that holds what one rater gave."""
_PAIR: Final = ("a", "b", "winner")
ONE_DIMENSION: Final = "rating"
"""What a table with a column for each rater is called that names no dimension."""
_MOST_COLUMNS: Final = 100
"""Of a wide table that has fewer rows than that."""
_MOST_CATEGORIES: Final = 20
_LONGEST_CATEGORY: Final = 40
IMPORT: Final = "`dialogauge annotate import` makes ratings of what rating pages save"
_AXES: Final = (
    "name both axes: a first column item, and a header with a name for each column; without names nobody can "
    "tell items from raters, and a transposed matrix gives other figures without a word"
)
_TURNED: Final = (
    "where the columns are items, the table is transposed: turn it, to a row for each item and a column for "
    "each rater (--wide raters); or write it long, as conversation_id,rater,dimension,score"
)
_SHOWN: Final = 20


class RatingForm(Value):
    """How a rating file is to be read."""

    mapping: FieldMap
    """Names columns before their usual names do."""
    wide: Wide
    keep: Sequence[str]
    """Further columns, to be kept beside the ratings."""


class RatingRows(Value):
    """What is in a rating file."""

    place: Place
    names: Sequence[str]
    """Of all columns."""
    cells: Callable[[], Iterator[dict[str, Any]]]
    """Reads the rows from the first."""
    commas: bool
    """Whether a comma in a number is a decimal one."""


class RatingColumns(Value):
    """The columns of one file."""

    fields: FieldMap
    """`ratings`: the columns of a wide table, by dimension or rater."""
    raters: bool = False
    """Whether the columns of a wide table are raters."""
    keep: Mapping[str, str] = field(default_factory=dict)
    """Name -> column, of those that are kept beside the ratings."""
    page: bool = False
    """Whether a rating page saved it."""
    commas: bool = False
    """Whether a comma in a number is a decimal one."""

    @property
    def kind(self) -> str:
        """What the columns of a wide table are."""
        return "raters" if self.raters else "dimensions"

    @property
    def compares(self) -> bool:
        """Whether the rows compare two candidates."""
        return None not in [getattr(self.fields, name) for name in _PAIR]


def columns_of(table: RatingRows, asked: RatingForm, notes: NoteBook) -> RatingColumns:
    """Return what the columns of a file hold, and note what was assumed.

    Raises:
        FileFault: There is no id, no score nor a column that could be a dimension, a column that is asked for
            is not there, or a wide table stands on its side.
    """
    place = table.place
    if _JUDGED.issubset(table.names) and not asked.mapping.ratings and asked.mapping.score is None:
        hint = "give what people said: their rating file, or the run itself, which holds it"
        raise file_fault(place, "these rows were scored by a judge, and by no person", hint)
    columns = _named(table, asked, notes)
    if columns.compares:
        unsaid = (
            "" if columns.fields.shown_first else ", of which a is taken for the one that was shown first"
        )
        notes.recognise(f"files of pairs{unsaid}", place)
    elif columns.page:
        _expect_scores(columns, place, notes)
    elif columns.fields.conversation_id is None:
        raise _without_id(table, columns)
    elif asked.mapping.ratings or columns.fields.score is None:
        return _wide(table, columns, notes)
    elif columns.fields.dimension is None:
        notes.assume(f"files have no dimension: it is called {columns.fields.score!r}", place)
    else:
        notes.recognise("files in the long format", place)
    return columns


def _named(table: RatingRows, asked: RatingForm, notes: NoteBook) -> RatingColumns:
    """Return the columns that have names that we know, and those that are asked for."""
    mapping, names = asked.mapping, table.names
    named: dict[str, Any] = {}
    for name, usual in _USUAL.items():
        own = getattr(mapping, name)
        # What the map says of the log alone is not asked of the ratings beside it.
        present = own is not None and any(own == column or own.startswith(f"{column}.") for column in names)
        named[name] = own if present else find_column(names, usual) or own
    if None in [named[name] for name in _PAIR]:
        named.update(a=mapping.a, b=mapping.b)
    if asked.wide == "raters" and named["score"] is None and named["conversation_id"] is not None:
        named["rater"] = mapping.rater
    guessed = {f: c for f, c in named.items() if c is not None and c not in (f, getattr(mapping, f))}
    if guessed:
        columns = ", ".join(f"{f} = {c}" for f, c in guessed.items())
        notes.assume(f"files were read with {columns}", table.place)
    keep = {name: _asked_for(name, table) for name in asked.keep}
    return RatingColumns(
        replace(mapping, **named), asked.wide == "raters", keep, _PAGE.issubset(names), table.commas
    )


def _asked_for(name: str, table: RatingRows) -> str:
    column = name if name in table.names or "." in name else find_column(table.names, [name.lower()])
    if column is None:
        hint = f"it has {_listed(table.names)}"
        raise file_fault(table.place, f"there is no column {name!r}", hint)
    return column


def _expect_scores(columns: RatingColumns, place: Place, notes: NoteBook) -> None:
    if columns.fields.winner is not None and columns.fields.score is None:
        fault = choice_of_page(place)
        raise file_fault(place, fault.message, fault.hint)
    notes.recognise("files were saved by a rating page", place)


def choice_of_page(place: Place) -> RecordFault:
    """Return the fault of a choice between left and right, which no file of ratings explains."""
    return record_fault(
        place, "the winner is left, right or a tie, and only the plan knows who stood where", IMPORT
    )


def _wide(table: RatingRows, columns: RatingColumns, notes: NoteBook) -> RatingColumns:
    """Return the columns of a wide table, those that the field map names or those that hold scores."""
    fields, sure = columns.fields, columns.raters or bool(columns.fields.ratings)
    if not fields.ratings:
        own = (getattr(fields, name) for name in _USUAL)
        names, rows = _scored(table, {*own, *columns.keep.values()})
        if not names:
            raise _not_ratings(table, "score")
        if fields.rater is None and len(names) > 1 and all(map(_RATER.match, names)):
            columns = replace(columns, raters=True)
        if len(names) > max(_MOST_COLUMNS, rows):
            message = f"{len(names)} columns of scores, {rows} rows: are these {columns.kind}?"
            raise file_fault(table.place, message, _TURNED)
        fields = replace(fields, ratings={name: name for name in names})
    (notes.recognise if sure else notes.assume)(
        f"files are wide, with the {columns.kind} {', '.join(fields.ratings)}", table.place
    )
    return replace(columns, fields=fields)


def _not_ratings(table: RatingRows, what: str) -> FileFault:
    hint = f"it has {_listed(table.names)}; name them in a field map (--map)"
    return file_fault(table.place, f"no ratings: there is no {what}", hint)


def _without_id(table: RatingRows, columns: RatingColumns) -> FileFault:
    """Return the fault of a table that does not say what its rows rate."""
    what, rater = "column for the conversation id", columns.fields.rater
    matrix, _ = _scored(table, {rater})
    others = [name for name in table.names if name and name not in matrix]
    if rater is None and others:
        hint = f"it has {_listed(table.names)}; say which one holds the id: --map session={others[0]}"
        return file_fault(table.place, f"no ratings: there is no {what}", hint)
    if len(matrix) < 2 or columns.fields.score is not None:
        return _not_ratings(table, what)
    if rater is None:
        message = f"no ratings: there is no {what} in a matrix of {len(matrix)} columns"
        return file_fault(table.place, message, _AXES)
    return file_fault(table.place, f"no ratings: there is no {what}, and each row is one {rater}", _TURNED)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")


def _scored(table: RatingRows, others: Collection[str | None]) -> tuple[list[str], int]:
    """Return the columns of numbers, or few short repeated categories; and how many rows there are.

    Args:
        table: The file.
        others: Columns that hold something else.
    """
    names = [name for name in table.names if name not in others and name.lower() not in _NEVER]
    scores: dict[str, Counter[str | None]] = {name: Counter() for name in names}
    rows = 0
    for row in table.cells():
        rows += 1
        for name in [n for n in scores if row.get(n) not in (None, "")]:
            try:
                score, _ = score_in(row[name], commas=table.commas)
            except ValueError:
                del scores[name]
                continue
            scores[name][(thumb_of(score) or score) if isinstance(score, str) else None] += 1
            if len(scores[name]) > _MOST_CATEGORIES + 1 or len(str(score)) > _LONGEST_CATEGORY:
                del scores[name]
    return [name for name, counts in scores.items() if _repeated(counts)], rows


def _repeated(counts: Counter[str | None]) -> bool:
    """Say whether scores, with None for a number, are those of a dimension."""
    numbers = counts.pop(None, 0)
    texts = counts.total()
    if texts == 0:
        return numbers > 0
    return len(counts) <= _MOST_CATEGORIES and (len(counts) < texts or texts <= 2)


_NUMBER: Final = r"([+-]?\d+(?:\.\d+)?)"
_LED: Final = lazy_pattern(
    rf"{_NUMBER}(?:(?:\s+[-–—]\s*|\s*[-–—]\s+|\s*[:=]\s*|\s*[.)]\s+)[^\W\d]\D*|\s*\(\D+\))"
)
_TRAILED: Final = lazy_pattern(rf"[^\W\d]\D*[(\[（]\s*{_NUMBER}\s*[)\]）]")
_STARS: Final = lazy_pattern(rf"{_NUMBER}[\s-]*(?:stars?|points?|星|分)", re.IGNORECASE)
_DECIMAL: Final = lazy_pattern(r"(?<=\d),(?=\d)")
COMMAS: Final = "scores have a decimal comma"
WORDS: Final = "scores have words beside their number, which alone counts"


def score_in(value: object, *, commas: bool = False) -> tuple[float | str, str | None]:
    """Return the score of a cell, and what is to be said of how it was read.

    A number beside words counts where there is one and it cannot be anything else: `4 - Good`, `4: Good`,
    `Very Good (5)`, `5 stars`. Other texts are categories, such as `3 or 4` and `>3`.

    Args:
        value: Of the cell.
        commas: Whether cells are parted by something else than commas, so that `4,5` is four and a half.

    Raises:
        ValueError: It is no score.
    """
    score = as_score(value)
    if not isinstance(score, str):
        return score, None
    text = _DECIMAL.sub(".", score) if commas else score
    match = next((m for form in (_LED, _TRAILED, _STARS) if (m := form.fullmatch(text))), None)
    if match is not None:
        return as_score(match[1]), WORDS
    number = as_score(text) if text != score else score
    return (score, None) if isinstance(number, str) else (number, COMMAS)
