"""Finds out which column of a rating file holds what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dialogauge.core import Place
from dialogauge.data.faults import file_fault
from dialogauge.data.field_map import MISSING, FieldMap, look_up
from dialogauge.data.notes import NoteBook
from dialogauge.data.scores import as_score
from dialogauge.data.tables import find_column

__all__ = ["RatingColumns", "find_columns"]

_USUAL: dict[str, tuple[str, ...]] = {
    "conversation_id": (
        "conversation_id",
        "conversation",
        "dialogue_id",
        "dialog_id",
        "dialogue",
        "session_id",
        "id",
    ),
    "turn": ("turn", "turn_number"),
    "candidate": ("candidate", "model", "system"),
    "dimension": ("dimension", "criterion", "aspect", "metric"),
    "rater": ("rater", "annotator", "rater_id", "annotator_id", "worker_id", "judge"),
    "score": ("score", "rating", "value"),
    "note": ("note", "comment", "reason", "rationale"),
    "a": ("a", "model_a", "candidate_a"),
    "b": ("b", "model_b", "candidate_b"),
    "winner": ("winner", "preference", "preferred"),
}
_NEVER = frozenset(
    [
        "user_id",
        "user",
        "scenario",
        "context",
        "language",
        "lang",
        "timestamp",
        "time",
        "date",
        "index",
        "role",
        "text",
        "content",
        "reply",
    ]
) | {""}
"""Columns that describe and do not rate."""
_MOST_CATEGORIES = 20
_LONGEST_CATEGORY = 40


@dataclass(frozen=True)
class RatingColumns:
    """Which column, or dotted path, holds what; None where there is none."""

    conversation_id: str | None = None
    turn: str | None = None
    candidate: str | None = None
    dimension: str | None = None
    rater: str | None = None
    score: str | None = None
    note: str | None = None
    a: str | None = None
    b: str | None = None
    winner: str | None = None
    wide: dict[str, str] = field(default_factory=dict)
    """Dimension -> its own column, in a wide table."""

    @property
    def pairs(self) -> bool:
        """Whether the rows are choices between two."""
        return None not in (self.a, self.b, self.winner)

    def scores(self, cells: dict[str, Any]) -> dict[str, str]:
        """Return dimension -> column for one row."""
        if self.wide or self.score is None:
            return self.wide
        given = look_up(cells, self.dimension) if self.dimension is not None else MISSING
        dimension = given if isinstance(given, str) and given else self.score
        return {dimension: self.score}


def find_columns(
    rows: Sequence[dict[str, Any]], mapping: FieldMap, place: Place, notes: NoteBook
) -> RatingColumns:
    """Return the columns of a rating file, by the field map and else by their usual names.

    Raises `FileFault` when there is no id, no score and no column that could be a dimension.
    """
    names = list(dict.fromkeys(key for row in rows for key in row))
    found = {field: getattr(mapping, field) or find_column(names, usual) for field, usual in _USUAL.items()}
    guessed = {f: c for f, c in found.items() if c is not None and c != f and not getattr(mapping, f)}
    if guessed:
        notes.assume(f"files were read with {', '.join(f'{f} = {c}' for f, c in guessed.items())}", place)
    columns = RatingColumns(**found, wide=dict(mapping.ratings))
    if columns.pairs:
        notes.recognise("files of pairs", place)
        return columns
    if columns.conversation_id is None:
        raise _not_ratings(place, "column for the conversation id", names)
    if columns.wide or columns.score is not None:
        _note_form(columns, notes, place)
        return columns
    taken = {c for c in found.values() if c is not None}
    wide = {name: name for name in names if name not in taken and _is_dimension(rows, name)}
    if not wide:
        raise _not_ratings(place, "score", names)
    notes.assume(f"files are wide tables, with the dimensions {', '.join(wide)}", place)
    return RatingColumns(**found, wide=wide)


def _note_form(columns: RatingColumns, notes: NoteBook, place: Place) -> None:
    if columns.wide:
        notes.recognise(f"files are wide tables, with the dimensions {', '.join(columns.wide)}", place)
    elif columns.dimension is None:
        notes.assume(f"files name no dimension: it is called {columns.score!r}", place)
    else:
        notes.recognise("files in the long format", place)


def _not_ratings(place: Place, what: str, names: Sequence[str]) -> Exception:
    hint = f"it has {', '.join(names)}; name them in a field map (--map)"
    return file_fault(place, f"no ratings: there is no {what}", hint)


def _is_dimension(rows: Sequence[dict[str, Any]], name: str) -> bool:
    """Say whether a column holds numbers only, or few short categories that come again."""
    if name.lower() in _NEVER:
        return False
    categories: set[str] = set()
    numbers = texts = 0
    for row in rows:
        value = row.get(name)
        if value is None or value == "":
            continue
        try:
            score = as_score(value)
        except ValueError:
            return False
        if isinstance(score, str):
            texts += 1
            categories.add(score)
        else:
            numbers += 1
    if texts == 0:
        return numbers > 0
    short = all(len(c) <= _LONGEST_CATEGORY for c in categories)
    return short and len(categories) <= _MOST_CATEGORIES and (len(categories) < texts or texts <= 2)
