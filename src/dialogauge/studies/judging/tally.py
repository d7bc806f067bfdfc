"""What `summarise` remembers of the rows: counts and running sums, never the rows themselves.

A *cell* is one conversation of one candidate. Per cell and dimension there is a sum, a count and the
number of n/a; per cell and level the number of targets. That is all a clustered mean, its bounds and
every breakdown need, and it stays small however long the conversations are.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dialogauge.core import NOT_APPLICABLE, DimensionSpec, Level, Scale, Usage
from dialogauge.runs.records import own_scores
from dialogauge.studies.judging.repeats import RepeatScores

MARKS: Final = {
    "repaired": "replies whose JSON had to be repaired",
    "reasked": "replies that were asked for once more",
    "basis_cut": "decision bases over 40 words, cut",
    "extra_keys": "keys that were not asked for, dropped",
    "quotes_unsupported": "quotes that do not occur in the conversation, dropped",
    "calls_without_result": "tool calls without a result",
    "results_without_call": "tool results without a call",
    "arguments_unread": "tool calls whose arguments are no JSON object",
    "steps_unread": "steps as text without an action that can be read",
    "tool_results_cut": "tool results that were cut to fit the prompt",
}
"""Counters in the details and what they count."""
_OF_DIALOGUES: Final = frozenset({"calls_without_result", "results_without_call", "arguments_unread"})

_MAX_OPTIONS = 50
_MESSAGES = 200
_OF_ENDPOINT: Final = frozenset(
    {"timeout", "rate_limited", "server_error", "connection", "rejected", "too_long", "empty_reply"}
)
"""Kinds of failures whose message is the endpoint's."""
_MAX_REASONS = 3
ANY_KIND: Final = "any"
"""Under which conversations with a finding of any kind are counted."""
NO_KIND: Final = ""
"""Under which turns without a finding are."""
_ABSENT: Final = 8
"""The state of a cell whose run failed at its source: nothing was asked of it."""


def marked(marks: Mapping[str, int]) -> dict[str, str]:
    """Say what was irregular in the dialogues, and what was mended or cut in prompts and replies."""
    places: dict[str, list[str]] = {}
    for name, n in marks.items():
        place = "in the dialogues" if name in _OF_DIALOGUES else "mended or cut"
        places.setdefault(place, []).append(f"{n:,} {MARKS[name]}")
    return {place: "; ".join(what) for place, what in places.items()}


def without_numbers(message: str) -> str:
    """Return what messages have in common that differ in their numbers: they count as one."""
    return re.sub(r"\d+(?:\.\d+)?", "#", message)


class Extras:
    """Counters over the details of rows; bounded, however many rows there are."""

    def __init__(self, dimensions: Collection[str]) -> None:
        self.dimensions = frozenset(dimensions)
        self.windows: dict[str, list[float]] = {}
        self.labels: dict[str, Counter[str]] = {}
        self.reasons: dict[str, Counter[str]] = {}
        self.marks: Counter[str] = Counter()
        self._readers: dict[str, Callable[[Any], None]] = {
            "window_difference": self._differ,
            "class": self._class,
            "label": self._class,
            "labels": self._options,
            "items": self._items,
            "not_judged": self._excuse,
        }

    def add(self, details: Mapping[str, Any]) -> None:
        """Count the details of one judged row."""
        for key, value in details.items():
            if key in MARKS:
                self.marks[key] += int(value)
            elif (read := self._readers.get(key)) is not None:
                read(value)

    def _class(self, value: object) -> None:
        self._label("class", value)

    def _options(self, labels: Mapping[str, object]) -> None:
        for name, option in labels.items():
            self._label(name, option)

    def _items(self, lists: Mapping[str, list[Mapping[str, object]]]) -> None:
        for name, items in lists.items():
            for item in items:
                self._label(name, item["label"])

    def _differ(self, differences: Mapping[str, float]) -> None:
        # the row of a conversation sums the same differences up under other keys: n, mean, max
        for name, difference in differences.items():
            if name in self.dimensions:
                sums = self.windows.setdefault(name, [0, 0.0])
                sums[0] += 1
                sums[1] += abs(difference)

    def _label(self, name: str, option: object) -> None:
        counts = self.labels.setdefault(name, Counter())
        shown = str(option)
        counts[shown if shown in counts or len(counts) < _MAX_OPTIONS else "(others)"] += 1

    def _excuse(self, reasons: Mapping[str, str]) -> None:
        for name, reason in reasons.items():
            counts = self.reasons.setdefault(name, Counter())
            if reason in counts or len(counts) < _MAX_REASONS:
                counts[reason] += 1


