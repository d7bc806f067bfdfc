"""Rating files: `conversation_id, turn, candidate, dimension, rater, score`, or `a, b, winner`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dialogauge.core import PairRating, Place, Rating, RecordFault, shown_path
from dialogauge.data.field_map import NO_MAP, FieldMap
from dialogauge.data.json_values import json_values, starts_json
from dialogauge.data.notes import NoteBook, excerpt, file_fault, record_fault
from dialogauge.data.opening import InputSource, locate
from dialogauge.data.paths import MISSING, look_up
from dialogauge.data.rating_columns import (
    IMPORT,
    MARKS,
    ONE_DIMENSION,
    RatingColumns,
    RatingForm,
    RatingRows,
    Wide,
    choice_of_page,
    columns_of,
    score_in,
)
from dialogauge.data.ratings import RatingTable, as_turn
from dialogauge.data.sources import LineStream
from dialogauge.data.tables import open_table
from dialogauge.text import counted

MOST_RATINGS: Final = 1_000_000
"""Of a rating file or folder; they are kept in memory, some 400 bytes each."""
_NAMED: Final = 1000
"""Rows that cannot be read and are named one by one."""
_DELIMITERS: Final = {";": "semicolons", "\t": "tabs", "|": "bars"}
_TIES = ("tie", "tie (bothbad)", "both_bad")
_WINNERS = {"a": "a", "model_a": "a", "b": "b", "model_b": "b"} | dict.fromkeys(_TIES, "tie")
_SIDES = ("left", "right")
_NO_GROUPS: Final[Mapping[str, str]] = {}
_AGAIN: Final = "ratings were given again by the same rater: the latest counts"
_Raw = tuple[dict[str, Any], Place]


def read_ratings(
    path: str | Path,
    *,
    mapping: FieldMap | None = None,
    keep: Sequence[str] = (),
    wide: Wide = "dimensions",
    where: Sequence[tuple[str, str]] = (),
) -> RatingTable:
    """Read a rating file, JSONL, JSON or CSV, also gzip; the files of a folder are read as one.

    Of a folder of `annotate` what was imported is read, not the files of raters that lie there too.

    What one named rater rates again counts as it was rated last, and is noted. Unreadable rows are in
    `faults`: no id, no score, a turn that is no whole number, a second rating of what nobody says who rated.

    Args:
        path: Of the file or folder.
        mapping: Names the columns that have other names than usual.
        keep: Further columns, to be kept as the `groups` of each rating.
        wide: What the columns of a wide table are: dimensions, or raters of one dimension.
        where: Further columns with the value that they must have; other rows are as if they were not there.

    Raises:
        FileFault: A file cannot be read, or has no columns of ratings, or none that is to be kept.
    """
    asked = RatingForm(mapping or NO_MAP, wide, tuple(dict.fromkeys([*keep, *(name for name, _ in where)])))
    gathered = _Gathered()
    for source in locate([str(_imported(Path(path)))])[0]:
        for outcome in _outcomes(source, asked, gathered):
            if isinstance(outcome, RecordFault) or has_groups(outcome, where):
                gathered.add(outcome)
            if gathered.n > MOST_RATINGS:
                hint = "split them by conversation, and the log with them"
                raise file_fault(Place(source.name), f"more than {MOST_RATINGS:,} ratings", hint)
    return gathered.table


def has_groups(rating: Rating | PairRating, where: Sequence[tuple[str, str]]) -> bool:
    """Say whether a rating has a value in each of some further columns."""
    return all(rating.groups.get(name) == value for name, value in where)


def _imported(path: Path) -> Path:
    """Return the ratings in a folder of `annotate`, any other path as it is; FileFault before any import."""
    if not (path / "plan.json").is_file():
        return path
    if not (path / "answers.jsonl").is_file():
        if not (path / "guideline.html").is_file():  # another plan than ours
            return path
        hint = f"import what raters send back: dialogauge annotate import {shown_path(path)} FILES..."
        raise file_fault(Place(shown_path(path)), "no ratings were imported into this folder yet", hint)
    pairs = path / "pairs.jsonl"
    return pairs if pairs.is_file() else path / "ratings.jsonl"


class _Gathered:
    """What was read so far."""

    def __init__(self) -> None:
        self.notes, self._faults = NoteBook(), _Faults()
        self._ratings: dict[tuple[object, ...], Rating] = {}
        self._pairs: dict[tuple[object, ...], PairRating] = {}
        self._groups: dict[tuple[str, ...], Mapping[str, str]] = {}

    @property
    def n(self) -> int:
        return len(self._ratings) + len(self._pairs)

    @property
    def table(self) -> RatingTable:
        kept = tuple(self._ratings.values()), tuple(self._pairs.values())
        return RatingTable(*kept, self._faults.all, self.notes.notes)

    def add(self, outcome: Rating | PairRating | RecordFault) -> None:
        """Add what a row holds: the latest where a named rater says it again, else the first."""
        if isinstance(outcome, RecordFault):
            self._faults.append(outcome)
        elif isinstance(outcome, PairRating):
            pair = _pair_key(outcome) or (len(self._pairs),)
            if pair in self._pairs:
                self.notes.recognise(_AGAIN, outcome.place)
            self._pairs[pair] = outcome
        else:
            who = outcome.rater, outcome.candidate
            key = outcome.conversation_id, outcome.turn, outcome.dimension, *who
            first = self._ratings.get(key)
            if first is None or outcome.rater is not None:
                self._ratings[key] = outcome
            if first is not None and outcome.rater is None:
                self._faults.append(_duplicate(outcome, first))
            elif first is not None:
                self.notes.recognise(_AGAIN, outcome.place)

    def groups_of(self, cells: dict[str, Any], columns: RatingColumns) -> Mapping[str, str]:
        """Return what is kept beside a rating, one mapping for each combination: a million share a few."""
        if not columns.keep:
            return _NO_GROUPS
        values = {name: _text(cells, column) for name, column in columns.keep.items()}
        groups = {name: value for name, value in values.items() if value is not None}
        return self._groups.setdefault(tuple(v or "" for v in values.values()), groups)


def _pair_key(pair: PairRating) -> tuple[object, ...] | None:
    """Return what a named rater chose about; None where the same names may stand for other replies."""
    if pair.rater is None or pair.conversation_id is None:
        return None
    return pair.conversation_id, pair.turn, pair.dimension, pair.rater, frozenset((pair.a, pair.b))


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
    source: InputSource, asked: RatingForm, gathered: _Gathered
) -> Iterator[Rating | PairRating | RecordFault]:
    """Yield what the rows of a file hold, in order."""
    stream = LineStream(source)
    columns = columns_of(_look_at(stream, gathered.notes), asked, gathered.notes)
    delimited = not starts_json(stream)
    for row in _rows(stream):
        if isinstance(row, RecordFault):
            yield row
            continue
        cells, place = row
        try:
            if delimited and not any(map(str.strip, cells.values())):
                gathered.notes.recognise("rows are empty and left out", place)
            elif columns.compares:
                yield _pair(cells, columns, place, gathered)
            elif not (columns.page and _set_aside(cells, columns, place, gathered.notes)):
                yield from _ratings(cells, columns, place, gathered)
        except RecordFault as fault:
            yield fault
    stream.note_unread(gathered.notes)


def _look_at(stream: LineStream, notes: NoteBook) -> RatingRows:
    """Note the form of a file; raises `FileFault` without rows."""
    place = Place(stream.source.name)
    if stream.source.is_wide():
        notes.recognise("files are in UTF-16", place)
    delimiter = "," if starts_json(stream) else open_table(stream).delimiter
    if delimiter in _DELIMITERS:
        notes.recognise(f"files have cells parted by {_DELIMITERS[delimiter]}", place)
    names = list(dict.fromkeys(key for row in _cells(stream) for key in row))
    if not names:
        raise file_fault(place, "the file holds no ratings")
    return RatingRows(place, names, lambda: _cells(stream), delimiter != ",")


def _set_aside(cells: dict[str, Any], columns: RatingColumns, place: Place, notes: NoteBook) -> bool:
    """Say whether a row of a rating page has no score, and is noted; raises `RecordFault` for a choice."""
    fields = columns.fields
    if _get(cells, fields.score) in (None, ""):
        for mark, what in MARKS.items():
            if cells.get(mark):
                notes.recognise(what, place)
                return True
        if _text(cells, fields.winner) is not None:
            raise choice_of_page(place)
    elif cells.get("item") == _text(cells, fields.conversation_id) is not None:
        notes.assume(f"ratings are of items of a blinded page, not of conversations: {IMPORT}", place)
    return False


def _cells(stream: LineStream) -> Iterator[dict[str, Any]]:
    """Yield the cells of the rows that can be read."""
    return (row[0] for row in _rows(stream) if not isinstance(row, RecordFault))


def read_rows(path: str | Path) -> Iterator[tuple[dict[str, Any], Place] | RecordFault]:
    """Yield the rows of a file as they stand, JSONL, JSON or CSV; raises `FileFault` as `read_ratings`."""
    for source in locate([str(path)])[0]:
        yield from _rows(LineStream(source))


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
    message = f"{rating.dimension} of {where} was rated before, at {before}, and nothing says by whom"
    hint = "the first is kept; name the column of the rater in a field map (--map)"
    return RecordFault(message, place=rating.place, hint=hint)


def _scores(cells: dict[str, Any], columns: RatingColumns) -> Iterator[tuple[str, str | None, str]]:
    """Yield dimension, rater and column of each score in one row."""
    fields = columns.fields
    rater, dimension = _text(cells, fields.rater), _text(cells, fields.dimension)
    if not fields.ratings and fields.score is not None:
        yield dimension or fields.score, rater, fields.score
    for name, column in fields.ratings.items():
        if _get(cells, column) not in (None, ""):
            yield (dimension or ONE_DIMENSION, name, column) if columns.raters else (name, rater, column)


def _ratings(
    cells: dict[str, Any], columns: RatingColumns, place: Place, gathered: _Gathered
) -> list[Rating]:
    fields = columns.fields
    name = _text(cells, fields.conversation_id)
    if name is None:
        hint = f"expected in {fields.conversation_id!r}"
        raise record_fault(place, "the rating has no conversation id", hint)
    candidate, note = _text(cells, fields.candidate), _text(cells, fields.note)
    try:
        turn, weight = as_turn(_get(cells, fields.turn)), _weight(cells, columns)
        at = Place(place.file, place.line, name, turn)
        groups, digest = gathered.groups_of(cells, columns), _text(cells, "digest")
        out: list[Rating] = []
        for dimension, rater, column in _scores(cells, columns):
            score, remark = score_in(_get(cells, column), commas=columns.commas)
            if remark is not None:
                gathered.notes.recognise(remark, at)
            out.append(
                Rating(name, dimension, score, turn, rater, candidate, note, at, weight, groups, digest)
            )
    except ValueError as error:
        raise record_fault(Place(place.file, place.line, name), str(error)) from error
    return out


def _weight(cells: dict[str, Any], columns: RatingColumns) -> float | None:
    value = _get(cells, columns.fields.weight)
    if value is None or value == "":
        return None
    weight, _ = score_in(value, commas=columns.commas)
    if isinstance(weight, str) or weight <= 0:
        msg = f"the weight is {excerpt(value)}: not a number above 0"
        raise ValueError(msg)
    return weight


def _pair(cells: dict[str, Any], columns: RatingColumns, place: Place, gathered: _Gathered) -> PairRating:
    fields = columns.fields
    a, b = _text(cells, fields.a), _text(cells, fields.b)
    choice = _text(cells, fields.winner)
    if a is None or b is None or choice is None:
        raise record_fault(place, "the pair lacks a, b or the winner")
    if a == b:
        raise record_fault(place, f"a and b are both {excerpt(a)}")
    winner, first = _side(choice, a, b), _side(_text(cells, fields.shown_first) or "a", a, b)
    if winner is None:
        hint = "one of a, b, tie, or one of the two names"
        if choice.lower() in _SIDES:
            hint += f"; who stood left or right only a plan knows: {IMPORT}"
        raise record_fault(place, f"the winner is {excerpt(choice)}", hint)
    if first is None or first == "tie":
        shown = excerpt(_get(cells, fields.shown_first))
        raise record_fault(place, f"shown first was {shown}", "one of a, b, or one of the two names")
    try:
        turn, weight = as_turn(_get(cells, fields.turn)), _weight(cells, columns)
    except ValueError as error:
        raise record_fault(place, str(error)) from error
    rater, dimension = _judge(cells, fields.rater), _text(cells, fields.dimension)
    name, groups = _text(cells, fields.conversation_id), gathered.groups_of(cells, columns)
    at = Place(place.file, place.line)
    return PairRating(a, b, winner, rater, dimension, name, turn, at, weight, groups, first)


def _judge(cells: dict[str, Any], path: str | None) -> str | None:
    """Return who chose; MT-Bench writes a list, as `["gpt-4", "pair-v2"]`."""
    value = _get(cells, path)
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return _text(cells, path)


def _side(text: str, a: str, b: str) -> str | None:
    """Return `a`, `b` or `tie` for what names it; None for anything else."""
    return "a" if text == a else "b" if text == b else _WINNERS.get(text.lower())


def _get(cells: dict[str, Any], path: str | None) -> Any:  # noqa: ANN401  # any JSON value
    value = MISSING if path is None else look_up(cells, path)
    return None if value is MISSING else value


def _text(cells: dict[str, Any], path: str | None) -> str | None:
    value = _get(cells, path)
    if value is None or isinstance(value, bool | dict | list):
        return None
    return str(value).strip() or None
