"""Rating files: `conversation_id, turn, candidate, dimension, rater, score`, or `a, b, winner`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dialogauge.core import PairRating, Place, Rating, RecordFault
from dialogauge.data.field_map import MISSING, NO_MAP, FieldMap, look_up
from dialogauge.data.json_values import json_values, starts_json
from dialogauge.data.notes import NoteBook, excerpt, file_fault, record_fault
from dialogauge.data.opening import InputSource, locate
from dialogauge.data.ratings import RatingTable, as_score, as_turn
from dialogauge.data.sources import LineStream
from dialogauge.data.tables import find_column, open_table

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
_MOST_CATEGORIES = 20
_LONGEST_CATEGORY = 40


def _columns(rows: Sequence[dict[str, Any]], mapping: FieldMap, place: Place, notes: NoteBook) -> FieldMap:
    """Return the field map with the columns under their usual names added; `ratings` in a wide table.

    Raises `FileFault` without an id, or without a score and any column that could be a dimension.
    """
    names = list(dict.fromkeys(key for row in rows for key in row))
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
        wide = {n: n for n in names if n not in named.values() and _is_dimension(rows, n)}
        if not wide:
            raise _not_ratings(place, "score", names)
        notes.assume(f"files are wide tables, with the dimensions {', '.join(wide)}", place)
        return replace(columns, ratings=wide)
    elif columns.dimension is None:
        notes.assume(f"files name no dimension: it is called {columns.score!r}", place)
    else:
        notes.recognise("files in the long format", place)
    return columns


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


def _is_dimension(rows: Sequence[dict[str, Any]], name: str) -> bool:
    """Say whether a column has only numbers, or few short repeated categories."""
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
    faults: list[RecordFault] = []
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
    return RatingTable(tuple(ratings.values()), tuple(pairs), tuple(faults), notes.notes)


def _outcomes(
    source: InputSource, mapping: FieldMap, notes: NoteBook
) -> Iterator[Rating | PairRating | RecordFault]:
    """Yield the unreadable rows of a file, then what its rows hold, in order."""
    raw: list[_Raw] = []
    for row in _rows(LineStream(source)):
        if isinstance(row, RecordFault):
            yield row
        else:
            raw.append(row)
    place = Place(source.name)
    if not raw:
        raise file_fault(place, "the file holds no ratings")
    columns = _columns([cells for cells, _ in raw], mapping, place, notes)
    for cells, own_place in raw:
        try:
            if _compares(columns):
                yield _pair(cells, columns, own_place)
            else:
                yield from _ratings(cells, columns, own_place)
        except RecordFault as fault:
            yield fault


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
