"""What is counted of the details of rows: what was mended, which options were chosen, how windows differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from dialogauge.core import DimensionSpec
from dialogauge.stats.reading import MAX_OPTIONS, OTHERS
from dialogauge.stats.rows import Table

MARKS: Final = {
    "repaired": "replies whose JSON had to be repaired",
    "reasked": "replies that were asked for once more",
    "basis_cut": "decision bases over 40 words, cut",
    "extra_keys": "keys that were not asked for, dropped",
    "quotes_unsupported": "quotes that do not occur in the conversation, dropped",
    "criteria_unknown": "criteria that the rubric does not have, dropped",
    "in_segments": "conversations that do not fit into a prompt, judged in segments",
    "history_turns_cut": "turns of history that do not fit into a prompt, left out",
    "calls_without_result": "tool calls without a result",
    "results_without_call": "tool results without a call",
    "arguments_unread": "tool calls whose arguments are no JSON object",
    "steps_unread": "steps as text without an action that can be read",
    "tool_results_cut": "tool results that were cut to fit the prompt",
}
"""Counters in the details and what they count."""
_OF_DIALOGUES: Final = frozenset({"calls_without_result", "results_without_call", "arguments_unread"})


@dataclass(frozen=True, slots=True)
class WindowDifference:
    """Turns that two overlapping windows judged."""

    dimension: str
    n: int
    mean_absolute: float


def marked(marks: Mapping[str, int]) -> dict[str, str]:
    """Say what was irregular in the dialogues, and what was mended or cut in prompts and replies."""
    places: dict[str, list[str]] = {}
    for name, n in marks.items():
        place = "in the dialogues" if name in _OF_DIALOGUES else "mended or cut"
        places.setdefault(place, []).append(f"{n:,} {MARKS[name]}")
    return {place: "; ".join(what) for place, what in places.items()}


def windows_of(table: Table, dimensions: Sequence[DimensionSpec]) -> tuple[WindowDifference, ...]:
    """Return how far overlapping windows differ; the row of a conversation has the sums under other keys."""
    apart, names = table.entries["difference"], {spec.name for spec in dimensions}
    sums, counts = (np.bincount(apart.codes, of, len(apart.names)) for of in (apart.numbers, None))
    return tuple(
        WindowDifference(name, int(n), float(total / n))
        for name, n, total in zip(apart.names, counts, sums, strict=True)
        if name in names and n
    )


def options_of(table: Table) -> dict[str, dict[str, int]]:
    """Return per question how often each option was chosen, the commonest first; classes are one question."""
    labels: dict[str, Counter[str]] = {}
    classes = (table.entries[key].counts().items() for key in ("class", "label"))
    for at, (name, n) in enumerate(chain(*classes)):
        labels.setdefault("class", Counter())[name if at < MAX_OPTIONS else OTHERS] += n
    for (question, option), n in table.entries["option"].counts().items():
        labels.setdefault(question, Counter())[option] += n
    return {question: dict(counts.most_common()) for question, counts in labels.items()}
