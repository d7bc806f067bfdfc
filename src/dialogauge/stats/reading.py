"""Rows read into a table: one pass, of which figures stay and no text."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import NOT_APPLICABLE, Usage
from dialogauge.core.patterns import lazy_pattern
from dialogauge.stats.rows import (
    ANSWERED,
    ENTRIES,
    LEVELS,
    LISTED,
    ORDERED,
    SCORED,
    WHOSE,
    Block,
    Entries,
    Row,
    Table,
    labels_of,
)

MAX_OPTIONS: Final = 50
"""Options of one question that are counted by name; others are counted together."""
OTHERS: Final = "(others)"
_REASONS: Final = 3
"""Reasons for n/a of one dimension that are counted."""
_MESSAGES: Final = 1_000
"""Different messages of failures that are kept."""
_AT_ONCE: Final = 4_096
"""Numbers that wait to be put into an array."""
_DIGITS: Final = lazy_pattern(r"\d+(?:\.\d+)?")
_LEVEL: Final = {level: code for code, level in enumerate(LEVELS)}
_COUNTS: Final = ("calls", "cached", "prompt_tokens", "completion_tokens", "prompt_chars", "repeated_chars")
_USED: Final = itemgetter(*_COUNTS, "cost")


def without_numbers(message: str) -> str:
    """Return what messages have in common that differ in their numbers: they count as one."""
    return _DIGITS.sub("#", message)


def table_of(rows: Iterable[Row]) -> Table:
    """Read rows into a table; they are read once, in any order, and nothing is kept of them but figures.

    What is read is inlined here, for a million rows are read as often as they are made into a summary.

    Args:
        rows: As `row_json` writes them, with the `rating` that people gave a target where they did.
    """
    dialogues: dict[tuple[str, str | None], int] = {}
    sorts: dict[tuple[str, int, str | None, int], int] = {}
    beside: list[tuple[dict[object, int], array[int], str]] = [({}, array("i"), name) for name in WHOSE[2:]]
    scored, wholes, sparse = _Blocks(), _Blocks(), _Sparse()
    dialogue_of, turn_of, sort_of = array("i"), array("i"), array("i")
    for n, row in enumerate(rows):
        key = row["conversation_id"], row["candidate"]
        dialogue = dialogues.get(key)
        if dialogue is None:
            dialogue = dialogues[key] = len(dialogues)
            for known, codes, name in beside:
                codes.append(known.setdefault(row.get(name), len(known)))
        turn, scores, details, usage = row["turn"], row["scores"], row.get("details"), row.get("usage")
        dialogue_of.append(dialogue)
        turn_of.append(-1 if turn is None else turn)
        flags, language = 0 if scores is None else ANSWERED, row.get("language")
        if scores:
            flags |= SCORED
            scored.add(n, scores)
        if row["whole"]:
            flags |= SCORED
            wholes.add(n, row["whole"])
        if details:
            language = details.get("language") if language is None else language
            flags |= 0 if row["failure"] else sparse.detail(n, details)
        sort = row["level"], row["repeat"], language, flags
        code = sorts.get(sort)
        if code is None:
            code = sorts[sort] = len(sorts)
        sort_of.append(code)
        if usage and usage != sparse.nothing:
            sparse.spend(usage)
        if row["failure"] or row["verdict"] is not None or row["weakest_turn"] is not None:
            sparse.conclude(n, row)
        if row.get("rating"):
            sparse.rate(n, row["rating"])
    of = _array(sort_of)
    columns = [list(column) for column in zip(*sorts, strict=True)] or [[], [], [], []]
    by_dialogue = [labels_of(key[at] for key in dialogues) for at in (0, 1)]
    for known, codes, _ in beside:
        by_dialogue.append(labels_of(known).take(_array(codes)))
    return Table(
        _array(dialogue_of),
        _array(turn_of),
        np.array(columns[1], dtype=np.int32)[of],
        np.array([_LEVEL[level] for level in columns[0]], dtype=np.uint8)[of],
        np.array(columns[3], dtype=np.uint8)[of],
        labels_of(columns[2]).take(of),
        dict(zip(WHOSE, by_dialogue, strict=True)),
        scored.done(),
        wholes.done(),
        {name: some.done() for name, some in sparse.entries.items()},
        sparse.used.usage(),
        {role: used.usage() for role, used in sparse.used_by_role.items()},
    )


def _array(numbers: array[Any]) -> npt.NDArray[Any]:
    """Return the numbers as they lie in memory."""
    return np.frombuffer(numbers, dtype=numbers.typecode) if numbers else np.empty(0, dtype=numbers.typecode)


class _Scores:
    """The scores of the rows that score the same dimensions in the same order, one row after the other."""

    __slots__ = ("latest", "rows", "values")

    def __init__(self) -> None:
        self.rows, self.values = array("i"), array("d")
        self.latest: list[Any] = []

    def settle(self) -> None:
        """Put the latest scores among the numbers; most are numbers already."""
        latest = self.latest
        if None in latest or NOT_APPLICABLE in latest:
            latest = [math.inf if v.__class__ is str else math.nan if v is None else v for v in latest]
        self.values.frombytes(np.array(latest, dtype=np.float64).tobytes())
        self.latest.clear()

    def done(self, width: int) -> Block:
        self.settle()
        return Block(_array(self.rows), _array(self.values).reshape(-1, width))


class _Blocks(dict[tuple[str, ...], _Scores]):
    """Scores by the dimensions that rows score."""

    def add(self, row: int, scores: Mapping[str, Any]) -> None:
        """Add the scores of one row: numbers, n/a, or None of what is missing."""
        names = tuple(scores)
        block = self.get(names)
        if block is None:
            block = self[names] = _Scores()
        block.latest += scores.values()
        block.rows.append(row)
        if len(block.latest) > _AT_ONCE:
            block.settle()

    def done(self) -> dict[tuple[str, ...], Block]:
        return {names: block.done(len(names)) for names, block in self.items()}


@dataclass(slots=True)
class _Entering:
    """Entries while rows are read."""

    rows: array[int] = field(default_factory=lambda: array("i"))
    codes: array[int] = field(default_factory=lambda: array("i"))
    numbers: array[float] = field(default_factory=lambda: array("d"))
    names: dict[Any, int] = field(default_factory=dict)

    def add(self, row: int, name: Hashable, number: float = 1.0) -> None:
        self.rows.append(row)
        self.codes.append(self.names.setdefault(name, len(self.names)))
        self.numbers.append(number)

    def done(self) -> Entries:
        return Entries(_array(self.rows), _array(self.codes), _array(self.numbers), tuple(self.names))


class _UsageSums:
    """The sum of usages: a `Usage` for each row would take longer than reading the row."""

    def __init__(self) -> None:
        self._latest: list[Any] = []
        self._sums = np.zeros(len(_COUNTS) + 1)

    def add(self, usage: Mapping[str, Any]) -> None:
        """Add one `usage` object of a row; a cost that is not known stays unknown."""
        try:
            self._latest += _USED(usage)
        except KeyError:
            self._latest += [*(usage.get(name) or 0 for name in _COUNTS), usage.get("cost")]
        if len(self._latest) > _AT_ONCE:
            self._settle()

    def _settle(self) -> None:
        numbers = np.array(self._latest, dtype=np.float64).reshape(-1, len(_COUNTS) + 1)
        self._sums += numbers.sum(axis=0)
        self._latest.clear()

    def usage(self) -> Usage:
        """Return the sum."""
        self._settle()
        *counts, cost = self._sums.tolist()
        named = dict(zip(_COUNTS, map(int, counts), strict=True))
        return Usage(**named, cost=None if math.isnan(cost) else cost)


class _Sparse:
    """What only some rows have."""

    def __init__(self) -> None:
        self.entries = {name: _Entering() for name in ENTRIES}
        self.used = _UsageSums()
        self.used_by_role: dict[str, _UsageSums] = {}
        self.nothing: Mapping[str, Any] | None = None
        """What a row says that used nothing."""
        self._messages: dict[tuple[str, str], tuple[str, str]] = {}
        self._options: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._readers: dict[str, Callable[[int, Any], None]] = {
            "class": lambda n, name: self.entries["class"].add(n, str(name)),
            "label": lambda n, name: self.entries["label"].add(n, str(name)),
            "model_verdict": self.entries["model_verdict"].add,
            "task": self.entries["task"].add,
            "labels": self._labels,
            "items": self._items,
            "not_judged": self._excuse,
            "window_difference": self._differ,
        }

    def detail(self, n: int, details: Mapping[str, Any]) -> int:
        """Read what a judge says beside its scores; return what is noted of the row."""
        flags = 0
        for key, value in details.items():
            kind = value.__class__
            if key == "signals":
                flags |= 0 if value is None else LISTED
                for finding in value or ():
                    self.entries["finding"].add(n, finding["name"], finding.get("strength", 1.0))
            elif key == "order_from":
                flags |= ORDERED
            elif kind is bool or kind is int:
                marks = self.entries["mark"]
                marks.names.setdefault(key, len(marks.names))
                if value:
                    marks.add(n, key, value)
            elif value is not None and (read := self._readers.get(key)) is not None:
                read(n, value)
        return flags

    def _labels(self, n: int, labels: Mapping[str, object]) -> None:
        options = self.entries["option"]
        for question, option in labels.items():
            name = question, str(option)
            if name not in options.names:
                name = name if self._options[question] < MAX_OPTIONS else (question, OTHERS)
                self._options[question] += 1
            options.add(n, name)

    def _items(self, n: int, lists: Mapping[str, Iterable[Mapping[str, object]]]) -> None:
        for question, items in lists.items():
            for item in items:
                self._labels(n, {question: item["label"]})

    def _excuse(self, n: int, reasons: Mapping[str, str]) -> None:
        for reason in reasons.items():
            known = reason in self.entries["reason"].names
            if known or self._reasons[reason[0]] < _REASONS:
                self._reasons[reason[0]] += not known
                self.entries["reason"].add(n, reason)

    def _differ(self, n: int, differences: Mapping[str, Any]) -> None:
        for name, difference in differences.items():
            if isinstance(difference, int | float):
                self.entries["difference"].add(n, name, abs(difference))

    def conclude(self, n: int, row: Row) -> None:
        """Read failure, verdict and weakest turn."""
        if failure := row["failure"]:
            kind = failure["kind"]
            self.entries["failure"].add(n, kind)
            alike = kind, without_numbers(failure["message"])
            if alike in self._messages or len(self._messages) < _MESSAGES:
                # The first one speaks for all.
                message = self._messages.setdefault(alike, (kind, failure["message"]))
                self.entries["message"].add(n, message)
        if row["verdict"] is not None:
            self.entries["verdict"].add(n, row["verdict"])
            self.entries["basis"].add(n, row["verdict_basis"] or "full")
        if row["weakest_turn"] is not None:
            self.entries["weakest_turn"].add(n, "", row["weakest_turn"])

    def spend(self, usage: Mapping[str, Any]) -> None:
        if usage.get("cost") == 0 and not any(usage.get(name) for name in (*_COUNTS, "by_role")):
            self.nothing = usage
            return
        self.used.add(usage)
        for role, part in (usage.get("by_role") or {}).items():
            self.used_by_role.setdefault(role, _UsageSums()).add(part)

    def rate(self, n: int, rating: Mapping[str, Any]) -> None:
        score, named = rating["score"], isinstance(rating["score"], str)
        self.entries["rating"].add(n, rating["dimension"], math.nan if named else score)
        if named:
            self.entries["rating_name"].add(n, score)
        if (weight := rating.get("weight")) is not None:
            self.entries["weight"].add(n, "", weight)
