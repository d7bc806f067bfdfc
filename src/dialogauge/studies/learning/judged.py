"""Planted answers, what a judge's error on them is, and accuracy corrected for it.

Planted are answers that are known to be right, wrong and vague. The judge accepts a share t of those that are
right, and f of the others. Where it accepts a share p of a system's answers, (p - f) / (t - f) of them are
right (Rogan and Gladen, 1978), as far as a system errs as the planted answers do. Whole clusters are left out
of all three shares at once, so the interval holds both uncertainties.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

import numpy as np

from dialogauge.core import UsageError, digest
from dialogauge.data.tasks import TaskRecord
from dialogauge.report import Block, Callout, Cell, Count, Missing, Page, Percent, data_table
from dialogauge.runs import StoredRun
from dialogauge.stats import Basis, Estimate, freedom_of, label_codes, mean_estimate
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


_DIMENSION: Final = "correct"
"""Of the rubric `answer`."""


class JudgedCase(NamedTuple):
    """One answer."""

    score: float | None
    """0 to 1, the mean of repeats; None where it was not judged."""
    cluster: str
    category: str | None


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """The answers of one system."""

    name: str
    answers: int
    """That were judged."""
    failed: int
    """That have a right answer on record, and no judgement: no score, and never 0."""
    raw: Estimate
    """Share that the judge accepts."""
    corrected: Estimate
    """Share that is right; its value is None where the planted answers do not tell it."""
    categories: Mapping[str, Estimate] = field(default_factory=dict)
    """The same by category, each corrected by its own planted answers."""


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """One data set."""

    dataset: str
    unit: str
    """What a cluster is."""
    planted: Mapping[str, Estimate]
    """Share that the judge accepts of what is planted."""
    systems: Sequence[JudgedSystem]


@dataclass(frozen=True, slots=True)
class JudgedAccuracy:
    """A run of `learn run` that was judged by the rubric `answer`."""

    judge: str
    sets: Sequence[JudgedSet]

    @property
    def page(self) -> Page:
        """All of it as a page."""
        return Page(f"Right answers, by {self.judge}", tuple(judged_blocks(self)))


def judged_accuracy(run: StoredRun) -> JudgedAccuracy:
    """Return by data set and system how many answers are right, by a judge whose error is taken out.

    Only tasks with a right answer count; of a run in steps, the answers of the last one.

    Raises UsageError where the run was judged by another rubric, or holds no such answers.
    """
    if not any(d.name == _DIMENSION and (d.scale.low, d.scale.high) == (0, 1) for d in run.dimensions):
        msg = f"{run.directory.path} was not judged by the rubric answer"
        raise UsageError(msg, hint="dialogauge judge RUN --rubric answer --role judge=MODEL@URL")
    sets: dict[tuple[str, str], dict[str, dict[str, JudgedCase]]] = {}
    for talk, rows in run.judged():
        name, gold = talk.id.partition("@")[0], talk.task
        task = TaskRecord(name, str(gold.get("dataset")), talk.messages, gold, gold.get("corpus"))
        if has_answer(task):
            scores = [float(row["scores"][_DIMENSION]) for row in rows if row["scores"]]
            case = JudgedCase(fmean(scores) if scores else None, task.corpus or name, category_of(task))
            systems = sets.setdefault((task.dataset, "conversations" if task.corpus else "tasks"), {})
            # The steps of a system come in order: the last one stays.
            systems.setdefault(str(talk.candidate), {})[name] = case
    if not sets:
        msg = f"{run.directory.path} holds no answer to a task that has a right one"
        raise UsageError(msg, hint="give a run of `judge` over a run of `learn run`")
    return JudgedAccuracy(str(run.manifest.judge["name"]), [_set(*key, of) for key, of in sets.items()])


def _set(dataset: str, unit: str, systems: Mapping[str, Mapping[str, JudgedCase]]) -> JudgedSet:
    planted, judged = {name: [*systems.get(name, {}).values()] for name in PLANTED}, []
    for name in (system for system in systems if system not in PLANTED):
        cases = [*systems[name].values()]
        groups = (cases, *planted.values())
        by_category = {
            category: corrected_share(
                *([c for c in of if c.category == category] for of in groups), unit=unit
            )
            for category in sorted({case.category for case in cases if case.category is not None})
        }
        raw, corrected = _accepted(cases, unit), corrected_share(*groups, unit=unit)
        judged.append(JudgedSystem(name, raw.n, len(cases) - raw.n, raw, corrected, by_category))
    return JudgedSet(dataset, unit, {p: _accepted(of, unit) for p, of in planted.items()}, judged)


def _accepted(cases: Sequence[JudgedCase], unit: str) -> Estimate:
    known = [(case.score, case.cluster) for case in cases if case.score is not None]
    return mean_estimate([score for score, _ in known], [cluster for _, cluster in known], unit=unit)


def corrected_share(
    cases: Sequence[JudgedCase],
    right: Sequence[JudgedCase],
    *others: Sequence[JudgedCase],
    unit: str = "conversations",
) -> Estimate:
    """Return the share of right answers of a system, by a judge whose error planted answers show.

    Args:
        cases: The answers of the system.
        right: The planted ones that are right.
        *others: The planted ones that are not.
        unit: What a cluster is.

    Returns:
        (p - f) / (t - f), cut to 0 to 1 with its interval. The value is None, with the reason, where nothing
        is planted or the judge accepts the right ones no more often than the others.
    """
    groups = (cases, right, [case for of in others for case in of])
    known = [(n, c.score, c.cluster) for n, of in enumerate(groups) for c in of if c.score is not None]
    codes, clusters = label_codes([cluster for _, _, cluster in known])
    place = np.array([n for n, _, _ in known], dtype=np.intp) * clusters + codes
    scores = np.array([score for _, score, _ in known], dtype=np.float64)
    hits, sizes = (
        np.bincount(place, of, 3 * clusters).reshape(3, clusters).astype(np.float64)
        for of in (scores, np.ones(scores.size))
    )
    support = min(int(np.count_nonzero(of)) for of in sizes)
    basis = Basis(int(sizes[0].sum()), int(np.count_nonzero(sizes[0])), unit)
    unknown = basis.estimate(None, np.empty(0), (0.0, 1.0))
    if not support:
        return replace(unknown, reason="no planted answer was judged" if basis.n else "no answer was judged")
    totals, counts = hits.sum(axis=1, keepdims=True), sizes.sum(axis=1, keepdims=True)
    p, t, f = (totals / counts)[:, 0]
    if t <= f:
        why = f"the judge accepts {t:.0%} of the right answers and {f:.0%} of the others"
        return replace(unknown, reason=why)
    # Uncut it may lie anywhere between where none and where all are accepted: there its interval is made.
    value, low, high = (float((share - f) / (t - f)) for share in (p, 0.0, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        p, t, f = (totals - hits) / (counts - sizes)
        moved = np.where(t > f, (p - f) / (t - f), np.nan)
    basis = replace(basis, most=min(freedom_of(of) for of in sizes))
    whole = basis.estimate(value, moved, (low, high), support=support)
    # What is cut takes its interval along, which so keeps a width.
    cut = min(1.0, max(0.0, value))
    if whole.low is None or whole.high is None:
        return replace(whole, value=cut)
    low, high = max(0.0, whole.low + cut - value), min(1.0, whole.high + cut - value)
    return replace(whole, value=cut, low=low, high=high)


def judged_blocks(result: JudgedAccuracy) -> Iterator[Block]:
    """Lay out each data set: its systems, by category where there are several, and the judge's error."""
    for of in result.sets:
        rows: list[Sequence[Cell]] = [
            (s.name, Count(s.answers), Count(s.failed), _share(s.raw), _share(s.corrected))
            for s in of.systems
        ]
        heads = ["system", "judged", "failed", "accepted", "right, corrected"]
        yield data_table(f"{of.dataset}: right answers, by a judge", heads, rows)
        names = list(dict.fromkeys(name for s in of.systems for name in s.categories))
        if len(names) > 1:
            rows = [(s.name, *(_share(s.categories.get(name)) for name in names)) for s in of.systems]
            yield data_table(f"{of.dataset}: right, corrected, by category", ["system", *names], rows)
        rows = [(name, Count(share.n), _share(share)) for name, share in of.planted.items()]
        yield data_table(f"{of.dataset}: planted answers, by the judge", ["", "judged", "accepted"], rows)
        if whys := tuple(dict.fromkeys(s.corrected.reason for s in of.systems if s.corrected.reason)):
            yield Callout(whys, "warn")


def _share(estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.value is None:
        return Missing((estimate and estimate.reason) or "")
    return Percent(estimate.value, estimate.interval)


def judged_scores(runs: Sequence[StoredRun]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return by system and conversation what a judge gave, as the details of a case."""
    scores: dict[tuple[str, str], Mapping[str, Any]] = {}
    for run in runs:
        dimension, rubric = run.dimensions[0], run.manifest.settings["rubric"]
        low, width = dimension.scale.low, dimension.scale.high - dimension.scale.low
        for talk, rows in run.judged():
            own = [row for row in rows if row["failure"] or dimension.name in row["scores"]]
            values = [row["scores"][dimension.name] for row in own if not row["failure"]]
            known = [(value - low) / width for value in values if isinstance(value, int | float)]
            failed = own[0]["failure"]["kind"] if own and not values else None
            score = {"score": sum(known) / len(known) if known else None, "metric": rubric, "failure": failed}
            scores[str(talk.candidate), talk.id] = {**score, "unmerged": False}
    return scores
