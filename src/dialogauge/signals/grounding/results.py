"""Results of tools as records and counts, whatever their form: JSON, JSON within JSON, tables, plain text."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

# ruff: noqa: E501 - a pattern is read as a whole

Scalar = str | int | float | bool | None

_LONGEST: Final = 200_000  # characters that are read of a result
_TOTALS: Final = re.compile(
    r"^(?:total|count|num|number|n|hits|matches|total_?(?:count|results|hits|matches|number)"
    r"|(?:num|number|count)_?(?:of_?)?\w*|\w+_?count|results_?count|matched|(?!(?:人|晚|天|次|件|张|分|房间|床|指)数)[\u4e00-\u9fff]{1,4}数|数量|共|总计|结果数|条数|总条数)$",
    re.IGNORECASE,
)
_STATUS_ONLY: Final = frozenset(
    {
        "status",
        "ok",
        "success",
        "message",
        "msg",
        "code",
        "query",
        "error",
        "currency",
        "reason",
        "错误",
        "状态",
        "消息",
        "信息",
        "提示",
        "原因",
        "成功",
    }
)
_NOTHING: Final = re.compile(
    r"^\W*(?:(?:there (?:are|were) |found |got )?(?:no|zero|0) (?:\w+ ){0,4}?(?:results?|match\w*|found|records?|rows?|entries|items?|available|availability|hits?)"
    r"|nothing (?:was )?found|not found|none found|none|null|empty|n/a|no\b.{0,60}\b(?:found|match\w*|available)"
    r"|(?:(?:没有?|未能?)(?:查询|检索|搜索|查|找|搜)到|查无|暂无|无此|不存在).*"
    r"|(?:没有|未|无)(?:找到|查到|查询到|搜索到|符合|匹配|任何)?.{0,12}(?:结果|数据|记录|匹配|符合|信息)?)\W*$",
    re.IGNORECASE,
)
_PAIR: Final = re.compile(
    r"\s*[-*•]?\s*([A-Za-z_\u4e00-\u9fff][\w \u4e00-\u9fff/()-]{0,40}?)\s*[:：=]\s*(.+?)\s*$"
)


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """One object of a result, with what its inner objects hold; lists of objects are records of their own."""

    fields: tuple[tuple[str, Scalar], ...]

    def values(self, key: str) -> tuple[Scalar, ...]:
        """Return what it holds under a key."""
        return tuple(v for k, v in self.fields if k == key)


@dataclass(frozen=True)
class Found:
    """What a tool returned."""

    text: str
    """Everything in one text, keys included."""
    leaves: tuple[tuple[str, Scalar], ...]
    """Keys (the nearest that names it) and single values, in order."""
    lists: tuple[tuple[ResultRecord, ...], ...]
    """The lists of records, of two or more fields each."""
    counts: frozenset[int]
    """Lengths of lists, and how many entries of a list share a value."""
    entries: int | None
    """How many things it returned where it is a list of some; None where it is no list."""
    empty: bool
    """Whether it holds nothing that could be offered."""
    columns: tuple[tuple[float, ...], ...] = ()
    """Numbers under the names of one object that holds nothing else."""


@lru_cache(maxsize=2048)
def read_result(text: str) -> Found:
    """Read the result of a tool."""
    text = text[:_LONGEST].strip()
    value = _parsed(text)
    if value is None:
        value = _embedded(text)
    in_lines = value is None
    if value is None:
        value = _rows(text)
    if value is None:
        return Found(
            text,
            (("", text),) if text else (),
            (),
            frozenset({*_said_counts(text), *_lines(text)}),
            max(_said_counts(text), default=None),
            not text or bool(_NOTHING.match(text[:200])),
        )
    walk = _Walk()
    walk.visit("", value, None)
    lists = tuple(tuple(r for r in rows) for rows in walk.lists)
    entries = walk.entries()
    empty = _is_empty(value) or entries == 0
    flat = "\n".join(f"{k}: {v}" for k, v in walk.leaves)
    whole = text if in_lines else f"{text}\n{flat}" if walk.nested else flat
    return Found(
        whole, tuple(walk.leaves), lists, frozenset(walk.counts), entries, empty, tuple(walk.columns)
    )


class _Rows(list[dict[str, str]]):
    """The rows of a table in plain text."""


def _parsed(text: str) -> object:
    """Return the value that a text of JSON, or of a Python literal, holds; None for other texts."""
    if text[:1] not in ("{", "[", '"'):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text[0] == '"' or len(text) > 50_000:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _embedded(text: str) -> object:
    """Return the JSON that stands within a short frame of words or tags; None where there is none."""
    m = re.search(r"[\[{](?=\s*[\[{\"\]}])", text[:200])
    if m is None:
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(text, m.start())
    except (ValueError, RecursionError):
        return None
    return value if 2 * (end - m.start()) >= len(text) else None


def _rows(text: str) -> object:
    """Return the rows of a table, or the pairs of lines `key: value`; None for other texts."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for split in (_by_bar, _by_semicolon, _by_tab, _by_spaces, _by_comma):
        rows = [split(line) for line in lines]
        width = len(rows[0]) if rows else 0
        body = [r for r in rows[1:] if len(r) == width and not all(set(c) <= set("-=: ") for c in r)]
        if (
            width >= 2
            and body
            and len(body) >= len(lines) - 3
            and all(re.search(r"[^\W\d]", c) for c in rows[0])
            and not any(":" in c and split is not _by_bar for c in rows[0])
        ):
            return _Rows(dict(zip(rows[0], row, strict=True)) for row in body)
    parts = lines if len(lines) > 1 else re.split(r"[;；]\s*", text)
    pairs = [m for part in parts if (m := _PAIR.match(part))]
    if len(pairs) >= 2 and len(pairs) >= 0.6 * len(parts):
        return _objects([(m[1].strip(), m[2]) for m in pairs])
    return None


