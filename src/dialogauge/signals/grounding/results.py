"""Results of tools as text, numbers, names and counts, whatever their form: JSON, tables, plain text."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from dialogauge.core.patterns import lazy_pattern

# ruff: noqa: E501 - a pattern is read as a whole

_LONGEST, _DEEPEST = 200_000, 40  # characters and levels that are read of a result
_TOTALS: Final = lazy_pattern(
    r"(?i)^(?:total|count|num|number|n|hits|matches|matched|total_?(?:count|results|hits|matches|number)|(?:num|number|count)_?(?:of_?)?\w*|\w+_?count|(?!(?:人|晚|天|次|件|张|分|房间|床|指)数)[\u4e00-\u9fff]{1,4}数|数量|共|总计)$"
)
_STATUS_ONLY: Final = lazy_pattern(
    r"(?i)(?:status|ok|success|message|msg|code|query|error|currency|reason|错误|状态|消息|信息|提示|原因|成功)"
)
_NOTHING: Final = lazy_pattern(
    r"(?i)^\W*(?:(?:there (?:are|were) |found |got )?(?:no|zero|0) (?:\w+ ){0,4}?(?:results?|match\w*|found|records?|rows?|entries|items?|available|availability|hits?)|nothing (?:was )?found|not found|none found|none|null|empty|n/a|no\b.{0,60}\b(?:found|match\w*|available)|(?:(?:没有?|未能?)(?:查询|检索|搜索|查|找|搜)到|查无|暂无|无此|不存在).*|(?:没有|未|无)(?:找到|查到|查询到|搜索到|符合|匹配|任何)?.{0,12}(?:结果|数据|记录|匹配|符合|信息)?)\W*$"
)
_SAID: Final = lazy_pattern(
    r"\b(\d{1,5}) (?:\w+ ){0,3}?(?:found|results?|matches|rows?|records|items|options|entries|hits)\b|(?:共|找到|查到)\D{0,4}(\d{1,5})|\b(?:total|count|matches|hits|总数|数量)\W{1,3}(\d{1,5})\b(?![.,]\d)"
)
_CELLS: Final = (r"\s*\|\s*", r"\s*;\s*", r"\t", r"\s{2,}", r"\s*,\s*")  # of tables in plain text


@dataclass(frozen=True)
class Found:
    """What a tool returned."""

    text: str
    """Everything in one text, keys included."""
    numbers: frozenset[float]
    words: frozenset[str]
    """The texts that stand alone under a key of a record in a list: what a reply names an entry by."""
    entries: int | None
    """How many things it returned where it is a list of some; None where it is no list."""
    empty: bool
    """Whether it holds nothing that could be offered."""


@lru_cache(maxsize=2048)
def read_result(text: str) -> Found:
    """Read the result of a tool."""
    text = text[:_LONGEST].strip()
    value = _parsed(text)
    if value is None:
        value = _rows(text)
    if value is None:
        counts = [int(next(filter(None, m.groups()))) for m in _SAID.finditer(text[:2000])]
        empty = not text or bool(_NOTHING.match(text[:200]))
        numbers = frozenset(map(float, re.findall(r"(?m)(?<=\d,)\d{1,9}(?:\.\d{1,9})?$", text)))
        return Found(text, numbers, frozenset(), max(counts, default=None), empty)
    walk = _Walk()
    walk.visit("", value)
    entries, whole = walk.entries(), "\n".join(f"{k}: {v}" for k, v in walk.leaves)
    numbers = frozenset(float(v) for _, v in walk.leaves if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,9})?", v))
    return Found(whole, numbers, frozenset(walk.words), entries, _is_empty(value) or entries == 0)


def _parsed(text: str) -> object:
    """Return the value that a text of JSON, or of a Python literal, holds, also within a short frame."""
    start = re.search(r"[\[{](?=\s*[\[{\"'\]}\d])", text[:200])
    if start is None:
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(text, start.start())
        return value if 2 * (end - start.start()) >= len(text) else None
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text) if len(text) <= 50_000 else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _rows(text: str) -> object:
    """Return the rows of a table in plain text, each by its heads; None for other texts."""
    lines = [line.strip().strip("|").strip() for line in text.splitlines() if line.strip()]
    for cells in _CELLS:
        rows = [re.split(cells, line) for line in lines]
        width = len(rows[0]) if rows else 0
        body = [r for r in rows[1:] if len(r) == width and not all(set(c) <= set("-=: ") for c in r)]
        heads = all(re.search(r"[^\W\d]", c) and ":" not in c for c in rows[0]) if rows else False
        if width >= 2 and body and len(body) >= len(lines) - 3 and heads:
            return [dict(zip(rows[0], row, strict=True)) for row in body]
    return None


@dataclass
class _Walk:
    """Gathers leaves, words and counts of a value."""

    leaves: list[tuple[str, str]] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    lengths: list[int] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)

    def visit(self, key: str, value: object, depth: int = 0, *, listed: bool = False) -> None:
        if isinstance(value, str) and value.strip()[:1] in ("{", "["):
            value = _parsed(value.strip()) or value
        if isinstance(value, list | tuple) or (isinstance(value, Mapping) and _alike(value)):
            if depth <= 2 and not listed:
                self.lengths.append(len(value))
            for name, entry in value.items() if isinstance(value, Mapping) else ((key, e) for e in value):
                self.leaves.append((key, str(name)))
                self._inner(key, entry, depth, listed=isinstance(entry, Mapping) or listed)
        elif isinstance(value, Mapping):
            for name, entry in value.items():
                if _TOTALS.match(str(name)) and isinstance(entry, int | str) and str(entry).isdigit():
                    self.totals.append(int(entry))
                self.leaves.append((key, str(name)))
                self._inner(str(name), entry, depth, listed=listed)
        else:
            self.leaves.append((key, str(value)))
            self.words |= {value} if listed and isinstance(value, str) else set()

    def _inner(self, key: str, value: object, depth: int, *, listed: bool) -> None:
        if depth < _DEEPEST:
            self.visit(key, value, depth + 1, listed=listed)

    def entries(self) -> int | None:
        if self.totals and (self.lengths or len(self.leaves) <= 2):
            return max(self.totals)
        return max(self.lengths) if self.lengths else None


def _alike(value: Mapping[object, object]) -> bool:
    """Whether an object is a list: objects with the same keys under names of their own."""
    inner = [set(map(str, entry)) for entry in value.values() if isinstance(entry, Mapping)]
    return len(inner) >= 2 and len(inner) == len(value) and bool(set.intersection(*inner))


def _is_empty(value: object) -> bool:
    """Whether a value holds nothing: empty lists and objects, zero totals, and what says how it went."""
    if value is None or isinstance(value, str):
        return not value or bool(_NOTHING.match(value.strip()[:200]))
    if isinstance(value, list | tuple):
        return all(map(_is_empty, value))
    if not isinstance(value, Mapping):
        return False
    rest = {str(k): v for k, v in value.items() if not _STATUS_ONLY.fullmatch(str(k))}
    if not rest:
        speech = [v for v in value.values() if isinstance(v, str)]
        return not value or any(_NOTHING.match(v.strip()[:200]) for v in speech)
    totals = [v for k, v in rest.items() if _TOTALS.match(k)]
    holders = [v for k, v in rest.items() if not _TOTALS.match(k)]
    listed = all(isinstance(v, list | tuple | Mapping) or v is None for v in holders)
    return listed and all(map(_is_empty, holders)) and all(str(t).strip() in ("0", "") for t in totals)
