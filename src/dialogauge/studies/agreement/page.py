"""The page of the study, and the same on a terminal: answers first, then what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    DataTable,
    Fold,
    Number,
    Page,
    Prose,
    Section,
    Span,
    TableColumn,
    Text,
    data_table,
    p_value,
    words,
)
from dialogauge.stats import COEFFICIENTS, Comparison, title_of
from dialogauge.studies.agreement.among_page import (
    TONES,
    Tone,
    alpha_of,
    among_section,
    among_sentences,
    closeness_row,
    closeness_table,
    ranks_section,
)
from dialogauge.studies.agreement.candidates_page import candidates_section, stability_section
from dialogauge.studies.agreement.closeness import verdict_of
from dialogauge.studies.agreement.groups import GroupFigures
from dialogauge.studies.agreement.judge_page import ac1_dots, judge_section, judge_sentences, question_of
from dialogauge.studies.agreement.pairs_page import pairs_answers, pairs_section
from dialogauge.studies.agreement.power import power_section
from dialogauge.studies.agreement.sources import ALL, Question
from dialogauge.studies.agreement.study import AgreementResult
from dialogauge.text import counted

_T = TypeVar("_T")


def agreement_page(
    result: AgreementResult,
    gates: Sequence[str],
    *,
    ratings: str,
    created: str,
    version: str,
    satisfaction: Sequence[Section] = (),
) -> Page:
    """Lay out a result.

    Args:
        result: Everything that was measured.
        gates: Says of each judge whether it is ready; empty where nothing does.
        ratings: Where people's ratings are from.
        created: The day.
        version: Of dialogauge.
        satisfaction: What is shown of the judges of satisfaction runs.
    """
    s = result.settings
    not_this = (
        Span("What this page is not.", "strong"),
        " It shows agreement on these conversations, in these languages, with these raters. For others it "
        "must be measured again. It does not replace asking your users.",
    )
    made = (
        f"dialogauge {version}, {s.shuffles:,} shuffles, seed {s.seed}. Scores of several repeats are "
        "averaged, and so are ratings of several raters in their consensus; coefficients of categories, "
        "exact and within one use whole scores, halves rounded up. Intervals are 95 %, clustered by user "
        "where users are known, else by conversation. Ratings: ",
        Span(ratings, "strong"),
        ".",
    )
    first, others = _sections(result, gates, whole=True)
    apart = "Each dimension by itself"
    folded = (Section(apart, (Fold("Show each", others),), short="Dimensions"),) if others else ()
    sections = (
        *satisfaction,
        *first,
        *folded,
        Section("How this was made", (Callout((made, not_this)),)),
    )
    title = "Judges against judges" if result.between or not result.pairs else "Choices between two"
    if result.judges or result.people:
        title = "Judges against people" if result.judges else "People among people"
    return Page(title, (*answers(result), *sections), "", created, version)


def brief(result: AgreementResult, gates: Sequence[str]) -> tuple[Block, ...]:
    """Lay out a result for a terminal: the answers, the main figures, and what else the page has."""
    first, others = _sections(result, gates, whole=False)
    several = len(result.judges) > 1
    first_lines = (
        replace(of, tone="plain") if isinstance(of, Callout) else of
        for of in answers(result)
        if several or isinstance(of, Callout)
    )
    rest = ["all coefficients beside all controls", "what they mean"]
    rest += ["pairs of raters", "how each uses the scale"] if result.people or result.between else []
    rest += ["each dimension by itself (here: --dimension NAME)"] if others else []
    return (*first_lines, *first, Callout((f"The page (-o DIR) has the rest: {', '.join(rest)}.",)))


def answers(result: AgreementResult) -> tuple[Block, ...]:
    """Answer the first question in a sentence for each judge, and for people among each other."""
    judged = _main([j for j in result.judges if j.answer is not None], question_of)
    out: list[Block] = []
    for judge in judged:
        tone = "info" if judge.answer is None else TONES[verdict_of(judge.answer)]
        out += _answer(judge_sentences(judge), tone)
    for among, who in ((result.people, "rater"), (result.between, "judge")):
        for one in _main(among, lambda a: a.question):
            if who == "rater" or not result.judges:
                out += _answer(among_sentences(one, who=who), "plain" if judged else TONES[one.verdict])
    out += [callout for pairs in result.pairs for callout in pairs_answers(pairs)]
    if judged:
        title = "Agreement on the same score, less that of chance (AC1)"
        out.append(Section(title, (ac1_dots(judged),), short="AC1"))
    return tuple(out)


def answers_in_words(result: AgreementResult) -> tuple[str, ...]:
    """Return the answers without their looks."""
    callouts = (block for block in answers(result) if isinstance(block, Callout))
    return tuple(words.prose_words(paragraph) for block in callouts for paragraph in block.paragraphs)


def _answer(sentences: tuple[Prose, ...], tone: Tone) -> list[Block]:
    """Set the answer off from the figures that it rests on."""
    first, *others = sentences
    return [Callout((first,), tone), *([Callout(tuple(others))] if others else [])]


def _main(several: Sequence[_T], question_of: Callable[[_T], Question]) -> list[_T]:
    """Return those of pooled dimensions; of a level where none are pooled all."""
    pooled = {question_of(one).level for one in several if question_of(one).dimension == ALL}
    return [
        one for one in several if question_of(one).dimension == ALL or question_of(one).level not in pooled
    ]


def _sections(
    result: AgreementResult, gates: Sequence[str], *, whole: bool
) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """Return the sections of pooled dimensions, or of all where none are pooled; and the others."""
    made: list[tuple[Question, Section]] = []
    for judge, gate in zip(result.judges, gates, strict=True):
        question = Question(judge.pair.rated, judge.level)
        ceiling = next((a.others for a in result.people if a.question == question), ())
        made.append((question, judge_section(judge, gate, ceiling, whole=whole)))
    for among, who, title in (
        (result.people, "rater", "People among people"),
        (result.between, "judge", "Judges among judges"),
    ):
        for one in among:
            shown = any(j.answer is not None and question_of(j) == one.question for j in result.judges)
            section = among_section(one, who=who, title=title, whole=whole, others=whole or not shown)
            made.append((one.question, section))
    first = {id(section) for _, section in _main(made, lambda pair: pair[0])}
    head = (
        *_asked(result),
        *(power_section(of.power, str(of.question), curves=whole) for of in result.power),
        *_groups(result),
        *map(pairs_section, result.pairs),
    )
    ranked = _main(result.ranks, lambda ranks: ranks.question)
    beside = _main(result.candidates, lambda one: one.question)
    head += tuple(candidates_section(one, whole=whole) for one in beside)
    if result.stability:
        main = _main(result.stability, lambda one: one.question)
        head += (stability_section(result.stability if whole else main),)
    tail = (*_comparisons(result, whole=whole), *map(ranks_section, ranked))
    alone = (section for _, section in made if id(section) not in first)
    return (
        (*head, *(section for _, section in made if id(section) in first), *tail),
        (
            *alone,
            *(candidates_section(one, whole=whole) for one in result.candidates if one not in beside),
            *(ranks_section(ranks) for ranks in result.ranks if ranks not in ranked),
        ),
    )


def _groups(result: AgreementResult) -> tuple[Section, ...]:
    out = []
    for by in dict.fromkeys(one.by for one in result.groups):
        groups = [one for one in result.groups if one.by == by]
        sources = {one.source for group in groups for one in group.judges}
        if sources:
            made = []
            for group in groups:
                for one in group.judges:
                    note = ", ".join(filter(None, (_of_group(group), one.source if len(sources) > 1 else "")))
                    made.append(closeness_row(one, name=Text(group.group, note)))
            table = closeness_table(f"Judges against people by {by}", by, made)
        else:
            heads = (by, "targets", "shared", "AC1", "alpha", "exact", "Spearman")
            rows: list[tuple[Cell, ...]] = []
            for group in groups:
                names = ("ac1", alpha_of(group.people), "exact", "spearman")
                figures = (group.people.get(name) for name in names)
                shown = (None if one is None else Number(one.value, 3, one.interval) for one in figures)
                rows.append((Text(group.group, _of_group(group)), group.targets, group.shared, *shown))
            table = data_table(f"People among people by {by}", heads, rows)
        out.append(Section(f"By {by}", (table,)))
    return tuple(out)


def _of_group(group: GroupFigures) -> str:
    """Return what was rated in a group: `turns`, with its dimension where several are not pooled."""
    own = group.by == "dimension" or group.dimension == ALL
    return f"{group.level}s" if own else str(Question(group.dimension, group.level))


def _asked(result: AgreementResult) -> tuple[Section, ...]:
    out = []
    for question in dict.fromkeys(one.question for one in result.asked):
        these = [one for one in result.asked if one.question == question]
        made = [one.comparison for one in these]
        table = comparison_table(made, (COEFFICIENTS[c.measure].title for c in made))
        lead = (
            f"{question}: against the consensus of people without either, on {counted(these[0].n, 'target')} "
            "that both scored. p is adjusted by Holm over everything that is compared here."
        )
        short = f"{made[0].a} and {made[0].b}"
        out.append(Section(f"{short}: {question}", (table,), lead, short))
    return tuple(out)


def _comparisons(result: AgreementResult, *, whole: bool) -> tuple[Section, ...]:
    """Lay out which of two judges is nearer to people: by all dimensions first, each by itself folded."""
    made = _main(result.comparisons, lambda c: Question(c.pair.rated, c.level))
    others = [c for c in result.comparisons if c not in made]
    if not made:
        return ()
    shown = [*made, *others] if whole else made
    rules = {j.pair.rated: j.dissatisfied_if for j in result.judges}
    questions = [Question(c.pair.rated, c.level) for c in shown]
    several = len(set(questions)) > 1
    titles = (
        Text(
            title_of(c.comparison.measure, rules.get(c.pair.rated)),
            counted(c.comparison.difference.n, "target") + (f", {question}" if several else ""),
        )
        for c, question in zip(shown, questions, strict=True)
    )
    table = comparison_table([c.comparison for c in shown], titles, shown=len(made))
    over = "the whole table" if whole or not others else "these and the comparisons of each dimension"
    head = "On" if several else f"{str(questions[0]).capitalize()}, on"
    lead: Prose = f"{head} the targets that both scored. p is adjusted by Holm over {over}."
    return (Section("Judges against each other", (table,), lead),)


def comparison_table(
    comparisons: Iterable[Comparison], titles: Iterable[Cell], *, shown: int | None = None
) -> DataTable:
    """Return the table of judges against each other, a row for each comparison.

    Args:
        comparisons: Of two judges by one measure each.
        titles: Of their measures, in the same order.
        shown: So many rows; the others fold away.
    """
    heads = (
        "measure",
        *(TableColumn("first", "text"), "figure"),
        *(TableColumn("second", "text"), "figure"),
        *("first better by", "p", TableColumn("in words", "prose")),
    )
    rows = [
        (
            title,
            *(c.a, Number(c.figure_a, 3)),
            *(c.b, Number(c.figure_b, 3)),
            Number(c.difference.value, 3, c.difference.interval),
            p_value(c.p_holm, at_floor=c.at_floor),
            f"{words.sign(c.side)} {c.words}",
        )
        for c, title in zip(comparisons, titles, strict=True)
    ]
    return data_table("Judges against each other", heads, rows, captioned=False, shown=shown)