def _objects(pairs: Sequence[tuple[str, str]]) -> object:
    """Return pairs as one object, or as several where the first key comes again."""
    starts = [i for i, (key, _) in enumerate(pairs) if key == pairs[0][0]]
    parts = [dict(pairs[a:b]) for a, b in zip(starts, [*starts[1:], len(pairs)], strict=True)]
    if sum(map(len, parts)) < len(pairs):
        return None  # objects within objects
    return _Rows(parts) if len(parts) > 1 else parts[0]


def _by_bar(line: str) -> list[str]:
    return [c.strip() for c in line.strip("|").split("|")] if "|" in line else []


def _by_semicolon(line: str) -> list[str]:
    return [c.strip() for c in line.split(";")] if line.count(";") >= 2 else []


def _by_tab(line: str) -> list[str]:
    return [c.strip() for c in line.split("\t")] if "\t" in line else []


def _by_spaces(line: str) -> list[str]:
    cells = re.split(r"\s{2,}", line)
    return (
        cells
        if len(cells) > 1
        else line.split()
        if len(line.split()) >= 3 and not re.search(r"[.。!?]$", line)
        else []
    )


def _by_comma(line: str) -> list[str]:
    tight = line.count(",") == 1 and re.fullmatch(r"[^\s,]+,[^\s,]+", line)
    return [c.strip() for c in line.split(",")] if line.count(",") >= 2 or tight else []


@dataclass
class _Walk:
    """Gathers leaves, records and counts of a value."""

    leaves: list[tuple[str, Scalar]] = field(default_factory=list)
    lists: list[list[ResultRecord]] = field(default_factory=list)
    counts: set[int] = field(default_factory=set)
    lengths: list[int] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    nested: bool = False
    columns: list[tuple[float, ...]] = field(default_factory=list)

    def visit(self, key: str, value: object, record: list[tuple[str, Scalar]] | None, depth: int = 0) -> None:
        if depth > 40:
            return
        if (
            isinstance(value, str)
            and value.strip()[:1] in ("{", "[")
            and (inner := _parsed(value.strip())) is not None
        ):
            self.nested = True
            value = inner
        if isinstance(value, Mapping):
            self._object(key, value, record, depth)
        elif isinstance(value, list | tuple):
            self._list(key, list(value), record, depth)
        elif value is None or isinstance(value, str | int | float):
            self.leaves.append((key, value))
            if record is not None:
                record.append((key, value))
            if isinstance(value, str) and depth == 0:
                self.counts |= set(_said_counts(value))
        else:
            self.visit(key, str(value), record, depth + 1)

    def _object(
        self, key: str, value: Mapping[object, object], record: list[tuple[str, Scalar]] | None, depth: int
    ) -> None:
        if rows := _named_rows(key or "id", value):
            self._list(key, rows, record, depth)
            return
        if len(value) >= 2 and all(re.fullmatch(r"-?\d+(?:\.\d+)?", str(v)) for v in value.values()):
            self.columns.append(tuple(abs(float(str(v))) for v in value.values()))
        if len(value) >= 2 and (
            all(isinstance(v, int | float) for v in value.values())
            or all(str(v).isdigit() for v in value.values())
        ):
            self.counts.add(len(value))  # names of things, each with its number
        own: list[tuple[str, Scalar]] = [] if record is None else record
        for name, entry in value.items():
            text = str(name)
            if (
                isinstance(entry, int | str)
                and not isinstance(entry, bool)
                and _TOTALS.match(text)
                and str(entry).strip().isdigit()
            ):
                self.totals.append(int(entry))
                self.counts.add(int(entry))
            if isinstance(entry, Mapping | list | tuple) and not re.fullmatch(r"[\w-]*\d[\w-]*", text):
                self.leaves.append((key, text))  # a name that stands for what it holds
            elif re.search(r"[\s\d]", text) or text[:1].isupper():
                self.leaves.append((key, text))
            self.visit(text, entry, own, depth + 1)

    def _list(
        self, key: str, entries: list[object], record: list[tuple[str, Scalar]] | None, depth: int
    ) -> None:
        self.counts.add(len(entries))
        if depth <= 2 and (record is None or len(record) <= 3):
            self.lengths.append(len(entries))
        rows = []
        for entry in entries:
            if isinstance(entry, Mapping):
                own: list[tuple[str, Scalar]] = []
                self.visit(key, entry, own, depth + 1)
                rows.append(ResultRecord(tuple(own)))
            else:
                self.visit(key, entry, record, depth + 1)
        if rows:
            self.lists.append(rows)
            self.counts |= _shared(rows)

    def entries(self) -> int | None:
        if self.totals and (self.lengths or len(self.leaves) <= 2):
            return max(self.totals)
        return max(self.lengths) if self.lengths else None