LEVELS: Final[tuple[Level, ...]] = ("turn", "window", "conversation", "pair")
GROUP_FIELDS: Final = ("language", "scenario", "candidate")

_COUNTS: Final = tuple(f.name for f in fields(Usage) if f.name != "cost")
_PER_DIMENSION = 3  # sum, count, n/a


class Bins:
    """A histogram over a scale: one bin per whole number, or equal steps on a scale of fractions."""

    def __init__(self, scale: Scale) -> None:
        self.low = scale.low
        span = scale.high - scale.low
        self.whole = scale.integer
        self.size = int(span) + 1 if scale.integer else _steps(span)
        self.width = 1.0 if scale.integer else span / self.size
        self.counts = [0] * self.size

    def add(self, value: float) -> None:
        """Count one score; what lies outside the scale goes to the nearest bin."""
        at = (value - self.low) / self.width
        position = math.floor(at + 0.5) if self.whole else math.floor(at)
        self.counts[min(max(position, 0), self.size - 1)] += 1

    def edges(self) -> tuple[tuple[float, float], ...]:
        """Lower and upper end of each bin; the same number twice for a whole number."""
        starts = [self.low + i * self.width for i in range(self.size)]
        return tuple((s, s) if self.whole else (s, s + self.width) for s in starts)


def _steps(span: float) -> int:
    if span <= 0:
        return 1
    return int(2 * span) if span in (2, 3, 4, 5) else 10


class UsageSums:
    """The sum of usages, in place: a `Usage` for each row would take longer than reading the row."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._cost: float | None = 0.0

    def add(self, usage: Mapping[str, Any]) -> None:
        """Add one `usage` object of a row; a cost that is not known stays unknown."""
        for name in _COUNTS:
            self._counts[name] += usage.get(name) or 0
        cost = usage.get("cost")
        self._cost = None if self._cost is None or cost is None else self._cost + cost

    def usage(self) -> Usage:
        """Return the sum."""
        return Usage(**self._counts, cost=self._cost)


class TurnScores:
    """The scores at one turn number, a cell at a time."""

    def __init__(self, dimensions: int) -> None:
        self.cells = array("l")
        self.values = [array("d") for _ in range(dimensions)]
        """By dimension, NaN where a cell has no score."""

    def add(self, position: int, cell: int, value: float) -> None:
        """Add one score."""
        if not self.cells or self.cells[-1] != cell or not math.isnan(self.values[position][-1]):
            self.cells.append(cell)
            for values in self.values:
                values.append(math.nan)
        self.values[position][-1] = value


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Which cells go together."""

    of: npt.NDArray[np.intp]
    """Shape (cells,)."""
    unit: str
    """What a cluster is, as messages say it."""
    users: int | None
    """Those that are known; None without any."""


class VerdictCells:
    """The cells of each verdict, once for each time that it was given there."""

    def __init__(self) -> None:
        self._cells: dict[str, array[int]] = {}

    def add(self, cell: int, name: str) -> None:
        """Take note of one verdict."""
        self._cells.setdefault(name, array("l")).append(cell)

    def of(self, name: str) -> npt.NDArray[np.intp]:
        """Return the cells in which it was given, each once."""
        return np.unique(np.array(self._cells.get(name, ()), dtype=np.intp))

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __bool__(self) -> bool:
        return bool(self._cells)

    def by_cluster(self, of: npt.NDArray[np.intp]) -> dict[str, npt.NDArray[np.intp]]:
        """Return by name how often it was given in each cluster, shape (clusters,).

        Args:
            of: Shape (cells,), the cluster of each cell.
        """
        groups = int(of.max(initial=-1)) + 1
        return {
            name: np.bincount(of[np.array(cells, dtype=np.intp)], minlength=groups)
            for name, cells in self._cells.items()
        }


