"""Makes two runs of one command equal: fixed names for what varies, few words for what is long."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

#: Names of fields whose values are times or depend on the machine.
VARYING: Final = frozenset({"versions", "written", "seconds", "latency", "tokens_per_second"})
#: What of a table of figures is pinned as it is; a hash stands for the rest.
HEADLINE: Final = ("n", "pearson", "qwk", "mae", "auc", "within_user_pearson", "mean")

#: Numbers of one case are equal up to this part of their size; where a model in single precision was fitted,
#: they hang on the processor, and the case says how far.
EXACT: Final = 1e-9

_WHOLE_ROWS: Final = 2

_DIGEST = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{32,64}(?![0-9a-zA-Z])")
_ADDRESS = re.compile(r"127\.0\.0\.1:\d+")
_FRACTION = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?(?![\w.])")
_SPEED = re.compile(r"[\d.]+ s, \d+ tokens a second")


class Normal:
    """Normalises the outputs of one case; digests are numbered anew in each of them.

    Args:
        folder: Where the case runs.
        condensed: Paths of JSON values, with `*` for any name, of which only headline figures and a
            hash are kept.
    """

    def __init__(self, folder: Path, condensed: tuple[str, ...] = ()) -> None:
        self._folder = str(folder)
        self._condensed = [re.compile(p.replace(".", r"\.").replace("*", r"[^.]*") + "$") for p in condensed]
        self._digests: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Normalise a text."""
        text = _ADDRESS.sub("SERVER", text.replace(self._folder, "FOLDER"))
        return _DIGEST.sub(self._number, _SPEED.sub("SPEED", text))

    def value(self, value: Any, path: str = "") -> Any:
        """Normalise a JSON value; names of an object are put in order."""
        if isinstance(value, dict):
            value = {
                self.text(k): "VARIES" if k in VARYING else self.value(value[k], f"{path}.{k}" if path else k)
                for k in sorted(value)
            }
        elif isinstance(value, list):
            value = [self.value(v, path) for v in value]
        elif isinstance(value, str):
            value = self.text(value)
        elif isinstance(value, float):
            value = float(f"{value:.12g}")
        return _condense(value) if any(p.match(path) for p in self._condensed) else value

    def output(self, text: str) -> Any:
        """Normalise the JSON that a command printed."""
        self._digests.clear()
        return self.value(json.loads(text))

    def file(self, path: Path) -> Any:
        """Normalise what a file holds."""
        self._digests.clear()
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return self.value(json.loads(text))
        if path.suffix == ".jsonl":
            rows = [self.value(json.loads(line), "row") for line in text.splitlines()]
            return _short(rows, condensed=any(p.match("rows") for p in self._condensed))
        if path.suffix == ".csv":
            return [[self.text(cell) for cell in row] for row in csv.reader(io.StringIO(text))]
        return [self.text(line) for line in text.splitlines()]

    def _number(self, found: re.Match[str]) -> str:
        return self._digests.setdefault(found.group(), f"digest-{len(self._digests) + 1}")


def _short(rows: list[Any], *, condensed: bool) -> Any:
    """Name all fields once, and leave out of each row those that hold nothing.

    Where rows are condensed, the first few are kept whole, and of the others the scores and a hash.
    """
    fields = sorted({key for row in rows for key in row})
    kept = [{k: v for k, v in row.items() if not _empty(v)} for row in rows]
    if condensed:
        kept = kept[:_WHOLE_ROWS] + [_condensed_row(row) for row in kept[_WHOLE_ROWS:]]
    return {"fields": " ".join(fields), "rows": kept}


def _condensed_row(row: Mapping[str, Any]) -> str:
    """Say whose row it is, its scores (or what failed) and its raw score, and hash the rest."""
    names = ("conversation_id", "item", "turn", "repeat", "candidate")
    place = " ".join(str(row[name]) for name in names if name in row)
    failed = (row.get("failure") or {}) if "scores" not in row else {}
    scores = row.get("scores") or {k: v["score"] for k, v in row.get("views", {}).items() if v}
    shown = " ".join(f"{k}={v}" for k, v in scores.items())
    raw = row.get("details", {}).get("raw")
    more = "" if raw is None else f" raw={raw:.6g}"
    return f"{place}: {failed.get('kind') if failed else shown}{more} {hash_of(row)}"


