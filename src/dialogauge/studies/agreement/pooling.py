"""All dimensions of a level pooled, each rating an item of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from dialogauge.studies.agreement.sources import (
    ALL,
    LEVELS,
    Answers,
    Question,
)
from dialogauge.studies.agreement.targets import DimensionPair, Panel, TargetCounts, TargetTable


def with_pools(sources: Panel) -> Panel:
    """Return the sources with all dimensions of a level pooled, where two or more share their categories."""
    out = replace(
        sources, tables=list(sources.tables), people=dict(sources.people), judges=dict(sources.judges),
        categories=dict(sources.categories), judged_on=dict(sources.judged_on),
    )  # fmt: skip
    for level in LEVELS:
        pool = Question(ALL, level)
        for answers, categories in ((out.people, out.categories), (out.judges, out.judged_on)):
            here = [q for q in answers if q.level == level]
            known = {categories.get(q) for q in here}
            if len(here) > 1 and len(known) == 1 and None not in known:
                answers[pool] = _pooled({q: answers[q] for q in here})
                categories[pool] = categories[here[0]]
        if pool in out.people:
            out.tables += _pooled_tables([t for t in sources.tables if t.level == level])
    return out


def _pooled(answers: Mapping[Question, Answers]) -> Answers:
    return {
        key._replace(dimension=question.dimension): rated
        for question, of in answers.items()
        for key, rated in of.items()
    }


def _pooled_tables(tables: Sequence[TargetTable]) -> Iterable[TargetTable]:
    by_judge: dict[str, list[TargetTable]] = {}
    for table in tables:
        by_judge.setdefault(table.about.name, []).append(table)
    for several in by_judge.values():
        first = several[0]
        if len({t.question for t in several}) < len(several) or len(several) < 2:
            continue
        counts = {name: sum(getattr(t.counts, name) for t in several) for name in asdict(TargetCounts())}
        pool = TargetTable(
            DimensionPair(ALL, ALL), first.scale, first.about, first.admission, level=first.level,
            languages=first.languages, fractions=any(t.fractions for t in several),
            counts=TargetCounts(**counts),
        )  # fmt: skip
        pool.rated = _pooled({t.question: t.rated for t in several})
        pool.scored = _pooled({t.question: t.scored for t in several})
        pool.targets = [
            replace(target, key=target.key._replace(dimension=t.pair.rated))
            for t in several
            for target in t.targets
        ]
        yield pool


def questions(of: Mapping[Question, Answers]) -> list[Question]:
    """Return the questions, turns before conversations, pooled dimensions before each by itself."""
    names = list(dict.fromkeys(q.dimension for q in of))
    return sorted(of, key=lambda q: (q.level == "conversation", q.dimension != ALL, names.index(q.dimension)))


def pooled_or_each(sources: Panel) -> list[Question]:
    """Return the questions of pooled dimensions, and of a level where none are pooled all."""
    asked = [question for question in questions(sources.people) if question in sources.categories]
    pooled = {question.level for question in asked if question.dimension == ALL}
    return [q for q in asked if q.dimension == ALL or q.level not in pooled]


def comparable(question: Question, sources: Panel) -> Answers:
    """Return what judges said on the categories of people; nothing where theirs are others."""
    same = sources.judged_on.get(question) == sources.categories.get(question)
    return sources.judges.get(question, {}) if same else {}
