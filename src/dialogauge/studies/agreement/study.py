"""The whole study: who said what in, every block of figures out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from dialogauge.core import UsageError
from dialogauge.stats import Comparison, DissatisfiedRule, Power, RatingGrid, adjusted
from dialogauge.studies.agreement.agreement import (
    COMPARED,
    NAMED,
    AgreementSettings,
    JudgeAgreement,
    JudgeComparison,
    agreement,
    compare_judges,
    rule_for,
)
from dialogauge.studies.agreement.among import Among, among
from dialogauge.studies.agreement.closeness import OF_NAMES, OF_NUMBERS, compare_grids, consensus_of
from dialogauge.studies.agreement.groups import GroupFigures, group_figures, rater_closeness, rater_groups
from dialogauge.studies.agreement.levels import levels_of_table
from dialogauge.studies.agreement.pairs import PairAgreement, left_out_words, pair_agreement
from dialogauge.studies.agreement.power import power_between
from dialogauge.studies.agreement.ranks import CandidateRanks, candidate_ranks
from dialogauge.studies.agreement.sources import (
    ALL,
    LEVELS,
    Answers,
    Question,
    Rated,
    TargetKey,
    grid_of,
    natural,
)
from dialogauge.studies.agreement.targets import DimensionPair, Panel, TargetCounts, TargetTable
from dialogauge.text import counted


@dataclass(frozen=True, slots=True)
class AgreementResult:
    """Everything that was measured."""

    settings: AgreementSettings
    judges: tuple[JudgeAgreement, ...] = ()
    """Each judge against people, question by question."""
    comparisons: tuple[JudgeComparison, ...] = ()
    """Which of two judges is nearer to people."""
    people: tuple[Among, ...] = ()
    """People among each other."""
    between: tuple[Among, ...] = ()
    """Judges among each other."""
    ranks: tuple[CandidateRanks, ...] = ()
    groups: tuple[GroupFigures, ...] = ()
    asked: tuple[AskedComparison, ...] = ()
    """The comparison of two sources by name."""
    pairs: tuple[PairAgreement, ...] = ()
    """Choices between two, dimension by dimension."""
    power: tuple[AskedPower, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Write everything as plain JSON values; what is undefined is null."""
        names = ("judges", "comparisons", "people", "between", "ranks", "groups", "asked", "pairs", "power")
        return {
            "settings": asdict(self.settings),
            **{name: [one.to_json() for one in getattr(self, name)] for name in names},
        }


@dataclass(frozen=True, slots=True)
class AskedComparison:
    """Two sources by name, against the consensus of people without either."""

    question: Question
    n: int
    comparison: Comparison

    def to_json(self) -> dict[str, Any]:
        """Write the comparison."""
        about = {"dimension": self.question.dimension, "level": self.question.level, "n": self.n}
        return {**about, **self.comparison.to_json()}


