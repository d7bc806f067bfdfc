"""Samples of every shape, changed as exports change, that must be read by the law of conservation."""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from dialogauge.core import InputError
from dialogauge.data import read_conversations
from dialogauge.data.formats import FORMATS
from dialogauge.data.formats.base import RecordFormat
from fuzzing.conservation import account, is_text, values_of
from fuzzing.mutate import spoil
from fuzzing.targets import Case, placed, use

SHAPES: Final = Path(__file__).parents[1] / "golden/shapes"
_NAMES: Final = sorted(path.name for path in SHAPES.iterdir() if path.name != "expected.json")
_RECORD_FORMATS: Final = {one.name for one in FORMATS if isinstance(one, RecordFormat)}
"""In which each record is a conversation."""
_TABLES: Final = (".json", ".jsonl", ".csv")
_ENCODINGS: Final = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1")
_ADDED: Final = (
    " Grüße „aus Köln“, 5 €",
    "\n```\nUser: not said at all\n```",
    " 谢谢 你的 帮助",
    " 🙂 so nice",
)

Change = Callable[[random.Random, list[Any]], None]
Spot = tuple[Any, Any]


def shape(name: str) -> Case:
    """Reading a changed sample: typed faults, or all of it by the law of conservation."""
    return partial(_case, SHAPES / name)


def _case(path: Path, rng: random.Random, folder: Path) -> str:
    file = folder / path.name
    if path.suffix in _TABLES:
        records, whole = copy.deepcopy(_values(path))
        changes = _CHANGES if whole else _CHANGES[2:]
        for _ in range(rng.randint(1, 3)):
            rng.choice(changes)(rng, records)
        data, whole = _encoded(rng, _written(rng, records, path))
    else:
        records, whole = [], False
        _copy(rng, path, file)
        data = None
    if data is not None:
        file.write_bytes(data)
    try:
        reader = read_conversations([str(file)])
        outcomes = list(reader)
    except InputError as error:
        return placed(error)
    seen = "read"
    for outcome in outcomes:
        if isinstance(outcome, InputError):
            seen = placed(outcome)
        else:
            use(outcome)
    if whole:
        format = next(iter(reader.files.values())).format
        account(records, outcomes, reader.notes, alone=format in _RECORD_FORMATS and _is_alone(path))
    return seen


@cache
def _values(path: Path) -> tuple[list[Any], bool]:
    """Return the records of a sample, and whether there may be several."""
    records = values_of(path)
    return records, path.suffix != ".json" or path.read_bytes().lstrip()[:1] == b"["


@cache
def _is_alone(path: Path) -> bool:
    """Say whether each record of a sample is a conversation."""
    try:
        return len(list(read_conversations([str(path)]))) == len(_values(path)[0])
    except InputError:
        return True


def _copy(rng: random.Random, path: Path, file: Path) -> None:
    """Copy a sample that is no JSON or table, changed in its lines or bytes."""
    if path.is_dir():
        shutil.rmtree(file, ignore_errors=True)
        shutil.copytree(path, file)
        file = rng.choice(sorted(one for one in file.rglob("*") if one.is_file()))
        path = file
    data = path.read_bytes()
    if path.suffix == ".txt":
        lines = data.splitlines(keepends=True)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(lines))
            lines[at : at + rng.randint(0, 1)] = rng.choice(
                ([], [lines[at]], [b"\n"], [lines[at] + lines[0]])
            )
            lines = lines or [b"\n"]
        data, _ = _encoded(rng, b"".join(lines).decode())
    file.write_bytes(spoil(rng, data))


def _spots(at: Any) -> Iterator[Spot]:
    for key in list(at) if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else ():
        yield at, key
        yield from _spots(at[key])


def _spot(rng: random.Random, records: list[Any], wanted: Callable[[Any, Any], bool]) -> Spot | None:
    spots = [(at, key) for at, key in _spots(records) if at is not records and wanted(at, key)]
    return rng.choice(spots) if spots else None


def _drop(rng: random.Random, records: list[Any]) -> None:
    if spot := _spot(rng, records, lambda at, key: True):
        _take_out(records, spot[0].pop(spot[1]))