class Places:
    """The conversation and the user of each cell."""

    def __init__(self) -> None:
        self._conversations: dict[str, int] = {}
        self._conversation_of = array("l")
        self._users: dict[str, int] = {}
        self._user_of = array("l")  # -1 where it is not known

    def add(self, conversation: str, user: str | None) -> None:
        """Take note of the next cell."""
        self._conversation_of.append(self._conversations.setdefault(conversation, len(self._conversations)))
        self._user_of.append(-1 if user is None else self._users.setdefault(user, len(self._users)))

    def clusters(self, absent: npt.NDArray[np.bool_]) -> Clusters:
        """Return what goes together: the cells of one user where users are known, else of one conversation.

        As in `cluster_labels`, the cells of one user alone are clustered by conversation.

        Args:
            absent: Shape (cells,), those in which nothing was asked: they may name no user.
        """
        users, conversations = (np.array(of, dtype=np.intp) for of in (self._user_of, self._conversation_of))
        known, n = users >= 0, len(self._users)
        every = bool((known | absent).all())
        if n + (not every) < 2 or not n:
            return Clusters(conversations, "conversations", n or None)
        _, codes = np.unique(np.where(known, users, n + conversations), return_inverse=True)
        return Clusters(codes, "users" if every else "users and conversations", n)


