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
from dialogauge.stats import BootstrapInterval
from dialogauge.studies.agreement.agreement import title_of
from dialogauge.studies.agreement.result import Comparison, Estimate, JudgeAgreement, MetaResult
from dialogauge.text import counted


def meta_view(result: MetaResult, about: MetaAbout, gates: Sequence[str]) -> MetaView:
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
        judge=judge.judge,
        mode=judge.mode,
        pair=str(judge.pair),
        counts=_counts(judge),
        conversations=judge.conversations,
        users=judge.users,
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
    cells = tuple(
        ControlCell(
            c.figures[name].value,
            _side(c.gains[name].by_conversation),
            None if judge.users is None else _side(c.gains[name].by_user),
        )
        for c in judge.controls
    )
    return MeasureRow(
        title_of(name, judge.rule),
        estimate.value,
        _ends(estimate.by_conversation),
        _ends(estimate.by_user),
        cells,
    )


def _side(gain: BootstrapInterval | None) -> str:
    if gain is None or gain.low is None or gain.high is None:
        return "undefined"
    return "above" if gain.low > 0 else "below" if gain.high < 0 else "not distinguishable"


def _ends(found: BootstrapInterval | None) -> tuple[float, float] | None:
    return None if found is None or found.low is None or found.high is None else (found.low, found.high)


def _comparison(c: Comparison, rule: str | None) -> ComparisonView:
    return ComparisonView(
        c.a,
        c.b,
        title_of(c.measure, rule),
        c.n,
        c.figure_a,
        c.figure_b,
        c.difference.value,
        _ends(c.difference.by_conversation),
        _ends(c.difference.by_user),
        c.p_holm,
        c.words,
    )
