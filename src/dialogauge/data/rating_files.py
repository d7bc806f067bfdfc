"""Rating files: `conversation_id, turn, candidate, dimension, rater, score`, or `a, b, winner`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dialogauge.core import PairRating, Place, Rating, RecordFault
from dialogauge.data.admission import thumb_of
from dialogauge.data.field_map import MISSING, NO_MAP, FieldMap, look_up
from dialogauge.data.json_values import json_values, starts_json
from dialogauge.data.notes import NoteBook, excerpt, file_fault, record_fault
from dialogauge.data.opening import InputSource, locate
from dialogauge.data.ratings import RatingTable, as_score, as_turn
from dialogauge.data.sources import LineStream
from dialogauge.data.tables import find_column, open_table
from dialogauge.text import counted

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
    ("", "user_id", "user", "scenario", "context", "language", "lang", "timestamp", "time", "date")
) | {"index", "role", "text", "content", "reply"}
"""Columns without ratings."""
MOST_RATINGS: Final = 1_000_000
"""Of a rating file or folder; they are kept in memory, some 400 bytes each."""
_NAMED: Final = 1000
"""Rows that cannot be read and are named one by one."""
_MOST_CATEGORIES = 20
_LONGEST_CATEGORY = 40


def _columns(source: InputSource, mapping: FieldMap, place: Place, notes: NoteBook) -> FieldMap:
    """Return the field map with the columns under their usual names added; `ratings` in a wide table.

    Raises `FileFault` without rows, an id, or a score and any column that could be a dimension.
    """
    names = _names(source, place)
    named: dict[str, Any] = {
        name: getattr(mapping, name) or find_column(names, usual) for name, usual in _USUAL.items()
    }
    guessed = {f: c for f, c in named.items() if c is not None and c != f and not getattr(mapping, f)}
    if guessed:
        notes.assume(f"files were read with {', '.join(f'{f} = {c}' for f, c in guessed.items())}", place)
    columns = replace(mapping, **named)
    if _compares(columns):
        notes.recognise("files of pairs", place)
    elif columns.conversation_id is None:
        raise _not_ratings(place, "column for the conversation id", names)
    elif columns.ratings:
        notes.recognise(f"files are wide tables, with the dimensions {', '.join(columns.ratings)}", place)
    elif columns.score is None:
        wide = _dimensions(_cells(source), [n for n in names if n not in named.values()])
        if not wide:
            raise _not_ratings(place, "score", names)
        notes.assume(f"files are wide tables, with the dimensions {', '.join(wide)}", place)
        return replace(columns, ratings=wide)
    elif columns.dimension is None:
        notes.assume(f"files name no dimension: it is called {columns.score!r}", place)
    else:
        notes.recognise("files in the long format", place)
    return columns


def _names(source: InputSource, place: Place) -> list[str]:
    names = list(dict.fromkeys(key for row in _cells(source) for key in row))
    if not names:
        raise file_fault(place, "the file holds no ratings")
    return names


def _compares(columns: FieldMap) -> bool:
    """Say whether the rows compare two candidates."""
    return None not in (columns.a, columns.b, columns.winner)


def _scores(cells: dict[str, Any], columns: FieldMap) -> Mapping[str, str]:
    """Return dimension -> column for one row."""
    if columns.ratings or columns.score is None:
        return columns.ratings
    name = _get(cells, columns.dimension)
    return {name if isinstance(name, str) and name else columns.score: columns.score}


def _not_ratings(place: Place, what: str, names: Sequence[str]) -> Exception:
    hint = f"it has {', '.join(names)}; name them in a field map (--map)"
    return file_fault(place, f"no ratings: there is no {what}", hint)


def _dimensions(rows: Iterable[dict[str, Any]], names: Iterable[str]) -> dict[str, str]:
    """Return the columns that have only numbers, or few short repeated categories, each by its own name."""
    scores: dict[str, Counter[str | None]] = {n: Counter() for n in names if n.lower() not in _NEVER}
    for row in rows:
        for name in [n for n in scores if row.get(n) not in (None, "")]:
            try:
                score = as_score(row[name])
            except ValueError:
                del scores[name]
                continue
            scores[name][(thumb_of(score) or score) if isinstance(score, str) else None] += 1
            if len(scores[name]) > _MOST_CATEGORIES + 1 or len(str(score)) > _LONGEST_CATEGORY:
                del scores[name]
    return {name: name for name, counts in scores.items() if _repeated(counts)}


def _repeated(counts: Counter[str | None]) -> bool:
    """Say whether scores, with None for a number, are those of a dimension."""
    numbers = counts.pop(None, 0)
    texts = counts.total()
    if texts == 0:
        return numbers > 0
    return len(counts) <= _MOST_CATEGORIES and (len(counts) < texts or texts <= 2)


_TIES = ("tie", "tie (bothbad)", "both_bad")
_WINNERS = {"a": "a", "model_a": "a", "b": "b", "model_b": "b"} | dict.fromkeys(_TIES, "tie")
_Raw = tuple[dict[str, Any], Place]


def read_ratings(path: str | Path, *, mapping: FieldMap | None = None) -> RatingTable:
    """Read a rating file, JSONL, JSON or CSV, also gzip; the files of a folder are read as one.

    A wide table, with a column per dimension, is accepted and noted. Unreadable rows are in `faults`: no
    id, no score, a turn that is no whole number, a second rating by the same rater. Raises `FileFault` for
    an unreadable file or one without columns of ratings.
    """
    notes = NoteBook()
    ratings: dict[tuple[object, ...], Rating] = {}
    pairs: list[PairRating] = []
    faults = _Faults()
    for source in locate([str(path)])[0]:
        for outcome in _outcomes(source, mapping or NO_MAP, notes):
            if isinstance(outcome, RecordFault):
                faults.append(outcome)
            elif isinstance(outcome, PairRating):
                pairs.append(outcome)
            else:
                who = outcome.rater, outcome.candidate
                key = outcome.conversation_id, outcome.turn, outcome.dimension, *who
                if (first := ratings.setdefault(key, outcome)) is not outcome:
                    faults.append(_duplicate(outcome, first))
            if len(ratings) + len(pairs) > MOST_RATINGS:
                hint = "split them by conversation, and the log with them"
                raise file_fault(Place(source.name), f"more than {MOST_RATINGS:,} ratings", hint)
    return RatingTable(tuple(ratings.values()), tuple(pairs), faults.all, notes.notes)


class _Faults:
    """The first thousand faults, and the number of the others."""

    def __init__(self) -> None:
        self._named: list[RecordFault] = []
        self._others = 0

    def append(self, fault: RecordFault) -> None:
        if len(self._named) < _NAMED:
            self._named.append(fault)
        else:
            self._others += 1

    @property
    def all(self) -> tuple[RecordFault, ...]:
        if not self._others:
            return tuple(self._named)
        last = self._named[-1].place
        more = f"{counted(self._others, 'more row')} could not be used"
        return (*self._named, record_fault(Place(last.file) if last else Place("ratings"), more))


def _outcomes(
    source: InputSource, mapping: FieldMap, notes: NoteBook
) -> Iterator[Rating | PairRating | RecordFault]:
    """Yield what the rows of a file hold, in order."""
    columns = _columns(source, mapping, Place(source.name), notes)
    for row in _rows(LineStream(source)):
        if isinstance(row, RecordFault):
            yield row
            continue
        cells, own_place = row
        try:
            if _compares(columns):
                yield _pair(cells, columns, own_place)
            else:
                yield from _ratings(cells, columns, own_place)
        except RecordFault as fault:
            yield fault


def _cells(source: InputSource) -> Iterator[dict[str, Any]]:
    """Yield the cells of the rows that can be read."""
    return (row[0] for row in _rows(LineStream(source)) if not isinstance(row, RecordFault))


def _rows(stream: LineStream) -> Iterator[_Raw | RecordFault]:
    """Yield rows as objects, from JSON or from a table."""
    name = stream.source.name
    if not starts_json(stream):
        for row in open_table(stream).rows:
            yield row if isinstance(row, RecordFault) else (dict(row.cells), Place(name, row.line))
        return
    for value in json_values(stream):
        if isinstance(value, RecordFault):
            yield value
        elif isinstance(value.value, dict):
            yield value.value, value.place
        else:
            yield record_fault(value.place, f"the row is {excerpt(value.value)}: not an object")


def _duplicate(rating: Rating, first: Rating) -> RecordFault:
    where = "the conversation" if rating.turn is None else f"turn {rating.turn}"
    before = Place(first.place.file, first.place.line) if first.place else None
    message = f"{rating.dimension} of {where} was rated before by the same rater, at {before}"
    hint = "the first is kept; name the column of the rater, if there is one, in a field map"
    return RecordFault(message, place=rating.place, hint=hint)


def _ratings(cells: dict[str, Any], columns: FieldMap, place: Place) -> list[Rating]:
    name = _text(cells, columns.conversation_id)
    if name is None:
        hint = f"expected in {columns.conversation_id!r}"
        raise record_fault(place, "the rating has no conversation id", hint)
    rater, candidate = _text(cells, columns.rater), _text(cells, columns.candidate)
    note = _text(cells, columns.note)
    try:
        turn = as_turn(_get(cells, columns.turn))
        own_place = Place(place.file, place.line, name, turn)
        out: list[Rating] = []
        for dimension, column in _scores(cells, columns).items():
            value = _get(cells, column)
            if not columns.ratings or value not in (None, ""):
                score = as_score(value)
                out.append(Rating(name, dimension, score, turn, rater, candidate, note, own_place))
    except ValueError as error:
        raise record_fault(Place(place.file, place.line, name), str(error)) from error
    return out


def _pair(cells: dict[str, Any], columns: FieldMap, place: Place) -> PairRating:
    a, b = _text(cells, columns.a), _text(cells, columns.b)
    choice = _text(cells, columns.winner)
    if a is None or b is None or choice is None:
        raise record_fault(place, "the pair lacks a, b or the winner")
    winner = "a" if choice == a else "b" if choice == b else _WINNERS.get(choice.lower())
    if winner is None:
        hint = "one of a, b, tie, or one of the two names"
        raise record_fault(place, f"the winner is {excerpt(choice)}", hint)
    try:
        turn = as_turn(_get(cells, columns.turn))
    except ValueError as error:
        raise record_fault(place, str(error)) from error
    name = _text(cells, columns.conversation_id)
    return PairRating(a, b, winner, _text(cells, columns.rater), _text(cells, columns.dimension), name, turn)


def _get(cells: dict[str, Any], path: str | None) -> Any:  # noqa: ANN401  # any JSON value
    value = MISSING if path is None else look_up(cells, path)
    return None if value is MISSING else value


def _text(cells: dict[str, Any], path: str | None) -> str | None:
    value = _get(cells, path)
    if value is None or isinstance(value, bool | dict | list):
        return None
    return str(value).strip() or None
