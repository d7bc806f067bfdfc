"""Choices between two as blocks: coefficients, how each one leans, and each against what people chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialogauge.report import (
    Block,
    Callout,
    Cell,
    DataTable,
    Number,
    Percent,
    Prose,
    Section,
    Span,
    TableColumn,
    data_table,
    p_value,
    words,
)
from dialogauge.stats import Comparison, Estimate
from dialogauge.studies.agreement.among_page import (
    TONES,
    coefficients_table,
    difference_words,
    figure_words,
)
from dialogauge.studies.agreement.closeness import OF_NAMES, Closeness, Verdict
from dialogauge.studies.agreement.pairs import PairAgreement
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
        always = {f"always {name}": of for name, of in pairs.controls.items()}
        table = coefficients_table("Agreement of raters", pairs.figures, pairs.permuted, always)
        blocks += [table, Callout((_WHAT,))]
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
    """Answer for each judge, and for people, whether they agree more than who always chooses alike."""
    out: list[Callout] = []
    for one in pairs.against_people:
        than = f"one who always chooses {one.best.removeprefix('always ')}"
        about = f"({pairs.dimension}, {counted(one.n, 'pair')})"
        first = _sentence(one.verdict, f"{one.source} agrees with people", than, about)
        out += [Callout((first,), TONES[one.verdict]), _figures(one.answer, one.figures)]
    if pairs.answer is not None:
        than = f"with one who always chooses {pairs.answer.b.removeprefix('always ')}"
        about = f"({pairs.dimension}, {counted(pairs.shared, 'pair')} by two or more)"
        first = _sentence(pairs.verdict, "raters agree with each other", than, about)
        tone = "plain" if out else TONES[pairs.verdict]
        out += [Callout((first,), tone), _figures(pairs.answer, pairs.figures)]
    if not out:
        text = f" how far people agree ({pairs.dimension}): no pair was put before two."
        out.append(Callout(((Span("Cannot tell", "strong"), text),), "info"))
    return tuple(out)


def _sentence(verdict: Verdict, who: str, than: str, about: str) -> Prose:
    """Write the answer: `Yes: gpt agrees with people more than one who always chooses a tie (...)`."""
    if verdict == "cannot tell":
        return (Span("Cannot tell", "strong"), f" whether {who} more than {than} {about}.")
    how = "more" if verdict == "yes" else "less"
    return (Span(verdict.capitalize(), "strong"), f": {who} {how} than {than} {about}.")


def _figures(answer: Comparison, figures: Mapping[str, Estimate]) -> Callout:
    same = words.percent(figures["exact"].value)
    alpha = figure_words(figures["alpha_nominal"])
    return Callout((f"{difference_words(answer)}. Alpha {alpha}, the same choice in {same}.",))


def _against(title: str, made: Sequence[Closeness]) -> DataTable:
    heads = (
        "who", "pairs", "AC1", "alpha, nominal", "the same choice",
        TableColumn("best control", "text"), "its AC1", "p", TableColumn("agrees more", "text"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in made:
        ac1, alpha, exact = (one.figures[name] for name in OF_NAMES)
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
