"""Which record of a result a part of a reply speaks of, and what its keys are called there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dialogauge.signals.grounding.known import plain, stemmed
from dialogauge.signals.grounding.results import Found, ResultRecord, Scalar
from dialogauge.signals.grounding.values import TextValue, read_values

# ruff: noqa: SIM905 - a list of words is read as a whole

_KEY_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[\u4e00-\u9fff]+")
_PALE: Final = frozenset(
    """
    id name number no of the per and in at by for is to a an value total amount item type data result info
    list code key text cents usd eur gbp cny c f mm km m s
    """.split()
)
_NAMING: Final = re.compile(
    r"name|title|(?:^|_)id$|ID$|number|sku|model|room|seat$|film|doctor|street|subject|label|product|hotel|restaurant|flight|train|名|标题|车次|航班|型号|编号|房号|医生|酒店|餐厅|商品|项目|地点|线路",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def key_words(key: str) -> frozenset[str]:
    """Return the telling words of a key: `seats_left` and `seatsLeft` are seat and left."""
    words = (stemmed(w.lower()) for w in _KEY_PART.findall(key))
    return frozenset(w for w in words if w not in _PALE and len(w) > 1)


@dataclass(frozen=True, slots=True)
class RecordPart:
    """What a reply says of one record: from the mention of its name to that of another."""

    record: ResultRecord
    others: tuple[ResultRecord, ...]
    """Those of the same list."""
    text: str
    start: int


_Mention = tuple[int, int, int]
"""Where a record is named, and its number."""


def parts_of(reply: str, results: Sequence[Found]) -> Iterator[RecordPart]:
    """Yield the parts of a reply that speak of one record of a list of several: of the latest such list."""
    low = plain_same(reply)
    for rows in (rows for result in reversed(results) for rows in reversed(result.lists)):
        if not 2 <= len(rows) <= _MOST:
            continue
        mentions = _mentions(low, rows)
        for at, (_, end, number) in enumerate(mentions):
            stop = next((m[0] for m in mentions[at + 1 :] if m[2] != number), len(reply))
            others = tuple(r for n, r in enumerate(rows) if n != number)
            text = reply[end:stop]
            if stop < len(reply):  # what stands right before the next name may be of that one
                text = _BEFORE_NEXT.sub("", text)
            yield RecordPart(rows[number], others, _of_one(text), end)
        if mentions:
            return


_MOST: Final = 400
_BEFORE_NEXT: Final = re.compile(r"[,，;；、][^,，;；、\n]*$")
_ENDS: Final = re.compile(r"(?<=[。!?！？])|(?<=\.)\s(?=[A-Z])")


def _of_one(text: str) -> str:
    """Return the first sentence of a text, or the list that begins with it."""
    text = re.split(r"\n\s*\n|\n(?=[^\s*•-])", text)[0]
    if "\n" in text[:2] or re.match(r"[^\n]{0,60}\n\s*[-*•]", text):
        return text
    return _ENDS.split(text)[0]


def _mentions(low: str, rows: Sequence[ResultRecord]) -> list[_Mention]:
    out: list[_Mention] = []
    for number, names in _names(rows).items():
        for name in names:
            ends = r"(?<![a-z0-9]){}(?![a-z0-9])" if name.isascii() else "{}"
            result = re.finditer(ends.format(re.escape(name)), low)
            out.extend((m.start(), m.end(), number) for m in result)
    kept: list[_Mention] = []
    for mention in sorted(out, key=lambda m: (m[0], -m[1])):
        if not kept or mention[0] >= kept[-1][1]:
            kept.append(mention)
    return kept


def same_thing(part: RecordPart, record: ResultRecord) -> bool:
    """Whether a record may be of the same thing as that of a part: they share a naming value."""
    names = {v for k, v in part.record.fields if _NAMING.search(k) and isinstance(v, str)}
    return any(v in names for k, v in record.fields if _NAMING.search(k))


def plain_same(text: str) -> str:
    """Return a text in lower case, as long as it was."""
    low = text.lower()
    return low if len(low) == len(text) else text


def _names(rows: Sequence[ResultRecord]) -> dict[int, list[str]]:
    """Return for each record the texts that name it alone."""
    seen: dict[str, set[int]] = {}
    for number, row in enumerate(rows):
        for key, value in row.fields:
            if _NAMING.search(key) and isinstance(value, str) and _can_name(value):
                seen.setdefault(plain_same(value), set()).add(number)
    out: dict[int, list[str]] = {}
    for name, numbers in seen.items():
        if len(numbers) == 1:
            out.setdefault(next(iter(numbers)), []).append(name)
    return out


def _can_name(value: str) -> bool:
    han = bool(re.fullmatch(r"[\u4e00-\u9fffA-Za-z·]{2,12}", value))
    return han or (3 <= len(value) <= 60 and bool(re.search(r"[^\W\d]", value)))


def values_of(record: ResultRecord) -> list[TextValue]:
    """Return the values that a record holds."""
    return [
        v
        for key, value in record.fields
        for v in read_values(f"{key}: {value}" if not isinstance(value, str) else value)
    ]


def holds(record: ResultRecord, value: TextValue) -> bool:
    """Whether a record holds a value, in whatever form."""
    return any(_same(value, other) for other in values_of(record))


def _same(a: TextValue, b: TextValue) -> bool:
    if a.kind == "code" or b.kind == "code":
        return a.kind == b.kind and a.text == b.text
    if a.kind == "clock" or b.kind == "clock":
        return a.kind == b.kind and (
            a.amount == b.amount or (a.amount % 720 == b.amount % 720 and not (a.exact and b.exact))
        )
    numeric = {"money", "number", "percent"}
    return (a.kind == b.kind or {a.kind, b.kind} <= numeric) and abs(a.amount - b.amount) < 1e-9


def yes_or_no(value: Scalar) -> bool | None:
    """Return what a flag says; None for another value."""
    if isinstance(value, bool):
        return value
    word = plain(str(value)).strip() if isinstance(value, str) else ""
    if word in ("yes", "true", "y", "included", "有", "是", "支持"):
        return True
    return False if word in ("no", "false", "n", "not included", "无", "否", "没有", "不支持") else None