def _empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_empty(v) for v in value.values())
    return value is None or value == [] or value == "" or (value == 0 and not isinstance(value, bool))


def _condense(value: Any) -> Any:
    if not isinstance(value, dict):
        return hash_of(value)
    figures = value.get("metrics", value)
    return {k: figures[k] for k in HEADLINE if k in figures} | {"hash": hash_of(value)}


def hash_of(value: Any) -> str:
    """Return a short hash of a JSON value but for its fractions, and one sum that weighs each of these anew.

    So a table whose numbers differ in the last digits can be told from one that is another.
    """
    fractions: list[float] = []
    text = json.dumps(_without_fractions(value, fractions), sort_keys=True, ensure_ascii=False)
    weighed = math.fsum((1 + i % 97 / 97) * x for i, x in enumerate(fractions))
    return hashlib.sha256(text.encode()).hexdigest()[:16] + (f" {weighed:#.12g}" if fractions else "")


def _without_fractions(value: Any, into: list[float]) -> Any:
    if isinstance(value, dict):
        return {k: _without_fractions(value[k], into) for k in sorted(value)}
    if isinstance(value, list):
        return [_without_fractions(v, into) for v in value]
    if isinstance(value, float):
        into.append(value)
        return "fraction"
    if isinstance(value, str):
        into += map(float, _FRACTION.findall(value))
        return _FRACTION.sub("fraction", value)
    return value


# -- comparing ------------------------------------------------------------------------------------------


def differences(expected: Any, actual: Any, close: float = EXACT, path: str = "") -> Iterator[str]:
    """Name each place where two JSON values differ, with both values; `close` fractions are the same."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        yield from _objects(expected, actual, close, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}: {len(expected)} entries expected, {len(actual)} found"
        for i, (e, a) in enumerate(zip(expected, actual, strict=False)):
            yield from differences(e, a, close, f"{path}[{i}]")
    elif not _same(expected, actual, close):
        yield f"{path}: {_shown(expected)} expected, {_shown(actual)} found"


def _objects(
    expected: Mapping[str, Any], actual: Mapping[str, Any], close: float, path: str
) -> Iterator[str]:
    for key in expected | actual:
        place = f"{path}.{key}" if path else key
        if key not in actual:
            yield f"{place}: {_shown(expected[key])} expected, nothing found"
        elif key not in expected:
            yield f"{place}: nothing expected, {_shown(actual[key])} found"
        else:
            yield from differences(expected[key], actual[key], close, place)


def _same(expected: Any, actual: Any, close: float) -> bool:
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, float):
        # The quadratic kappa of a constant is zero but for the last bits.
        near = 1e-12 if close == EXACT else close
        return abs(expected - actual) <= max(close * max(abs(expected), abs(actual)), near)
    if isinstance(expected, str) and expected != actual:
        pairs = zip(_FRACTION.findall(expected), _FRACTION.findall(actual), strict=False)
        words = [_FRACTION.sub("fraction", text) for text in (expected, actual)]
        return words[0] == words[1] and all(_same(float(e), float(a), close) for e, a in pairs)
    return bool(expected == actual)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:150]}..."


# -- writing --------------------------------------------------------------------------------------------


def pretty(value: Any, indent: str = "", room: int = 200) -> str:
    """Write JSON with small values on one line, and one line for each row."""
    plain: Callable[[Any], str] = lambda v: json.dumps(v, ensure_ascii=False)  # noqa: E731
    text = plain(value)
    if len(text) + len(indent) <= room or not isinstance(value, dict | list) or not value:
        return text
    inner = indent + " "
    if isinstance(value, list):
        lines = [pretty(v, inner, room) for v in value]
    else:
        lines = [
            f"{plain(k)}: " + (_rows(v, inner) if k == "rows" else pretty(v, inner, room))
            for k, v in value.items()
        ]
    body = ",\n".join(inner + line for line in lines)
    return ("[\n%s\n%s]" if isinstance(value, list) else "{\n%s\n%s}") % (body, indent)


def _rows(rows: Any, indent: str) -> str:
    if not isinstance(rows, list):
        return pretty(rows, indent)
    body = ",\n".join(f"{indent} {json.dumps(row, ensure_ascii=False)}" for row in rows)
    return f"[\n{body}\n{indent}]" if rows else "[]"
