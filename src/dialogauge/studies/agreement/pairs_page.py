"""Choices between two as blocks: coefficients, how each one leans, and each against what people chose."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    DataTable,
    Number,
    Percent,
    Section,
    Span,
    TableColumn,
    data_table,
    p_value,
    words,
)
from dialogauge.stats import COEFFICIENTS
from dialogauge.studies.agreement.among_page import TONES, answer_of, figure_words
from dialogauge.studies.agreement.closeness import Closeness
from dialogauge.studies.agreement.pairs import BESIDE_PEOPLE, PairAgreement
from dialogauge.text import counted

_WHAT = (
    "Permuted: each one’s choices dealt anew to the pairs that they are of, the mean over deals. Always ...: "
    "somebody who always chooses so, beside each of them in turn, the mean. A figure that these reach is no "
    "finding. Of several people counts the choice of most; where none has, nobody is held to it."
)


def pairs_section(pairs: PairAgreement) -> Section:
    """Lay out agreement on pairs in one dimension."""
    blocks: list[Block] = []
    if pairs.against_people:
        blocks.append(_against("Each judge against people", pairs.against_people))
    if pairs.figures:
        blocks += [_coefficients(pairs), Callout((_WHAT,))]
        blocks.append(_against("Each rater against the others", pairs.others))
    blocks.append(_leanings(pairs))
    rates = ", ".join(f"{name} {words.percent(rate)}" for name, rate in pairs.rates.items())
    lead = (
        f"{counted(len(pairs.people), 'rater')}, {counted(pairs.targets, 'pair')} of "
        f"{counted(len(pairs.candidates), 'candidate')}, {pairs.shared:,} of them by two or more "
        f"({pairs.undecided:,} undecided), "
        f"{counted(pairs.choices, 'choice')}. Chosen: {rates}. Intervals are clustered by {pairs.unit}."
    )
    return Section(f"Pairs: {pairs.dimension}", tuple(blocks), lead)


def pairs_answers(pairs: PairAgreement) -> tuple[Callout, ...]:
    """Answer in a sentence for each judge, and for people, whether they agree more than the best control."""
    out = []
    for one in pairs.against_people:
        how = {"yes": "more than", "no": "less than"}.get(one.verdict, "not demonstrably more or less than")
        control, its = one.best.removeprefix("always "), one.best_figures["ac1"].value
        text = (
            f" {pairs.dimension}, pairs: {one.source} agrees with people {how} one who always chooses "
            f"{control}: AC1 {figure_words(one.figures['ac1'])} to {words.decimal(its, 3)}; the same choice "
            f"in {words.percent(one.figures['exact'].value)} of {counted(one.n, 'pair')}, alpha "
            f"{figure_words(one.figures['alpha_nominal'])}."
        )
        out.append(Callout(((Span(f"{one.verdict.capitalize()}.", "strong"), text),), TONES[one.verdict]))
    if pairs.figures:
        verdicts = [one.verdict for one in pairs.others]
        text = (
            f" {pairs.dimension}, pairs: {verdicts.count('yes')} of {counted(len(verdicts), 'rater')} agree "
            f"with the others more than the best of those who always choose alike, {verdicts.count('no')} "
            f"less, of {verdicts.count('cannot tell')} it cannot be told. All together: AC1 "
            f"{figure_words(pairs.figures['ac1'])}, alpha {figure_words(pairs.figures['alpha_nominal'])}."
        )
        answer = answer_of(verdicts)
        tone = "plain" if out else TONES[answer]
        out.append(Callout(((Span(f"{answer.capitalize()}.", "strong"), text),), tone))
    if not out:
        text = f" {pairs.dimension}: no pair was put before two people."
        out.append(Callout(((Span("Cannot tell.", "strong"), text),), "info"))
    return tuple(out)


def _against(title: str, made: Sequence[Closeness]) -> DataTable:
    heads = (
        "who", "pairs", "AC1", "alpha, nominal", "the same choice",
        TableColumn("best control", "text"), "its AC1", "p", TableColumn("agrees more", "text"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in made:
        ac1, alpha, exact = (one.figures[name] for name in BESIDE_PEOPLE)
        answer = one.answer
        rows.append(
            (
                one.source,
                one.n,
                Number(ac1.value, 3, ac1.interval),
                Number(alpha.value, 3, alpha.interval),
                Percent(exact.value, exact.interval),
                one.best,
                Number(one.best_figures["ac1"].value, 3),
                p_value(answer.p_holm, at_floor=answer.at_floor),
                one.verdict,
            )
        )
    return data_table(title, heads, rows)


def _coefficients(pairs: PairAgreement) -> DataTable:
    controls = list(pairs.controls)
    heads = ("coefficient", "figure", "permuted", *(f"always {name}" for name in controls))
    rows: list[tuple[Cell, ...]] = []
    for name, estimate in pairs.figures.items():
        beside: Sequence[float | None] = [pairs.controls[of][name] for of in controls]
        figure = Number(estimate.value, 3, estimate.interval, strong=True)
        rows.append(
            (
                COEFFICIENTS[name].title,
                figure,
                Number(pairs.permuted[name], 3),
                *(Number(v, 3) for v in beside),
            )
        )
    return data_table("Agreement of raters", heads, rows)


def _leanings(pairs: PairAgreement) -> DataTable:
    heads = ("who", "choices", "the first shown", "ties", "the first shown, of those that are no tie")
    rows: list[tuple[Cell, ...]] = [
        (
            one.name,
            one.n,
            Percent(one.first_shown.value, one.first_shown.interval),
            Percent(one.ties),
            Percent(one.decided.value, one.decided.interval),
        )
        for one in pairs.leanings
    ]
    return data_table("How each one chooses, whatever it is shown", heads, rows)
