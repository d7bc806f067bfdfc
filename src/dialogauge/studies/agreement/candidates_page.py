"""Candidates beside people as blocks: every evaluator in one table, controls, and how stable scores are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import Final

from dialogauge.report import (
    Axis,
    Block,
    Callout,
    Cell,
    Curve,
    DataTable,
    DotPlot,
    DotRow,
    Number,
    Percent,
    Point,
    Section,
    TableColumn,
    TableRow,
    Text,
    data_table,
    p_value,
)
from dialogauge.report.cells import Emphasis
from dialogauge.stats import Estimate
from dialogauge.studies.agreement.candidates import CandidateAgreement, CandidateFigures
from dialogauge.studies.agreement.stability import Stability
from dialogauge.text import counted

_EVERY: Final = ("rank_accuracy", "rank_accuracy_half", "rank_accuracy_drop", "nmae", "bias")
_HEADS: Final[Mapping[str, str]] = {
    "rank_accuracy": "rank accuracy",
    "rank_accuracy_half": "ties half",
    "rank_accuracy_drop": "ties dropped",
    "nmae": "normalised MAE",
    "bias": "bias",
}
_LEGEND: Final = (
    "Rank accuracy: the share of pairs of candidates in people’s order, by mean score. A tie agrees with a "
    "tie alone, counts half, or is dropped. Normalised MAE: the mean distance of means, of the whole scale. "
    "Bias: evaluator less people. In sessions: the order of candidates within one conversation id, and the "
    "distances of single sessions. Shuffled: the evaluator’s means dealt anew to the candidates. By chance: "
    "the share of all orders of the candidates that do as well."
)


def candidates_section(one: CandidateAgreement, *, whole: bool) -> Section:
    """Lay out every evaluator beside people.

    Args:
        one: The figures.
        whole: Whether there is room for all, as on a page.
    """
    blocks: list[Block] = []
    if whole and one.evaluators:
        blocks.append(_dots(one.evaluators))
    blocks.append(_table(one, whole=whole))
    other = [of.source for of in one.evaluators if not of.same_sessions]
    notes = [_LEGEND] if whole else []
    notes += [f"Not on the sessions that people rated: {', '.join(other)}."] if other else []
    notes += ["No interval of these figures: too few personas."] if _few(one) else []
    blocks += [Callout(tuple(notes))] if notes else []
    blocks += _curve(one.evaluators)
    if one.lengths:
        blocks.append(_lengths(one))
    if one.families:
        blocks.append(_families(one))
    n = len(one.candidates)
    first = (*one.evaluators, *one.raters)[0]
    lead = (
        f"{counted(n, 'candidate')}, {counted(comb(n, 2), 'pair')}: one flipped pair is {one.one_pair:.3f} "
        f"of rank accuracy. Intervals are over personas ({first.clustered_by}); those of rank accuracy by "
        "drawing personas."
    )
    return Section(f"Candidates beside people: {one.question}", tuple(blocks), lead, "Candidates")


def _few(one: CandidateAgreement) -> bool:
    return all(of.figures["rank_accuracy"].interval is None for of in (*one.evaluators, *one.raters))


def _dots(evaluators: Iterable[CandidateFigures]) -> DotPlot:
    figures = ((of.source, of.figures["rank_accuracy"]) for of in evaluators)
    return DotPlot("Rank accuracy", tuple(DotRow(name, one.value, one.interval) for name, one in figures))


def _table(one: CandidateAgreement, *, whole: bool) -> DataTable:
    names = _EVERY if whole else ("rank_accuracy", "nmae", "bias")
    sessions = ("rank_accuracy", "nmae")
    heads = [
        "evaluator",
        "candidates",
        *(_HEADS[name] for name in names),
        "shuffled",
        "MAE shuffled",
        "by chance",
        *("order in sessions", "MAE of sessions"),
    ]

    def row(of: CandidateFigures, emphasis: Emphasis, name: Cell) -> TableRow:
        cells: list[Cell] = [name, of.candidates, *(_number(of.figures, figure) for figure in names)]
        cells += [Number(of.shuffled.get(figure), 2) for figure in sessions]
        cells += [Percent(of.chance), *(_number(of.by_session, figure) for figure in sessions)]
        return TableRow(tuple(cells), emphasis)

    rows = [row(of, "plain", Text(of.source, counted(of.sessions, "session"))) for of in one.evaluators]
    rows += [row(of, "quiet", f"{of.source} against the others") for of in one.raters]
    for control in one.controls:
        figures = (Number(control.figures[name], 3, signed=name == "bias") for name in names)
        blank: tuple[Cell, ...] = (None,) * (len(heads) - 2 - len(names))
        cells = (Text(control.name, control.description), len(one.candidates), *figures, *blank)
        rows.append(TableRow(cells, "quiet"))
    return data_table(f"Candidates by each evaluator, {one.question}", heads, rows, captioned=False)


def _number(figures: Mapping[str, Estimate], name: str) -> Number | None:
    one = figures.get(name)
    return None if one is None else Number(one.value, 3, one.interval, signed=name == "bias")


def _curve(evaluators: Iterable[CandidateFigures]) -> list[Block]:
    """Draw agreement along the number of turns that judges read, where two or more read different numbers."""
    read = sorted((of.first_turns, of) for of in evaluators if of.first_turns is not None)
    if len({turns for turns, _ in read}) < 2:
        return []
    x = Axis(read[0][0], read[-1][0], "turns read", whole=True)
    out: list[Block] = []
    for name, high in (("rank_accuracy", 1.0), ("nmae", 1.0)):
        known = [(turns, of.figures[name]) for turns, of in read if name in of.figures]
        points = tuple(Point(turns, one.value, one.interval) for turns, one in known if one.value is not None)
        out.append(
            Curve(f"{_HEADS[name].capitalize()} by turns read", points, x, Axis(0, high, _HEADS[name]))
        )
    return out


def _lengths(one: CandidateAgreement) -> DataTable:
    rows = [
        (
            of.source,
            Number(of.pearson, 2, signed=True),
            Number(of.slope.value, 2, of.slope.interval, signed=True),
        )
        for of in one.lengths
    ]
    mean = ", ".join(f"{name} {length:,.0f}" for name, length in one.mean_lengths.items())
    title = f"Scores and reply length; characters of a reply: {mean}"
    heads = ("scores of", "Pearson over candidates", "twice as long, within candidates")
    return data_table(title, heads, rows)


def _families(one: CandidateAgreement) -> DataTable:
    rows = [
        (
            Text(of.source, of.family),
            Text(f"{of.bias_own or 0:+.2f}", ", ".join(of.own)),
            Text(f"{of.bias_others or 0:+.2f}", ", ".join(of.others)),
            Number(of.more_by.value, 2, of.more_by.interval, signed=True),
            p_value(of.p),
        )
        for of in one.families
    ]
    heads = ("judge", TableColumn("own family", "text"), TableColumn("others", "text"), "more by", "p")
    return data_table("Judge less people, by family of models", heads, rows)


def stability_section(several: Sequence[Stability]) -> Section:
    """Lay out how much scores vary over sessions and judgings."""
    heads = (
        *("candidate", "mean", "between sessions", "between judgings"),
        *("SD of one", "range of one", "CV % of one", "SD of means", "range of means", "CV % of means"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in several:
        of = one.spreads
        about = f"{one.source}, {one.question}: {of.personas} x {of.sessions} x {of.judgings}"
        about += f", {one.left_out} incomplete" if one.left_out else ""
        variances = (Number(value, 3) for value in (of.between, of.within))
        figures = ((v.sd, v.range, v.cv) for v in (of.single, of.means))
        cells = (Number(value, 3) for values in figures for value in values)
        rows.append((Text(one.candidate, about), Number(of.mean, 2), *variances, *cells))
    lead = (
        "Personas x sessions x judgings. Variances between sessions and between judgings are those of one "
        "persona. A mean over personas varies far less than one session: say which of both a CV is of."
    )
    return Section(
        "Stability over sessions and judgings", (data_table("Stability", heads, rows, captioned=False),), lead
    )
