"""Judges against people on a page and on a terminal: the same tables, beside judges that know nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    DataTable,
    DotPlot,
    DotRow,
    Fold,
    Matrix,
    Number,
    Page,
    Percent,
    Prose,
    Section,
    Span,
    TableColumn,
    Text,
    data_table,
    p_value,
    shares_of_rows,
    words,
)
from dialogauge.stats import COEFFICIENTS, Comparison, Estimate, title_of
from dialogauge.studies.agreement.agreement import ControlFigures, JudgeAgreement
from dialogauge.studies.agreement.among_page import (
    TONES,
    Tone,
    alpha_of,
    always_says,
    among_section,
    among_sentences,
    answer_of,
    closeness_row,
    closeness_table,
    figure_words,
    ranks_section,
)
from dialogauge.studies.agreement.closeness import Closeness, verdict_of
from dialogauge.studies.agreement.groups import GroupFigures
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
    return Page(_title(result), (*answers(result), *sections), "", created, version)


def brief(result: AgreementResult, gates: Sequence[str]) -> tuple[Block, ...]:
    """Lay out a result for a terminal: answers first; where dimensions are pooled, not each by itself."""
    first, others = _sections(result, gates, whole=False)
    more = "Each dimension by itself stands on the page (-o DIR), or here with --dimension NAME."
    return (*answers(result), *first, *((Callout((more,)),) if others else ()))


def _title(result: AgreementResult) -> str:
    if result.judges:
        return "Judges against people"
    if result.people:
        return "People among people"
    return "Judges against judges" if result.between or not result.pairs else "Choices between two"


def answers(result: AgreementResult) -> tuple[Block, ...]:
    """Answer the first question in a sentence for each judge, and for people among each other."""
    judged = _main([j for j in result.judges if j.answer is not None], _question)
    out: list[Block] = []
    for judge in judged:
        tone = "info" if judge.answer is None else TONES[verdict_of(judge.answer)]
        out += _answer(judge_sentences(judge), tone)
    if judged:
        out.append(
            Section("Agreement on the same score, less that of chance (AC1)", (_dots(judged),), short="AC1")
        )
    for among, who in ((result.people, "rater"), (result.between, "judge")):
        for one in _main(among, lambda a: a.question):
            if who == "rater" or not result.judges:
                tone = TONES[answer_of([of.verdict for of in one.others])]
                out += _answer(among_sentences(one, who=who), "plain" if judged else tone)
    return (*out, *(callout for pairs in result.pairs for callout in pairs_answers(pairs)))


def answers_in_words(result: AgreementResult) -> tuple[str, ...]:
    """Return the answers without their looks."""
    callouts = (block for block in answers(result) if isinstance(block, Callout))
    return tuple(words.prose_words(paragraph) for block in callouts for paragraph in block.paragraphs)


def _answer(sentences: tuple[Prose, ...], tone: Tone) -> list[Block]:
    """Set the answer off from the figures that it rests on."""
    first, *others = sentences
    return [Callout((first,), tone), *([Callout(tuple(others))] if others else [])]


def _question(judge: JudgeAgreement) -> Question:
    return Question(judge.pair.rated, judge.level)


def _main(several: Sequence[_T], question_of: Callable[[_T], Question]) -> list[_T]:
    """Return those of pooled dimensions; of a level where none are pooled all."""
    pooled = {question_of(one).level for one in several if question_of(one).dimension == ALL}
    return [
        one for one in several if question_of(one).dimension == ALL or question_of(one).level not in pooled
    ]


def judge_sentences(judge: JudgeAgreement) -> tuple[Prose, ...]:
    """Answer whether a judge agrees with people more than the best constant, and say by which figures."""
    answer = judge.answer
    if answer is None:
        return (f"{judge.about.name}: ratings are not on the judge’s scale, so it has no such answer.",)
    verdict, apart = verdict_of(answer), answer.difference
    how = {"yes": "more than", "no": "less than"}.get(verdict, "more or less than")
    spearman = judge.figures.get("spearman")
    order = "" if spearman is None else f", rank correlation {words.decimal(spearman.value, 3)}"
    unclear = "whether " if verdict == "cannot tell" else ""
    ends = "" if apart.interval is None else f" {words.interval(apart.interval, 3)}"
    return (
        (
            Span(verdict.capitalize(), "strong"),
            f"{' ' if unclear else ': '}{unclear}{answer.a} agrees with people {how} a judge that "
            f"{always_says(answer.b)} ({_question(judge)}, {counted(judge.counts.scored, 'target')}).",
        ),
        f"AC1 {words.decimal(answer.figure_a, 3)} against {words.decimal(answer.figure_b, 3)}: difference "
        f"{words.decimal(apart.value, 3, signed=True)}{ends}{_p_words(answer)}. Alpha "
        f"{figure_words(judge.figures[alpha_of(judge.figures)])}{order}.{_low_words(judge)}",
    )


def _dots(judges: Sequence[JudgeAgreement]) -> DotPlot:
    rows = []
    for judge in judges:
        if judge.answer is not None:
            own = judge.figures["ac1"]
            name = f"{judge.about.name}, {judge.level}s" if judge.level else judge.about.name
            rows.append(DotRow(name, own.value, own.interval, "strong"))
            rows.append(DotRow(f"{judge.answer.b}, same targets", judge.answer.figure_b, None, "quiet"))
    return DotPlot("AC1 of each judge, and of the best constant", tuple(rows))


def _p_words(answer: Comparison) -> str:
    if answer.p_holm is None:
        return f" ({answer.difference.reason})" if answer.difference.reason else ""
    cell = p_value(answer.p_holm, at_floor=answer.at_floor)
    return f", p {'≤' if cell.at_most else '='} {words.decimal(cell.value, 3)}"


def _low_words(judge: JudgeAgreement) -> str:
    if "recall_dsat" not in judge.figures or judge.dissatisfied is None:
        return ""
    precision, recall = (judge.figures[f"{name}_dsat"].value for name in ("precision", "recall"))
    low = f"({judge.dissatisfied_if}) for {words.percent(judge.low_shares.get('people'))}"
    right = "" if precision is None else f", and is right with {words.percent(precision)} of its low scores"
    return f" People’s scores are low {low}; it finds {words.percent(recall)} of them{right}."


def _sections(
    result: AgreementResult, gates: Sequence[str], *, whole: bool
) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """Return the sections of pooled dimensions, or of all where none are pooled; and the others."""
    made: list[tuple[Question, Section]] = []
    for judge, gate in zip(result.judges, gates, strict=True):
        question = Question(judge.pair.rated, judge.level)
        ceiling = next((a.others for a in result.people if a.question == question), ())
        made.append((question, _judge_section(judge, gate, ceiling, whole=whole)))
    for among, who, title in (
        (result.people, "rater", "People among people"),
        (result.between, "judge", "Judges among judges"),
    ):
        for one in among:
            made.append((one.question, among_section(one, who=who, title=title)))
    first = {id(section) for _, section in _main(made, lambda pair: pair[0])}
    head = (
        *_asked(result),
        *_powers(result, whole=whole),
        *_groups(result),
        *map(pairs_section, result.pairs),
    )
    tail = (*_comparisons(result), *(ranks_section(ranks) for ranks in result.ranks))
    return (
        (*head, *(section for _, section in made if id(section) in first), *tail),
        tuple(section for _, section in made if id(section) not in first),
    )


def _groups(result: AgreementResult) -> tuple[Section, ...]:
    out = []
    for by in dict.fromkeys(one.by for one in result.groups):
        groups = [one for one in result.groups if one.by == by]
        judged = any(one.judges for one in groups)
        table = _judge_groups(by, groups) if judged else _people_groups(by, groups)
        out.append(Section(f"By {by}", (table,)))
    return tuple(out)


def _judge_groups(by: str, groups: Sequence[GroupFigures]) -> DataTable:
    rows = []
    several = len({one.source for group in groups for one in group.judges}) > 1
    for group in groups:
        for one in group.judges:
            note = ", ".join(filter(None, (_of_group(group), one.source if several else "")))
            rows.append(closeness_row(one, name=Text(group.group, note)))
    return closeness_table(f"Judges against people by {by}", by, rows)


def _of_group(group: GroupFigures) -> str:
    """Return what was rated in a group: `turns`, with its dimension where several are not pooled."""
    own = group.by == "dimension" or group.dimension == ALL
    return f"{group.level}s" if own else str(Question(group.dimension, group.level))


def _people_groups(by: str, groups: Sequence[GroupFigures]) -> DataTable:
    heads = (by, "targets", "AC1", "alpha", "exact", "Spearman")
    rows: list[tuple[Cell, ...]] = []
    for one in groups:
        figures = one.people
        alpha = alpha_of(figures)
        shown = (
            Number(of.value, 3, of.interval) if (of := figures.get(name)) is not None else None
            for name in ("ac1", alpha, "exact", "spearman")
        )
        rows.append((Text(one.group, _of_group(one)), one.targets, *shown))
    return data_table(f"People among people by {by}", heads, rows)


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


def _powers(result: AgreementResult, *, whole: bool) -> tuple[Section, ...]:
    return tuple(power_section(of.power, str(of.question), curves=whole) for of in result.power)


def _judge_section(judge: JudgeAgreement, gate: str, ceiling: Sequence[Closeness], *, whole: bool) -> Section:
    unit = judge.clustered_by
    legend = (
        f"Intervals are clustered by {unit}. ▲ the judge is above the control (p adjusted by Holm over the "
        f"whole table), ▼ below it, ≈ not distinguishable, … too few {unit} to tell, ? undefined. "
    )
    blocks: list[Block] = [Callout((f"Warning: {w}" if whole else w,), "warn") for w in judge.warnings]
    notes = [note for note in (*_notes(judge), gate) if note]
    blocks += [Callout(tuple(notes))] if notes else []
    blocks += [_measures(judge), Callout(((legend, *_controls(judge)) if whole else legend,))]
    if judge.raters or (ceiling and judge.answer is not None):
        rows = [closeness_row(one, reference=True) for one in judge.raters]
        rows += [
            closeness_row(one, name=f"{one.source} against {one.reference}", emphasis="quiet")
            for one in ceiling
        ]
        blocks.append(
            closeness_table(
                "The judge against each rater, and each rater against the others", "against", rows
            )
        )
    if judge.levels:
        blocks.append(_levels(judge))
    if whole and judge.bins:
        title = "People’s scores for each score of the judge"
        note = "Ring: the mean of people’s scores in that row. Rings on the diagonal mean that both agree."
        blocks.append(Section(title, (_scores(judge), Callout((note,)))))
    return Section(judge.about.name, tuple(blocks), _lead(judge))


def _levels(judge: JudgeAgreement) -> DataTable:
    heads = ("order by", "n", "Pearson", "Spearman", "Kendall", TableColumn("", "prose"))
    means = {
        "turn": "single turns",
        "conversation": "means of conversations",
        "candidate": "means of candidates",
    }
    if judge.level == "conversation":
        means["conversation"] = "single conversations"
    rows: list[tuple[Cell, ...]] = []
    for one in judge.levels:
        figures = [one.figures[name] for name in ("pearson", "spearman", "kendall")]
        why = next((of.reason for of in figures if of.reason), "") or ""
        shown = (Number(of.value, 3, of.interval) for of in figures)
        rows.append((means[one.level], one.n, *shown, why))
    return data_table("The order of judge and people at each level", heads, rows)


def _lead(judge: JudgeAgreement) -> str:
    c = judge.counts
    counts = [f"{counted(c.rated, 'rated target')}", f"{c.scored:,} scored", f"{c.not_applicable:,} n/a"]
    counts += [f"{c.failed:,} failed", f"{c.not_judged:,} not judged"]
    counts += [f"{c.undecided:,} undecided among raters"] if c.undecided else []
    counts += [f"{counted(c.refused, 'rating')} not used"] if c.refused else []
    counts += [f"{c.several_raters:,} by several raters, averaged"] if c.several_raters else []
    of = f" of {counted(judge.users, 'user')}" if judge.users else ""
    languages = ", ".join(f"{words.language(code)} {n:,}" for code, n in judge.languages.items())
    about = judge.about
    who = f"{about.judge} judge in {about.mode}: " if about.mode else ""
    level = "" if judge.level is None else f" of {judge.level}s"
    return (
        f"{who}{judge.pair}{level}. {', '.join(counts)}; "
        f"{counted(judge.conversations, 'conversation')}{of}{f'; {languages}' if languages else ''}."
    )


def _notes(judge: JudgeAgreement) -> list[str]:
    out = []
    if judge.dissatisfied_if is not None:
        scored = counted(judge.counts.scored, "target")
        out.append(f"Dissatisfied: {judge.dissatisfied_if}, {judge.dissatisfied} of {scored}.")
    if judge.fractions:
        out.append(
            "Measures of order use the judge’s fractional scores; kappa, exact, within one and classes use "
            "its whole scores."
        )
    if not judge.same_scale:
        out.append("People’s ratings are not on the judge’s scale: only the order is compared.")
    return out


def _columns(judge: JudgeAgreement) -> tuple[ControlFigures, ...]:
    """Return what stands beside the judge: every constant, then itself permuted, then what goes by an order."""
    flat = ("constant", "always dissatisfied")
    constants = judge.constants or tuple(c for c in judge.controls if c.name in flat)
    others = (c for c in judge.controls if c.name not in flat)
    return (*constants, *sorted(others, key=lambda c: c.name != "shuffled"))


def _column(control: ControlFigures) -> str:
    return "permuted" if control.name == "shuffled" else control.name


def _measures(judge: JudgeAgreement) -> DataTable:
    columns = _columns(judge)
    rows: list[tuple[Cell, ...]] = [_measure(judge, name, of, columns) for name, of in judge.figures.items()]
    if judge.low_shares:
        title = f"low scores ({judge.dissatisfied_if}); of people {words.percent(judge.low_shares['people'])}"
        shares = {**judge.low_shares, "shuffled": judge.low_shares["judge"]}
        shares |= dict.fromkeys(("reply length", "position"), judge.low_shares["people"])
        rows.append((title, *(Percent(shares.get(name)) for name in ("judge", *(c.name for c in columns)))))
    heads = ("measure", "judge", *map(_column, columns))
    return data_table(f"Agreement of {judge.about.name}", heads, rows, captioned=False)


def _measure(
    judge: JudgeAgreement, name: str, estimate: Estimate, columns: Sequence[ControlFigures]
) -> tuple[Cell, ...]:
    sides = judge.sides(name)
    if judge.constants and judge.answer is not None and "constant" in sides:
        sides[judge.answer.b] = sides["constant"]
    controls = (
        Number(c.figures[name].value, 3, notes=(words.sign(sides[c.name]),) if c.name in sides else ())
        for c in columns
    )
    figure = Number(estimate.value, 3, estimate.interval, strong=True)
    return (title_of(name, judge.dissatisfied_if), figure, *controls)


def _controls(judge: JudgeAgreement) -> Iterable[str | Span]:
    for number, control in enumerate(c for c in _columns(judge) if c not in judge.constants):
        yield "; " if number else ""
        yield Span(_column(control), "strong")
        yield f": {control.description}"


def _scores(judge: JudgeAgreement) -> Matrix:
    """Lay out the judge's scores (rows) by people's (columns), with people's mean in each row."""
    levels = sorted({score for b in judge.bins for score in b.people})
    counts = tuple(tuple(b.people.get(level, 0) for level in levels) for b in judge.bins)
    return Matrix(
        "Scores of the judge in rows, of people in columns",
        tuple(f"{b.score:g}" for b in judge.bins),
        tuple(f"{level:g}" for level in levels),
        counts,
        shares_of_rows(counts),
        "judge",
        "people",
        rings=tuple(_place(levels, b.people_mean) for b in judge.bins),
        totals=tuple(b.n for b in judge.bins),
    )


def _place(levels: Sequence[float], mean: float | None) -> float | None:
    """Return where a mean lies among columns of equal width; 0 is the middle of the first."""
    if mean is None or not levels:
        return None
    if mean <= levels[0]:
        return 0.0
    for j, (low, high) in enumerate(pairwise(levels)):
        if mean <= high:
            return j + (mean - low) / (high - low)
    return float(len(levels) - 1)


def _comparisons(result: AgreementResult) -> tuple[Section, ...]:
    if not result.comparisons:
        return ()
    rules = {j.pair.rated: j.dissatisfied_if for j in result.judges}
    questions = [Question(c.pair.rated, c.level) for c in result.comparisons]
    several = len(set(questions)) > 1
    titles = (
        Text(
            title_of(c.comparison.measure, rules.get(c.pair.rated)),
            counted(c.comparison.difference.n, "target") + (f", {question}" if several else ""),
        )
        for c, question in zip(result.comparisons, questions, strict=True)
    )
    table = comparison_table([c.comparison for c in result.comparisons], titles)
    lead: Prose = "On the targets that both scored. p is adjusted by Holm over the whole table."
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
