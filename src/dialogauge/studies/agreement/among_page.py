"""Sources among each other as blocks: coefficients, pairs, strictness, and each against the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb, factorial
from typing import Final, Literal

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    DataTable,
    Matrix,
    Number,
    Section,
    Span,
    TableColumn,
    TableRow,
    data_table,
    p_value,
    words,
)
from dialogauge.report.cells import Emphasis, Prose
from dialogauge.stats import COEFFICIENTS, Comparison, Estimate
from dialogauge.studies.agreement.among import Among
from dialogauge.studies.agreement.closeness import Closeness, Verdict
from dialogauge.studies.agreement.ranks import CandidateRanks, SameOrder
from dialogauge.text import counted

_SWAPS: Final = 5
"""Pairs of candidates that change places and are named."""

Tone = Literal["plain", "good", "warn", "info"]
TONES: Final[Mapping[Verdict, Tone]] = {
    "yes": "good",
    "no": "warn",
    "cannot tell": "info",
}
"""What an answer looks like."""
_FIRST: Final = 12
"""Rows that a table of sources shows; the others fold away."""
_MOST_IN_MATRIX: Final = 15
_WHAT: Final = (
    "Permuted: each one’s scores dealt anew to the targets that they are of, the mean over deals. Always "
    "1, 2 ...: somebody who always says it, beside each of them in turn, the mean. A figure that these "
    "reach is no finding."
)


def among_section(among: Among, *, who: str, title: str, whole: bool, others: bool = True) -> Section:
    """Lay out sources among each other.

    Args:
        among: Their figures.
        who: What one of them is: `rater`, `judge`.
        title: Of the section, before its question.
        whole: Whether with everything, or with the main figures alone.
        others: Whether with each against the others.
    """
    blocks: list[Block] = [Callout((warning,), "warn") for warning in among.warnings]
    if among.shared:
        blocks.append(_coefficients(among, whole=whole))
        if whole:
            blocks += [Callout((_WHAT,)), *_matrix(among, who), *_by_candidate(among, who)]
        if among.others and others:
            blocks.append(
                closeness_table(f"Each {who} against the consensus of the others", who, among.others)
            )
    if whole or not among.shared:
        blocks.append(_strictness(among, who))
    lead = (
        f"{counted(len(among.sources), who)}, {counted(among.targets, 'target')}, "
        f"{among.shared:,} of them by two or more, {counted(among.ratings, 'rating')}; categories "
        f"{among.categories}. Intervals are clustered by {among.unit}."
    )
    short = f"{who.capitalize()}s, {among.question.level}s"
    return Section(f"{title}: {among.question}", tuple(blocks), lead, short)


def among_sentences(among: Among, *, who: str) -> tuple[Prose, ...]:
    """Answer whether sources agree with each other more than the best constant, and by which figures."""
    if not among.shared:
        why = f" how far {who}s agree ({among.question}): no target was rated by two."
        return ((Span("Cannot tell", "strong"), why),)
    if among.answer is None:
        return ()
    about = f"({among.question}, {counted(among.shared, 'target')} rated by two or more)"
    than = f"{who}s agree with each other {{}} than with somebody who {always_says(among.answer.b)} {about}."
    opening = {
        "yes": f": {than.format('more')}",
        "no": f": {than.format('less')}",
        "cannot tell": f" whether {than.format('more')}",
    }[among.verdict]
    names = ("ac1", alpha_of(among.figures))
    permuted = " and ".join(words.decimal(among.permuted.get(name), 3) for name in names)
    alpha, near = among.figures[names[1]], tuple[str, ...]()
    if among.verdict != "yes" and names[1] == "alpha_interval" and (alpha.low or 0.0) > 0:
        near = (
            f"The answer is about giving exactly the same score. By how near their scores are, {who}s agree "
            f"more than by chance: alpha is {figure_words(alpha)}, and chance gives 0.",
        )
    return (
        (Span(among.verdict.capitalize(), "strong"), opening),
        f"{difference_words(among.answer)}. Alpha {figure_words(among.figures[names[1]])}, exactly the same "
        f"in {words.percent(among.figures['exact'].value)}. With every score permuted, AC1 and alpha are "
        f"{permuted}.",
        *near,
    )


def difference_words(answer: Comparison) -> str:
    """Write both figures of an answer, how far they differ, and p."""
    apart = answer.difference
    ends = "" if apart.interval is None else f" {words.interval(apart.interval, 3)}"
    figures = f"AC1 {words.decimal(answer.figure_a, 3)} against {words.decimal(answer.figure_b, 3)}"
    by = f"difference {words.decimal(apart.value, 3, signed=True)}{ends}"
    if answer.p_holm is None:
        return f"{figures}: {by}{f' ({apart.reason})' if apart.reason else ''}"
    cell = p_value(answer.p_holm, at_floor=answer.at_floor)
    return f"{figures}: {by}, p {'≤' if cell.at_most else '='} {words.decimal(cell.value, 3)}"


def always_says(best: str) -> str:
    """Write `always 5` as what somebody does."""
    return best.replace("always", "always says", 1)


def alpha_of(figures: Mapping[str, Estimate]) -> str:
    """Return the name of the alpha that stands beside AC1: of intervals, of names the nominal one."""
    return "alpha_interval" if "alpha_interval" in figures else "alpha_nominal"


def figure_words(estimate: Estimate) -> str:
    """Write a figure with its interval."""
    ends = "" if estimate.interval is None else f" {words.interval(estimate.interval, 3)}"
    return words.decimal(estimate.value, 3) + ends


def _coefficients(among: Among, *, whole: bool) -> DataTable:
    always = {f"always {name}": of for name, of in among.constants.items()}
    main = ("ac1", alpha_of(among.figures), "exact", "spearman")
    if not whole and among.answer is not None:
        always = {among.answer.b: always[among.answer.b]}
    figures = {name: of for name, of in among.figures.items() if whole or name in main}
    title = f"Agreement, {among.question}"
    return coefficients_table(title, figures, among.permuted, always, captioned=False)


def coefficients_table(
    title: str,
    figures: Mapping[str, Estimate],
    permuted: Mapping[str, float | None],
    always: Mapping[str, Mapping[str, float | None]],
    *,
    captioned: bool = True,
) -> DataTable:
    """Return coefficients beside the same permuted, and beside those who always say the same, by name."""
    rows: list[tuple[Cell, ...]] = []
    for name, estimate in figures.items():
        others = (permuted.get(name), *(of.get(name) for of in always.values()))
        figure = Number(estimate.value, 3, estimate.interval, strong=True)
        rows.append((COEFFICIENTS[name].title, figure, *(Number(value, 3) for value in others)))
    return data_table(title, ("coefficient", "figure", "permuted", *always), rows, captioned=captioned)


def _matrix(among: Among, who: str) -> list[Block]:
    names = among.sources
    if not among.pairs or not 2 < len(names) <= _MOST_IN_MATRIX:
        return []
    alpha = alpha_of(among.pairs[0].figures)
    by = {(pair.a, pair.b): pair for pair in among.pairs}

    def value(row: str, column: str) -> float | None:
        above = by.get((row, column))
        if above is not None:
            return above.figures["ac1"].value
        below = by.get((column, row))
        return None if below is None else below.figures[alpha].value

    cells = tuple(
        tuple(Number(value(row, column)) if row != column else "" for column in names) for row in names
    )
    shades = tuple(tuple(max(value(row, column) or 0.0, 0.0) for column in names) for row in names)
    matrix = Matrix(f"Pairs of {who}s", names, names, cells, shades)
    sizes = sorted({pair.n for pair in among.pairs})
    shared = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    note = (
        f"Above the diagonal AC1, below it {COEFFICIENTS[alpha].title}, on the targets that both rated: "
        f"{shared} a pair."
    )
    return [matrix, Callout((note,))]


def _by_candidate(among: Among, who: str) -> list[Block]:
    """Lay out pairs of sources by the means that they give candidates."""
    pairs = [(pair, pair.of_candidates) for pair in among.pairs if pair.of_candidates is not None]
    rows = [
        (f"{pair.a} and {pair.b}", pair.n, of.n, Number(of.pearson, 3), Number(of.spearman, 3), p_value(of.p))
        for pair, of in pairs
    ]
    heads = ("pair", "targets", "candidates", "Pearson", "Spearman", "p of Spearman")
    title = f"Pairs of {who}s on the means of candidates"
    return [data_table(title, heads, rows, shown=_FIRST)] if rows else []


def _strictness(among: Among, who: str) -> DataTable:
    heads = (who, "rated", "mean", "less the others’ mean", "on", "spread", TableColumn("", "text"))
    rows: list[tuple[Cell, ...]] = []
    for one in among.strictness:
        apart = one.difference
        difference = Number(
            None if apart is None else apart.value, 2, None if apart is None else apart.interval, signed=True
        )
        only = "" if one.only is None else f"always {one.only}"
        rows.append((one.name, one.n, Number(one.mean), difference, one.shared, Number(one.spread), only))
    return data_table(f"How each {who} uses the scale", heads, rows, shown=_FIRST)


def closeness_table(
    title: str, first: str, rows: Iterable[Closeness | TableRow], *, reference: bool = False
) -> DataTable:
    """Return a table of sources against references, a row for each.

    Args:
        title: Of the table.
        first: What the first column holds.
        rows: With a `TableRow` where one looks different.
        reference: Whether the reference names the row, not the source.
    """
    heads = (
        first, "n", "AC1", "alpha", "exact", "Spearman", "bias",
        TableColumn("best constant", "text"), "p", TableColumn("agrees more", "text"),
    )  # fmt: skip
    made = [row if isinstance(row, TableRow) else closeness_row(row, reference=reference) for row in rows]
    return data_table(title, heads, made, shown=_FIRST)


def closeness_row(
    one: Closeness, *, reference: bool = False, emphasis: Emphasis = "plain", name: Cell = None
) -> TableRow:
    """Lay out a source against a reference."""
    figures = one.figures
    cells: tuple[Cell, ...] = (
        name or (one.reference if reference else one.source),
        one.n,
        Number(figures["ac1"].value, 3, figures["ac1"].interval),
        Number(figures[alpha_of(figures)].value, 3, figures[alpha_of(figures)].interval),
        _number(figures, "exact", 2),
        _number(figures, "spearman", 2),
        _number(figures, "bias", 2, signed=True),
        f"{one.best}: {words.decimal(one.best_figures['ac1'].value, 3)}",
        p_value(one.answer.p_holm, at_floor=one.answer.at_floor),
        one.verdict,
    )
    return TableRow(cells, emphasis)


def _number(figures: Mapping[str, Estimate], name: str, digits: int, *, signed: bool = False) -> Number:
    return Number(figures[name].value if name in figures else None, digits, signed=signed)


def ranks_section(ranks: CandidateRanks) -> Section:
    """Lay out candidates across judges."""
    sources = tuple(ranks.means)
    rows: list[tuple[Cell, ...]] = []
    for name in ranks.candidates:
        means = ((ranks.means[source][name], ranks.ranks[source][name]) for source in sources)
        shown = (Number(mean.value, 2, mean.interval, notes=(f"rank {rank:g}",)) for mean, rank in means)
        rows.append((name, *shown))
    table = data_table("Mean and rank of each candidate", ("candidate", *sources), rows, captioned=False)
    lead = f"On {counted(ranks.targets, 'target')} that all of them scored."
    alike = (_alike(one, len(ranks.candidates)) for one in ranks.alike)
    return Section(f"Candidates across judges: {ranks.question}", (table,), " ".join((lead, *alike)))


def _alike(one: SameOrder, candidates: int) -> str:
    pairs = comb(candidates, 2)
    if one.swapped:
        named = ", ".join(f"{x} and {y}" for x, y in one.swapped[:_SWAPS])
        more = f" and {len(one.swapped) - _SWAPS} more" if len(one.swapped) > _SWAPS else ""
        order = f"{len(one.swapped)} of {counted(pairs, 'pair')} change places ({named}{more})"
    else:
        order = f"no two change places (by chance once in {factorial(candidates):,})"
    low, high = (words.decimal(value, 2, signed=True) for value in one.above)
    apart = low if low == high else f"{low} to {high}"
    spearman = words.decimal(one.spearman)
    accuracy = one.figures["rank_accuracy"]
    ends = "" if accuracy.interval is None else f" {words.interval(accuracy.interval)}"
    return (
        f"{one.a} and {one.b}: {order}, rank accuracy {words.decimal(accuracy.value)}{ends}, Spearman of the "
        f"means {spearman}; the means are {apart} apart, {words.decimal(one.distance)} on average."
    )
