"""The calibration gate: may a dimension stand on a dashboard?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dialogauge.stats import Estimate
from dialogauge.studies.agreement.agreement import AgreementSettings, JudgeAgreement, agreement
from dialogauge.studies.agreement.targets import TargetTable
from dialogauge.studies.trust.checks import only
from dialogauge.studies.trust.result import Calibration, CalibrationDimension, Readiness, TrustThresholds
from dialogauge.text import counted

_ABOVE: Final = {"above": True, "too few to tell": None, "undefined": None}


def calibrate(
    tables: Sequence[TargetTable],
    *,
    ratings: str,
    limits: TrustThresholds,
    settings: AgreementSettings | None = None,
) -> Calibration:
    """Hold each rated dimension against people by quadratic weighted kappa, beside the controls.

    Args:
        tables: One for each dimension that was rated under its own name.
        ratings: Where the ratings are from.
        limits: The kappa and the number of dialogues that are asked for.
        settings: Of the controls.
    """
    dimensions = tuple(
        judge_gate(agreement(t, None, settings or AgreementSettings(), only=("qwk",)), limits)
        for t in tables
        if t.counts.rated
    )
    dialogues = len({target.key.conversation_id for t in tables for target in t.targets})
    languages: dict[str, int] = {}
    for t in tables:
        for language, n in t.languages.items():
            languages[language] = max(n, languages.get(language, 0))
    sentence = _sentence(dimensions, dialogues, limits)
    if tables and not dialogues:
        sentence = (
            "Nothing that people rated was scored by the judge under the same name: nothing was calibrated."
        )
    if refused := sum(t.counts.refused for t in tables):
        which = "1 rating is" if refused == 1 else f"{refused:,} ratings are"
        sentence += f" {which} not used: off the scale, or not of the kind of the others."
    return Calibration(ratings, dialogues, sentence, dimensions, languages)


def judge_gate(judge: JudgeAgreement, limits: TrustThresholds) -> CalibrationDimension:
    """Say whether a dimension is ready, by the kappa that was found against people."""
    name, n, dialogues = judge.pair.judge, judge.counts.scored, judge.conversations
    estimate = judge.figures.get("qwk")
    kappa = None if estimate is None else estimate.value
    controls = {c.name: c.figures["qwk"].value for c in judge.controls if "qwk" in c.figures}
    alike = len({level for b in judge.bins for level in b.people}) == 1
    if estimate is None or kappa is None or alike:
        reason = "scores and ratings have no scale in common"
        if not n and judge.counts.rated:
            reason = "people rated no target that the judge scored in it"
        elif estimate is not None:
            reason = "all scores, or all ratings, are the same"
        sentence = f"{_title(name)}: {reason}, so there is no kappa."
        return CalibrationDimension(name, "cannot tell", sentence, None, None, n, dialogues, controls, {})
    interval = estimate.interval
    figures = f"kappa {kappa:z.2f}" + (
        "" if interval is None else f" [{interval[0]:z.2f}, {interval[1]:z.2f}]"
    )
    figures += f" on {counted(n, 'target')} of {counted(dialogues, 'dialogue')}"
    above = {name: _ABOVE.get(side, False) for name, side in judge.sides("qwk").items()}
    status, sentence = _ready(_title(name), figures, estimate, dialogues, limits)
    if status == "ready" and not all(above.values()):
        status = "cannot tell"
        which = ", ".join(control for control, is_above in above.items() if not is_above)
        sentence = (
            f"{_title(name)}: {figures}; these ratings do not show that it beats these controls: {which}."
        )
    return CalibrationDimension(name, status, sentence, kappa, interval, n, dialogues, controls, above)


def _ready(
    title: str, figures: str, kappa: Estimate, dialogues: int, limits: TrustThresholds
) -> tuple[Readiness, str]:
    asked, limit = limits.calibration_dialogues, limits.calibration_kappa
    if dialogues < asked:
        return "cannot tell", f"{title}: {figures}; {asked} dialogues are needed to say whether it is ready."
    if kappa.value is None or kappa.value < limit:
        return "not ready", f"{title} is not ready: {figures}, below {limit:g}."
    if kappa.low is None or kappa.low < limit:
        why = kappa.reason or f"the lower end is below {limit:g}"
        return "cannot tell", f"{title}: {figures}; these ratings do not show that it is ready: {why}."
    return "ready", f"{title} is ready: {figures}, the lower end at least {limit:g}."


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _sentence(dimensions: Sequence[CalibrationDimension], dialogues: int, limits: TrustThresholds) -> str:
    if not dimensions:
        return (
            "No rated dimension has the name of one that the judge scores, so no two scores were compared. "
            "To compare two of other names: `dialogauge agreement RUN --dimension JUDGED=RATED`."
        )
    if dialogues < limits.calibration_dialogues:
        seen, needed = only(dialogues, "rated dialogue", "rated dialogues"), limits.calibration_dialogues
        return f"{seen}: {needed} are needed to say whether a dimension is ready."
    compared = f"Compared with people on {counted(dialogues, 'dialogue')}"
    not_ready = [d.name for d in dimensions if d.status == "not ready"]
    if not not_ready:
        return f"{compared}; no dimension is below the threshold."
    names = ", ".join(n.replace("_", " ") for n in not_ready)
    return f"{compared}. Not ready: {names}."
