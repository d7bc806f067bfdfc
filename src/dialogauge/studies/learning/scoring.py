"""What a reply to a task earns: which metric its data set has, and which of the values is the score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialogauge.core import UsageError
from dialogauge.data.tasks import DATASETS, LOCOMO_CATEGORIES, TaskRecord
from dialogauge.judges.answers import METRICS, score

CATEGORIES: Final[Mapping[int, str]] = {number: name for number, (name, _) in LOCOMO_CATEGORIES.items()}
"""Of questions about a corpus, as LoCoMo numbers them."""
_PHRASES: Final = ("locomo", "token_f1", "exact_match")
"""Metrics of answers that are a short phrase."""
_MERGED: Final = ("judge", "report", "readability")
"""Metrics of several values, which a model merges."""
_OF_REPORT: Final = ("rouge_l", "bert_score")
"""Of a report, what is from 0 to 1: without a model these alone are in its mean."""


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


def by_dataset(tasks: Iterable[TaskRecord]) -> dict[str, list[TaskRecord]]:
    """Return tasks by data set, in their order."""
    sets: dict[str, list[TaskRecord]] = {}
    for task in tasks:
        sets.setdefault(task.dataset, []).append(task)
    return sets


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


def options_of(tasks: Iterable[TaskRecord]) -> dict[str, dict[str, str]]:
    """Return by question without an answer two options, as published: that nothing tells, and a wrong answer.

    Which of them is `a` alternates within each corpus, and begins with that nothing tells.
    """
    options: dict[str, dict[str, str]] = {}
    seen = Counter[str | None]()
    for task in tasks:
        wrong = task.gold.get("adversarial_answer")
        if task.gold.get("category") != 5 or wrong is None:
            continue
        nothing = "没有提到" if task.language == "zh" else "Not mentioned in the conversation"
        pair = (nothing, str(wrong)) if seen[task.corpus] % 2 == 0 else (str(wrong), nothing)
        options[task.id] = dict(zip("ab", pair, strict=True))
        seen[task.corpus] += 1
    return options


def case_score(
    task: TaskRecord,
    reply: str,
    options: Mapping[str, str] | None = None,
    bert_score: Callable[[str, str], float] | None = None,
) -> CaseScore | None:
    """Score a reply; None where no metric is defined for the task.

    Of a question whose answer is nowhere (category 5) the score is whether the reply says so by itself, or
    with `options` whether it chose that. `bert_score` is the one score that needs a model. A phrase is held
    against the right answer and its `variants`: the best score counts.
    """
    metric = metric_of(task)
    if metric is None:
        return None
    category: Any = task.gold.get("category")
    record = {"gold": gold_of(task), "lang": task.language, "category": category}
    record |= {"options": options, "bert_score": bert_score}
    values = score(metric, record, reply)
    if metric in _PHRASES and category != 5:
        others = (score(metric, record | {"gold": gold}, reply) for gold in task.gold.get("variants") or ())
        values = max((values, *others), key=lambda of: next(iter(of.values())) or 0.0)
    unmerged = metric in _MERGED
    known = [v for key, v in values.items() if v is not None and (metric != "report" or key in _OF_REPORT)]
    mean = sum(known) / len(known) if known else None
    return CaseScore(metric, mean if unmerged else next(iter(known), None), values, unmerged)
