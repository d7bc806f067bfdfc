"""From the meta study to what its page shows."""

from __future__ import annotations

from collections.abc import Sequence

from dialogauge.report import (
    AgreementView,
    ComparisonView,
    ConfusionRow,
    ControlCell,
    MeasureRow,
    MetaAbout,
    MetaView,
)
from dialogauge.stats import Estimate, title_of
from dialogauge.studies.agreement.agreement import AgreementResult, JudgeAgreement, JudgeComparison
from dialogauge.text import counted


def meta_view(result: AgreementResult, about: MetaAbout, gates: Sequence[str]) -> MetaView:
    """Return the view of a result; `gates` says of each judge whether it is ready."""
    rules = {j.pair.rated: j.rule for j in result.judges}
    return MetaView(
        about,
        tuple(_judge(j, gate) for j, gate in zip(result.judges, gates, strict=True)),
        tuple(_comparison(c, rules.get(c.pair.rated)) for c in result.comparisons),
    )


def _judge(judge: JudgeAgreement, gate: str) -> AgreementView:
    levels = tuple(sorted({score for b in judge.bins for score in b.people}))
    return AgreementView(
        name=judge.name,
        judge=judge.about.judge,
        mode=judge.about.mode,
        pair=str(judge.pair),
        counts=_counts(judge),
        conversations=judge.conversations,
        users=judge.users,
        unit=judge.unit,
        languages=tuple(judge.languages.items()),
        notes=(*_notes(judge), gate),
        measures=tuple(_measure(judge, name, e) for name, e in judge.figures.items()),
        controls=tuple((c.name, c.description) for c in judge.controls),
        levels=levels,
        confusion=tuple(
            ConfusionRow(b.score, b.n, b.people_mean, tuple(b.people.get(v, 0) for v in levels))
            for b in judge.bins
        ),
    )


def _counts(judge: JudgeAgreement) -> tuple[tuple[str, int], ...]:
    c = judge.counts
    shown = [("rated targets", c.rated), ("scored", c.scored), ("n/a", c.not_applicable)]
    shown += [("failed", c.failed), ("not judged", c.not_judged)]
    shown += [("undecided among raters", c.undecided)] if c.undecided else []
    return tuple(shown + ([("ratings not used", c.refused)] if c.refused else []))


def _notes(judge: JudgeAgreement) -> list[str]:
    out = list(judge.warnings)
    if judge.rule is not None:
        out.append(
            f"Dissatisfied: {judge.rule}, {judge.dissatisfied} of {counted(judge.counts.scored, 'target')}."
        )
    if judge.fractions:
        out.append("The judge gives scores with fractions, and they are used where order counts.")
    if not judge.same_scale:
        out.append("People’s ratings are not on the judge’s scale: only the order is compared.")
    return out


def _measure(judge: JudgeAgreement, name: str, estimate: Estimate) -> MeasureRow:
    sides = judge.sides(name)
    cells = tuple(ControlCell(c.figures[name].value, sides[c.name]) for c in judge.controls)
    return MeasureRow(title_of(name, judge.rule), estimate.value, estimate.interval, cells)


def _comparison(found: JudgeComparison, rule: str | None) -> ComparisonView:
    c = found.comparison
    return ComparisonView(
        c.a,
        c.b,
        title_of(c.measure, rule),
        c.difference.n,
        c.figure_a,
        c.figure_b,
        c.difference.value,
        c.difference.interval,
        c.p_holm,
        c.words,
    )