def _named_rows(key: str, value: Mapping[object, object]) -> list[object]:
    """Return objects under names of their own as rows, each with its name; none where they are not alike."""
    inner = {str(name): entry for name, entry in value.items() if isinstance(entry, Mapping)}
    if len(inner) < 2 or len(inner) < len(value):
        return []
    shared = set.intersection(*(set(map(str, entry)) for entry in inner.values()))
    if len(shared) < min(2, *map(len, inner.values())):
        return []
    settled = {name: any(str(v) == name for v in entry.values()) for name, entry in inner.items()}
    return [dict(entry) if settled[name] else {key: name, **entry} for name, entry in inner.items()]


def _shared(rows: Sequence[ResultRecord]) -> set[int]:
    """Return how many records share a value, how many have two in common, and how many values a key has."""
    single = Counter(pair for row in rows for pair in set(row.fields))
    keys = Counter(key for key, _ in single)
    out = set(single.values()) | set(keys.values())
    return {n for n in out if n > 0}


_SAID: Final = re.compile(
    r"\b(\d{1,5}) (?:\w+ ){0,3}?(?:found|results?|matches|rows?|records|items|options|entries|hits)\b|(?:共|找到|查到)\D{0,4}(\d{1,5})|\b(?:total|count|matches|hits|总数|数量)\W{1,3}(\d{1,5})\b(?![.,]\d)"
)


def _said_counts(text: str) -> Iterator[int]:
    for m in _SAID.finditer(text[:2000]):
        yield int(m[1] or m[2] or m[3])


def _lines(text: str) -> Iterator[int]:
    """Yield how many lines a text has, how many of them are points of a list, and how many parts between commas."""
    lines = [line for line in text.splitlines() if line.strip()]
    yield from (len(lines) - head for head in range(4) if len(lines) > head)  # of a table under a head
    yield from Counter(m[1] for line in lines if (m := _PAIR.match(line))).values()
    yield sum(bool(re.match(r"\s*(?:[-*•]|\(?\d{1,2}[.)、])", line)) for line in lines)
    yield from (len(re.split(r"[,，、;；]", line)) for line in lines)


def _is_empty(value: object) -> bool:
    """Whether a value holds nothing: empty lists and objects, zero totals, and what says how it went."""
    if value is None or value in ("", [], {}, ()):
        return True
    if isinstance(value, str):
        return bool(_NOTHING.match(value.strip()[:200]))
    if isinstance(value, list | tuple):
        return all(map(_is_empty, value)) and not any(isinstance(v, bool | int | float) for v in value)
    if isinstance(value, Mapping):
        rest = {k: v for k, v in value.items() if str(k).lower() not in _STATUS_ONLY}
        content = [v for k, v in rest.items() if not _TOTALS.match(str(k))]
        totals = [v for k, v in rest.items() if _TOTALS.match(str(k))]
        if not rest:
            speech = [v for v in value.values() if isinstance(v, str)]
            return bool(speech) and any(_NOTHING.match(v.strip()[:200]) for v in speech)
        holders = [v for v in content if isinstance(v, list | tuple | Mapping) or v is None]
        return (
            bool(holders or totals)
            and all(map(_is_empty, holders))
            and len(holders) == len(content)
            and not any(str(t).strip() not in ("0", "") for t in totals)
        )
    return False