class JudgingTally:
    """Running sums over rows; `add` takes one row and keeps nothing of it."""

    def __init__(self, dimensions: Sequence[DimensionSpec], *, follow_repeats: bool) -> None:
        self.dimensions = tuple(dimensions)
        self.positions = {d.name: i for i, d in enumerate(self.dimensions)}
        self.levels = {d.level for d in self.dimensions}
        self.bins_of: dict[str | None, list[Bins]] = {None: [Bins(d.scale) for d in self.dimensions]}
        """By candidate; under None those of all together."""
        self.requested: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.messages: Counter[str] = Counter()
        """What the endpoint said of failures."""
        self._messages: dict[tuple[str, str], str] = {}
        self.verdicts: Counter[str] = Counter()
        self.verdict_cells = {name: VerdictCells() for name in ("verdict", "class", "finding")}
        """Verdicts of the card, and of rubrics that name their own; and whether a turn has a finding."""
        self.bases: Counter[str] = Counter()
        self.verdicts_compared = self.verdicts_mismatched = self.weakest_named = 0
        self.conversation_rows = self.max_repeat = 0
        self.total = UsageSums()
        self.roles: dict[str, UsageSums] = {}
        self.curves: dict[int, TurnScores] = {}
        """By turn number, over the first repeat."""
        self.extras = Extras(self.positions)
        self.repeats = RepeatScores(len(self.dimensions)) if follow_repeats else None
        self._stride = _PER_DIMENSION * len(self.dimensions) + len(LEVELS)
        self._cells: dict[tuple[str, str | None], int] = {}
        self._places = Places()
        self._sums = array("d")
        self._state = bytearray()  # bit 0: something was judged, 1: something failed, 2: no reply, 3: absent
        self._groups: dict[str, dict[str | None, int]] = {f: {} for f in GROUP_FIELDS}
        self._group_of = {f: array("l") for f in GROUP_FIELDS}

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one row of `judgements.jsonl`."""
        level, failure, scores = row["level"], row["failure"], own_scores(row)
        if failure and failure["kind"] == "absent":
            self._state[self._cell(row)] |= _ABSENT
            return
        verdict = row["verdict"]
        usage = row.get("usage")
        if usage:
            self._spend(usage)
        if not failure and not scores and verdict is None and level not in self.levels:
            return  # a conversation row that a rubric of turns has no question for
        cell = self._cell(row)
        self.requested[level] += 1
        self._sums[cell * self._stride + self._stride - len(LEVELS) + LEVELS.index(level)] += 1
        if level == "conversation":
            self._name_language(cell, row)
            self._conclude(cell, row, verdict)
        if failure:
            self._fail(cell, failure)
            return
        numbers = self._score(cell, row, scores)
        details = row.get("details") or {}
        self.extras.add(details)
        self._name(cell, level, details)
        self._state[cell] |= 1
        judged = numbers or not scores
        self.outcomes["scored" if judged else "not_applicable"] += 1

    def _cell(self, row: Mapping[str, Any]) -> int:
        key = (row["conversation_id"], row["candidate"])
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = len(self._cells)
            self._sums.extend([0.0] * self._stride)
            self._state.append(0)
            self._places.add(key[0], row.get("user_id"))
            for field in GROUP_FIELDS:
                codes = self._groups[field]
                self._group_of[field].append(codes.setdefault(_group(row, field), len(codes)))
        return cell

    def _name_language(self, cell: int, row: Mapping[str, Any]) -> None:
        """A judge may say only on the conversation's row which language it found."""
        codes, of = self._groups["language"], self._group_of["language"]
        language = _group(row, "language")
        if language is not None and of[cell] == codes.get(None):
            of[cell] = codes.setdefault(language, len(codes))

    def _fail(self, cell: int, failure: Mapping[str, Any]) -> None:
        kind = failure["kind"]
        self.outcomes["failed"] += 1
        self.failures[kind] += 1
        if kind in _OF_ENDPOINT:
            # The first one speaks for all.
            alike = (kind, without_numbers(failure["message"]))
            if alike in self._messages or len(self._messages) < _MESSAGES:
                message = self._messages.setdefault(alike, failure["message"])
                self.messages[message] += 1
        self._state[cell] |= 4 if kind == "no_reply" else 2

    def _conclude(self, cell: int, row: Mapping[str, Any], verdict: str | None) -> None:
        self.conversation_rows += 1
        if row["weakest_turn"] is not None:
            self.weakest_named += 1
        if verdict is None:
            return
        self.verdicts[verdict] += 1
        self.verdict_cells["verdict"].add(cell, verdict)
        self.bases[row["verdict_basis"] or "full"] += 1
        own = (row.get("details") or {}).get("model_verdict")
        if own is not None:
            self.verdicts_compared += 1
            self.verdicts_mismatched += own != verdict

    def _name(self, cell: int, level: str, details: Mapping[str, Any]) -> None:
        if (name := details.get("class", details.get("label"))) is not None:
            self.verdict_cells["class"].add(cell, str(name))
        if level == "turn" and (findings := details.get("signals")) is not None:
            self.verdict_cells["finding"].add(cell, ANY_KIND if findings else NO_KIND)
            for kind in {finding["name"] for finding in findings}:
                self.verdict_cells["finding"].add(cell, kind)

    def _score(self, cell: int, row: Mapping[str, Any], scores: Mapping[str, Any]) -> int:
        """Add the scores of a row; return how many of them are numbers."""
        numbers, base = 0, cell * self._stride
        turn, repeat, bins = row["turn"], row["repeat"], self._bins(row["candidate"])
        self.max_repeat = max(self.max_repeat, repeat)
        for name, value in scores.items():
            position = self.positions.get(name)
            if position is None:
                continue
            at = base + _PER_DIMENSION * position
            if value == NOT_APPLICABLE:
                self._sums[at + 2] += 1
            elif value is not None:
                numbers += 1
                self._sums[at] += value
                self._sums[at + 1] += 1
                for one in bins:
                    one[position].add(value)
                if turn is not None and repeat == 1:
                    self._point(position, turn, cell, value)
                if self.repeats is not None:
                    self.repeats.add(cell, turn, repeat, position, value)
        return numbers

    @property
    def bins(self) -> list[Bins]:
        """The histogram of each dimension."""
        return self.bins_of[None]

    def _bins(self, candidate: str | None) -> tuple[list[Bins], ...]:
        if candidate is None:
            return (self.bins,)
        if (own := self.bins_of.get(candidate)) is None:
            own = self.bins_of[candidate] = [Bins(d.scale) for d in self.dimensions]
        return self.bins, own

    def _point(self, position: int, turn: int, cell: int, value: float) -> None:
        if (scores := self.curves.get(turn)) is None:
            scores = self.curves[turn] = TurnScores(len(self.dimensions))
        scores.add(position, cell, value)

    def _spend(self, usage: Mapping[str, Any]) -> None:
        self.total.add(usage)
        for role, part in (usage.get("by_role") or {}).items():
            self.roles.setdefault(role, UsageSums()).add(part)

    def sums(self) -> npt.NDArray[np.float64]:
        """Return the cells' sums, shape (cells, 3 * dimensions + levels)."""
        return np.array(self._sums, dtype=np.float64).reshape(len(self._cells), self._stride)

    def clusters(self) -> Clusters:
        """Return what goes together."""
        return self._places.clusters(self.absent)

    @property
    def absent(self) -> npt.NDArray[np.bool_]:
        """Whether the run of a cell failed at its source, shape (cells,)."""
        gone: npt.NDArray[np.bool_] = self.states() == _ABSENT
        return gone

    def groups(self, field: str) -> tuple[list[str | None], npt.NDArray[np.intp]]:
        """Return the group names of a field and the group of each cell."""
        return list(self._groups[field]), np.array(self._group_of[field], dtype=np.intp)

    def states(self) -> npt.NDArray[np.uint8]:
        """Return the cells' states: bit 0 something judged, 1 failed, 2 without a reply, 3 absent."""
        return np.frombuffer(bytes(self._state), dtype=np.uint8)


def _group(row: Mapping[str, Any], field: str) -> str | None:
    value = row.get(field)
    if value is None and field == "language":
        value = (row.get("details") or {}).get("language")
    return value if value is None else str(value)
