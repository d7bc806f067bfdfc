"""What a reply to a task earns: which metric its data set has, and which of the values is the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.core import UsageError
from dialogauge.data.tasks import DATASETS, LOCOMO_CATEGORIES, TaskRecord
from dialogauge.judges.answers import METRICS, score

CATEGORIES: Final[Mapping[int, str]] = {number: name for number, (name, _) in LOCOMO_CATEGORIES.items()}
"""Of questions about a corpus, as LoCoMo numbers them."""
_PHRASES: Final = ("locomo", "token_f1", "exact_match")
"""Metrics of answers that are a short phrase."""
_MERGED: Final = ("judge", "readability")
"""Metrics of several values, which a model merges."""


@dataclass(frozen=True, slots=True)
class CaseScore:
    """What one reply earns."""

    metric: str
    score: float | None
    """0 to 1, higher is better; None where the metric is not defined for the reply."""
    values: Mapping[str, float | None]
    """All that the metric gives."""
    unmerged: bool = False
    """Whether the score is the plain mean of several values, which a model has yet to merge."""


def metric_of(task: TaskRecord) -> str | None:
    """Return the metric of a task: the one that it names, its data set's, or what its answer asks for.

    None where a model has to score, or there is nothing to hold an answer against.

    Raises UsageError where the task names a metric that there is none of.
    """
    named = task.gold.get("metric")
    if named is not None and named not in METRICS:
        msg = f"the task {task.id!r} names the metric {named!r}, which there is none of"
        raise UsageError(msg, place=task.place, hint=f"one of {', '.join(METRICS)}")
    if named is not None:
        return str(named)
    if (known := DATASETS.get(task.dataset)) is not None:
        return known.metric if known.metric in METRICS else None
    if task.gold.get("category") in CATEGORIES:
        return "locomo"
    return None if gold_of(task) is None else "token_f1"


def gold_of(task: TaskRecord) -> str | None:
    """Return the right answer, where the data has one."""
    answer = task.gold.get("answer", task.gold.get("golden_answer"))
    return None if answer is None else str(answer)


def category_of(task: TaskRecord) -> str | None:
    """Return the category of a question, by name."""
    category = task.gold.get("category")
    if isinstance(category, int):
        return CATEGORIES.get(category, str(category))
    return category if isinstance(category, str) else None


def asks_for_a_phrase(task: TaskRecord) -> bool:
    """Say whether the answer is to be a short phrase."""
    return metric_of(task) in _PHRASES


def case_score(task: TaskRecord, reply: str) -> CaseScore | None:
    """Score a reply; None where no metric is defined for the task.

    Of a question whose answer is nowhere (category 5) the score is whether the reply says so by itself.
    """
    metric = metric_of(task)
    if metric is None:
        return None
    category: Any = task.gold.get("category")
    record = {"gold": gold_of(task), "lang": task.language, "category": category}
    values = score(metric, record, reply)
    unmerged = metric in _MERGED
    known = [v for v in values.values() if v is not None]
    mean = sum(known) / len(known) if known else None
    return CaseScore(metric, mean if unmerged else next(iter(known), None), values, unmerged)
