"""What judges add in the `details` of their rows, counted over a run.

Read are, where present: `window_difference` {dimension: difference} of a turn that two windows judged;
`class` or `label` (SAT, DSAT ...), `labels` {question: option} and `items` {list: [{text, label}]};
`not_judged` {dimension: reason}; `uncalibrated` [dimension]; and the counters in `MARKS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

__all__ = ["MARKS", "Extras"]

MARKS: Final = {
    "repaired": "replies whose JSON had to be repaired",
    "reasked": "replies that were asked for once more",
    "basis_cut": "decision bases over 40 words, cut",
    "extra_keys": "keys that were not asked for, dropped",
    "quotes_unsupported": "quotes that do not occur in the conversation, dropped",
    "tool_results_cut": "tool results that were cut to fit the prompt",
}
"""Counters in the details and what they count."""

_MAX_OPTIONS = 50
_MAX_REASONS = 3


class Extras:
    """Counters over the details of rows; bounded, however many rows there are."""

    def __init__(self, dimensions: Collection[str]) -> None:
        self.dimensions = frozenset(dimensions)
        self.windows: dict[str, list[float]] = {}
        self.labels: dict[str, Counter[str]] = {}
        self.reasons: dict[str, Counter[str]] = {}
        self.uncalibrated: set[str] = set()
        self.marks: Counter[str] = Counter()
        self._readers: dict[str, Callable[[Any], None]] = {
            "window_difference": self._differ,
            "class": self._class,
            "label": self._class,
            "labels": self._options,
            "items": self._items,
            "not_judged": self._excuse,
            "uncalibrated": self.uncalibrated.update,
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
        for name, found in lists.items():
            for item in found:
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
