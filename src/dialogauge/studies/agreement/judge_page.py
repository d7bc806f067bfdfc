"""A judge against people as blocks: the answer, its figures beside every control, each rater, each level."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    DataTable,
    DotPlot,
    DotRow,
    Matrix,
    Number,
    Percent,
    Prose,
    Section,
    Span,
    TableColumn,
    data_table,
    shares_of_rows,
    words,
)
from dialogauge.stats import title_of
from dialogauge.studies.agreement.agreement import ControlFigures, JudgeAgreement
from dialogauge.studies.agreement.among_page import (
    alpha_of,
    always_says,
    closeness_row,
    closeness_table,
    difference_words,
    figure_words,
)
from dialogauge.studies.agreement.closeness import Closeness, verdict_of
from dialogauge.studies.agreement.groups import MOST_RATERS
from dialogauge.studies.agreement.sources import Question
from dialogauge.text import counted

_MAIN: Final = ("ac1", "qwk", "exact", "spearman", "precision_dsat", "recall_dsat", "auc", "bias")
"""What a terminal shows of a judge, beside alpha."""


def judge_sentences(judge: JudgeAgreement) -> tuple[Prose, ...]:
    """Answer whether a judge agrees with people more than the best constant, and say by which figures."""
    answer = judge.answer
    if answer is None:
        return (f"{judge.about.name}: ratings are not on the judge’s scale, so it has no such answer.",)
    verdict = verdict_of(answer)
    how = {"yes": "more than", "no": "less than"}.get(verdict, "more or less than")
    spearman = judge.figures.get("spearman")
    order = "" if spearman is None else f", rank correlation {words.decimal(spearman.value, 3)}"
    unclear = "whether " if verdict == "cannot tell" else ""
    by_order = () if verdict == "yes" else _by_order(judge)
    return (
        (
            Span(verdict.capitalize(), "strong"),
            f"{' ' if unclear else ': '}{unclear}{answer.a} agrees with people {how} a judge that "
            f"{always_says(answer.b)} ({question_of(judge)}, {counted(judge.counts.scored, 'target')}).",
        ),
        f"{difference_words(answer)}. Alpha {figure_words(judge.figures[alpha_of(judge.figures)])}{order}."
        f"{_low_words(judge)}",
        *by_order,
    )


def _by_order(judge: JudgeAgreement) -> tuple[Prose, ...]:
    """Say of a judge that does not give people's scores that it has their order; nothing where it has not.

    Of the judge of a run the light says that, of the targets that it was not fitted to.
    """
    if judge.about.run:
        return ("This answer is about giving the same score; the one about order stands above.",)
    sides = judge.sides("auc")
    if not sides or set(sides.values()) != {"above"}:
        return ()
    auc = judge.figures["auc"]
    between = "" if auc.interval is None else f" {words.percents(auc.interval)}"
    return (
        "The answer is about giving the same score. By order the judge is better than every control: given "
        "a poor and a better score of people’s, it ranks the poor one worse in "
        f"{words.percent(auc.value)}{between} of pairs (AUC). Use its order, not its scores.",
    )


def _low_words(judge: JudgeAgreement) -> str:
    if "recall_dsat" not in judge.figures or judge.dissatisfied is None:
        return ""
    precision, recall = (judge.figures[f"{name}_dsat"].value for name in ("precision", "recall"))
    low = f"({judge.dissatisfied_if}) for {words.percent(judge.low_shares.get('people'))}"
    right = "" if precision is None else f", and is right with {words.percent(precision)} of its low scores"
    return f" People’s scores are low {low}; it finds {words.percent(recall)} of them{right}."


def ac1_dots(judges: Sequence[JudgeAgreement]) -> DotPlot:
    """Draw the AC1 of each judge above that of the best constant on the same targets."""
    rows = []
    for judge in judges:
        if judge.answer is not None:
            own = judge.figures["ac1"]
            name = f"{judge.about.name}, {judge.level}s" if judge.level else judge.about.name
            rows.append(DotRow(name, own.value, own.interval, "strong"))
            rows.append(DotRow(f"{judge.answer.b}, same targets", judge.answer.figure_b, None, "quiet"))
    return DotPlot("AC1 of each judge, and of the best constant", tuple(rows))


def question_of(judge: JudgeAgreement) -> Question:
    """Return what people were asked of the targets of a judge."""
    return Question(judge.pair.rated, judge.level)


def judge_section(judge: JudgeAgreement, gate: str, ceiling: Sequence[Closeness], *, whole: bool) -> Section:
    """Lay out a judge against people.

    Args:
        judge: Its figures.
        gate: Says whether it is ready; empty where nothing does.
        ceiling: Each rater against the others, on the same question.
        whole: Whether there is room for all, as on a page.
    """
    unit = judge.clustered_by
    legend = (
        f"Intervals are clustered by {unit}. ▲ the judge is above the control (p adjusted by Holm over the "
        f"whole table), ▼ below it, ≈ not distinguishable, … too few {unit} to tell, ? undefined. "
    )
    blocks: list[Block] = [Callout((f"Warning: {w}" if whole else w,), "warn") for w in judge.warnings]
    notes = [note for note in (*_notes(judge), gate) if note]
    blocks += [Callout(tuple(notes))] if notes else []
    text: list[str | Span] = [legend]
    for control in (c for c in _columns(judge) if whole and c not in judge.constants):
        text += ["; "] if len(text) > 1 else []
        text += [Span(_column(control), "strong"), f": {control.description}"]
    blocks += [_measures(judge, whole=whole), Callout((tuple(text) if whole else legend,))]
    if judge.raters or (ceiling and judge.answer is not None):
        rows = [closeness_row(one, reference=True) for one in judge.raters]
        rows += [
            closeness_row(one, name=f"{one.source} against {one.reference}", emphasis="quiet")
            for one in ceiling
        ]
        title = "The judge against each rater, and each rater against the others"
        if len(judge.raters) == MOST_RATERS:
            title += f": of the {MOST_RATERS} who rated most"
        blocks.append(closeness_table(title, "against", rows))
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
    """Return what stands beside the judge: each constant, itself permuted, what goes by an order."""
    flat = ("constant", "always dissatisfied")
    constants = judge.constants or tuple(c for c in judge.controls if c.name in flat)
    others = (c for c in judge.controls if c.name not in flat)
    return (*constants, *sorted(others, key=lambda c: c.name != "shuffled"))


def _column(control: ControlFigures) -> str:
    return "permuted" if control.name == "shuffled" else control.name


def _measures(judge: JudgeAgreement, *, whole: bool) -> DataTable:
    columns, names = _columns(judge), list(judge.figures)
    if not whole:
        names = [name for name in names if name in (*_MAIN, alpha_of(judge.figures))]
        if judge.answer is not None:
            columns = tuple(c for c in columns if c not in judge.constants or c.name == judge.answer.b)
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        sides, estimate = judge.sides(name), judge.figures[name]
        if judge.constants and judge.answer is not None and "constant" in sides:
            sides[judge.answer.b] = sides["constant"]
        controls = (
            Number(c.figures[name].value, 3, notes=(words.sign(sides[c.name]),) if c.name in sides else ())
            for c in columns
        )
        figure = Number(estimate.value, 3, estimate.interval, strong=True)
        rows.append((title_of(name, judge.dissatisfied_if), figure, *controls))
    if "judge" in judge.low_shares:
        title = f"low scores ({judge.dissatisfied_if}); of people {words.percent(judge.low_shares['people'])}"
        shares = {**judge.low_shares, "shuffled": judge.low_shares["judge"]}
        shares |= dict.fromkeys(("reply length", "position"), judge.low_shares["people"])
        rows.append((title, *(Percent(shares.get(name)) for name in ("judge", *(c.name for c in columns)))))
    heads = ("measure", "judge", *map(_column, columns))
    return data_table(f"Agreement of {judge.about.name}", heads, rows, captioned=False)


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
