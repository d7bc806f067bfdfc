"""Reads rating files: `conversation_id, turn, candidate, dimension, rater, score`, or `a, b, winner`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from dialogauge.core import PairRating, Place, Rating, RecordFault
from dialogauge.data.faults import file_fault, record_fault, shown
from dialogauge.data.field_map import MISSING, NO_MAP, FieldMap, look_up
from dialogauge.data.json_values import json_values
from dialogauge.data.notes import NoteBook
from dialogauge.data.rating_columns import RatingColumns, find_columns
from dialogauge.data.rating_table import RatingTable
from dialogauge.data.scores import as_score, as_turn
from dialogauge.data.sources import LineStream, locate
from dialogauge.data.tables import open_table

__all__ = ["read_ratings"]

_WINNERS = {
    "a": "a",
    "b": "b",
    "tie": "tie",
    "model_a": "a",
    "model_b": "b",
    "tie (bothbad)": "tie",
    "both_bad": "tie",
}
_Raw = tuple[dict[str, Any], Place]


def read_ratings(path: str | Path, *, mapping: FieldMap | None = None) -> RatingTable:
    """Read a rating file, JSONL, JSON or CSV, also gzip; a folder's files are read as one.

    A wide table, with a column for each dimension, is accepted and noted. Rows that cannot be read are
    in `faults`: no id, no score, a turn that is no whole number, a rating given twice. Raises
    `FileFault` for a file that cannot be read or has no columns that look like ratings.
    """
    notes = NoteBook()
    gathered = _Gathered(mapping or NO_MAP, notes)
    for source in locate([str(path)])[0]:
        with closing(LineStream(source)) as stream:
            gathered.take_file(source.name, _rows(stream))
    return RatingTable(
        tuple(gathered.ratings),
        tuple(gathered.pairs),
        tuple(gathered.faults),
        notes.notes,
    )


def _rows(stream: LineStream) -> Iterator[_Raw | RecordFault]:
    """Hand out rows as objects, from JSON or from a table."""
    name = stream.source.name
    first = next((line for _, line in stream.head() if not line.isspace()), b"")
    if not first.lstrip().startswith((b"{", b"[")):
        for row in open_table(stream).rows:
            yield row if isinstance(row, RecordFault) else (dict(row.cells), Place(name, row.line))
        return
    for value in json_values(stream):
        if isinstance(value, RecordFault):
            yield value
        elif isinstance(value.value, dict):
            yield value.value, value.place
        else:
            yield record_fault(value.place, f"the row is {shown(value.value)}: not an object")


class _Gathered:
    def __init__(self, mapping: FieldMap, notes: NoteBook) -> None:
        self.mapping = mapping
        self.notes = notes
        self.ratings: list[Rating] = []
        self.pairs: list[PairRating] = []
        self.faults: list[RecordFault] = []
        self._first: dict[tuple[object, ...], Place] = {}

    def take_file(self, name: str, rows: Iterable[_Raw | RecordFault]) -> None:
        raw: list[_Raw] = []
        for row in rows:
            if isinstance(row, RecordFault):
                self.faults.append(row)
            else:
                raw.append(row)
        if not raw:
            raise file_fault(Place(name), "the file holds no ratings")
        columns = find_columns([cells for cells, _ in raw], self.mapping, Place(name), self.notes)
        for cells, place in raw:
            try:
                if columns.pairs:
                    self.pairs.append(_pair(cells, columns, place))
                else:
                    self._take(cells, columns, place)
            except RecordFault as fault:
                self.faults.append(fault)

    def _take(self, cells: dict[str, Any], columns: RatingColumns, place: Place) -> None:
        for rating in _ratings(cells, columns, place):
            key = (
                rating.conversation_id,
                rating.turn,
                rating.dimension,
                rating.rater,
                rating.candidate,
            )
            first = self._first.setdefault(key, place)
            if first is not place:
                self.faults.append(_given_twice(rating, place, first))
                continue
            read = Place(place.file, place.line, rating.conversation_id, rating.turn)
            self.ratings.append(replace(rating, place=read))


def _given_twice(rating: Rating, place: Place, first: Place) -> RecordFault:
    where = "the conversation" if rating.turn is None else f"turn {rating.turn}"
    return record_fault(
        Place(place.file, place.line, rating.conversation_id, rating.turn),
        f"{rating.dimension} of {where} was rated before by the same rater, at {first}",
        "the first is kept; name the column of the rater, if there is one, in a field map",
    )


def _ratings(cells: dict[str, Any], columns: RatingColumns, place: Place) -> list[Rating]:
    name = _text(cells, columns.conversation_id)
    if name is None:
        raise record_fault(
            place, "the rating has no conversation id", f"expected in {columns.conversation_id!r}"
        )
    rater, candidate = _text(cells, columns.rater), _text(cells, columns.candidate)
    note = _text(cells, columns.note)
    try:
        turn = as_turn(_get(cells, columns.turn))
        out: list[Rating] = []
        for dimension, column in columns.scores(cells).items():
            given = _get(cells, column)
            if columns.wide and given in (None, ""):
                continue
            out.append(Rating(name, dimension, as_score(given), turn, rater, candidate, note))
    except ValueError as error:
        raise record_fault(Place(place.file, place.line, name), str(error)) from error
    return out


def _pair(cells: dict[str, Any], columns: RatingColumns, place: Place) -> PairRating:
    a, b = _text(cells, columns.a), _text(cells, columns.b)
    given = _text(cells, columns.winner)
    if a is None or b is None or given is None:
        raise record_fault(place, "the pair lacks a, b or the winner")
    winner = "a" if given == a else "b" if given == b else _WINNERS.get(given.lower())
    if winner is None:
        raise record_fault(
            place, f"the winner is {shown(given)}", "one of a, b, tie, or one of the two names"
        )
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
