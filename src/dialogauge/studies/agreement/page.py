"""Judges against people on a page and on a terminal: the same tables, beside judges that know nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    DataTable,
    Matrix,
    Number,
    Page,
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
from dialogauge.stats import Comparison, Estimate, title_of
from dialogauge.studies.agreement.agreement import AgreementResult, ControlFigures, JudgeAgreement
from dialogauge.text import counted


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
        result: The judges against people.
        gates: Says of each judge whether it is ready.
        ratings: Where people's ratings are from.
        created: The day.
        version: Of dialogauge.
        satisfaction: What is shown of the judges of satisfaction runs.
    """
    s = result.settings
    one = "the judge agrees" if len(result.judges) == 1 else "the judges agree"
    not_this = (
        Span("What this page is not.", "strong"),
        " It shows agreement on these conversations, in these languages, with these raters. For others it "
        "must be measured again. It does not replace asking your users.",
    )
    intervals = (
        "Intervals are 95 %, clustered by user where users are known, else by conversation. Where the judge "
        "is not above a control, these ratings do not show that it is better than that control."
    )
    made = (
        f"dialogauge {version}, {s.shuffles:,} shuffles, seed {s.seed}. Scores and "
        "ratings of several raters or repeats are averaged; kappa, exact and within "
        "one use whole scores, halves rounded up."
    )
    sections = (
        *satisfaction,
        *(_judge_section(j, gate, whole=True) for j, gate in zip(result.judges, gates, strict=True)),
        *_comparisons(result),
        Section("How this was made", (Callout((made,)),)),
    )
    lead = (f"How far {one} with ", Span(ratings, "strong"), ", beside controls that know nothing.")
    head = Callout((not_this, intervals), "info")
    return Page("Judges against people", (head, *sections), lead, created, version)


def brief(result: AgreementResult, gates: Sequence[str]) -> tuple[Block, ...]:
    """Lay out a result for a terminal: each judge with its controls, and every comparison."""
    judges = zip(result.judges, gates, strict=True)
    return (*(_judge_section(j, gate, whole=False) for j, gate in judges), *_comparisons(result))


def _judge_section(judge: JudgeAgreement, gate: str, *, whole: bool) -> Section:
    table, unit = _measures(judge), judge.clustered_by
    legend = (
        f"Intervals are clustered by {unit}. ▲ the judge is above the control (p adjusted by Holm over the "
        f"whole table), ▼ below it, ≈ not distinguishable, … too few {unit} to tell, ? undefined. "
    )
    blocks: list[Block] = [Callout((f"Warning: {w}" if whole else w,), "warn") for w in judge.warnings]
    blocks += [Callout((*_notes(judge), gate)), table]
    blocks.append(Callout(((legend, *_controls(judge.controls)) if whole else legend,)))
    if whole and judge.bins:
        title = "People’s scores for each score of the judge"
        note = "Ring: the mean of people’s scores in that row. Rings on the diagonal mean that both agree."
        blocks.append(Section(title, (_scores(judge), Callout((note,)))))
    return Section(judge.about.name, tuple(blocks), _lead(judge))


def _lead(judge: JudgeAgreement) -> str:
    c = judge.counts
    counts = [f"{counted(c.rated, 'rated target')}", f"{c.scored:,} scored", f"{c.not_applicable:,} n/a"]
    counts += [f"{c.failed:,} failed", f"{c.not_judged:,} not judged"]
    counts += [f"{c.undecided:,} undecided among raters"] if c.undecided else []
    counts += [f"{counted(c.refused, 'rating')} not used"] if c.refused else []
    counts += [f"{c.several_raters:,} by several raters, averaged"] if c.several_raters else []
    of = f" of {counted(judge.users, 'user')}" if judge.users else ""
    languages = ", ".join(f"{words.language(code)} {n:,}" for code, n in judge.languages.items())
    return (
        f"{judge.about.judge} judge in {judge.about.mode}: {judge.pair}. {', '.join(counts)}; "
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


def _measures(judge: JudgeAgreement) -> DataTable:
    heads = ("measure", "judge", *(c.name for c in judge.controls))
    rows = [_measure(judge, name, estimate) for name, estimate in judge.figures.items()]
    return data_table(f"Agreement of {judge.about.name}", heads, rows, captioned=False)


def _measure(judge: JudgeAgreement, name: str, estimate: Estimate) -> tuple[Cell, ...]:
    sides = judge.sides(name)
    controls = (Number(c.figures[name].value, 3, notes=(words.sign(sides[c.name]),)) for c in judge.controls)
    figure = Number(estimate.value, 3, estimate.interval, strong=True)
    return (title_of(name, judge.dissatisfied_if), figure, *controls)


def _controls(controls: Iterable[ControlFigures]) -> Iterable[str | Span]:
    for number, control in enumerate(controls):
        yield "; " if number else ""
        yield Span(control.name, "strong")
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
    made = [(c.comparison, rules.get(c.pair.rated)) for c in result.comparisons]
    titles = (Text(title_of(c.measure, rule), counted(c.difference.n, "target")) for c, rule in made)
    table = comparison_table([c for c, _ in made], titles)
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