def _retype(rng: random.Random, records: list[Any]) -> None:
    if spot := _spot(rng, records, lambda at, key: True):
        at, key = spot
        before = at[key]
        packed = {"text": before}, {"0": before}
        kept = [before], *(packed if isinstance(before, str) else [json.dumps(before)])
        at[key] = rng.choice(
            (None, True, False, 0, -1, 4.5, "", " ", [], {}, "5", [None], [{}], *kept, *kept)
        )
        if at[key] not in kept:
            _take_out(records, before)


def _take_out(records: list[Any], value: Any) -> None:
    """Take a text out wherever else it stands."""
    if is_text(value):
        _reword(records, value, "")


def _empty(rng: random.Random, records: list[Any]) -> None:
    if spot := _spot(rng, records, lambda at, key: isinstance(at[key], list | dict)):
        spot[0][spot[1]].clear()


def _repeat_id(rng: random.Random, records: list[Any]) -> None:
    """Give a thing the id of another one."""
    named = [spot for spot in _spots(records) if str(spot[1]).lower().endswith("id")]
    if named:
        at, key = rng.choice(named)
        at[key] = (lambda spot: spot[0][spot[1]])(rng.choice([spot for spot in named if spot[1] == key]))


def _double(rng: random.Random, records: list[Any], *, other: bool = True) -> None:
    """Add a record once more, with other words and the same ids."""
    if records:
        again = [copy.deepcopy(rng.choice(records))]
        for text in [at[key] for at, key in _spots(again) if other and is_text(at[key])]:
            _reword(again, text, text + " once more")
        records.insert(rng.randint(0, len(records)), again[0])


def _double_part(rng: random.Random, records: list[Any]) -> None:
    if spot := _spot(rng, records, lambda at, key: isinstance(at[key], list)):
        _double(rng, spot[0][spot[1]], other=False)


def _shuffle(rng: random.Random, records: list[Any]) -> None:
    rng.shuffle(records)


def _add_words(rng: random.Random, records: list[Any]) -> None:
    """Change a text wherever it stands: an export may hold it several times."""
    if spot := _spot(rng, records, lambda at, key: is_text(at[key])):
        text = spot[0][spot[1]]
        _reword(records, text, text + rng.choice(_ADDED))


def _reword(records: list[Any], text: str, other: str) -> None:
    for at, key in _spots(records):
        if isinstance(at[key], str):
            inside = at[key].strip()[:1] in ("{", "[")
            words = (json.dumps(one)[1:-1] if inside else one for one in (text, other))
            at[key] = at[key].replace(*words)


_CHANGES: Final[tuple[Change, ...]] = (
    _shuffle,
    _double,
    _double_part,
    _drop,
    _retype,
    _empty,
    _repeat_id,
    _add_words,
)
"""The first two are of several records."""


def _written(rng: random.Random, records: list[Any], path: Path) -> str:
    if path.suffix == ".csv":
        out = io.StringIO()
        names = list(dict.fromkeys(key for record in records for key in record))
        writer = csv.DictWriter(out, names)
        writer.writeheader()
        writer.writerows(
            {k: v if isinstance(v, str) else json.dumps(v) for k, v in r.items()} for r in records
        )
        return out.getvalue()
    ascii = rng.random() < 0.5
    if path.suffix == ".json":
        document = records if _values(path)[1] else records[0]
        return json.dumps(document, ensure_ascii=ascii, indent=rng.choice((None, 1)))
    return "".join(json.dumps(record, ensure_ascii=ascii) + "\n" for record in records)


def _encoded(rng: random.Random, text: str) -> tuple[bytes, bool]:
    """Return a text in one of several encodings, and whether it is whole."""
    draw = rng.random()
    if draw < 0.6:
        return text.encode(), True
    if draw < 0.65:
        return text.replace("\n", "\r\n").encode(), "\r" not in text
    if draw < 0.7:
        return gzip.compress(text.encode(), 1, mtime=0), True
    if draw < 0.75:
        return text.encode()[: rng.randrange(len(text) + 1)], False
    encoding = rng.choice(_ENCODINGS)
    try:
        return text.encode(encoding), True
    except UnicodeEncodeError:
        return text.encode(), True


SAMPLES: Final[Mapping[str, Case]] = {f"sample {name}": shape(name) for name in _NAMES}
