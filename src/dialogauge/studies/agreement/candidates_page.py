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
    Number,
    Percent,
    Point,
    Section,
    TableRow,
    Text,
    data_table,
)
from dialogauge.stats import Estimate
from dialogauge.studies.agreement.candidates import CandidateAgreement, CandidateFigures
from dialogauge.studies.agreement.stability import Stability
from dialogauge.text import counted

_HEADS: Final[Mapping[str, str]] = {
    "rank_accuracy": "rank accuracy", "rank_accuracy_half": "ties half", "rank_accuracy_drop": "ties dropped",
    "nmae": "normalised MAE", "bias": "bias",
}  # fmt: skip
_MAIN: Final = ("rank_accuracy", "nmae", "bias")
_LEGEND: Final = (
    "Rank accuracy: the share of pairs of candidates in people’s order, by mean score. A tie agrees with a "
    "tie alone, counts half, or is dropped. Normalised MAE: the mean distance of means, of the whole scale. "
    "Bias: evaluator less people. By chance: the share of all orders that do as well. In sessions: the same "
    "of candidates within one conversation id. Shuffled: people’s means dealt anew to the candidates; reply "
    "length: dealt in the order of length, up or down."
)


def candidates_section(one: CandidateAgreement, *, whole: bool) -> Section:
    """Lay out every evaluator beside people; `whole`: whether there is room for all, as on a page."""
    names = tuple(_HEADS) if whole else _MAIN
    heads = ("evaluator", "n", *(_HEADS[name] for name in names), "by chance")
    heads += ("in sessions: rank accuracy", "normalised MAE")
    rows: list[TableRow] = []
    for of in (*one.evaluators, *one.raters):
        rater = of in one.raters
        name = Text(
            f"{of.source} against the others" if rater else of.source, "" if of.same else "other sessions"
        )
        figures, sessions = _numbers(of.figures, names), _numbers(of.by_session, _MAIN[:2])
        cells = (name, of.candidates, *figures, Percent(of.chance), *sessions)
        rows.append(TableRow(cells, "quiet" if rater else "plain"))
    for control, values in one.controls.items():
        plain = (Number(values[name], 3, signed=name == "bias") for name in names)
        rows.append(TableRow((control, len(one.candidates), *plain, None, None, None), "quiet"))
    blocks: list[Block] = [
        data_table("Candidates by evaluator", heads, rows, captioned=False),
        *([Callout((_LEGEND,))] if whole else []),
        *_curves(one.evaluators),
    ]
    if one.lengths:
        mean = ", ".join(f"{name} {length:,.0f}" for name, length in one.mean_lengths.items())
        follows = [(of.source, Number(of.pearson, 2, signed=True), _number(of.slope)) for of in one.lengths]
        heads = ("scores of", "Pearson over candidates", "replies twice as long, within candidates")
        blocks += [
            data_table("Scores by reply length", heads, follows),
            Callout((f"Characters of a reply: {mean}.",)),
        ]
    if one.families:
        heads = ("judge", "own family", "others", "more by")
        kinder: list[tuple[Cell, ...]] = [
            (
                Text(of.source, f"{of.family}: {', '.join(of.own)}"),
                *(Number(bias, 2, signed=True) for bias in (of.bias_own, of.bias_others)),
                _number(of.more_by),
            )
            for of in one.families
        ]
        blocks.append(data_table("Judge less people, by family of models", heads, kinder))
    first = (*one.evaluators, *one.raters)[0]
    estimate = first.figures["rank_accuracy"]
    why = f" None here: {estimate.reason}." if estimate.reason else ""
    lead = (
        f"{counted(len(one.candidates), 'candidate')}, {counted(comb(len(one.candidates), 2), 'pair')}: one "
        f"flipped pair is {one.one_pair:.3f} of rank accuracy. Intervals are over personas "
        f"({first.clustered_by}), those of rank accuracy by drawing personas.{why}"
    )
    return Section(f"Candidates beside people: {one.question}", tuple(blocks), lead, "Candidates")


def _numbers(figures: Mapping[str, Estimate], names: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(
        _number(figures[name], 3, signed=name == "bias") if name in figures else None for name in names
    )


def _number(of: Estimate, digits: int = 2, *, signed: bool = True) -> Number:
    return Number(of.value, digits, of.interval, signed=signed)


def _curves(evaluators: Iterable[CandidateFigures]) -> Iterable[Block]:
    """Draw agreement along the number of turns that judges read, where these differ."""
    known = [(of.first_turns, of.figures) for of in evaluators if of.first_turns is not None]
    read = sorted(known, key=lambda one: one[0])
    for name in _MAIN[:2] if len({turns for turns, _ in read}) > 1 else ():
        figures = [(turns, of[name]) for turns, of in read if name in of]
        points = tuple(
            Point(turns, one.value, one.interval) for turns, one in figures if one.value is not None
        )
        x = Axis(read[0][0], read[-1][0], "turns read", whole=True)
        yield Curve(f"{_HEADS[name]} by turns read", points, x, Axis(0.0, 1.0, _HEADS[name]))


def stability_section(several: Sequence[Stability]) -> Section:
    """Lay out how much scores vary over sessions and judgings."""
    heads = ["candidate", "mean", "between sessions", "between judgings"]
    heads += [f"{what} of {which}" for which in ("one", "means") for what in ("SD", "range", "CV %")]
    rows: list[tuple[Cell, ...]] = []
    for one in several:
        about = f"{one.source}, {one.question}: {' x '.join(map(str, one.shape))}"
        about += f", {one.left_out} incomplete" if one.left_out else ""
        figures = (one.mean, one.between, one.within)
        spreads = ((of.sd, of.range, of.cv) for of in (one.single, one.means))
        numbers = (Number(value, 3) for value in (*figures, *(value for of in spreads for value in of)))
        rows.append((Text(one.candidate, about), *numbers))
    lead = (
        "Personas x sessions x judgings. Variances between sessions and between judgings are those of one "
        "persona. A mean over personas varies far less than one session: a CV is of one or of the other."
    )
    table = data_table("Stability", heads, rows, captioned=False)
    return Section("Stability over sessions and judgings", (table,), lead)