@dataclass(frozen=True, slots=True)
class AskedPower:
    """What it takes to tell two sources apart, or a judge from the best constant."""

    question: Question
    power: Power

    def to_json(self) -> dict[str, Any]:
        """Write the power."""
        return {
            "dimension": self.question.dimension,
            "level": self.question.level,
            **self.power.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for by name."""

    compare: Sequence[str] = ()
    """Two sources to compare, or nothing."""
    power_by: str | None = None
    """The measure by which studies are simulated that tell these two apart, or each judge from the best
    constant; None for no simulation."""


def measure(
    sources: Panel,
    rule: DissatisfiedRule | None,
    settings: AgreementSettings,
    *,
    by: Sequence[str] = ("dimension",),
    asked: Asked = Asked(),
) -> AgreementResult:
    """Measure how far sources agree.

    Args:
        sources: Who said what.
        rule: What counts as dissatisfied; None for the default of each scale.
        settings: Shuffles and seed.
        by: What the main figures are grouped by.
        asked: What is asked for by name.

    Raises:
        UsageError: Nobody can be compared, a group or a source is unknown.
    """
    notes: list[str] = []
    everything = _with_pools(sources)
    judges, comparisons = _judges(everything, rule, settings, notes)
    people = [
        among(
            q, everything.people[q], everything.categories[q], shuffles=settings.shuffles, seed=settings.seed
        )
        for q in _questions(everything.people)
        if q in everything.categories and _several(everything.people[q])
    ]
    between = [
        among(
            q, everything.judges[q], everything.judged_on[q], shuffles=settings.shuffles, seed=settings.seed
        )
        for q in _questions(everything.judges)
        if q in everything.judged_on and _several(everything.judges[q])
    ]
    votes = sources.people_votes, sources.judge_votes
    pairs = pair_agreement(*votes, shuffles=settings.shuffles, seed=settings.seed) if any(votes) else ()
    return AgreementResult(
        settings,
        tuple(judges),
        tuple(comparisons),
        tuple(people),
        tuple(between),
        tuple(_ranks(sources)),
        tuple(_groups(everything, by)),
        _compared(everything, asked.compare),
        pairs,
        _powers(everything, asked, settings.seed),
        (*notes, *(words for one in pairs if (words := left_out_words(one)))),
    )


def _questions(of: Mapping[Question, Answers]) -> list[Question]:
    """Return the questions, turns before conversations, pooled dimensions before each by itself."""
    names = list(dict.fromkeys(q.dimension for q in of))
    return sorted(of, key=lambda q: (q.level == "conversation", q.dimension != ALL, names.index(q.dimension)))


def _several(answers: Answers) -> bool:
    """Say whether two sources or more answered."""
    first: set[str] = set()
    return any(len(first := first | rated.by.keys()) > 1 for rated in answers.values())


# All dimensions pooled, each rating an item of its own


def _with_pools(sources: Panel) -> Panel:
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
        pool = TargetTable(
            DimensionPair(ALL, ALL), first.scale, first.about, first.admission, level=first.level,
            languages=first.languages, fractions=any(t.fractions for t in several), counts=_sum(several),
        )  # fmt: skip
        pool.rated = _pooled({t.question: t.rated for t in several})
        pool.scored = _pooled({t.question: t.scored for t in several})
        pool.targets = [
            replace(target, key=target.key._replace(dimension=t.pair.rated))
            for t in several
            for target in t.targets
        ]
        yield pool


def _sum(tables: Sequence[TargetTable]) -> TargetCounts:
    names = asdict(TargetCounts())
    return TargetCounts(**{name: sum(getattr(t.counts, name) for t in tables) for name in names})


# Judges against people


def _judges(
    sources: Panel, rule: DissatisfiedRule | None, settings: AgreementSettings, notes: list[str]
) -> tuple[list[JudgeAgreement], list[JudgeComparison]]:
    filled = [t for t in sources.tables if t.targets]
    differ = [t for t in filled if len({target.people for target in t.targets}) > 1]
    if filled and not differ:
        raise _all_alike(filled)
    for table in filled:
        if table not in differ:
            notes.append(f"{table.about.name}, {table.question}: {_same(table)}; not compared")
    order = _questions({t.question: {} for t in differ})
    judges: list[JudgeAgreement] = []
    comparisons: list[JudgeComparison] = []
    for question in order:
        several = [t for t in differ if t.question == question]
        categories = sources.categories.get(question)
        placed = categories is not None and categories.values is None and not _in_words(several[0])
        dissatisfied = None if placed else rule_for(several[0], rule)
        for table in several:
            made = agreement(table, dissatisfied, settings, categories=categories)
            raters = (
                rater_closeness(table, categories) if categories and _comparable(question, sources) else ()
            )
            judges.append(replace(made, raters=raters, levels=() if placed else levels_of_table(table)))
        comparisons += compare_judges(several, dissatisfied, NAMED if placed else COMPARED)
    answers = iter(adjusted([j.answer for j in judges if j.answer is not None]))
    return [j if j.answer is None else replace(j, answer=next(answers)) for j in judges], comparisons


def _in_words(table: TargetTable) -> bool:
    """Say whether people's names stand as they are; else they are places among the categories."""
    return any(isinstance(target.people, str) for target in table.targets)


def _same(table: TargetTable) -> str:
    people = table.targets[0].people
    score = people if isinstance(people, str) else f"{people:g}"
    return f"people said the same of {counted(len(table.targets), 'target')}, {score}"


def _all_alike(tables: Sequence[TargetTable]) -> UsageError:
    msg = f"{_same(tables[0])}: no order can be measured"
    return UsageError(msg, hint="a judge is compared with ratings that differ")


# Ranks, groups, and two sources by name


def _ranks(sources: Panel) -> Iterable[CandidateRanks]:
    for question in _questions(sources.judges):
        categories = sources.judged_on.get(question)
        if categories is None or categories.values is None:
            continue
        people: dict[TargetKey, float] = {}
        if sources.categories.get(question) == categories and question in sources.people:
            grid = grid_of(sources.people[question], categories)
            consensus = zip(sources.people[question], consensus_of(grid).tolist(), strict=True)
            people = {key: value for key, value in consensus if value == value}
        low, high = categories.values[0], categories.values[-1]
        made = candidate_ranks(question, sources.judges[question], people, low=low, high=high)
        if made is not None:
            yield made


def _groups(sources: Panel, by: Sequence[str]) -> Iterable[GroupFigures]:
    """Yield the groups of pooled dimensions, of each where none are; dimensions are the groups of a pool."""
    for name in by:
        for question in _pooled_or_each(sources):
            people, judges = sources.people[question], _comparable(question, sources)
            categories = sources.categories[question]
            if name == "rater":
                yield from rater_groups(question, people, judges, categories) if judges else ()
            elif name != "dimension" or question.dimension == ALL:
                yield from group_figures(name, question, people, judges, categories)


def _pooled_or_each(sources: Panel) -> list[Question]:
    asked = [question for question in _questions(sources.people) if question in sources.categories]
    pooled = {question.level for question in asked if question.dimension == ALL}
    return [q for q in asked if q.dimension == ALL or q.level not in pooled]


def _comparable(question: Question, sources: Panel) -> Answers:
    """Return what judges said on the categories of people; nothing where theirs are others."""
    same = sources.judged_on.get(question) == sources.categories.get(question)
    return sources.judges.get(question, {}) if same else {}


def _compared(sources: Panel, names: Sequence[str]) -> tuple[AskedComparison, ...]:
    if not names:
        return ()
    known = {
        source
        for of in (sources.people, sources.judges)
        for answers in of.values()
        for rated in answers.values()
        for source in rated.by
    }
    if unknown := [name for name in names if name not in known]:
        msg = f"--compare: nobody is called {unknown[0]!r}"
        raise UsageError(msg, hint=f"there are {', '.join(sorted(known, key=natural))}")
    a, b = names
    made: list[AskedComparison] = []
    for question in _pooled_or_each(sources):
        made += _between(question, sources, a, b)
    if not made:
        msg = f"--compare: {a} and {b} have no target in common that a third one rated"
        raise UsageError(msg, hint="they are compared with the consensus of the others")
    over_all = adjusted([one.comparison for one in made])
    return tuple(replace(one, comparison=c) for one, c in zip(made, over_all, strict=True))


def _between(question: Question, sources: Panel, a: str, b: str) -> Iterable[AskedComparison]:
    grid, people = _together(question, sources)
    raters, categories = [name for name in people if name not in (a, b)], grid.categories
    if not raters or not {a, b} <= set(grid.raters):
        return
    consensus = consensus_of(grid.take(raters))
    columns = {name: grid.take([name]).values[:, 0] for name in (a, b)}
    shared = ~np.isnan(consensus) & ~np.isnan(columns[a]) & ~np.isnan(columns[b])
    if not shared.any():
        return
    two = {
        name: replace(grid, values=np.column_stack([of, consensus]), raters=(name, "consensus")).only(shared)
        for name, of in columns.items()
    }
    for measure in OF_NAMES if categories.values is None else OF_NUMBERS:
        yield AskedComparison(question, int(shared.sum()), compare_grids(a, two[a], b, two[b], measure))


def _together(question: Question, sources: Panel) -> tuple[RatingGrid, list[str]]:
    """Return the targets that people rated by all sources, and the names of people."""
    people, judges = sources.people[question], _comparable(question, sources)
    both = {
        key: Rated({**rated.by, **(judges[key].by if key in judges else {})}, rated.user)
        for key, rated in people.items()
    }
    names = {name for rated in people.values() for name in rated.by}
    return grid_of(both, sources.categories[question]), sorted(names, key=natural)


def _powers(sources: Panel, asked: Asked, seed: int) -> tuple[AskedPower, ...]:
    """Simulate what it takes, of pooled dimensions where there are any, else of each."""
    if asked.power_by is None:
        return ()
    made = []
    for question in _pooled_or_each(sources):
        grid, people = _together(question, sources)
        if grid.categories.values is None and asked.power_by not in OF_NAMES:
            msg = f"{question}: the categories are names, which have no {asked.power_by}"
            raise UsageError(msg, hint="simulate the power by --measure ac1 or exact")
        judges = [name for name in grid.raters if name not in people]
        pairs = [tuple(asked.compare)] if asked.compare else [(name, None) for name in judges]
        for first, second in pairs:
            raters = [name for name in people if name not in (first, second)]
            if raters and {first, second} - {None} <= set(grid.raters):
                power = power_between(grid, (first, second), raters, asked.power_by, seed=seed)
                made += [] if power is None else [AskedPower(question, power)]
    if not made:
        msg = "--power: there is nobody to tell apart"
        raise UsageError(msg, hint="name two who rated the same targets as others: --compare A B")
    return tuple(made)
