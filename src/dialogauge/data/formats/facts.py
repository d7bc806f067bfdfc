"""What an entry says of a conversation beside its messages: id, names, ratings, and metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dialogauge.data.form import ListedRatings, SourceForm, listed, scored
from dialogauge.data.formats.base import Entry, fault_in
from dialogauge.data.notes import IdPlaces, excerpt
from dialogauge.data.paths import MISSING, is_there, path_of, text_of, there, word_of
from dialogauge.data.ratings import score_at

ITEMS: Final = "@"
"""The messages of a record, in its paths."""

Item = dict[str, Any]
_NAMES: Final = {
    "user": "user_id",
    "candidate": "model",
    "context": "scenario_description",
}
"""What a form calls otherwise than records of ours."""
_CODES: Final = (
    "english en, chinese zh, russian ru, french fr, spanish es, german de, portuguese pt, italian it, "
    "japanese ja, korean ko, turkish tr, arabic ar, vietnamese vi, indonesian id, polish pl, ukrainian uk"
)
LANGUAGES: Final = dict(pair.split() for pair in _CODES.split(", "))
"""Names of languages -> their codes."""


def about_of(record: Item, form: SourceForm, entry: Entry, *, rated: bool) -> Item:
    """Return what holds for a conversation: what a form names, its ratings, and the rest as it stands."""
    named: Item = {}
    for key in ("user", "candidate", "scenario", "context", "profile", "language"):
        if (path := getattr(form, key)) is None:
            continue
        value = path_of(path)(record)
        if key in ("candidate", "scenario") and isinstance(value, list):
            value = "+".join(sorted({one for one in value if isinstance(one, str) and one}))
        if is_there(value):
            words = LANGUAGES if key == "language" else form.words.get(key, {})
            word = value.casefold() if key == "language" and isinstance(value, str) else word_of(value)
            named[_NAMES.get(key, key)] = words.get(word or "", value)
    if isinstance(named.get("profile"), dict):
        hidden = {path.removeprefix("profile.") for path in form.drop}
        named["profile"] = {key: of for key, of in named["profile"].items() if key not in hidden}
    if (own := _id(record, form, entry)) is not None:
        named["conversation_id"] = own
    scores = scores_of(record, form.rated) if rated else {}
    ratings = [*_ratings(record, scores, form, named.get("model"), entry)]
    if rated and form.rating_rows is not None:
        ratings += _rows(record, form.rating_rows, named.get("model"), entry)
    if ratings:
        named["ratings"] = ratings
    used = {ITEMS, *form.drop, *(path.split(".")[0] for path in _used(form))}
    kept = {*record} if form.about is None else {*form.about}
    rest = {
        key: record[key] for key in record if key in kept - used and is_there(record[key]) and key[:1] != "@"
    }
    return {**rest, **named}


def _id(record: Item, form: SourceForm, entry: Entry) -> str | None:
    """Return the first id of a form that no conversation before has."""
    paths = listed(form.id)
    ids = [id for path in paths if (id := text_of(path_of(path)(record)))]
    if paths == ("@made",):
        entry.recognise("ids made from the file name and the number of the record")
    elif ids and entry.made_id in ids[0]:
        hint = "give each an id of its own"
        entry.assume(f"conversations have no id: made from {entry.made_from}", hint)
    if len(ids) < 2:
        return ids[0] if ids else None
    before = entry.context.memo.setdefault("ids", IdPlaces())
    for id in ids[:-1]:
        if before.add(id, 0, entry.place.line or 0) is None:
            return id
    entry.recognise("conversations have the id of one before them: more of them is added to it")
    return ids[-1]


def _ratings(
    record: Item, scores: Item, form: SourceForm, candidate: str | None, entry: Entry
) -> Iterator[Item]:
    """Yield the ratings of a conversation."""
    note, rater = (text_of(path_of(path)(record)) if path else None for path in (form.note, form.rater))
    turn = None if form.rated_turn is None else path_of(form.rated_turn)(record)
    turn = turn if type(turn) is int and turn > 0 else None
    scale = [] if form.scale is None else there(form.scale, record)
    numbers = isinstance(scale, list) and len(scale) == 2 and all(type(of) in (int, float) for of in scale)
    beside = {"note": note, "rater": rater, "candidate": candidate, "turn": turn}
    for name, value in scores.items():
        if not name:
            raise fault_in(entry, "a rating is of no dimension", "name what was rated")
        score = score_at(entry.place, f"the rating of {name}", value)
        if numbers and (isinstance(score, str) or not scale[0] <= score <= scale[1]):
            what = f"the rating of {name} is {excerpt(score)}: off its scale {scale[0]:g}-{scale[1]:g}"
            raise fault_in(entry, what, "mend the score, or the scale beside it")
        yield {"dimension": name, "score": score, **{key: of for key, of in beside.items() if of}}


def _rows(record: Item, rows: ListedRatings, candidate: str | None, entry: Entry) -> Iterator[Item]:
    """Yield the ratings that a record lists."""
    values = path_of(rows.list)(record)
    for value in values if isinstance(values, list) else []:
        row = {**value, "@record": record} if isinstance(value, dict) else {}
        scores, notes = (there(path, row) if path else None for path in (rows.scores, rows.notes))
        if rows.scores is None:
            name, score = text_of(there(rows.dimension, row)), there(rows.score, row)
            if not name or not is_there(score):
                entry.leave_out("without a name or a score", what="ratings", assumed=True)
                continue
            scores = {name: score}
        beside = {"candidate": candidate, "rater": there(rows.rater, row) if rows.rater else None}
        for name, score in scores.items() if isinstance(scores, dict) else ():
            note = text_of(notes.get(name)) if isinstance(notes, dict) else None
            about = {key: of for key, of in {**beside, "note": note}.items() if of}
            if score is not None:
                yield {
                    "dimension": name,
                    "score": score_at(entry.place, f"the rating of {name}", score),
                    **about,
                }


def _used(form: SourceForm) -> Iterator[str]:
    """Yield the paths of a record that are read, and so are no metadata."""
    paths = [*listed(form.messages), *(where for path in form.rated if "." not in (where := scored(path)[0]))]
    paths += [*listed(form.id), *(form.exchange or ()), *(form.pair or () if form.messages == "." else ())]
    paths += [of for of in (form.system, form.context, form.profile, form.answer) if of]
    paths += form.candidate.split(" | ") if form.candidate and "." not in form.candidate else []
    yield from (one.strip().lstrip("<") for path in paths for one in path.split(" | ") if "{" not in one)


def scores_of(record: Any, paths: Mapping[str, Mapping[str, Any]]) -> Item:  # noqa: ANN401
    """Return the scores under paths by their dimensions, in the words of a form."""
    scores: Item = {}
    for path, words in paths.items():
        where, dimension = scored(path)
        value = path_of(where)(record)
        if "*" in where and isinstance(value, list):
            value = value[-1] if value else MISSING
        score = words.get(word_of(value) or "", MISSING) if words else value
        if score is not MISSING and score not in (None, ""):
            name = text_of(path_of(dimension)(record)) if "{" in dimension else dimension
            scores.setdefault(name or "", score)
    return scores


def kept_of(paths: str | Mapping[str, str], record: Item) -> Any:  # noqa: ANN401  # any JSON value
    """Return what stands under a path, or the tables that are made of a list."""
    if isinstance(paths, str):
        return path_of(paths)(record)
    rows, columns = path_of(paths["list"])(record), {k: path_of(of) for k, of in paths.items() if k != "list"}
    rows = [{name: read(row) for name, read in columns.items()} for row in rows if isinstance(row, dict)]
    return [{name: of for name, of in row.items() if of is not MISSING} for row in rows]
