"""JSON in strings and cells: a value of a record that holds an object or a list is read as such.

That comes before recognition, and only where the record as it stands is in no format, or a flat row. What
somebody says stays as it was written, be it JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final

from dialogauge.core import FileFault, Place, RecordFault
from dialogauge.data.formats.columns import USUAL
from dialogauge.data.formats.csv_table import row_records
from dialogauge.data.json_values import (
    JsonValue,
    as_records,
    is_object,
    json_values,
    object_parts,
    starts_json,
    too_deep,
    value_of,
    written_value,
)
from dialogauge.data.sources import OPENED, UNOPENED, LineStream

Record = dict[str, Any]
Values = Iterator[JsonValue | RecordFault]

_LEVELS: Final = 3
"""Strings in strings that are opened."""
_LOOKED_AT: Final = 20
_SEARCHED: Final = 1_000
"""Records among which one must hold JSON in a string: other sources are not looked through for it."""
_SAID: Final = frozenset(key for name in ("content", "prompt", "reply") for key in USUAL[name])
_SPEAKS: Final = frozenset(USUAL["role"])


def opened_streams(stream: LineStream) -> Iterator[LineStream]:
    """Yield a source with its strings opened: those that may be spoken last, and each record in an envelope.

    It is read as the record that its largest opened string holds, with what stands beside it. Nothing is
    yielded where no string holds JSON.
    """
    stream = LineStream(stream.source)
    read = row_records if not starts_json(stream) else _listed if is_object(stream) else json_values
    records = partial(read, stream)
    try:
        if not any(map(_holds_json, islice(records(), _SEARCHED))):
            return
    except FileFault:
        return
    for spoken in (False, True):
        for within in (False, True):
            view = as_records(LineStream(stream.source), partial(_opened, records, spoken, within))
            try:
                first = list(islice(json_values(view), _LOOKED_AT))
            except FileFault:
                return
            if view.memo[OPENED] and any(isinstance(value, JsonValue) for value in first):
                yield view


def _holds_json(value: JsonValue | RecordFault) -> bool:
    """Say whether a record is a string that holds JSON, or has one."""
    record = value.value if isinstance(value, JsonValue) else None
    texts = record.values() if isinstance(record, dict) else [record]
    return any(isinstance(text, str) and _value(text) is not text for text in texts)


def _listed(stream: LineStream) -> Values:
    """Yield the records of the lists in a document."""
    for part in object_parts(stream):
        if part.number:
            yield value_of(part, Place(f"{stream.source.name} record {part.number}"))


def _opened(records: Callable[[], Values], spoken: bool, within: bool, memo: dict[str, Any]) -> Values:  # noqa: FBT001
    memo.update({UNOPENED: 0, OPENED: set()})
    for value in records():
        if isinstance(value, RecordFault):
            yield value
            continue
        holds = _value(value.value) if isinstance(value.value, str) else value.value
        sizes: dict[str, int] = {}
        record = _open(holds, spoken, sizes) if isinstance(holds, dict) else holds
        memo[OPENED].update(sizes, [""] * (holds is not value.value))
        inner = max(
            (key for key in sizes if isinstance(record[key], dict)), key=sizes.__getitem__, default=""
        )
        if not within:
            yield JsonValue(record, value.place, value.number)
        elif inner:
            around = {key: one for key, one in record.items() if key != inner}
            yield JsonValue(around | record[inner], value.place, value.number)
        else:
            memo[UNOPENED] += 1


def _open(record: Mapping[str, Any], spoken: bool, sizes: dict[str, int], level: int = 1) -> Record:  # noqa: FBT001
    """Return a record with its strings opened, and keep the length of each of these."""
    kept = _SAID if not spoken or not _SPEAKS.isdisjoint(record) else ()
    out = dict(record)
    for key, text in record.items():
        if not isinstance(text, str) or key in kept or (value := _value(text)) is text:
            continue
        sizes[key] = len(text)
        deeper = isinstance(value, dict) and level < _LEVELS
        out[key] = _open(value, spoken, {}, level + 1) if deeper else value
    return out


def _value(text: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return the object or list that a text holds; the text itself where it holds none."""
    begins, ends = text.lstrip()[:1], text.rstrip()[-1:]
    if (begins, ends) not in (("{", "}"), ("[", "]")):
        return text
    try:
        value = written_value(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, dict | list) and value and not too_deep(value) else text
