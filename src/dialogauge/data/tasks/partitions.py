"""The eleven data sets of MemoryBench, the seven partitions of them, and how the seed samples and splits.

Source: MemoryBench, Tables 1, 2, 5 and 6, and its released code; the arithmetic of printed totals is ours.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dialogauge.data.tasks.record import TaskRecord

Domain = Literal["Open", "Legal", "Academic"]
Form = Literal["LiSo", "SiLo", "LiLo", "SiSo"]

_SEED: Final = 42
_MOST: Final = 250


@dataclass(frozen=True, slots=True)
class Dataset:
    """One of the 19 subsets."""

    name: str
    domain: Domain
    form: Form
    metric: str
    """Of `judges.answers`, or what a model has to score."""
    corpus: bool = False
    """Whether its questions are about a corpus."""


DATASETS: Final[Mapping[str, Dataset]] = {
    d.name: d
    for d in (
        Dataset("LoCoMo", "Open", "LiSo", "locomo_f1", corpus=True),
        Dataset("DialSim-friends", "Open", "LiSo", "dialsim", corpus=True),
        Dataset("DialSim-bigbang", "Open", "LiSo", "dialsim", corpus=True),
        Dataset("DialSim-theoffice", "Open", "LiSo", "dialsim", corpus=True),
        Dataset("HelloBench-C.D.", "Open", "LiLo", "checklist"),
        Dataset("WritingPrompts", "Open", "SiLo", "meteor"),
        Dataset("WritingBench-C.D.", "Open", "LiLo", "criteria"),
        Dataset("NF-CATS", "Open", "SiSo", "grade"),
        Dataset("JuDGE", "Legal", "SiLo", "judge"),
        Dataset("LexEval-Summarization", "Legal", "LiSo", "rouge_l_distinct"),
        Dataset("LexEval-Judge", "Legal", "LiLo", "rouge_l_distinct"),
        Dataset("LexEval-QA", "Legal", "SiSo", "rouge_l_distinct"),
        Dataset("WritingBench-P.L.", "Legal", "LiLo", "criteria"),
        Dataset("HelloBench-A.K.-QA", "Academic", "SiLo", "checklist"),
        Dataset("HelloBench-A.K.-Writing", "Academic", "LiLo", "checklist"),
        Dataset("IdeaBench", "Academic", "LiSo", "ideabench"),
        Dataset("JRE-L", "Academic", "SiSo", "jre_l"),
        Dataset("LimitGen-Syn", "Academic", "LiSo", "limitgen"),
        Dataset("WritingBench-A.E.", "Academic", "LiLo", "criteria"),
    )
}
PARTITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(d.name for d in DATASETS.values() if name in (d.domain, d.form))
    for name in ("Open", "Legal", "Academic", "LiSo", "SiLo", "LiLo", "SiSo")
}
"""Three by domain and four by form: each data set is in one of either."""


def sample_tasks(tasks: Sequence[TaskRecord], most: int = _MOST) -> tuple[TaskRecord, ...]:
    """Draw at most so many tasks of one data set, as the seed does; in their order.

    Args:
        tasks: Of one data set. Where tasks have a `group`, each group keeps its share.
        most: Where questions are about several corpora, each has an equal part of it: 25 of ten.
    """
    if len(tasks) <= most:
        return tuple(tasks)
    corpora = {task.corpus for task in tasks}
    if None in corpora:
        return _drawn(tasks, lambda n: round(most * n / len(tasks)))
    return _drawn(tasks, lambda n: most // len(corpora))


def split_tasks(
    tasks: Sequence[TaskRecord], share: float = 0.2
) -> tuple[tuple[TaskRecord, ...], tuple[TaskRecord, ...]]:
    """Split tasks of one data set into training and test, as the seed does: a fifth, rounded up, is test."""
    test = _drawn(tasks, lambda n: math.ceil(share * n))
    ids = {task.id for task in test}
    return tuple(t for t in tasks if t.id not in ids), test


def _drawn(tasks: Sequence[TaskRecord], wanted: Callable[[int], int]) -> tuple[TaskRecord, ...]:
    """Draw from each group, or else each corpus, as many of its tasks as are wanted of so many."""
    groups: dict[str | None, list[TaskRecord]] = {}
    for task in tasks:
        groups.setdefault(task.group or task.corpus, []).append(task)
    chosen = set()
    for of in groups.values():
        number = min(len(of), wanted(len(of)))
        chosen |= {t.id for t in random.Random(_SEED).sample(of, number)}
    return tuple(t for t in tasks if t.id in chosen)
