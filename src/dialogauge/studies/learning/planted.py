"""Answers that are known to be right, wrong and vague: they show how often a judge of answers is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from dialogauge.core import digest
from dialogauge.data.tasks import TaskRecord
from dialogauge.studies.learning.scoring import CATEGORIES, category_of, gold_of

PLANTED: Final = ("planted-right", "planted-wrong", "planted-vague")
"""The systems that give them: the right answer in a sentence, another question's, and what suits many."""


def has_answer(task: TaskRecord) -> bool:
    """Say whether the task has a right answer; that of adversarial questions is that nothing tells."""
    return gold_of(task) is not None and category_of(task) != CATEGORIES[5]


def planted_answers(tasks: Sequence[TaskRecord]) -> dict[str, dict[str, str]]:
    """Return by system and task what is planted: always the same of a task with the same others.

    Only tasks with a right answer have planted ones. Where no other question of the data set has another
    answer, there is no wrong one.
    """
    pools: dict[tuple[Any, ...], list[TaskRecord]] = {}
    for task in filter(has_answer, tasks):
        for key in _nearest_first(task):
            pools.setdefault(key, []).append(task)
    planted: dict[str, dict[str, str]] = {name: {} for name in PLANTED}
    for task in filter(has_answer, tasks):
        number, texts = int(digest(task.id)[:8], 16), _kind(task)["texts"]
        sentences = _wording(task.language)["sentences"]
        sentence = sentences[number % len(sentences)]
        wrong = next((w for key in _nearest_first(task) if (w := _wrong(task, pools[key]))), None)
        says = (sentence.format(_answer(task)), wrong and sentence.format(wrong), texts[number % len(texts)])
        for name, text in zip(PLANTED, says, strict=True):
            planted[name] |= {task.id: text} if text else {}
    return planted


def _nearest_first(task: TaskRecord) -> tuple[tuple[Any, ...], ...]:
    alike = (task.dataset, _kind(task)["asks"], category_of(task), task.corpus)
    return alike, alike[:3], alike[:2], alike[:1]


def _answer(task: TaskRecord) -> str:
    return str(gold_of(task)).strip().rstrip(".。")


def _wrong(task: TaskRecord, pool: Sequence[TaskRecord]) -> str | None:
    """Return the answer of the question most like the task's; None where all share half of their words."""
    own, asked = _words(_answer(task)), _words(task.question)
    words = {other.id: _words(_answer(other)) for other in pool}
    fitting = [o for o in pool if 2 * len(own & words[o.id]) < min(len(own), len(words[o.id]))]
    nearest = max(fitting, key=lambda other: (len(asked & _words(other.question)), other.id), default=None)
    return None if nearest is None else _answer(nearest)


@cache
def _words(text: str) -> frozenset[str]:
    """Return the words of a text; of Chinese its characters."""
    return frozenset(re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+", text.casefold()))


def _kind(task: TaskRecord) -> Mapping[str, Any]:
    """Return what a question asks for: a day, a place, a person ..."""
    kinds: list[Mapping[str, Any]] = _wording(task.language)["vague"]
    return next(kind for kind in kinds if re.search(kind["asks"], task.question, re.IGNORECASE))


@cache
def _wording(language: str) -> Mapping[str, Any]:
    wording = tomllib.loads(Path(__file__).with_name("planted.toml").read_text(encoding="utf-8"))
    known: Mapping[str, Any] = wording.get(language, wording["en"])
    return known
