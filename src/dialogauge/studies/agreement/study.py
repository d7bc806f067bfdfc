"""The whole study: who said what in, every block of figures out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dialogauge.core import UsageError
from dialogauge.core.json_keys import keys
from dialogauge.stats import Categories, DissatisfiedRule, adjusted
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
from dialogauge.studies.agreement.asked import NOTHING, Asked, AskedComparison, AskedPower, compared, powers
from dialogauge.studies.agreement.candidates import CandidateAgreement, candidate_agreements
from dialogauge.studies.agreement.closeness import consensus_of
from dialogauge.studies.agreement.groups import GroupFigures, group_figures, rater_closeness, rater_groups
from dialogauge.studies.agreement.levels import levels_of_table
from dialogauge.studies.agreement.pairs import PairAgreement, pair_agreement, remarks_on
from dialogauge.studies.agreement.pooling import comparable, pooled_or_each, questions, with_pools
from dialogauge.studies.agreement.ranks import CandidateRanks, candidate_ranks
from dialogauge.studies.agreement.sources import (
    ALL,
    Answers,
    Question,
    TargetKey,
    pile_of,
    scale_of,
    sources_of,
)
from dialogauge.studies.agreement.stability import Stability, stabilities
from dialogauge.studies.agreement.targets import Panel
from dialogauge.text import counted


@keys(notes=None, candidates="candidates?", stability="stability?")
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
    candidates: tuple[CandidateAgreement, ...] = ()
    """Every evaluator beside people, by candidate."""
    stability: tuple[Stability, ...] = ()
    """How much scores vary over sessions and judgings."""
    notes: tuple[str, ...] = ()


def measure(
    sources: Panel,
    rule: DissatisfiedRule | None,
    settings: AgreementSettings,
    *,
    by: Sequence[str] = ("dimension",),
    asked: Asked = NOTHING,
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
    everything = with_pools(sources)
    judges, comparisons = _judges(everything, rule, settings, notes)

    def each_other(
        answers: Mapping[Question, Answers], categories: Mapping[Question, Categories]
    ) -> tuple[Among, ...]:
        """Measure how far sources agree with each other, where two or more answered."""
        several = [q for q in questions(answers) if q in categories and len(sources_of(answers[q])) > 1]
        how = {"shuffles": settings.shuffles, "seed": settings.seed}
        return tuple(among(q, answers[q], categories[q], **how) for q in several)

    votes = sources.people_votes, sources.judge_votes
    pairs = pair_agreement(*votes, shuffles=settings.shuffles, seed=settings.seed) if any(votes) else ()
    return AgreementResult(
        settings,
        tuple(judges),
        tuple(comparisons),
        each_other(everything.people, everything.categories),
        each_other(everything.judges, everything.judged_on),
        tuple(_ranks(everything, settings.seed)),
        tuple(_groups(everything, by)),
        compared(everything, asked.compare),
        pairs,
        powers(everything, asked, settings.seed),
        tuple(candidate_agreements(everything, shuffles=settings.shuffles, seed=settings.seed)),
        tuple(stabilities(everything)),
        (*notes, *(words for one in pairs for words in remarks_on(one))),
    )


def _judges(
    sources: Panel, rule: DissatisfiedRule | None, settings: AgreementSettings, notes: list[str]
) -> tuple[list[JudgeAgreement], list[JudgeComparison]]:
    filled = [t for t in sources.tables if t.targets]
    differ = [t for t in filled if len({target.people for target in t.targets}) > 1]
    for table in (t for t in filled if t not in differ):
        people = table.targets[0].people
        score = people if isinstance(people, str) else f"{people:g}"
        same = f"people said the same of {counted(len(table.targets), 'target')}, {score}"
        if not differ:
            msg = f"{same}: no order can be measured"
            raise UsageError(msg, hint="a judge is compared with ratings that differ")
        notes.append(f"{table.about.name}, {table.question}: {same}; not compared")
    order = questions({t.question: {} for t in differ})
    judges: list[JudgeAgreement] = []
    comparisons: list[JudgeComparison] = []
    for question in order:
        several = [t for t in differ if t.question == question]
        categories = sources.categories.get(question)
        # Whether people's names are places among the categories; else they stand as they are.
        in_words = any(isinstance(target.people, str) for target in several[0].targets)
        placed = categories is not None and categories.values is None and not in_words
        dissatisfied = None if placed else rule_for(several[0], rule)
        for table in several:
            made = agreement(table, dissatisfied, settings, categories=categories)
            raters = (
                rater_closeness(table, categories) if categories and comparable(question, sources) else ()
            )
            judges.append(replace(made, raters=raters, levels=() if placed else levels_of_table(table)))
        comparisons += compare_judges(several, dissatisfied, NAMED if placed else COMPARED)
    answers = iter(adjusted([j.answer for j in judges if j.answer is not None]))
    return [j if j.answer is None else replace(j, answer=next(answers)) for j in judges], comparisons


def _ranks(sources: Panel, seed: int) -> Iterable[CandidateRanks]:
    for question in questions(sources.judges):
        categories = sources.judged_on.get(question)
        if categories is None or categories.values is None:
            continue
        people: dict[TargetKey, float] = {}
        if sources.categories.get(question) == categories and question in sources.people:
            grid = pile_of(sources.people[question], categories)
            consensus = zip(sources.people[question], consensus_of(grid).tolist(), strict=True)
            people = {key: value for key, value in consensus if value == value}
        made = candidate_ranks(question, sources.judges[question], people, scale_of(categories), seed)
        if made is not None:
            yield made


def _groups(sources: Panel, by: Sequence[str]) -> Iterable[GroupFigures]:
    """Yield the groups of pooled dimensions, of each where none are; dimensions are the groups of a pool."""
    for name in by:
        for question in pooled_or_each(sources):
            people, judges = sources.people[question], comparable(question, sources)
            categories = sources.categories[question]
            if name == "rater":
                yield from rater_groups(question, people, judges, categories) if judges else ()
            elif name != "dimension" or question.dimension == ALL:
                yield from group_figures(name, question, people, judges, categories)
