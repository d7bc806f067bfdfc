"""The eleven data sets of MemoryBench, the seven partitions of them, and how the seed samples and splits.

Source: MemoryBench, Tables 1, 2, 5 and 6, and its released code; the arithmetic of printed totals is ours.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dialogauge.data.tasks.record import TaskRecord
from dialogauge.text import counted

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
    cases: tuple[int, ...]
    """Tasks as published: in Table 2, and in Tables 5 and 6 where these say otherwise."""
    corpus: bool = False
    """Whether its questions are about a corpus."""
    most: int = _MOST
    """Of them in a sample."""


DATASETS: Final[Mapping[str, Dataset]] = {
    d.name: d
    for d in (
        Dataset("LoCoMo", "Open", "LiSo", "locomo", (1986,), corpus=True),
        Dataset("DialSim-friends", "Open", "LiSo", "exact_match", (1000, 300), corpus=True, most=83),
        Dataset("DialSim-bigbang", "Open", "LiSo", "exact_match", (1000, 300), corpus=True, most=83),
        Dataset("DialSim-theoffice", "Open", "LiSo", "exact_match", (1000, 300), corpus=True, most=84),
        Dataset("HelloBench-C.D.", "Open", "LiLo", "checklist", (228,)),
        Dataset("WritingPrompts", "Open", "SiLo", "meteor_exact_stem", (2000,)),
        Dataset("WritingBench-C.D.", "Open", "LiLo", "criteria", (422,)),
        Dataset("NF-CATS", "Open", "SiSo", "grade", (2397,)),
        Dataset("JuDGE", "Legal", "SiLo", "judge", (2505,)),
        Dataset("LexEval-Summarization", "Legal", "LiSo", "rouge_l_distinct", (1000,)),
        Dataset("LexEval-Judge", "Legal", "LiLo", "rouge_l_distinct", (1000,)),
        Dataset("LexEval-QA", "Legal", "SiSo", "rouge_l_distinct", (500,)),
        Dataset("WritingBench-P.L.", "Legal", "LiLo", "criteria", (201,)),
        Dataset("HelloBench-A.K.-QA", "Academic", "SiLo", "checklist", (213,)),
        Dataset("HelloBench-A.K.-Writing", "Academic", "LiLo", "checklist", (82,)),
        Dataset("IdeaBench", "Academic", "LiSo", "ideabench", (2374,)),
        Dataset("JRE-L", "Academic", "SiSo", "report", (1000,)),
        Dataset("LimitGen-Syn", "Academic", "LiSo", "limitgen", (1000,)),
        Dataset("WritingBench-A.E.", "Academic", "LiLo", "criteria", (167,)),
    )
}
PARTITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(d.name for d in DATASETS.values() if name in (d.domain, d.form))
    for name in ("Open", "Legal", "Academic", "LiSo", "SiLo", "LiLo", "SiSo")
}
"""Three by domain and four by form: each data set is in one of either."""
LOCOMO_CATEGORIES: Final[Mapping[int, tuple[str, int]]] = {
    1: ("multi-hop", 282),
    2: ("temporal", 321),
    3: ("open-domain", 96),
    4: ("single-hop", 841),
    5: ("adversarial", 446),
}
"""Names of LoCoMo's numbers, with how many questions the whole has. Several tools mix the numbers up."""


def unlike_published(tasks: Iterable[TaskRecord]) -> tuple[str, ...]:
    """Say of each data set, and of LoCoMo's categories, where its counts are not the published ones."""
    sets, categories = Counter[str](), Counter[object]()
    for task in tasks:
        sets[task.dataset] += 1
        if task.dataset == "LoCoMo":
            categories[task.gold.get("category")] += 1
    apart = [
        f"{name} has {counted(sets[name], 'task')}, published {' or '.join(map('{:,}'.format, known.cases))}."
        for name, known in DATASETS.items()
        if sets[name] and sets[name] not in known.cases
    ]
    mixed = [
        f"{name} {categories[number]:,} instead of {known:,}"
        for number, (name, known) in LOCOMO_CATEGORIES.items()
        if sets["LoCoMo"] and categories[number] != known
    ]
    return (*apart, *([f"LoCoMo by category: {', '.join(mixed)}."] if mixed else []))


def sample_tasks(tasks: Sequence[TaskRecord], most: int = _MOST) -> tuple[TaskRecord, ...]:
    """Draw at most so many tasks of one data set, as the seed does; in their order.

    Where tasks have a `group`, each group keeps its share. Where they are about several corpora, each of
    these has an equal part: 25 of ten.
    """
    if len(tasks) <= most:
        return tuple(tasks)
    strata = _strata(tasks)
    if any(task.corpus is None for task in tasks):
        return _drawn(strata, lambda n: round(most * n / len(tasks)), tasks)
    return _drawn(strata, lambda n: most // len(strata), tasks)


def split_tasks(
    tasks: Sequence[TaskRecord], share: float = 0.2
) -> tuple[tuple[TaskRecord, ...], tuple[TaskRecord, ...]]:
    """Split tasks of one data set into training and test, as the seed does: a fifth, rounded up, is test."""
    test = _drawn(_strata(tasks), lambda n: math.ceil(share * n), tasks)
    ids = {task.id for task in test}
    return tuple(t for t in tasks if t.id not in ids), test


def _strata(tasks: Sequence[TaskRecord]) -> list[list[TaskRecord]]:
    """Sort tasks by group, or else by corpus; all are one stratum where these hold fewer than five each."""
    strata: dict[str | None, list[TaskRecord]] = {}
    for task in tasks:
        strata.setdefault(task.group or task.corpus, []).append(task)
    return list(strata.values()) if 5 * len(strata) <= len(tasks) else [list(tasks)]


def _drawn(
    strata: Sequence[Sequence[TaskRecord]], wanted: Callable[[int], int], tasks: Sequence[TaskRecord]
) -> tuple[TaskRecord, ...]:
    """Draw from each stratum as many of its tasks as are wanted of so many; return them in their order."""
    chosen = set()
    for of in strata:
        chosen |= {t.id for t in random.Random(_SEED).sample(of, min(len(of), wanted(len(of))))}
    return tuple(t for t in tasks if t.id in chosen)
